"""Detect a response body's type, from the type declared by the server and from the body's first bytes."""

import re
from collections.abc import Collection
from typing import Literal

from assayer.errors import DownloadRefused

ContentKind = Literal["pdf", "html", "xml", "json", "text", "gzip"]

SNIFFED_BYTES = 1_024
"""Number of leading bytes used to determine the type."""

_GENERIC_TYPES = ("", "application/octet-stream", "binary/octet-stream", "application/force-download")
"""Declared types that servers use for any file. The first bytes determine the type instead."""
_DECLARED_TYPES: dict[ContentKind, tuple[str, ...]] = {
    "pdf": ("application/pdf", "application/x-pdf", *_GENERIC_TYPES),
    "html": ("text/html", "application/xhtml+xml"),
    "xml": ("application/xml", "text/xml", "application/tei+xml", "application/jats+xml", *_GENERIC_TYPES),
    "json": ("application/json",),
    "text": ("", "text/plain", "text/markdown", "text/x-markdown"),
    "gzip": ("application/gzip", "application/x-gzip", *_GENERIC_TYPES),
}
_KIND_NAMES: dict[ContentKind, str] = {
    "pdf": "a PDF",
    "html": "an HTML page",
    "xml": "an XML document",
    "json": "JSON",
    "text": "plain text",
    "gzip": "a gzip archive",
}
_HTML_START = re.compile(rb"<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]", re.IGNORECASE)
_XML_START = re.compile(rb"\s*<(?:\?xml|[a-z!])", re.IGNORECASE)
_BINARY_BYTE = re.compile(rb"[\x00-\x08\x0e-\x1a]")


def _describe_kinds(kinds: Collection[ContentKind]) -> str:
    return " or ".join(_KIND_NAMES[kind] for kind in sorted(kinds))


def check_declared_type(content_type: str, accepted_kinds: Collection[ContentKind], url: str) -> None:
    """Raise DownloadRefused if the type declared by the server is not a wanted type."""
    if not any(content_type in _DECLARED_TYPES[kind] for kind in accepted_kinds):
        raise DownloadRefused(f"{url} is served as {content_type[:80]!r}, not as {_describe_kinds(accepted_kinds)}.")


def check_first_bytes(
    start: bytes, content_type: str, accepted_kinds: Collection[ContentKind], url: str
) -> ContentKind:
    """Return the body's type, detected from its first bytes and, if these are ambiguous, the declared type. Raises
    DownloadRefused if the type is unknown or not wanted."""
    kind = "gzip" if start.startswith(b"\x1f\x8b") else _sniff(start, content_type)
    if kind is None:
        raise DownloadRefused(
            f"{url} is not {_describe_kinds(accepted_kinds)}: its file signature (first bytes) is unknown."
        )
    if kind not in accepted_kinds:
        raise DownloadRefused(
            f"{url} is {_KIND_NAMES[kind]}, not {_describe_kinds(accepted_kinds)}.",
            "It may be an error page or a sign-in page.",
        )
    return kind


def _sniff(start: bytes, content_type: str) -> ContentKind | None:
    page, pdf_offset = _HTML_START.search(start), start.find(b"%PDF-")
    if pdf_offset >= 0 and not (page and page.start() < pdf_offset):
        return "pdf"
    if not start.strip():
        return "text" if content_type in _DECLARED_TYPES["text"] else None
    if _BINARY_BYTE.search(start) and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return None
    if page or content_type in _DECLARED_TYPES["html"]:
        return "html"
    declared_kinds: tuple[ContentKind, ...] = ("text", "json")
    if kind := next((kind for kind in declared_kinds if content_type in _DECLARED_TYPES[kind]), None):
        return kind
    return "xml" if _XML_START.match(start) else "text"
