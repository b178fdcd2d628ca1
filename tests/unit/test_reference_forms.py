"""Reference lists that print titles first, lists as tables, lists over several pages, and code below a list."""

import textwrap

import pytest

from assayer.ideas.parsing import idea_of_document, parse_idea
from assayer.models import Document, Idea
from assayer.reference_lists.entry_parser import parse_references
from assayer.reference_lists.list_end import find_end_of_entries
from assayer.reference_lists.list_titles import list_title
from assayer.reference_lists.page_lines import join_across_page_breaks, mask_page_lines
from assayer.reference_lists.telling_title import is_title_told
from workers.documents.pdf_layout import detect_layout
from workers.documents.pdf_lines import PdfLine, TextStyle

PROBLEM = (
    "Sorting mail by hand\n\nPost offices sort letters by hand where machines cannot read them, and we ask how many "
    "letters a person reads in an hour without a mistake.\n\n"
)
TITLES = [
    "Reading addresses at speed in small post offices", "Which stamps do sorters count first?",
    "Night trains and the arrival of heavy mail", "A census of postcards in mountain villages",
]  # fmt: skip
NAMES = [("Ann Lee", "Bo Chen"), ("Eva Fox", "Dan Moor"), ("Jan van der Berg", "Inés Díaz"), ("Li Wen", "Kim Hill")]
SHORT_NAMES = [f"{names[0].partition(' ')[2]} {names[0][0]}, {names[1].split()[1]} {names[1][0]}" for names in NAMES]
NAMES_WITH_INITIALS = [" and ".join(f"{name[0]}. {name.partition(' ')[2]}" for name in names) for names in NAMES]
FULL_NAMES = [" and ".join(names) for names in NAMES]
FIRST_AUTHORS = ["Lee", "Fox", "Berg", "Wen"]
STYLES = {
    "names with initials": [
        f"{t.rstrip('?')}. {n}. Letters. 2019;3(1):1-9." for t, n in zip(TITLES, SHORT_NAMES, strict=True)
    ],
    "names in full": [
        f"{t.rstrip('?')}. {n}. Journal of Letters, 2019." for t, n in zip(TITLES, FULL_NAMES, strict=True)
    ],
    "quoted": [f"“{t}”, {n}, Journal of Letters, 2019." for t, n in zip(TITLES, NAMES_WITH_INITIALS, strict=True)],
    "by": [f"{t}, by {n}. Harbour Press (2019)." for t, n in zip(TITLES, FULL_NAMES, strict=True)],
    "year after the title": [
        f"{t} (2019). {n}. Post Studies." for t, n in zip(TITLES, NAMES_WITH_INITIALS, strict=True)
    ],
    "dash": [f"{t} – {n.replace(' and ', ', ')}, Post Studies 2019" for t, n in zip(TITLES, FULL_NAMES, strict=True)],
}
BODY = TextStyle("Serif", 10, bold=False, italic=False, upright=True)
HEAD = TextStyle("Serif-Bold", 12, bold=True, italic=False, upright=True)


def read(reference_list: str) -> Idea:
    return parse_idea(f"{PROBLEM}References\n\n{reference_list}", "a")


def read_pdf(lines: list[str]) -> Idea:
    text = "Post offices sort letters by hand where machines cannot read them."
    above = [PdfLine(0, HEAD, True, "1 Introduction", 72), *[PdfLine(0, BODY, True, text, 72)] * 14]
    below = [PdfLine(1, HEAD, True, "References", 72), *(PdfLine(1, BODY, True, line, 72) for line in lines)]
    return idea_of_document(Document(sections=detect_layout([*above, *below]).sections), "a.pdf")


@pytest.mark.parametrize("layout", ["numbers", "bullets", "paragraphs", "lines", "wrapped", "PDF"])
@pytest.mark.parametrize("style", STYLES)
def test_titles_before_names_are_distinguished(style: str, layout: str) -> None:
    entries = STYLES[style]
    if layout == "PDF":
        idea = read_pdf([line for entry in entries for line in textwrap.wrap(entry, 95)])
    else:
        mark = {"numbers": "{}. ", "bullets": "- "}.get(layout, "")
        marked_entries = [mark.format(number) + entry for number, entry in enumerate(entries, 1)]
        idea = read(
            "\n".join(textwrap.fill(entry, 70) for entry in marked_entries)
            if layout == "wrapped"
            else ("\n\n" if layout == "paragraphs" else "\n").join(marked_entries)
        )
    assert [work.title.rstrip("?") for work in idea.references] == [title.rstrip("?") for title in TITLES]
    assert all(name in work.authors[0] for work, name in zip(idea.references, FIRST_AUTHORS, strict=True))


def test_title_on_a_line_above_names_begins_an_entry() -> None:
    reference_list = "\n".join(
        f"{title.rstrip('?')}\n{names}. Post Studies, 2019." for title, names in zip(TITLES, FULL_NAMES, strict=True)
    )
    assert [
        work.raw.startswith(title[:20]) for work, title in zip(read(reference_list).references, TITLES, strict=True)
    ] == [True] * 4


@pytest.mark.parametrize(
    ("entry", "title"),
    [
        (
            "Lee, Ann / Chen, Bo: Reading addresses at speed. In: Letters 3 (2019), S. 1–9.",
            "Reading addresses at speed",
        ),
        ("Lee, Ann (Hrsg.): Handbuch der Post. Oslo: Post Press 2019.", "Handbuch der Post"),
        ("Universal Post Office: Handbook of rural mail. Oslo: Post Press 2019.", "Handbook of rural mail"),
        ("C. Diaz, Two sorters and one table, Harbour Press, Oslo, 2017.", "Two sorters and one table"),
    ],
)
def test_title_after_colon_or_before_publisher_is_read(entry: str, title: str) -> None:
    (work,) = parse_references(entry)
    assert work.title == title
    assert work.authors


@pytest.mark.parametrize(
    "entry",
    [
        "Universal Post Office, Handbook of rural mail. Oslo: Post Publications, 2018.",
        "Emily L Dent, Soumith Chen, arthur lee, and Rob Hill. Deep generative mail. In Post, pages 3–4. 2015.",
        "Ann Lee Bo Chen Eva Fox Cy Dale Kim Moor. Letters package, March 2014.",
        "Rail consortium whitepaper. Technical report, Feb. 2006. www.rails.test/paper.pdf.",
        "Lee, A. (2010). Mail and \ue045\ue043-hour letters in towns. Letters, 3.",
    ],
)
def test_names_reports_and_unreadable_letters_are_not_reliable_titles(entry: str) -> None:
    assert not any(is_title_told(work) for work in parse_references(entry))


ENTRIES = [
    "Lee, A., & Chen, B. (2019). Reading addresses at speed in small post offices. Letters, 3(1), 1–9.",
    "Diaz, C. (2017). Two sorters and one table. Harbour Press.",
    "Fox, E., & Moor, D. (2021). Postcards and their corners in mountain villages. Post Studies, 5(2), 3–14.",
]
CODE = {
    "fenced": "```python\nimport counts\n\ndef count(letters):\n    return sum(letters)\n```",
    "Python": "import counts\n\ndef count(letters):\n    total = 2019\n    return total\n\nprint(count([1, 2, 2021]))",
    "C": "#include <stdio.h>\nint main(void) {\n    int year = 2019; // first\n    return 0;\n}",
    "R": 'library(lme4)\ndata <- read.csv("letters2019.csv")\nmodel <- lmer(count ~ room, data = data)',
    "shell": "$ pip install mail==2.0.1\n$ python -m mail --year 2019",
    "JSON": '{\n  "year": 2019,\n  "rooms": ["A", "B"]\n}',
    "numbered": "1 import counts\n2 def count(letters):\n3     total = 2019\n4     return total",
    "SQL": "SELECT sorter, COUNT(*)\nFROM letters\nWHERE year = 2019\nGROUP BY sorter;",
}


@pytest.mark.parametrize("caption", ["", "Listing 1: Counting\n"])
@pytest.mark.parametrize("mark", ["", "[{}] "])
@pytest.mark.parametrize("language", CODE)
def test_code_below_a_list_is_not_an_entry(language: str, mark: str, caption: str) -> None:
    reference_list = "\n\n".join(mark.format(number) + entry for number, entry in enumerate(ENTRIES, 1))
    idea = read(f"{reference_list}\n\n{caption}{CODE[language]}")
    assert [work.raw for work in idea.references] == ENTRIES
    assert all(line in idea.text for line in CODE[language].split("\n") if "```" not in line)


@pytest.mark.parametrize(
    "reference_list",
    [
        "@article{lee19,\n  title = {Reading addresses},\n  year = {2019},\n}\n",
        "Lee, A.; Chen, B.; Diaz, C.;\nFox, E.; Moor, D.;\nReading addresses. Letters 2019, 3, 1.\n",
    ],
)
def test_records_and_long_lists_of_names_are_not_code(reference_list: str) -> None:
    assert find_end_of_entries(reference_list) == len(reference_list)


ROWS = [(f"{names[0].split()[-1]}, {names[0][0]}.", "2019", title, "Post Studies 3(1), 1–9") for names, title in
        zip(NAMES, TITLES, strict=True)]  # fmt: skip
TABLES = {
    "names of columns": "| Author | Year | Title | Source |\n|---|---|---|---|\n"
    + "\n".join(f"| {' | '.join(row)} |" for row in ROWS),
    "other order": "| No. | Title | Authors | Journal | Year |\n|:-:|---|---|---|---|\n"
    + "\n".join(f"| {n} | {row[2]} | {row[0]} | {row[3]} | {row[1]} |" for n, row in enumerate(ROWS, 1)),
    "numbers and entries": "| # | Reference |\n|---|---|\n"
    + "\n".join(f"| {n} | {row[0]} ({row[1]}). {row[2]}. {row[3]}. |" for n, row in enumerate(ROWS, 1)),
    "rows of a Word file": "Authors | Year | Title | Where\n\n" + "\n\n".join(" | ".join(row) for row in ROWS),
    "tabs": "No.\tAuthors\tTitle\tJournal\tYear\n"
    + "\n".join(f"{n}\t{row[0]}\t{row[2]}\t{row[3]}\t{row[1]}" for n, row in enumerate(ROWS, 1)),
}


@pytest.mark.parametrize("heading", ["References", "## Evidence base"])
@pytest.mark.parametrize("table", TABLES)
def test_table_of_works_is_a_list(table: str, heading: str) -> None:
    idea = parse_idea(f"{PROBLEM}{heading}\n\n{TABLES[table]}", "a")
    assert [work.title.rstrip("?") for work in idea.references] == [title.rstrip("?") for title in TITLES]
    assert all(len(work.authors) == 1 and work.year == 2019 for work in idea.references)
    assert "Author" not in idea.text


PAGE_FOOTERS = {
    "number": "{}", "number alone": "\n{}\n", "dashes": "\n- {} -\n", "page of": "\nPage {} of 14\n",
    "form feed": "\n{}\n\n\fSorting mail by hand\n", "head": "\n{}    Lee and Chen\n", "name": "\nSorting – page {}\n",
    "German": "\nSeite {}\n", "two lines": "\nCONFIDENTIAL\n{}/14\n",
}  # fmt: skip


@pytest.mark.parametrize("mark", ["", "[{}] "])
@pytest.mark.parametrize("foot", PAGE_FOOTERS)
def test_page_headers_and_footers_are_not_part_of_an_entry(foot: str, mark: str) -> None:
    entries = [entry.replace("2019", str(2000 + number)) for number, entry in enumerate(ENTRIES * 4)]
    marked_entries = [mark.format(number) + entry for number, entry in enumerate(entries, 1)]
    lines = [line for entry in marked_entries for line in textwrap.wrap(entry, 60)]
    pages = ["\n".join(lines[start : start + 7]) for start in range(0, len(lines), 7)]
    text = pages[0] + "".join(
        f"\n{PAGE_FOOTERS[foot].format(number + 11)}\n{page}" for number, page in enumerate(pages[1:], 1)
    )
    assert [work.raw for work in read(text).references] == entries


def test_entry_numbers_on_their_own_lines_are_not_page_numbers() -> None:
    reference_list = "\n\n".join(f"{number}\n\n{entry}" for number, entry in enumerate(ENTRIES, 1))
    assert mask_page_lines(reference_list) == reference_list
    assert [(work.number, work.raw) for work in parse_references(reference_list)] == list(enumerate(ENTRIES, 1))


def test_masked_text_keeps_its_offsets() -> None:
    text = "One line.\n\n12\n\nA second\nline.\n\n" + "Words.\n" * 9 + "\n13\n\nA third line."
    masked = mask_page_lines(text)
    assert len(masked) == len(text)
    assert "12" not in join_across_page_breaks(masked)


NAMES_OF_MANY = ", ".join(f"{name}, {letter}." for letter in "ABCDEFGHKLMNPRST" for name in ("Lee", "Chen", "Díaz"))


@pytest.mark.parametrize(
    "second",
    [
        f"{NAMES_OF_MANY} (2015). Orchestrating the sorting of mail. Letters, 12(2):115–121.",
        "Diaz, M., Fox, A., with contributions from R Hill, S. L., and Moor, E. (2015). mail: An extension. Post.",
        "Diaz Jr, F. E. H., with contributions from Cy Moor, and many others. (2015). Mailing: Miscellaneous. Post 3.",
    ],
)
def test_entry_with_many_or_other_contributors_is_parsed(second: str) -> None:
    first = "Chen, P., Auton, A., and Banks, E. (2011). The mail format of offices. Letters, 27(15):2156–8."
    last = "Fox, W. (2001). Post engines: towards a grid of mail. In Proceedings of Letters, pages 35–36. Post Press."
    lines = [line for entry in (first, second, last) for line in textwrap.wrap(entry, 80)]
    assert [work.raw for work in read("\n".join(lines)).references] == [first, second, last]


def test_dates_in_digits_of_a_font_are_dates() -> None:
    reference_list = "Adler, R. (\ue045\ue043\ue043\ue04a). Mail unplugged: letters in towns. Post.\n"
    reference_list += "Cole, H. and Fox, T. (\ue045\ue043\ue044\ue043). Text of mail. Letters, \ue046(\ue044):\ue048."
    assert [work.title for work in parse_references(reference_list)] == [
        "Mail unplugged: letters in towns",
        "Text of mail",
    ]


def test_table_between_entries_does_not_swallow_the_next_entry() -> None:
    reference_list = (
        "Chen, P., and Banks, E. (2011). The mail format of offices. Letters, 27(15):2156–8.\n"
        "Table 1: Rooms and letters of the year 2018\nRoom Letters\nA 7.01 Zea\nB 6.87 Tripsacum\n"
        "Fox, W. (2001). Post engines: towards a grid of mail. Post Press.\n"
        "Hill, R., Moor, E. (in\nprep). Sorting by crowds: do letters give more cards to towns?\n"
        "Lee, A. (2012). Postcards of villages. Letters, 3, 1–9.\n"
    )
    assert [work.authors[0] for work in parse_references(reference_list)] == ["Chen, P", "Fox, W", "Hill, R", "Lee, A"]


def test_contents_line_with_meaningless_digits_is_not_a_title() -> None:
    assert list_title("References \ue048\ue048") is None


@pytest.mark.parametrize(
    ("entry", "title", "first"),
    [
        ("LEE, J., DIAZ, F., AND CHEN, R. Ws-mail: a framework for post offices. In Proc. POST (2006), pp. 3–4.",
         "Ws-mail: a framework for post offices", "LEE, J"),
        ("Lee, B., & Chen, C. (1997). Mail in mail (Tech. Rep.). Post Institute.", "Mail in mail", "Lee, B"),
        ("Ann Lee; Bo a Chen; Eva Fox. Sorting mail at night. Letters. 2008.", "Sorting mail at night", "Ann Lee"),
    ],
)  # fmt: skip
def test_names_and_title_are_distinguished(entry: str, title: str, first: str) -> None:
    (work,) = parse_references(entry)
    assert (work.title, work.authors[0]) == (title, first)


def test_lines_above_the_first_number_are_not_an_entry() -> None:
    reference_list = "Timeline\n\nFall 2018 Sorting\nSpring 2019 Writing\n\n" + "\n".join(
        f"[{number}] {entry}" for number, entry in enumerate(ENTRIES, 1)
    )
    assert [work.number for work in parse_references(reference_list)] == [1, 2, 3]
