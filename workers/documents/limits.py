"""How much of a file is read before it counts as unusable."""

from assayer.models import Frozen

__all__ = ["DocumentLimits", "OfficeLimits", "PdfLimits"]


class PdfLimits(Frozen):
    """What the process that parses one PDF may use."""

    file_bytes: int = 50_000_000
    pages: int = 500
    characters: int = 2_000_000
    """Of extracted text: a small file can unpack to gigabytes."""
    memory_bytes: int = 1_500_000_000
    """Address space of the parsing process."""
    cpu_seconds: int = 30
    wall_seconds: float = 60.0


class OfficeLimits(Frozen):
    """What the process that parses one .docx, .odt or .xlsx may use."""

    file_bytes: int = 50_000_000
    unpacked_bytes: int = 200_000_000
    """Of all parts together, pictures among them: a small file can unpack to gigabytes."""
    characters: int = 30_000_000
    """A table may hold a whole call; one idea's own limit is far lower."""
    memory_bytes: int = 1_500_000_000
    cpu_seconds: int = 30
    wall_seconds: float = 60.0


class DocumentLimits(Frozen):
    """Sizes of files that ideas are read from."""

    text_bytes: int = 10_000_000
    """Of one .txt or .md file, and of one line of a .jsonl file."""
    json_bytes: int = 50_000_000
    """A .json file is parsed in one piece."""
    jsonl_bytes: int = 500_000_000
    pdf: PdfLimits = PdfLimits()
    office: OfficeLimits = OfficeLimits()
    documents_at_once: int = 2
    """Parsing processes side by side; each takes one core."""
