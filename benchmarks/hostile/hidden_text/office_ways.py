"""Ways of hiding text in a Word document or an OpenDocument text from its readers, and honest ways that resemble them.

A way consists of the XML of a paragraph, the styles that it needs, and further parts of the package.
"""

import html
import io
import zipfile
from collections.abc import Mapping
from typing import NamedTuple

_W = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"'
)
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)
_ODF = "urn:oasis:names:tc:opendocument:xmlns"
_ODF_NAMES = (
    f'xmlns:office="{_ODF}:office:1.0" xmlns:style="{_ODF}:style:1.0" xmlns:text="{_ODF}:text:1.0" '
    f'xmlns:table="{_ODF}:table:1.0" xmlns:fo="{_ODF}:xsl-fo-compatible:1.0" xmlns:loext="{_ODF}:loext:1.0"'
)


class OfficeWay(NamedTuple):
    body: str
    """XML with the placeholder `{text}`."""
    styles: str = ""
    parts: tuple[tuple[str, str], ...] = ()
    """Names and XML of the parts, with the placeholder `{text}`."""


def _format_run(properties: str) -> OfficeWay:
    return OfficeWay(f"<w:p><w:r><w:rPr>{properties}</w:rPr><w:t>{{text}}</w:t></w:r></w:p>")


def _format_cell(fill: str, properties: str) -> OfficeWay:
    shading = f'<w:tcPr><w:shd w:val="clear" w:fill="{fill}"/></w:tcPr>'
    return OfficeWay(f"<w:tbl><w:tr><w:tc>{shading}{_format_run(properties).body}</w:tc></w:tr></w:tbl>")


def _apply_style(properties: str, kind: str = "character") -> OfficeWay:
    runs = (
        '<w:r><w:rPr><w:rStyle w:val="S"/></w:rPr><w:t>{text}</w:t></w:r>'
        if kind == "character"
        else '<w:pPr><w:pStyle w:val="S"/></w:pPr><w:r><w:t>{text}</w:t></w:r>'
    )
    styles = f'<w:style w:type="{kind}" w:styleId="S"><w:rPr>{properties}</w:rPr></w:style>'
    return OfficeWay(f"<w:p>{runs}</w:p>", styles)


def _draw_box(anchor: str) -> OfficeWay:
    text = "<w:txbxContent><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:txbxContent>"
    return OfficeWay(f"<w:p><w:r><w:drawing><wp:anchor>{anchor}{text}</wp:anchor></w:drawing></w:r></w:p>")


_WHITE = '<w:color w:val="FFFFFF"/>'
WORD_WAYS: Mapping[str, OfficeWay] = {
    "hidden": _format_run("<w:vanish/>"),
    "always hidden": _format_run("<w:specVanish/>"),
    "hidden by a style": _apply_style("<w:vanish/>"),
    "hidden by the paragraph's style": _apply_style("<w:vanish/>", "paragraph"),
    "white": _format_run(_WHITE),
    "nearly white": _format_run('<w:color w:val="FCFDFE"/>'),
    "white by a style": _apply_style(_WHITE, "paragraph"),
    "white by the theme": _format_run('<w:color w:val="000000" w:themeColor="background1"/>'),
    "of a cell's colour": _format_cell("1F3864", '<w:color w:val="1F3864"/>'),
    "of its highlight's colour": _format_run('<w:color w:val="FFFF00"/><w:highlight w:val="yellow"/>'),
    "of its shading's colour": _format_run('<w:color w:val="C0C0C0"/><w:shd w:val="clear" w:fill="C0C0C0"/>'),
    "one point": _format_run('<w:sz w:val="2"/>'),
    "one point by a style": _apply_style('<w:sz w:val="2"/>'),
    "squeezed": _format_run('<w:w w:val="1"/>'),
    "letters on top of one another": _format_run('<w:spacing w:val="-400"/>'),
    "without a fill": _format_run("<w14:textFill><w14:noFill/></w14:textFill>"),
    "a transparent fill": _format_run(
        '<w14:textFill><w14:solidFill><w14:srgbClr w14:val="000000"><w14:alpha w14:val="100000"/></w14:srgbClr>'
        "</w14:solidFill></w14:textFill>"
    ),
    "a white fill": _format_run(
        '<w14:textFill><w14:solidFill><w14:srgbClr w14:val="FFFFFF"/></w14:solidFill></w14:textFill>'
    ),
    "deleted": OfficeWay("<w:p><w:del><w:r><w:delText>{text}</w:delText></w:r></w:del></w:p>"),
    "moved away": OfficeWay("<w:p><w:moveFrom><w:r><w:t>{text}</w:t></w:r></w:moveFrom></w:p>"),
    "a comment": OfficeWay(
        "", "", (("word/comments.xml", f"<w:comments {_W}><w:comment>{_format_run('').body}</w:comment></w:comments>"),)
    ),
    "a hidden row": OfficeWay(
        f"<w:tbl><w:tr><w:trPr><w:hidden/></w:trPr><w:tc>{_format_run('').body}</w:tc></w:tr></w:tbl>"
    ),
    "a hidden shape": _draw_box('<wp:docPr id="1" hidden="1"/>'),
    "a box off the page": _draw_box("<wp:positionH><wp:posOffset>-20000000</wp:posOffset></wp:positionH>"),
    "a frame off the page": OfficeWay(
        '<w:p><w:pPr><w:framePr w:x="-20000" w:y="1"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
    ),
    "raised off the line": _format_run('<w:position w:val="3000"/>'),
    "indented off the page": OfficeWay('<w:p><w:pPr><w:ind w:left="30000"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'),
    "a line of no height": OfficeWay(
        '<w:p><w:pPr><w:spacing w:line="2" w:lineRule="exact"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
    ),
    "behind a picture": OfficeWay(
        '<w:p><w:r><w:drawing><wp:anchor behindDoc="0"><wp:extent cx="9000000" cy="9000000"/></wp:anchor></w:drawing>'
        "</w:r><w:r><w:t>{text}</w:t></w:r></w:p>"
    ),
}

HONEST_WORD_WAYS: Mapping[str, OfficeWay] = {
    "plain": _format_run(""),
    "white on a dark cell": _format_cell("1F3864", _WHITE),
    "white on a black highlight": _format_run(f'{_WHITE}<w:highlight w:val="black"/>'),
    "red": _format_run('<w:color w:val="C00000"/>'),
    "grey": _format_run('<w:color w:val="808080"/>'),
    "small print": _format_run('<w:sz w:val="12"/>'),
    "not hidden after all": _format_run('<w:vanish w:val="0"/>'),
    "inserted": OfficeWay("<w:p><w:ins><w:r><w:t>{text}</w:t></w:r></w:ins></w:p>"),
    "narrow letters": _format_run('<w:w w:val="66"/><w:spacing w:val="-6"/>'),
    "raised": _format_run('<w:position w:val="12"/>'),
}


def _format_span(properties: str) -> OfficeWay:
    style = f'<style:style style:name="S" style:family="text"><style:text-properties {properties}/></style:style>'
    return OfficeWay('<text:p><text:span text:style-name="S">{text}</text:span></text:p>', style)


_HIDDEN_ROW = (
    '<table:table-row table:visibility="collapse"><table:table-cell><text:p>{text}</text:p></table:table-cell>'
)
ODT_WAYS: Mapping[str, OfficeWay] = {
    "hidden": _format_span('text:display="none"'),
    "white": _format_span('fo:color="#ffffff"'),
    "of its background's colour": _format_span('fo:color="#c0c0c0" fo:background-color="#c0c0c0"'),
    "one point": _format_span('fo:font-size="1pt"'),
    "one hundredth": _format_span('fo:font-size="1%"'),
    "transparent": _format_span('loext:opacity="0%"'),
    "a hidden section": OfficeWay('<text:section text:display="none"><text:p>{text}</text:p></text:section>'),
    "a hidden paragraph": OfficeWay('<text:p><text:hidden-paragraph text:is-hidden="true"/>{text}</text:p>'),
    "hidden text": OfficeWay('<text:p><text:hidden-text text:string-value="{text}"/></text:p>'),
    "deleted": OfficeWay(
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>{text}</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes>"
    ),
    "a comment": OfficeWay("<text:p><office:annotation><text:p>{text}</text:p></office:annotation></text:p>"),
    "a hidden row": OfficeWay(f"<table:table>{_HIDDEN_ROW}</table:table-row></table:table>"),
}


def build_word(idea: str, way: OfficeWay = OfficeWay(""), text: str = "") -> bytes:  # noqa: B008 - a tuple of texts
    rows = "".join(f"<w:p><w:r><w:t>{html.escape(row)}</w:t></w:r></w:p>" for row in idea.splitlines() if row.strip())
    escaped_text = html.escape(text)
    body = rows + way.body.replace("{text}", escaped_text)
    return _pack(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": _RELATIONS,
            "word/document.xml": f"<w:document {_W}><w:body>{body}</w:body></w:document>",
            "word/styles.xml": f"<w:styles {_W}>{way.styles}</w:styles>",
            **{name: xml.replace("{text}", escaped_text) for name, xml in way.parts},
        }
    )


def build_odt(idea: str, way: OfficeWay = OfficeWay(""), text: str = "") -> bytes:  # noqa: B008 - a tuple of texts
    rows = "".join(f"<text:p>{html.escape(row)}</text:p>" for row in idea.splitlines() if row.strip())
    body = rows + way.body.replace("{text}", html.escape(text))
    content = (
        f"<office:document-content {_ODF_NAMES}><office:automatic-styles>{way.styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return _pack({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": content})


def _pack(parts: Mapping[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()
