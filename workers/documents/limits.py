"""Limits on files; a file that exceeds them is rejected."""

from assayer.models import Frozen


class ParserLimits(Frozen):
    """Limits of the process that parses one document."""

    file_bytes: int = 50_000_000
    characters: int = 2_000_000
    """Maximum characters of extracted text; a small file can decompress to gigabytes."""
    memory_bytes: int = 1_500_000_000
    """Address space limit of the parsing process, in bytes."""
    cpu_seconds: int = 30
    wall_seconds: float = 120.0
    """Maximum seconds to wait; well above `cpu_seconds`, because a machine may be busy."""


class PdfLimits(ParserLimits):
    pages: int = 500


class OfficeLimits(ParserLimits):
    """Limits on an office document, or a text in TeX, HTML or RTF."""

    unpacked_bytes: int = 200_000_000
    """Maximum bytes of all parts together after decompression, including pictures."""
    characters: int = 30_000_000
    """Maximum characters of extracted text. A table can contain all proposals of a funding round; the limit for a
    single idea is far lower."""


class DocumentLimits(Frozen):
    """Size limits of the files from which ideas are read."""

    text_bytes: int = 10_000_000
    """Maximum bytes of one .txt or .md file, and of one line of a .jsonl file."""
    json_bytes: int = 50_000_000
    """Maximum bytes of a .json file, which is parsed all at once."""
    jsonl_bytes: int = 500_000_000
    pdf: PdfLimits = PdfLimits()
    office: OfficeLimits = OfficeLimits()
    documents_at_once: int = 2
    """Number of documents parsed concurrently; each parsing process uses one core."""
