"""A person whose browser sends more requests than it may: a problem document for programs, a plain page for people."""

import math

from fastapi import Request
from starlette.responses import HTMLResponse, Response

from orchestrator.api.problems import HttpProblem

__all__ = ["TooFast", "person_too_fast", "to_wait"]


class TooFast(Exception):
    """Of a page of the console. The application answers with a page that says when to come back."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = _whole(seconds)


def person_too_fast(seconds: float) -> HttpProblem:
    detail = f"Your browser has sent more requests than one person may. It may send the next in {_whole(seconds)} s."
    return HttpProblem("rate-limited", detail, retry_after=_whole(seconds))


async def to_wait(_: Request, error: TooFast) -> Response:
    """Without scripts, styles or anything else that would be another request."""
    seconds = f"{error.seconds} {'second' if error.seconds == 1 else 'seconds'}"
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Too many requests</title>'
        "<h1>Too many requests</h1><p>This browser has sent more requests in a minute than one person may. Nothing was "
        f"changed by this one. Load the page again in {seconds}.</p></html>"
    )
    return HTMLResponse(page, 429, {"Retry-After": str(error.seconds), "Cache-Control": "no-store"})


def _whole(seconds: float) -> int:
    return max(1, math.ceil(seconds))
