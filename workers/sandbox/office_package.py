"""Read the parts of an untrusted office document (a ZIP of XML files), with a limit on their decompressed size.

Runs in the sandboxed process. Nothing is fetched, entities are not resolved, and parts with a document type declaration
are refused."""

import io
import zipfile
import zlib
from collections.abc import Iterator

from lxml import etree

from workers.sandbox.refusal import Refused

_COMPOUND_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""First bytes of Microsoft's older container format, which also wraps encrypted documents."""
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_ENCRYPTED_FLAG = 0x1
_MAX_PARTS = 5_000
_MACRO_FILES = ("vbaproject.bin", "vbadata.xml")
_MACRO_FOLDERS = ("Basic/", "Scripts/")
_ODF_MANIFEST = "META-INF/manifest.xml"


class OfficePackage:
    """Parts of one Office document. Every method raises Refused if the document cannot be read."""

    def __init__(self, data: bytes, max_bytes: int) -> None:
        """Open a document. `max_bytes` limits the decompressed size of all parts together."""
        if data.startswith(_COMPOUND_SIGNATURE):
            raise Refused("encrypted" if _ENCRYPTED_STREAM in data else "old_format")
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError) as error:
            raise Refused("damaged") from error
        self._entries = {entry.filename: entry for entry in self._archive.infolist()}
        self._check_entries(max_bytes)

    def _check_entries(self, max_bytes: int) -> None:
        """Check the sizes stated in the archive. These sizes also limit what zipfile decompresses."""
        entries = self._entries.values()
        if len(self._archive.infolist()) > _MAX_PARTS or sum(entry.file_size for entry in entries) > max_bytes:
            raise Refused("too_much_unpacked")
        if any(entry.flag_bits & _ENCRYPTED_FLAG for entry in entries) or self._is_encrypted_open_document():
            raise Refused("encrypted")
        if any(_is_macro_part(name) for name in self._entries):
            raise Refused("macros")

    def _is_encrypted_open_document(self) -> bool:
        manifest = self.parse_part(_ODF_MANIFEST)
        return manifest is not None and any(
            get_local_name(element) == "encryption-data" for element in manifest.iter("*")
        )

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def list_names(self) -> Iterator[str]:
        yield from self._entries

    def read_bytes(self, name: str) -> bytes:
        """Return a part's content; empty if the part does not exist."""
        if name not in self._entries:
            return b""
        try:
            return self._archive.read(self._entries[name])
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
            raise Refused("damaged") from error

    def parse_part(self, name: str, recover: bool = False) -> etree._Element | None:
        """Return the root element of an XML part, or None if the part does not exist. With `recover`, a part with
        errors, such as a lone `&`, is read as far as possible."""
        if name not in self._entries:
            return None
        parser = etree.XMLParser(
            resolve_entities=False,
            load_dtd=False,
            no_network=True,
            remove_comments=True,
            remove_pis=True,
            recover=recover,
        )
        try:
            root = etree.fromstring(self.read_bytes(name), parser)
        except (etree.XMLSyntaxError, ValueError) as error:
            raise Refused("damaged") from error
        if root is None:
            return None
        if root.getroottree().docinfo.internalDTD is not None:
            raise Refused("entities")
        return root


def _is_macro_part(name: str) -> bool:
    return name.rpartition("/")[2].lower() in _MACRO_FILES or name.startswith(_MACRO_FOLDERS)


def get_local_name(element: etree._Element) -> str:
    """Return the element's name without its namespace, because a format's transitional and strict forms have different
    namespaces."""
    return etree.QName(element).localname


def get_attribute(element: etree._Element | None, name: str) -> str | None:
    """Return the attribute with this name in any namespace; None if the element is None or has no such attribute."""
    if element is None:
        return None
    for key, value in element.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return None


def find_children(element: etree._Element | None, name: str) -> Iterator[etree._Element]:
    """Yield the element's direct children named `name`."""
    if element is not None:
        yield from (child for child in element.iterchildren("*") if get_local_name(child) == name)
