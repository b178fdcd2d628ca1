"""Find the works to which a PDF page links by DOI or arXiv id without printing it.

Runs in the sandboxed process."""

import ctypes
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pypdfium2.raw as pdfium

from assayer.reference_lists.link_targets import link_address

_MAX_LINKS = 2_000
_MAX_ADDRESS_CHARS = 2_000
_EDGE_DISTANCE, _TOLERANCE = 2.0, 4.0
"""Distances in points: of the point that is looked up from the right edge of a link, and of a letter from this point.
"""


def find_linked_works(document: Any, sheet: Any, text: Any) -> dict[int, str]:
    """Return addresses of works, keyed by the index of the last letter that is linked to each. Works whose identifier
    is printed on the page are left out."""
    indices_by_address = {address: index for address, index in _find_links(document, sheet, text) if index >= 0}
    if not indices_by_address:
        return {}
    printed_text = "".join(text.get_text_range().split()).casefold()
    return {
        index: address
        for address, index in indices_by_address.items()
        if unquote(address).removeprefix("https://doi.org/").removeprefix("https://arxiv.org/abs/") not in printed_text
    }


def _find_links(document: Any, sheet: Any, text: Any) -> Iterator[tuple[str, int]]:
    """Yield the addresses of links to works, in order, each with the index of a letter at its end."""
    position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    for _ in range(_MAX_LINKS):
        if not pdfium.FPDFLink_Enumerate(sheet, position, link):
            return
        address = link_address(_get_target(document, link))
        area = pdfium.FS_RECTF()
        if address and pdfium.FPDFLink_GetAnnotRect(link, area):
            middle = (area.top + area.bottom) / 2
            yield (
                address,
                pdfium.FPDFText_GetCharIndexAtPos(text, area.right - _EDGE_DISTANCE, middle, _TOLERANCE, _TOLERANCE),
            )


def _get_target(document: Any, link: Any) -> str:
    action = pdfium.FPDFLink_GetAction(link)
    if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
        return ""
    length = pdfium.FPDFAction_GetURIPath(document, action, None, 0)
    if not 0 < length <= _MAX_ADDRESS_CHARS:
        return ""
    address = ctypes.create_string_buffer(length)
    pdfium.FPDFAction_GetURIPath(document, action, address, length)
    return address.value.decode("utf-8", "replace")
