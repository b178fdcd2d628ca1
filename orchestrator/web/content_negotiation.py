"""Content negotiation with `Accept` (RFC 9110) and `Prefer: wait` (RFC 7240), and the response headers for HTML
reports."""

import re
from collections.abc import Sequence

from assayer.reports.html import load_stylesheet
from orchestrator.problems import HttpProblem

_QUALITY = re.compile(r"(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")
_WAIT = re.compile(r"\s*wait\s*=\s*\"?(\d{1,9})\"?\s*(?:;.*)?", re.I)


def choose_media_type(accept: str | None, offered: Sequence[str]) -> str | None:
    """Return the offered media type that the header prefers, or the first of several equally preferred ones. None if
    none is accepted."""
    ranges = [_parse_media_range(part) for part in (accept or "").split(",") if part.strip()]
    if not ranges:
        return offered[0]
    quality = {media_type: _get_quality(media_type, ranges) for media_type in offered}
    best = max(offered, key=lambda media_type: quality[media_type])
    return best if quality[best] > 0 else None


def require_media_type(accept: str | None, offered: Sequence[str]) -> str:
    """Return the offered media type that the header prefers, or the first of several equally preferred ones. Raises
    HttpProblem with status 406 if none is accepted."""
    media_type = choose_media_type(accept, offered)
    if media_type is None:
        raise HttpProblem(
            "not-acceptable", f"{accept!r} is not available. The available media types are {', '.join(offered)}."
        )
    return media_type


def _parse_media_range(part: str) -> tuple[str, float]:
    """Parse a media range and its quality. A quality that cannot be parsed counts as 1."""
    media_type, *parameters = (piece.strip().lower() for piece in part.split(";"))
    quality = next(
        (parameter.partition("=")[2].strip() for parameter in parameters if parameter.partition("=")[0].strip() == "q"),
        "1",
    )
    return media_type, float(quality) if _QUALITY.fullmatch(quality) else 1.0


def _get_quality(media_type: str, ranges: Sequence[tuple[str, float]]) -> float:
    """Return the quality of the most specific range that matches the media type; 0 if none does."""
    for pattern in (media_type, media_type.partition("/")[0] + "/*", "*/*"):
        qualities = [quality for range_, quality in ranges if range_ == pattern]
        if qualities:
            return max(qualities)
    return 0.0


def parse_preferred_wait(prefer: Sequence[str], max_seconds: float) -> float | None:
    """Return the seconds N from a `Prefer: wait=N` header, capped at `max_seconds`; None if there is no such header."""
    for header in prefer:
        for preference in header.split(","):
            if match := _WAIT.fullmatch(preference):
                return min(float(match[1]), max_seconds)
    return None


def build_html_report_headers(*sheets: str) -> dict[str, str]:
    """Return the response headers for an HTML report. They forbid scripts, requests and embedding in frames, and allow
    only the report's own style. `sheets` names its style sheets; the default is `report.css`."""
    style = load_stylesheet(*(sheets or ("report.css",)))[1]
    policy = f"default-src 'none'; style-src '{style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"}
