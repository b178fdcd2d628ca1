"""What a client would rather have: media types by `Accept` (RFC 9110), waiting by `Prefer` (RFC 7240)."""

import re
from collections.abc import Sequence

from assayer.reports.html import stylesheet
from orchestrator.api.problems import Refusal

__all__ = ["chosen", "page_headers", "representation", "seconds_to_wait"]

_QUALITY = re.compile(r"(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")
_WAIT = re.compile(r"\s*wait\s*=\s*\"?(\d{1,9})\"?\s*(?:;.*)?", re.I)


def chosen(accept: str | None, offered: Sequence[str]) -> str | None:
    """The offered media type that the header likes best, the first of equals; None: it takes none of them."""
    ranges = [_media_range(part) for part in (accept or "").split(",") if part.strip()]
    if not ranges:
        return offered[0]
    liking = {media: _liking(media, ranges) for media in offered}
    best = max(offered, key=lambda media: liking[media])
    return best if liking[best] > 0 else None


def representation(accept: str | None, offered: Sequence[str]) -> str:
    """The same. Raises Refusal (406)."""
    media = chosen(accept, offered)
    if media is None:
        raise Refusal("not-acceptable", f"There is none of {accept!r}; there are {', '.join(offered)}.")
    return media


def _media_range(part: str) -> tuple[str, float]:
    """A range and its quality; one that cannot be read is liked as if it said nothing."""
    media, *parameters = (piece.strip().lower() for piece in part.split(";"))
    quality = next((p.partition("=")[2].strip() for p in parameters if p.partition("=")[0].strip() == "q"), "1")
    return media, float(quality) if _QUALITY.fullmatch(quality) else 1.0


def _liking(media: str, ranges: Sequence[tuple[str, float]]) -> float:
    """The quality of the most specific range that the media type is in."""
    for pattern in (media, media.partition("/")[0] + "/*", "*/*"):
        qualities = [quality for range_, quality in ranges if range_ == pattern]
        if qualities:
            return max(qualities)
    return 0.0


def seconds_to_wait(prefer: Sequence[str], most: float) -> float | None:
    """Of `Prefer: wait=N`, at most `most`; None when nothing of the kind is preferred."""
    for header in prefer:
        for preference in header.split(","):
            if match := _WAIT.fullmatch(preference):
                return min(float(match[1]), most)
    return None


def page_headers(*sheets: str) -> dict[str, str]:
    """For a report as HTML: no script, no request, its own style and no other, in nobody's frame. `sheets` are those
    of its template, without any `report.css`."""
    style = stylesheet(*(sheets or ("report.css",)))[1]
    policy = f"default-src 'none'; style-src '{style}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    return {
        "Content-Security-Policy": policy,
        "Referrer-Policy": "no-referrer",
        "X-Frame-Options": "DENY",
    }
