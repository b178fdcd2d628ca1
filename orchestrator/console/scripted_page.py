"""How pages with scripts are rendered: templates, what they load, and the policy under which browsers take them."""

import datetime as dt
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from assayer import __version__
from assayer.models import Absent
from assayer.reports.escaping import printable
from assayer.reports.wording import BANDS, FLAGS, METHODS, NOTICES, money
from orchestrator.access.signed_in import SignedIn, csrf_token
from orchestrator.jobs.outcome_wording import OUTCOMES_IN_WORDS, STATES_IN_WORDS, not_covered_in_words

__all__ = ["Asset", "asset", "page_response"]

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
    "Referrer-Policy": "same-origin",  # the origin is told with a form only where a referrer may be
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Asset(NamedTuple):
    content: bytes
    media_type: str
    digest: str
    """Names this content in the addresses of pages, so that browsers may keep it."""


@cache
def asset(name: str) -> Asset | None:
    """None: pages load nothing of that name."""
    if name not in _ASSETS:
        return None
    content = (files("orchestrator.console") / "static" / name).read_bytes()
    if name == "console.css":
        content = (files("assayer.reports") / "templates" / "report.css").read_bytes() + content
    return Asset(content, _MEDIA_TYPES[name.rpartition(".")[2]], hashlib.sha256(content).hexdigest()[:16])


def page_response(
    template: str, request: Request, who: SignedIn | None, *, status: int = 200, **values: object
) -> HTMLResponse:
    """`who` is None where it was refused before anybody asked who it is."""
    html = _environment().get_template(template).render(who=who, csrf=csrf_token(request), **values)
    return HTMLResponse(html, status, _HEADERS)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("orchestrator.console", "templates"),
        autoescape=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"dollars": _dollars, "share": _hundred, "moment": _moment, "span": _span}
    environment.tests["absent"] = lambda value: isinstance(value, Absent)
    environment.globals |= {
        "version": __version__,
        "address_of": _address,
        "notices": NOTICES,
        "flag_words": FLAGS,
        "methods": METHODS,
        "not_covered": not_covered_in_words,
        "outcome_words": OUTCOMES_IN_WORDS,
        "state_words": STATES_IN_WORDS,
        "band_words": {band: words.lower() for band, words in BANDS.items()},
        "with_query": lambda base, **values: f"{base}?{urlencode(_pairs(values))}",
    }
    return environment


def _address(name: str) -> str:
    found = asset(name)
    return f"/console/static/{name}?v={found.digest if found else ''}"


def _pairs(values: dict[str, Any]) -> list[tuple[str, str]]:
    """Parameters that say something; lists once for each of their members."""
    return [
        (name, str(one).lower() if isinstance(one, bool) else str(one))
        for name, value in values.items()
        for one in (value if isinstance(value, list | tuple) else [value])
        if one not in ("", None, False)
    ]


def _dollars(usd: float | None) -> str:
    return "unknown" if usd is None else money(usd)


def _hundred(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.0f}"


def _moment(at: dt.datetime | None) -> str:
    return "" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def _span(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:.0f} h"
    )
