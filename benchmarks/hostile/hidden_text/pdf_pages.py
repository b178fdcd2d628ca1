"""PDF pages assembled by hand, with the resources, layers and annotations that a way of hiding text needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_FONTS = {"F1": "Helvetica", "F2": "Times-Roman"}


@dataclass(frozen=True)
class Page:
    """Page of a PDF. In its named objects, and in `resources`, `fonts` and `page_entries`, `{name}` is replaced with a
    reference to that object."""

    content: str
    resources: str = ""
    """Entries of the resource dictionary besides `/Font`."""
    fonts: str = ""
    """Entries of `/Font` besides F1 and F2."""
    objects: Mapping[str, str | tuple[str, str]] = field(default_factory=dict)
    """Objects by name: a dictionary, or the dictionary entries and the data of a stream."""
    page_entries: str = ""
    """Further entries of the page dictionary."""
    layers_off: tuple[str, ...] = ()
    """Names of the objects that are optional content groups and switched off."""


def draw_line(
    text: str, height: float, operators: str = "0 g", size: float = 10, left: float = 60, font: str = "F1"
) -> str:
    return f"q {operators} BT /{font} {size} Tf {left} {height} Td ({_escape(text)}) Tj ET Q\n"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def wrap_text(text: str, width: int = 90) -> list[str]:
    """Return the lines of a text, without characters that the PDF cannot encode."""
    lines, line_text = [], ""
    for word in text.encode("cp1252", "ignore").decode("cp1252").split():
        if line_text and len(line_text) + len(word) >= width:
            lines.append(line_text)
            line_text = ""
        line_text = f"{line_text} {word}".strip()
    return [*lines, line_text] if line_text else lines


def build_pdf(pages: Sequence[Page]) -> bytes:
    """Return a PDF document of these pages."""
    bodies: list[bytes] = [b"", b""]

    def add_object(body: str | tuple[str, str]) -> int:
        if isinstance(body, tuple):
            data = body[1].encode("cp1252")
            body_bytes = f"<< {body[0]} /Length {len(data)} >>\nstream\n".encode("cp1252") + data + b"\nendstream"
        else:
            body_bytes = body.encode("cp1252")
        bodies.append(body_bytes)
        return len(bodies)

    shared_fonts = " ".join(f"/{name} {add_object(_build_font(base))} 0 R" for name, base in _FONTS.items())
    page_numbers, layers, hidden_layers = [], [], []
    for page in pages:
        first_number = len(bodies) + 1
        names = {name: f"{first_number + position} 0 R" for position, name in enumerate(page.objects)}
        for name, body in page.objects.items():
            add_object(
                (_insert_references(body[0], names), body[1])
                if isinstance(body, tuple)
                else _insert_references(body, names)
            )
            if "/Type /OCG" in (body[0] if isinstance(body, tuple) else body):
                layers.append(names[name])
        hidden_layers += [names[name] for name in page.layers_off]
        content = add_object(("", page.content))
        page_numbers.append(
            add_object(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R"
                f" {_insert_references(page.page_entries, names)}"
                f" /Resources << /Font << {shared_fonts} {_insert_references(page.fonts, names)} >> "
                f"{_insert_references(page.resources, names)} >> >>"
            )
        )
    options = (
        f"/OCProperties << /OCGs [{' '.join(layers)}] /D << /OFF [{' '.join(hidden_layers)}] >> >>" if layers else ""
    )
    bodies[0] = f"<< /Type /Catalog /Pages 2 0 R {options} >>".encode()
    kids = " ".join(f"{number} 0 R" for number in page_numbers)
    bodies[1] = f"<< /Type /Pages /Count {len(page_numbers)} /Kids [{kids}] >>".encode()
    return _assemble(bodies)


def _build_font(base: str) -> str:
    return f"<< /Type /Font /Subtype /Type1 /BaseFont /{base} /Encoding /WinAnsiEncoding >>"


def _insert_references(text: str, names: Mapping[str, str]) -> str:
    for name, reference in names.items():
        text = text.replace("{" + name + "}", reference)
    return text


def _assemble(bodies: Sequence[bytes]) -> bytes:
    data, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(bodies, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table_offset = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1)
    data += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    data += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(bodies) + 1, table_offset)
    return bytes(data)
