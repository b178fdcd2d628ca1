"""A page of the console: its frame, and what a browser may load for it, which is nothing but its own style."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from orchestrator.access.signed_in import SignedIn, csrf_token

__all__ = ["page"]


def page(request: Request, who: SignedIn, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    css, digest = _style()
    html = _environment().get_template(template).render(css=css, who=who, csrf=csrf_token(request), **values)
    policy = (
        f"default-src 'none'; style-src '{digest}'; img-src data:; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    )
    headers = {
        "Content-Security-Policy": policy,
        "Referrer-Policy": "same-origin",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cache-Control": "no-store",
    }
    return HTMLResponse(html, status, headers)


@cache
def _environment() -> Environment:
    loader = PackageLoader("orchestrator.console", "templates")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)


@cache
def _style() -> tuple[Markup, str]:
    css = (files("orchestrator.console.templates") / "console.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    return Markup(css), f"sha256-{digest}"  # noqa: S704 - our own file, whose hash the policy names
