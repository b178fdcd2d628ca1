"""`Accept` (RFC 9110), `Prefer: wait` (RFC 7240), `Content-Type` of bodies, and the headers of HTML reports."""

import re
from collections.abc import Sequence

from fastapi import Request

from assayer.reports.html import stylesheet
from orchestrator.api.problems import HttpProblem

__all__ = ["html_report_headers", "json_only", "negotiated_media_type", "preferred_media_type", "preferred_wait"]

_QUALITY = re.compile(r"(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")
_WAIT = re.compile(r"\s*wait\s*=\s*\"?(\d{1,9})\"?\s*(?:;.*)?", re.I)


def preferred_media_type(accept: str | None, offered: Sequence[str]) -> str | None:
    """The offered media type with the highest quality in the header, the first of equals; None: none is accepted."""
    ranges = [_media_range(part) for part in (accept or "").split(",") if part.strip()]
    if not ranges:
        return offered[0]
    quality = {media: _quality(media, ranges) for media in offered}
    best = max(offered, key=lambda media: quality[media])
    return best if quality[best] > 0 else None


def negotiated_media_type(accept: str | None, offered: Sequence[str]) -> str:
    """The same; raises HttpProblem (406) where none is accepted."""
    media = preferred_media_type(accept, offered)
    if media is None:
        raise HttpProblem("not-acceptable", f"{accept!r} is not available; there are {', '.join(offered)}.")
    return media


def _media_range(part: str) -> tuple[str, float]:
    """A range and its quality; a quality that cannot be read counts as 1."""
    media, *parameters = (piece.strip().lower() for piece in part.split(";"))
    quality = next((p.partition("=")[2].strip() for p in parameters if p.partition("=")[0].strip() == "q"), "1")
    return media, float(quality) if _QUALITY.fullmatch(quality) else 1.0


def _quality(media: str, ranges: Sequence[tuple[str, float]]) -> float:
    """The quality of the most specific range that the media type is in."""
    for pattern in (media, media.partition("/")[0] + "/*", "*/*"):
        qualities = [quality for range_, quality in ranges if range_ == pattern]
        if qualities:
            return max(qualities)
    return 0.0


def preferred_wait(prefer: Sequence[str], most: float) -> float | None:
    """The seconds of `Prefer: wait=N`, at most `most`; None without such a header."""
    for header in prefer:
        for preference in header.split(","):
            if match := _WAIT.fullmatch(preference):
                return min(float(match[1]), most)
    return None


def html_report_headers(*sheets: str) -> dict[str, str]:
    """For a report as HTML: no script, no request, its own style and no other, in nobody's frame. `sheets` are those
    of its template, without any `report.css`."""
    style = stylesheet(*(sheets or ("report.css",)))[1]
    policy = f"default-src 'none'; style-src '{style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return {
        "Content-Security-Policy": policy,
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
    }


async def json_only(request: Request) -> None:
    """Refuses (415) a body of another media type, in which FastAPI would find fault with the fields."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json" and await request.body():
        raise HttpProblem(
            "unsupported-media-type",
            f"The body is {media or 'of no stated type'}; this takes `Content-Type: application/json`.",
        )
