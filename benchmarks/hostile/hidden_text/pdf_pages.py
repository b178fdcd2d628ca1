"""PDF pages assembled by hand, with the resources, layers and annotations that a way of hiding text needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_FONTS = {"F1": "Helvetica", "F2": "Times-Roman"}


@dataclass(frozen=True)
class Page:
    """Page of a PDF. In its named objects, and in `resources`, `fonts` and `more`, `{name}` is replaced with a
    reference to that object."""

    content: str
    resources: str = ""
    """Entries of the resource dictionary besides `/Font`."""
    fonts: str = ""
    """Entries of `/Font` besides F1 and F2."""
    objects: Mapping[str, str | tuple[str, str]] = field(default_factory=dict)
    """Objects by name: a dictionary, or the dictionary entries and the data of a stream."""
    more: str = ""
    """Further entries of the page dictionary."""
    layers_off: tuple[str, ...] = ()
    """Names of the objects that are optional content groups and switched off."""


def line(text: str, height: float, operators: str = "0 g", size: float = 10, left: float = 60, font: str = "F1") -> str:
    return f"q {operators} BT /{font} {size} Tf {left} {height} Td ({_escaped(text)}) Tj ET Q\n"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def pieces(text: str, width: int = 90) -> list[str]:
    """Return the lines of a text, without characters that the PDF cannot encode."""
    lines, row = [], ""
    for word in text.encode("cp1252", "ignore").decode("cp1252").split():
        if row and len(row) + len(word) >= width:
            lines.append(row)
            row = ""
        row = f"{row} {word}".strip()
    return [*lines, row] if row else lines


def as_pdf(pages: Sequence[Page]) -> bytes:
    """Return a PDF document of these pages."""
    bodies: list[bytes] = [b"", b""]

    def add(body: str | tuple[str, str]) -> int:
        if isinstance(body, tuple):
            data = body[1].encode("cp1252")
            body_bytes = f"<< {body[0]} /Length {len(data)} >>\nstream\n".encode("cp1252") + data + b"\nendstream"
        else:
            body_bytes = body.encode("cp1252")
        bodies.append(body_bytes)
        return len(bodies)

    shared_fonts = " ".join(f"/{name} {add(_font(base))} 0 R" for name, base in _FONTS.items())
    kids, layers, hidden_layers = [], [], []
    for page in pages:
        first = len(bodies) + 1
        names = {name: f"{first + place} 0 R" for place, name in enumerate(page.objects)}
        for name, body in page.objects.items():
            add((_named(body[0], names), body[1]) if isinstance(body, tuple) else _named(body, names))
            if "/Type /OCG" in (body[0] if isinstance(body, tuple) else body):
                layers.append(names[name])
        hidden_layers += [names[name] for name in page.layers_off]
        content = add(("", page.content))
        kids.append(
            add(
                f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R"
                f" {_named(page.more, names)}"
                f" /Resources << /Font << {shared_fonts} {_named(page.fonts, names)} >> "
                f"{_named(page.resources, names)} >> >>"
            )
        )
    options = (
        f"/OCProperties << /OCGs [{' '.join(layers)}] /D << /OFF [{' '.join(hidden_layers)}] >> >>" if layers else ""
    )
    bodies[0] = f"<< /Type /Catalog /Pages 2 0 R {options} >>".encode()
    bodies[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] >>".encode()
    return _assembled(bodies)


def _font(base: str) -> str:
    return f"<< /Type /Font /Subtype /Type1 /BaseFont /{base} /Encoding /WinAnsiEncoding >>"


def _named(text: str, names: Mapping[str, str]) -> str:
    for name, reference in names.items():
        text = text.replace("{" + name + "}", reference)
    return text


def _assembled(bodies: Sequence[bytes]) -> bytes:
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(bodies, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table_offset = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(bodies) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(bodies) + 1, table_offset)
    return bytes(out)
