"""Reference lists under headings that no vocabulary has, two lists in one document, and sections that hold no works."""

from itertools import cycle

import pytest

from assayer.ideas.parsing import idea_of_document, parse_idea
from assayer.models import Document, Idea, Section
from assayer.reference_lists.list_titles import list_title

PROBLEM = (
    "Post offices sort letters by hand where machines cannot read them, and we ask how many letters a person reads in "
    "an hour without a mistake."
)
METHOD = "Four sorters work in two rooms, and we count the letters that each of them reads in a week of the study."
TITLES = ("Reading addresses at speed", "Two sorters and one table", "Postcards and their corners in villages")
STYLES = {
    "APA": (
        "Lee, A., & Chen, B. (2019). {}. Letters, 3(1), 1–9.",
        "Diaz, C. (2017). {}. Harbour Press.",
        "Fox, E., Moor, D., & Hill, K. (2021). {}. Post Studies, 5(2), 3–4.",
    ),
    "IEEE": (
        "[1] A. Lee and B. Chen, “{},” Letters, vol. 3, pp. 1–9, 2019.",
        "[2] C. Diaz, {}. Oslo: Harbour Press, 2017.",
        "[3] E. Fox, D. Moor, and K. Hill, “{},” in Proc. POST, 2021, pp. 3–4.",
    ),
    "Vancouver": (
        "1. Lee A, Chen B. {}. Letters. 2019;3(1):1-9.",
        "2. Diaz C. {}. Oslo: Harbour Press; 2017.",
        "3. Fox E, Moor D, Hill K. {}. Post. 2021;5(2):3-4.",
    ),
    "DIN": (
        "Lee, Ann / Chen, Bo: {}. In: Letters 3 (2019), Nr. 1, S. 1–9.",
        "Diaz, Carla: {}. Oslo: Harbour Press 2017.",
        "Fox, Eva / Moor, Dan / Hill, Kim: {}. In: Post 5 (2021), S. 3–4.",
    ),
    "titles first": (
        "1. {}. Lee A, Chen B. Letters. 2019;3(1):1-9.",
        "2. {}. Diaz C, Moor D. Harbour Press, 2017.",
        "3. {}. Fox E, Moor D, Hill K. Post. 2021;5(2):3-4.",
    ),
}


def render_entries(style: str, titles: tuple[str, ...] = TITLES) -> str:
    gap = "\n" if style in ("IEEE", "Vancouver") else "\n\n"
    return gap.join(entry.format(title) for entry, title in zip(STYLES[style], titles, strict=True))


def read(kind: str, *sections: tuple[str, str]) -> Idea:
    """Return the idea with these sections after a problem and a method, as a document or as text."""
    parts = (("Problem", PROBLEM), ("Method", METHOD), *sections)
    if kind == "document":
        return idea_of_document(Document(sections=tuple(Section(title=name, text=text) for name, text in parts)), "a")
    heading = {"plain": "{}", "Markdown": "## {}", "bold": "**{}**"}[kind]
    return parse_idea("\n\n".join(part for name, text in parts for part in (heading.format(name), text) if part), "a")


def pair_with_styles(headings: list[str]) -> list[tuple[str, str]]:
    """Return the headings, each with one of the styles in turn."""
    return list(zip(headings, cycle(STYLES), strict=False))


@pytest.mark.parametrize("kind", ["plain", "Markdown", "bold", "document"])
@pytest.mark.parametrize(
    ("heading", "style"),
    pair_with_styles([
        "Sources", "Evidence base", "Key papers", "Further reading", "Works consulted", "What we build on", "Lit.",
        "Appendix A: references", "Annex 2 – Literature", "8 | References", "E. Evidence", "Verwendete Literatur",
        "Quellen", "Yararlanılan kaynaklar", "Bahan bacaan", "Käytetyt lähteet", "Ábrázolt irodalom",
        "Wykorzystane źródła", "Bibliografía utilizada", "Ouvrages cités", "Opere citate", "Использованные источники",
        "文献リスト", "Papers cited in this proposal", "References (maximum one page)",
    ]),
)  # fmt: skip
def test_list_is_found_under_any_heading(heading: str, kind: str, style: str) -> None:
    idea = read(kind, (heading, render_entries(style)))
    assert [work.title for work in idea.references] == list(TITLES)
    assert not any(title in idea.text for title in (*TITLES, heading))
    assert METHOD in idea.text


def test_heading_is_kept_if_text_follows_the_list_below_it() -> None:
    idea = read(
        "Markdown", ("Evidence base", f"{render_entries('IEEE')}\n\nThe lamps of these offices were not counted.")
    )
    assert len(idea.references) == 3
    assert "Evidence base" in idea.text


@pytest.mark.parametrize(
    ("heading", "style"),
    pair_with_styles([
        "Supplementary references", "References for the supplement", "Methods references", "Supplement: References",
        "Online-only references", "References (supplement)", "Zusätzliche Literatur",
    ]),
)  # fmt: skip
@pytest.mark.parametrize("kind", ["plain", "Markdown", "document"])
def test_second_list_is_also_read(style: str, kind: str, heading: str) -> None:
    other_titles = ("Night trains and heavy mail", "A census of postcards", "Counting parcels by their sound")
    lists = (
        ("References", render_entries(style)),
        ("Supplement", METHOD),
        (heading, render_entries(style, other_titles)),
    )
    idea = read(kind, *lists)
    assert [work.title for work in idea.references] == [*TITLES, *other_titles]
    assert heading not in idea.text


@pytest.mark.parametrize("heading", ["Publications of the applicant", "Selected publications", "Ten own papers"])
@pytest.mark.parametrize("kind", ["plain", "Markdown", "document"])
def test_applicant_publications_are_kept_next_to_a_reference_list(kind: str, heading: str) -> None:
    own_titles = tuple(f"{title} again" for title in TITLES)
    idea = read(kind, (heading, render_entries("APA", own_titles)), ("References", render_entries("APA")))
    assert [work.title for work in idea.references] == list(TITLES)
    assert own_titles[0] in idea.text


@pytest.mark.parametrize("heading", ["Sources", "Evidence base", "Further reading", "Literature"])
@pytest.mark.parametrize("kind", ["plain", "Markdown", "document"])
@pytest.mark.parametrize(
    "lines",
    [
        "1. Travel, trams, 2024: 3,000 EUR\n2. Equipment, lamps, 2025: 1,000 EUR\n3. Staff, sorter, 2025: 60 EUR",
        "1. WP1 (2026): We build two tables.\n2. WP2 (2027): We count the letters.\n3. WP3 (2028): We write.",
        "M1 (March 2026). Build two tables.\nM2 (May 2026). Train the sorters.\nM3 (July 2027). Count letters.",
        "University of Bern, PhD, 2012–2016\nCollege of Basel, Reader, 2016–2019\nInstitute of Mail, 2019–2024",
        "| Team | Year | Letters |\n|---|---|---|\n| Lee et al. | 2019 | 1,200 |\n| Diaz et al. | 2021 | 1,400 |",
        "Lamp: a light above a table, in use since 1990.\nTable: a board in use since 1880.\nSorter: since 2001.",
        "1. Lee and Chen (2019) showed that lamps help sorters to read letters in dark rooms in winter.\n"
        "2. Diaz et al. (2021) found few mistakes when two sorters share a table and read to each other.\n"
        "3. Fox (2022) asked who helps whom when the machines fail and the letters wait in bags.",
    ],
)
def test_section_without_works_is_kept_in_the_text(lines: str, kind: str, heading: str) -> None:
    idea = read(kind, (heading, lines))
    assert idea.references == ()
    assert all(line in idea.text for line in lines.split("\n"))


@pytest.mark.parametrize("title", ["Related work", "Publications", "Key publications", "Data sources", "Background"])
def test_title_of_another_section_is_not_that_of_a_list(title: str) -> None:
    assert list_title(title) is None
