"""Captions among the lines of a PDF."""

from workers.documents.pdf_layout import PdfLine, TextStyle, take_captions

BODY = TextStyle("Serif", 10.0, bold=False, italic=False, upright=True)
SMALL = BODY._replace(size=8.0)


def line(text: str, style: TextStyle = BODY, page: int = 0) -> PdfLine:
    return PdfLine(page, style, True, text)


def test_caption_in_smaller_type_is_taken_out_to_its_last_line() -> None:
    lines = [
        line("We count birds."),
        line("Fig. 2 Birds by the hour.", SMALL),
        line("Bars are standard errors", SMALL),
        line("Table 1. Birds by species", SMALL),
        line("They sing at dawn."),
    ]
    left, captions = take_captions(lines, BODY)
    assert [one.text for one in left] == ["We count birds.", "They sing at dawn."]
    assert [(one.kind, one.label, one.text) for one in captions] == [
        ("figure", "2", "Birds by the hour. Bars are standard errors"),
        ("table", "1", "Birds by species"),
    ]


def test_caption_in_the_type_of_the_text_is_told_by_its_colon_and_stays() -> None:
    lines = [line("Figure 3: Birds by the hour,"), line("in two seasons."), line("They sing at dawn.")]
    left, captions = take_captions(lines, BODY)
    assert left == lines
    assert [(one.label, one.text) for one in captions] == [("3", "Birds by the hour, in two seasons.")]


def test_mention_of_a_figure_at_the_start_of_a_line_is_no_caption() -> None:
    lines = [line("as the counts of"), line("Fig. 2 show. Birds sing"), line("Table 1 lists them.")]
    assert take_captions(lines, BODY) == (lines, [])


def test_caption_ends_with_its_page() -> None:
    lines = [line("Figure 1. Birds", SMALL), line("Journal of Birds", SMALL, page=1)]
    left, (caption,) = take_captions(lines, BODY)
    assert (caption.text, [one.text for one in left]) == ("Birds", ["Journal of Birds"])


def test_lines_of_a_table_under_its_caption_are_no_part_of_it() -> None:
    lines = [line("Table 1: Birds by species.", SMALL), line("Wren 7", SMALL), line("Robin 9", SMALL)]
    left, (caption,) = take_captions(lines, BODY)
    assert (caption.text, len(left)) == ("Birds by species.", 2)
