"""`/`: the web console. It holds no data: its script asks the API with the key that its reader enters."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from assayer import __version__
from assayer.reports.html import stylesheet

__all__ = ["ConsolePage", "console_page", "router"]

router = APIRouter(tags=["pages"], include_in_schema=False)


@router.get("/", response_class=HTMLResponse)
async def console() -> HTMLResponse:
    page = console_page()
    headers = {
        "Content-Security-Policy": page.policy,
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-cache",
    }
    return HTMLResponse(page.html, headers=headers)


_SCRIPTS = ("dom.js", "service.js", "drawing.js", "views.js", "console.js")


class ConsolePage(NamedTuple):
    html: str
    policy: str
    """What the browser may load for it: its own style and script, the reports' styles, the API it came from."""


@cache
def console_page() -> ConsolePage:
    folder = files("orchestrator.api.pages")
    css = "\n".join((str(stylesheet("report.css")[0]), (folder / "console.css").read_text("utf-8")))
    script = '"use strict";\n' + "\n".join((folder / name).read_text("utf-8") for name in _SCRIPTS)
    source = (folder / "console.html").read_text("utf-8")
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(source)
    # Our own files, whose hashes the policy names.
    html = template.render(css=Markup(css), script=Markup(script), version=__version__)  # noqa: S704
    # A report in a frame is under this page's policy as well as its own.
    styles = " ".join(f"'{one}'" for one in (_hash(css), stylesheet("report.css")[1]))
    policy = (
        f"default-src 'none'; style-src {styles}; script-src '{_hash(script)}'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return ConsolePage(html, policy)


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
