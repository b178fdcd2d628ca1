"""PDFs for people, such as the brief of a report. Typst typesets them; external text is passed as data, never as
markup."""

from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

from pydantic import BaseModel

from assayer.errors import ConfigurationError
from assayer.models import Report
from assayer.reports.brief import BRIEF_SIZES, build_brief

BRIEF_PAGES = 2


def render_pdf(template: str, data: BaseModel, fonts: Sequence[Path] = ()) -> bytes:
    """Render a template from `templates/`, which receives the data as JSON. `fonts` lists folders with additional
    fonts, for scripts that neither Typst's own fonts (Latin, Greek, Cyrillic, Hebrew) nor this machine's fonts cover.
    Raises ConfigurationError if typst is not installed."""
    try:
        import typst
    except ModuleNotFoundError:
        raise ConfigurationError(
            "PDF output needs typst, which is not installed.", "Install it with: pip install 'assayer-research[pdf]'."
        ) from None
    with as_file(files("assayer.reports") / "templates") as folder:
        pdf = typst.compile(
            str(folder / template),
            root=str(folder),
            font_paths=[str(font) for font in fonts],
            sys_inputs={"data": data.model_dump_json()},
            format="pdf",
        )
    return bytes(pdf)


def count_pages(pdf: bytes) -> int:
    import pypdfium2

    document = pypdfium2.PdfDocument(pdf)
    try:
        return len(document)
    finally:
        document.close()


def render_brief_pdf(report: Report, fonts: Sequence[Path] = ()) -> bytes:
    """Render the brief of a report, with as much of the report as fits on two pages."""
    pdf = b""
    for size in BRIEF_SIZES:
        pdf = render_pdf("brief.typ", build_brief(report, size), fonts)
        if count_pages(pdf) <= BRIEF_PAGES:
            break
    return pdf
