"""Layouts in which people bring a reference list: each is found, and text below it stays in the judged text."""

import re

import pytest

from assayer.ideas.parsing import parse_idea

TEXT = """Rehearsal that knows what will be forgotten

Problem

Rehearsal recovers most of the accuracy that fine-tuning loses [1]. Small models forget along a power law [2, 3]. We
will test whether forgetting can be foreseen from the loss, as was never tried for small language models so far.

"""
TITLES = [
    "Replay buffers for continual text classification",
    "Forgetting curves of small language models",
    "Which examples does a model forget first",
]
ENTRIES = [
    "Lee A, Chen B. Replay buffers for continual text classification. Text Methods. 2019;3:1-9.",
    "Diaz C. Forgetting curves of small language models. J Forgetting. 2021;5(2):3-4.",
    "Fox E. Which examples does a model forget first? Text Methods. 2022;4:1.",
]


def render_list(mark: str) -> str:
    return "\n".join(mark.format(n=number) + entry for number, entry in enumerate(ENTRIES, 1))


RIS = "\n".join(f"TY  - JOUR\nAU  - Lee, Ann\nTI  - {title}\nPY  - 2019\nER  - \n" for title in TITLES)
ENDNOTE = "\n\n".join(f"%0 Journal Article\n%A Lee, Ann\n%T {title}\n%D 2019\n%J Text Methods" for title in TITLES)
PUBMED = "\n".join(f"PMID- {n}\nTI  - {title}\nFAU - Lee, Ann\nDP  - 2019\n" for n, title in enumerate(TITLES, 1))
TABLE = "| No. | Reference |\n|---|---|\n" + "\n".join(f"| {n} | {entry} |" for n, entry in enumerate(ENTRIES, 1))
LAYOUTS = {
    "PubMed": "References\n\n" + PUBMED,
    "columns of pandoc": "References\n\n"
    + "\n\n".join(f"[{n}. ]{{.csl-left-margin}}[{entry}]{{.csl-right-inline}}" for n, entry in enumerate(ENTRIES, 1)),
    "one without a date": "References\n\n" + "\n\n".join([ENTRIES[0], re.sub(r"20\d\d.*", "", ENTRIES[1]), ENTRIES[2]]),
    "reStructuredText": "References\n==========\n\n" + render_list(".. [Lee{n}] "),
    "reStructuredText, numbered": "References\n==========\n\n" + render_list(".. [{n}] "),
    "AsciiDoc": "[bibliography]\n== References\n\n" + render_list("* [[[lee{n},{n}]]] "),
    "empty keys": "References\n\n" + render_list("[] "),
    "superscript numbers": "References\n\n" + render_list("{n}"),
    "bullets without a heading": render_list("- "),
    "RIS": f"References\n\n{RIS}",
    "EndNote": f"References\n\n{ENDNOTE}",
    "table": f"## References\n\n{TABLE}",
    "table without outer bars": f"References\n\n{render_list('{n} | ')}",
    "two titles in one": "**Sources and further reading**\n\n" + render_list("* "),
    "Dutch": "Geraadpleegde bronnen\n\n" + "\n".join(ENTRIES),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_list_in_layout_is_found_with_titles_and_is_not_judged(layout: str) -> None:
    idea = parse_idea(TEXT + LAYOUTS[layout], "idea.txt")
    assert [work.title for work in idea.references] == TITLES
    assert not [title for title in TITLES if title in idea.text]


@pytest.mark.parametrize(
    ("heading", "following"),
    [
        ("REFERENCES CITED:\n", "\nBUDGET JUSTIFICATION\n"),
        ("6.2 References\n\n", "\n\n6.3 Work packages and the people in them\n\n"),
        ("6 References\n", "\n7 Work packages\n"),
    ],
)
def test_section_below_a_list_is_kept_in_the_judged_text(heading: str, following: str) -> None:
    later_section = "Two years of one person and a small computer are needed."
    idea = parse_idea(f"{TEXT}{heading}{render_list('')}{following}{later_section}\n", "idea.txt")
    assert len(idea.references) == 3
    assert later_section in idea.text


def test_month_before_the_year_is_not_an_author() -> None:
    entry = "Swayne, D. F., Cook, D., Mar. 1998. XGobi: interactive data visualization. J. Comput. Graph. Stat. 7, 113."
    (work,) = parse_idea(f"{TEXT}References\n\n{entry}\n", "idea.txt").references
    assert (work.title, work.authors, work.year) == (
        "XGobi: interactive data visualization", ("Swayne, D. F", "Cook, D"), 1998,
    )  # fmt: skip
