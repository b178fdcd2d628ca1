"""PDFs for people: a report's brief. Typst sets them; what comes from outside reaches it as data, never as markup."""

from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

from pydantic import BaseModel

from assayer.errors import ConfigurationError
from assayer.models import Report
from assayer.reports.brief import BRIEF_SIZES, brief_of

__all__ = ["BRIEF_PAGES", "brief_pdf", "page_count", "render_pdf"]

BRIEF_PAGES = 2


def render_pdf(template: str, data: BaseModel, fonts: Sequence[Path] = ()) -> bytes:
    """A file of `templates/`, which finds the data as JSON in its inputs. `fonts`: folders with more fonts, for scripts
    that neither Typst's own (Latin, Greek, Cyrillic, Hebrew) nor this machine's cover. Raises ConfigurationError."""
    try:
        import typst
    except ModuleNotFoundError:
        raise ConfigurationError("PDFs need typst.", "Install it with: pip install 'assayer[pdf]'.") from None
    with as_file(files("assayer.reports") / "templates") as folder:
        pdf = typst.compile(
            str(folder / template),
            root=str(folder),
            font_paths=[str(one) for one in fonts],
            sys_inputs={"data": data.model_dump_json()},
            format="pdf",
        )
    return bytes(pdf)


def page_count(pdf: bytes) -> int:
    import pypdfium2

    document = pypdfium2.PdfDocument(pdf)
    try:
        return len(document)
    finally:
        document.close()


def brief_pdf(report: Report, fonts: Sequence[Path] = ()) -> bytes:
    """On two pages: with as much of the report as fits there."""
    pdf = b""
    for size in BRIEF_SIZES:
        pdf = render_pdf("brief.typ", brief_of(report, size), fonts)
        if page_count(pdf) <= BRIEF_PAGES:
            break
    return pdf
