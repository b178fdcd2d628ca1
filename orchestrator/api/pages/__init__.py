"""The console: one page that asks the API with the key of whoever opened it."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from assayer import __version__
from assayer.reports.html import stylesheet

__all__ = ["ConsolePage", "console_page"]

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
