"""Honest texts in which orders are hidden: ideas of experts and of models, as text, PDF and web page."""

import html

from benchmarks.hostile.hidden_text.pdf_pages import Page, build_pdf, draw_line, wrap_text
from benchmarks.records import DATA, read_records

_LINES_PER_PAGE = 40
"""Number of lines per page, above the position of hidden text."""
_TOP = 740


def read_honest_ideas() -> list[str]:
    """Return the ideas of ScholarEval and the proposals of Si et al., in the order of their files."""
    files = [file for file in sorted(DATA.glob("scholarideas/*/*.txt")) if file.stem == file.parent.name]
    proposals = [row["text"] for row in read_records(DATA / "ai_researcher" / "ideas.jsonl.gz") if row.get("text")]
    return [*(file.read_text("utf-8") for file in files), *proposals]


def draw_pages(idea: str) -> list[str]:
    """Return the drawing of each page."""
    rows = wrap_text(idea)
    return [
        "".join(
            draw_line(row, _TOP - 14 * row_number)
            for row_number, row in enumerate(rows[first : first + _LINES_PER_PAGE])
        )
        for first in range(0, len(rows), _LINES_PER_PAGE)
    ]


def build_idea_pdf(idea: str) -> bytes:
    return build_pdf([Page(drawing) for drawing in draw_pages(idea)])


def build_page(idea: str, extra_html: str = "") -> bytes:
    """Return a web page with the idea, and `extra_html` at its end."""
    rows = "".join(f"<p>{html.escape(row)}</p>" for row in idea.splitlines() if row.strip())
    return f"<html><head><meta charset=utf-8></head><body><article>{rows}{extra_html}</article></body></html>".encode()
