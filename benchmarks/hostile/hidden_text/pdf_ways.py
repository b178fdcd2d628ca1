"""Ways of hiding text in a PDF page from its readers, and honest ways that resemble them.

Each takes the drawing of an honest page and a text of one line, and returns the page with both.
"""

from collections.abc import Callable, Mapping

from benchmarks.hostile.hidden_text.pdf_pages import Page, draw_line

Way = Callable[[str, str], Page]

_PLACE = "40 90 532 30"
"""Rectangle around the text: left, bottom, width, height."""
_FORM = "/Type /XObject /Subtype /Form /BBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
_PIXEL = "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
_WHITE = "<< /FunctionType 2 /Domain [0 1] /C0 [1 1 1] /C1 [1 1 1] /N 1 >>"
_THANKS = (
    "We thank the three partner schools and every family for their patient help during two cold winters of field work. "
)


def _draw_plain(before: str = "0 g", *, over: str = "", under: str = "", height: float = 100, size: float = 10,
           left: float = 60) -> Way:  # fmt: skip
    return lambda body, text: Page(body + under + draw_line(text, height, before, size, left) + over)


def _draw_around(start: str, end: str = "Q\n", **page_parts: str) -> Way:
    return lambda body, text: Page(f"{body}{start}{draw_line(text, 100)}{end}", **page_parts)  # type: ignore[arg-type]


def _draw_with_state(state: str, before: str = "", **objects: str | tuple[str, str]) -> Way:
    """Return a way that draws the text with a graphics state."""
    return lambda body, text: Page(
        f"{body}q {before} /GS gs {draw_line(text, 100)}Q\n", f"/ExtGState << /GS << {state} >> >>", objects=objects
    )


def _draw_form(entries: str, drawing: str = "{text}", before: str = "", after: str = "", is_off: bool = False) -> Way:
    def draw(body: str, text: str) -> Page:
        form_content = drawing.replace("{text}", draw_line(text, 100)).replace("{white}", draw_line(text, 100, "1 g"))
        return Page(
            f"{body}{before} /Form Do {after}".replace("{text}", draw_line(text, 100)),
            "/XObject << /Form {form} >>",
            objects={"layer": "<< /Type /OCG /Name (a) >>", "form": (f"{_FORM} {entries}", form_content)},
            layers_off=("layer",) if is_off else (),
        )

    return draw


def _draw_nested_forms(body: str, text: str) -> Page:
    outer = _FORM.replace("/Font", "/XObject << /Inner {inner} >> /Font")
    return Page(
        f"{body} /Outer Do 1 g {_PLACE} re f",
        "/XObject << /Outer {outer} >>",
        objects={"inner": (_FORM, draw_line(text, 100)), "outer": (outer, "/Inner Do")},
    )


def _draw_layer(dictionary: str = "{layer}", is_off: bool = True) -> Way:
    return lambda body, text: Page(
        f"{body}/OC /Layer BDC {draw_line(text, 100)} EMC\n",
        f"/Properties << /Layer {dictionary} >>",
        objects={"layer": "<< /Type /OCG /Name (a) >>"},
        layers_off=("layer",) if is_off else (),
    )


def _cover_with(command: str, resources: str, **objects: str | tuple[str, str]) -> Way:
    return lambda body, text: Page(f"{body}{draw_line(text, 100)}q {command} Q\n", resources, objects=objects)


def _cover_with_annotation(body: str, text: str) -> Page:
    return Page(
        body + draw_line(text, 100),
        objects={
            "look": ("/Type /XObject /Subtype /Form /BBox [0 0 532 30]", "1 g 0 0 532 30 re f"),
            "note": "<< /Type /Annot /Subtype /Square /Rect [40 90 572 120] /F 4 /AP << /N {look} >> >>",
        },
        page_entries="/Annots [{note}]",
    )


def _draw_with_map(
    choose_glyphs: Callable[[str], str], text_matrix: str = "1 0 0 1 60 100", operators: str = ""
) -> Way:
    """Return a way with a font whose glyphs show one text and whose Unicode map states another."""

    def draw(body: str, text: str) -> Page:
        drawn_text = choose_glyphs(text)
        names = {" ": "space", ".": "period", ",": "comma", "-": "hyphen", "'": "quotesingle", ":": "colon"}
        glyphs = " ".join(f"/{names.get(character, character)}" for character in drawn_text)
        unicode_map = "\n".join(f"<{33 + number:02x}> <{ord(character):04x}>" for number, character in enumerate(text))
        cmap = (
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /a def\n1 begincodespacerange\n"
            f"<00> <ff>\nendcodespacerange\n{len(text)} beginbfchar\n{unicode_map}\nendbfchar\nendcmap end end"
        )
        codes = "".join(f"{33 + number:02x}" for number in range(len(text)))
        return Page(
            f"{body} 0 g BT /M 10 Tf {text_matrix} Tm <{codes}> Tj ET\n",
            fonts="/M {font}",
            page_entries=operators,
            objects={
                "map": ("", cmap),
                "font": "<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman /ToUnicode {map} "
                f"/Encoding << /Type /Encoding /Differences [33 {glyphs}] >> >>",
            },
        )

    return draw


def _repeat_thanks(text: str) -> str:
    return (_THANKS * (1 + len(text) // len(_THANKS)))[: len(text)]


def _exchange_letters(text: str) -> str:
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    table = str.maketrans(
        alphabet + alphabet.upper(), alphabet[13:] + alphabet[:13] + alphabet[13:].upper() + alphabet[:13].upper()
    )
    ascii_text = "".join(character if character.isascii() else "e" for character in text)
    return ascii_text.translate(table)


def _replace_text(drawn_text: str | None) -> Way:
    """Return a way with marked content whose ActualText is the text."""

    def draw(body: str, text: str) -> Page:
        units = text.encode("utf-16-be").hex()
        visible_text = text if drawn_text is None else drawn_text
        return Page(f"{body}/Span << /ActualText <feff{units}> >> BDC {draw_line(visible_text, 100)} EMC\n")

    return draw


def _draw_empty_glyphs(body: str, text: str) -> Page:
    letters = sorted(set(text))
    names = " ".join(f"/g{ord(character)}" for character in letters)
    unicode_map = "\n".join(
        f"<{33 + position:02x}> <{ord(character):04x}>" for position, character in enumerate(letters)
    )
    codes = "".join(f"{33 + letters.index(character):02x}" for character in text)
    glyphs = " ".join(f"/g{ord(character)} {{glyph}}" for character in letters)
    return Page(
        f"{body} BT /E 10 Tf 60 100 Td <{codes}> Tj ET\n",
        fonts="/E {font}",
        objects={
            "map": (
                "",
                "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n1 begincodespacerange\n<00> <ff>\n"
                f"endcodespacerange\n{len(letters)} beginbfchar\n{unicode_map}\nendbfchar\nendcmap end end",
            ),
            "glyph": ("", "500 0 0 0 500 700 d1"),
            "font": "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 500 700] /FontMatrix [0.001 0 0 0.001 0 0] "
            f"/FirstChar 33 /LastChar {32 + len(letters)} /Widths [{'500 ' * len(letters)}] /ToUnicode {{map}} "
            f"/Encoding << /Differences [33 {names}] >> /CharProcs << {glyphs} >> /Resources << >> >>",
        },
    )


def _draw_word_by_word(body: str, text: str) -> Page:
    drawing, left = body, 60.0
    for word in text.split():
        drawing += draw_line(word, 100, "1 g", left=left)
        left += 5.2 * len(word) + 6
    return Page(drawing)


def _cover_with_shading(body: str, text: str) -> Page:
    shading = "<< /ShadingType 2 /ColorSpace /DeviceRGB /Coords [0 0 612 0] /Extend [true true] /Function {white} >>"
    return Page(
        f"{body}{draw_line(text, 100)}q {_PLACE} re W n /S sh Q\n",
        "/Shading << /S {shade} >>",
        objects={"white": _WHITE, "shade": shading},
    )


def _cover_with_pattern(body: str, text: str) -> Page:
    entries = "/PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 9 9] /XStep 9 /YStep 9 /Resources << >>"
    return Page(
        f"{body}{draw_line(text, 100)}q /Pattern cs /P scn {_PLACE} re f Q\n",
        "/Pattern << /P {tile} >>",
        objects={"tile": (entries, "1 g 0 0 9 9 re f")},
    )


def _draw_with_mask(grey: str) -> Way:
    group = "/Group << /S /Transparency /CS /DeviceGray >>"
    return _draw_with_state(
        "/SMask << /Type /Mask /S /Luminosity /G {form} >>", form=(f"{_FORM} {group}", f"{grey} g 0 0 612 792 re f")
    )


PDF_WAYS: Mapping[str, Way] = {
    "white on white": _draw_plain("1 g"),
    "nearly white": _draw_plain("0.99 1 0.98 rg"),
    "the colour of the shape behind": _draw_plain("0 0 0.4 rg", under=f"0 0 0.4 rg {_PLACE} re f\n"),
    "white in CMYK": _draw_plain("0 0 0 0 k"),
    "white outlines": _draw_plain("1 G 1 Tr"),
    "word by word": _draw_word_by_word,
    "under a white rectangle": _draw_plain(over=f"1 g {_PLACE} re f\n"),
    "under a thick white line": _draw_plain(over="1 G 30 w 40 104 m 572 104 l S\n"),
    "under a picture": _cover_with("532 0 0 30 40 90 cm /I Do", "/XObject << /I {dot} >>", dot=(_PIXEL, "y")),
    "under a shading": _cover_with_shading,
    "under a pattern": _cover_with_pattern,
    "under a form": _draw_form("", f"1 g {_PLACE} re f", before="{text}"),
    "under an annotation": _cover_with_annotation,
    "under other text": _draw_plain("1 g", over=draw_line("A" * 70, 100), left=60),
    "invisible mode": _draw_plain("3 Tr"),
    "clipping mode": _draw_plain("7 Tr"),
    "one point": _draw_plain(size=1),
    "scaled down": lambda body, text: Page(f"{body}q 0.1 0 0 0.1 0 0 cm {draw_line(text, 1000, left=600)} Q\n"),
    "squeezed to no width": _draw_plain("0.1 Tz"),
    "below the page": _draw_plain(height=-40),
    "beside the page": _draw_plain(left=2000),
    "outside the crop box": lambda body, text: Page(body + draw_line(text, 20), page_entries="/CropBox [0 60 612 792]"),
    "clipped away": _draw_around("q 0 0 5 5 re W n "),
    "clipped to a sliver": _draw_around("q 40 99 532 1 re W n "),
    "white in a form": _draw_form("", "{white}"),
    "in a form, covered later": _draw_form("", after=f"1 g {_PLACE} re f"),
    "in a form inside a form": _draw_nested_forms,
    "outside a form's box": _draw_form("/BBox [0 200 612 792]"),
    "in a form scaled down": _draw_form("/Matrix [0.05 0 0 0.05 100 100]"),
    "opacity 0": _draw_with_state("/ca 0"),
    "opacity 0.03": _draw_with_state("/ca 0.03"),
    "soft mask": _draw_with_mask("0"),
    "blended away": _draw_with_state("/BM /Screen", before=f"1 g {_PLACE} re f"),
    "layer switched off": _draw_layer(),
    "layer by membership": _draw_layer("<< /Type /OCMD /OCGs [{layer}] /P /AllOn >>"),
    "form of a layer switched off": _draw_form("/OC {layer}", is_off=True),
    "empty glyphs": _draw_empty_glyphs,
    "font map: another sentence is drawn": _draw_with_map(_repeat_thanks),
    "font map: letters exchanged": _draw_with_map(_exchange_letters),
    "font map: letters exchanged, on their sides": _draw_with_map(_exchange_letters, "0 1 -1 0 590 60"),
    "font map: letters exchanged, on a turned page": _draw_with_map(_exchange_letters, operators="/Rotate 90"),
    "ActualText over another sentence": _replace_text("We thank the three partner schools for their help."),
    "ActualText over a blank": _replace_text(" "),
}

HONEST_PDF_WAYS: Mapping[str, Way] = {
    "plain": _draw_plain(),
    "white on a dark box": _draw_plain("1 g", under=f"0 0 0.4 rg {_PLACE} re f\n"),
    "black on a grey box": _draw_plain(under=f"0.9 g {_PLACE} re f\n"),
    "red on green of the same grey": _draw_plain("0.8 0 0 rg", under=f"0 0.41 0 rg {_PLACE} re f\n"),
    "light grey": _draw_plain("0.8 g"),
    "outlined": _draw_plain("0 G 1 Tr"),
    "small print": _draw_plain(size=5),
    "drawn twice": lambda body, text: Page(body + draw_line(text, 100) + draw_line(text, 100, left=60.3)),
    "clip around it": _draw_around(f"q {_PLACE} re W n "),
    "in a form": _draw_form(""),
    "layer switched on": _draw_layer(is_off=False),
    "opacity 0.6": _draw_with_state("/ca 0.6"),
    "mask that lets it through": _draw_with_mask("1"),
    "underlined": _draw_plain(over="0 G 60 98 m 400 98 l S\n"),
    "turned": _draw_around("q 0 1 -1 0 700 0 cm "),
    "turned the other way": _draw_around("q 0 -1 1 0 200 700 cm "),
    "upside down": _draw_around("q -1 0 0 -1 600 200 cm "),
    "across the page, as a stamp": _draw_around("q 0.4 g 0.7 0.7 -0.7 0.7 170 -30 cm "),
    "on a page that is turned": lambda body, text: Page(body + draw_line(text, 100), page_entries="/Rotate 90"),
    "on its side on a page that is turned": _draw_around("q 0 1 -1 0 700 0 cm ", page_entries="/Rotate 270"),
    "small print on its side": lambda body, text: Page(
        f"{body}q 0 1 -1 0 700 0 cm {draw_line(text, 100, size=4.5)}Q\n"
    ),
    "font map that tells the truth": _draw_with_map(lambda text: "".join(c if c.isascii() else "e" for c in text)),
    "ActualText that says what is drawn": _replace_text(None),
    "crop box around it": lambda body, text: Page(body + draw_line(text, 100), page_entries="/CropBox [0 60 612 792]"),
}
