"""Rendering of the console's pages: templates, static files, and the Content Security Policy."""

import datetime as dt
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple, get_args
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from assayer.models import Absent
from assayer.reports.escaping import remove_unprintable
from assayer.reports.wording import BANDS, FLAGS, METHODS, NOTICES, format_money
from assayer.version import __version__
from assayer_client import resources as wire
from orchestrator.access.api_keys import Caller
from orchestrator.jobs.models import JobState
from orchestrator.jobs.outcome_wording import OUTCOMES_IN_WORDS, describe_poor_coverage
from orchestrator.jobs.submissions import format_call_title
from orchestrator.web.csrf import get_csrf_token

_MEDIA_TYPES = {"js": "text/javascript", "css": "text/css"}
_ASSETS = (
    "htmx.min.js",
    "live.js",
    "drafts.js",
    "choosing.js",
    "upload_parts.js",
    "refused_rows.js",
    "submission.js",
    "console.css",
)
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "same-origin",  # browsers send a form's origin only if a referrer is allowed
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Asset(NamedTuple):
    content: bytes
    media_type: str
    digest: str
    """Digest of the content. It is part of the URL, so that browsers can cache the file indefinitely."""


@cache
def load_asset(name: str) -> Asset | None:
    """Return a static file used by the pages; None if it does not exist."""
    if name not in _ASSETS:
        return None
    content = (files("orchestrator.console") / "static" / name).read_bytes()
    if name == "console.css":
        content = (files("assayer.reports") / "templates" / "report.css").read_bytes() + content
    return Asset(content, _MEDIA_TYPES[name.rpartition(".")[2]], hashlib.sha256(content).hexdigest()[:16])


def render_template(
    template: str, request: Request, user: Caller | None, *, status: int = 200, **values: object
) -> HTMLResponse:
    """Render a template as a page. `user` is None if the request was refused before authentication."""
    html = _build_environment().get_template(template).render(user=user, csrf=get_csrf_token(request), **values)
    return HTMLResponse(html, status, _HEADERS)


@cache
def _build_environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("orchestrator.console", "templates"),
        autoescape=True,
        finalize=lambda value: remove_unprintable(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "dollars": _format_dollars,
        "amount": _format_amount,
        "share": _format_share,
        "anchors_in_words": _format_anchors,
    }
    environment.filters |= {"moment": _format_time, "span": _format_duration}
    environment.tests["absent"] = lambda value: isinstance(value, Absent | wire.Absent)
    environment.globals |= {
        "version": __version__,
        "address_of": _build_static_url,
        "call_title": format_call_title,
        "notices": NOTICES,
        "flag_words": FLAGS,
        "methods": METHODS,
        "not_covered": describe_poor_coverage,
        "outcome_words": OUTCOMES_IN_WORDS,
        "job_states": get_args(JobState),
        "band_words": {band: words.lower() for band, words in BANDS.items()},
        "tab_paths": _build_tab_paths,
        "with_query": lambda base, **values: f"{base}?{urlencode(_list_parameters(values))}",
    }
    return environment


def _build_static_url(name: str) -> str:
    file = load_asset(name)
    return f"/console/static/{name}?v={file.digest if file else ''}"


def _build_tab_paths(call: str) -> dict[str, str]:
    """Return the path of each of a call's pages, by tab."""
    own_paths = {"proposals": "", "reviewers": "/assignments", "reviews": "/panel"}
    tabs = ("proposals", "terms", "reviewers", "reviews", "decisions", "letters", "rankings", "plots")
    return {tab: call + own_paths.get(tab, f"/{tab}") for tab in tabs}


def _list_parameters(values: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the non-empty parameters as pairs; a list becomes one pair per item."""
    return [
        (name, str(item).lower() if isinstance(item, bool) else str(item))
        for name, value in values.items()
        for item in (value if isinstance(value, list | tuple) else [value])
        if item not in ("", None, False)
    ]


def _format_dollars(usd: float | None) -> str:
    return "unknown" if usd is None else format_money(usd)


def _format_anchors(anchors: dict[str, str]) -> str:
    """Return the meanings of a criterion's scores on one line, in order of the scores."""
    return "; ".join(f"{score}: {anchors[score]}" for score in sorted(anchors, key=int))


def _format_amount(value: float | None) -> str:
    """Format an amount of money without its currency; decimals are shown only if they are not zero."""
    return "" if value is None else f"{value:,.0f}" if value == round(value) else f"{value:,.2f}"


def _format_share(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.0f}"


def _format_time(time: dt.datetime | None) -> str:
    return "" if time is None else f"{time:%Y-%m-%d %H:%M} UTC"


def _format_duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:.0f} h"
    )
