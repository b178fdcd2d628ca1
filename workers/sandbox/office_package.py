"""Opens an untrusted office document, a ZIP of XML parts, and unpacks no more of it than it may.

Runs in the sandboxed process. Nothing is fetched, no entity is resolved, and a part with a document type is refused.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator

from lxml import etree

__all__ = ["OfficePackage", "UnreadableOffice", "attribute", "children", "named"]

_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The start of Microsoft's older container, in which encrypted documents are wrapped as well."""
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_ENCRYPTED = 0x1
_MOST_PARTS = 5_000
_MACROS = ("vbaproject.bin", "vbadata.xml")
_MACRO_FOLDERS = ("Basic/", "Scripts/")
_ODF_MANIFEST = "META-INF/manifest.xml"


class UnreadableOffice(Exception):
    """The argument names the reason, in one word for the parent."""


class OfficePackage:
    """The parts of one document. Every method raises UnreadableOffice."""

    def __init__(self, data: bytes, most_bytes: int) -> None:
        """`most_bytes`: of all parts together, unpacked."""
        if data.startswith(_COMPOUND):
            raise UnreadableOffice("encrypted" if _ENCRYPTED_STREAM in data else "old_format")
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
            raise UnreadableOffice("damaged") from error
        self._entries = {entry.filename: entry for entry in self._archive.infolist()}
        self._check(most_bytes)

    def _check(self, most_bytes: int) -> None:
        """The sizes that an archive claims bound what zipfile unpacks of it."""
        entries = self._entries.values()
        if len(self._archive.infolist()) > _MOST_PARTS or sum(entry.file_size for entry in entries) > most_bytes:
            raise UnreadableOffice("too_much_unpacked")
        if any(entry.flag_bits & _ENCRYPTED for entry in entries) or self._is_encrypted_open_document():
            raise UnreadableOffice("encrypted")
        if any(_holds_macros(name) for name in self._entries):
            raise UnreadableOffice("macros")

    def _is_encrypted_open_document(self) -> bool:
        manifest = self.part(_ODF_MANIFEST)
        return manifest is not None and any(named(element) == "encryption-data" for element in manifest.iter("*"))

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def names(self) -> Iterator[str]:
        yield from self._entries

    def bytes_of(self, name: str) -> bytes:
        """Empty for a part that is not there."""
        if name not in self._entries:
            return b""
        try:
            return self._archive.read(self._entries[name])
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
            raise UnreadableOffice("damaged") from error

    def part(self, name: str) -> etree._Element | None:
        """The root of an XML part; None for a part that is not there."""
        if name not in self._entries:
            return None
        parser = etree.XMLParser(
            resolve_entities=False, load_dtd=False, no_network=True, remove_comments=True, remove_pis=True
        )
        try:
            root = etree.fromstring(self.bytes_of(name), parser)
        except (etree.XMLSyntaxError, ValueError) as error:
            raise UnreadableOffice("damaged") from error
        if root.getroottree().docinfo.internalDTD is not None:
            raise UnreadableOffice("entities")
        return root


def _holds_macros(name: str) -> bool:
    return name.rpartition("/")[2].lower() in _MACROS or name.startswith(_MACRO_FOLDERS)


def named(element: etree._Element) -> str:
    """The name without its namespace: the transitional and the strict form of a format differ in that alone."""
    return etree.QName(element).localname


def attribute(element: etree._Element | None, name: str) -> str | None:
    """By its name without a namespace; None for an element that is not there."""
    if element is None:
        return None
    for key, value in element.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return None


def children(element: etree._Element | None, name: str) -> Iterator[etree._Element]:
    """Those of that name, directly under the element."""
    if element is not None:
        yield from (child for child in element.iterchildren("*") if named(child) == name)
