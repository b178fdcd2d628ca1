"""Reading of TeX files from texts."""

from collections.abc import Mapping

from assayer.models import CitedWork
from workers.sandbox.office_text import OfficeParagraphs
from workers.sandbox.tex_document import TexFiles, read_tex_document


def read(files: Mapping[str, str], main: str = "") -> tuple[OfficeParagraphs, list[CitedWork]]:
    """Return the paragraphs and references of TeX files, given by name."""
    return read_tex_document(TexFiles({name: text.encode() for name, text in files.items()}, main), 1_000_000)


def read_paragraphs(files: Mapping[str, str], main: str = "") -> list[str]:
    """Return the texts of the paragraphs of TeX files."""
    return [text for _, text in read(files, main)[0].paragraphs]
