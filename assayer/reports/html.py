"""Report as one HTML file that contains no scripts, makes no network requests, and escapes all external text."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from assayer.citing.labels import split_at_labels
from assayer.models import Report
from assayer.reports import reference_wording
from assayer.reports.escaping import get_safe_url, remove_unprintable
from assayer.reports.report_page import ReportPage
from assayer.reports.scores import compute_share
from assayer.reports.templating import build_environment

_LABEL_LINK = Markup('<a class="cite" href="#ref-{label}" title="{title}">{label}</a>')
_MARKED_LABEL_LINK = Markup('<a class="cite retracted" href="#ref-{label}" title="{title}">{label}, {mark}</a>')


def _link_labels(text: str, page: ReportPage) -> Markup:
    """Escape text, and turn every known label in it into a link to its reference."""
    result, after_label = Markup(), False
    for words, label in split_at_labels(remove_unprintable(text), page.references):
        result += " " if after_label and label is not None else ""
        result += words if label is None else render_label(label, page)
        after_label = label is not None
    return result


def render_label(label: Any, page: ReportPage) -> Markup:
    """Return a label as a link to its reference, or as plain text if the report lacks the reference. A reference is
    missing only in an invalid report."""
    reference = page.references.get(label)
    if reference is None:
        return Markup("[{}]").format(label)
    title = f"{remove_unprintable(reference.title)} ({reference_wording.format_year(reference)})"
    if reference.retraction is not None:
        mark = reference_wording.RETRACTIONS[reference.retraction.kind]
        return _MARKED_LABEL_LINK.format(label=label, title=title, mark=mark)
    return _LABEL_LINK.format(label=label, title=title)


def _finalize(value: object) -> object:
    return remove_unprintable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@cache
def _build_environment() -> Environment:
    return build_environment(
        _finalize, {"cited": _link_labels, "chip": render_label, "web_url": get_safe_url, "share": compute_share}
    )


@cache
def load_stylesheet(*names: str) -> tuple[Markup, str]:
    """Return the combined style sheet and its hash. A page's content security policy uses the hash to allow only this
    style."""
    folder = files("assayer.reports") / "templates"
    css = "\n".join((folder / name).read_text(encoding="utf-8") for name in names)
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    return Markup(css), f"sha256-{digest}"  # noqa: S704


def render_page(template: str, *styles: str, **values: object) -> str:
    """Render a page from a template; the page's content security policy allows only the styles named in `styles`."""
    css, css_hash = load_stylesheet(*styles)
    return _build_environment().get_template(template).render(css=css, css_hash=css_hash, **values) + "\n"


def render_html(report: Report) -> str:
    return render_page("report.html", "report.css", page=ReportPage(report), report=report)
