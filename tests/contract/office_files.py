"""Small office documents written by hand: ordinary ones, and hostile ones that no library would write."""

import io
import zipfile
from collections.abc import Mapping

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_ODF_NAMES = (
    f'xmlns:office="{_ODF}:office:1.0" xmlns:style="{_ODF}:style:1.0" xmlns:text="{_ODF}:text:1.0" '
    f'xmlns:table="{_ODF}:table:1.0" xmlns:draw="{_ODF}:drawing:1.0" '
    f'xmlns:fo="{_ODF}:xsl-fo-compatible:1.0" xmlns:loext="{_ODF}:loext:1.0"'
)


def build_package(parts: Mapping[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def word(body: str, styles: str = "", parts: Mapping[str, str | bytes] | None = None, prolog: str = "") -> bytes:
    """Return a Word file from the XML inside `w:body` and `w:styles`."""
    names = f'xmlns:w="{_W}" xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml"'
    return build_package(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": _RELATIONS,
            "word/document.xml": f"{prolog}<w:document {names}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": f"<w:styles {names}>{styles}</w:styles>",
            **(parts or {}),
        }
    )


def odt(body: str, styles: str = "", manifest: str = "", parts: Mapping[str, str | bytes] | None = None) -> bytes:
    """Return an ODT file from the XML inside `office:text` and `office:automatic-styles`."""
    content = (
        f"<office:document-content {_ODF_NAMES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return build_package(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": content,
            "META-INF/manifest.xml": f'<m:manifest xmlns:m="{_ODF}:manifest:1.0">{manifest}</m:manifest>',
            **(parts or {}),
        }
    )
