"""Captions among the lines of a PDF."""

import pytest

from workers.documents.pdf_layout import remove_captions
from workers.documents.pdf_lines import PdfLine, TextStyle

BODY = TextStyle("Serif", 10.0, bold=False, italic=False, upright=True)
SMALL = BODY._replace(size=8.0)


def make_line(text: str, style: TextStyle = BODY, page: int = 0) -> PdfLine:
    return PdfLine(page, style, True, text)


@pytest.mark.parametrize(
    ("lines", "kept_lines"),
    [
        (
            [
                make_line("We count birds."),
                make_line("Fig. 2 Birds by the hour.", SMALL),
                make_line("Bars are standard errors", SMALL),
                make_line("Table 1. Birds by species", SMALL),
                make_line("They sing at dawn."),
            ],
            [0, 4],
        ),
        ([make_line("Figure 3: Birds by the hour,"), make_line("in two seasons.")], [0, 1]),
        ([make_line("as the counts of", SMALL), make_line("Fig. 2 show. Birds sing", SMALL)], [0, 1]),
        ([make_line("Figure 1. Birds", SMALL), make_line("Journal of Birds", SMALL, page=1)], [1]),
        (
            [make_line("Table 1: Birds by species.", SMALL), make_line("Wren 7", SMALL), make_line("Robin 9", SMALL)],
            [1, 2],
        ),
    ],
    ids=["to its last line", "in the type of the text", "mention", "with its page", "lines of a table"],
)
def test_captions_in_a_different_font_are_removed(lines: list[PdfLine], kept_lines: list[int]) -> None:
    assert remove_captions(lines, BODY) == [lines[place] for place in kept_lines]
