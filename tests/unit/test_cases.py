"""Documents rebuilt from public reports of what programs read wrongly, beside the clone: what is read of each."""

import pytest

from assayer.models import Idea, ReadingRecord
from tests.unit.case_files import CASES, NEEDS_CASES, read
from workers.documents.idea_reader import read_ideas

pytestmark = NEEDS_CASES
PROPOSAL = ["Problem", "Method", "Evaluation"]


def get_reading(idea: Idea) -> ReadingRecord:
    assert idea.reading is not None
    return idea.reading


@pytest.mark.parametrize(
    ("name", "title", "sections", "references"),
    [
        ("documents/anchored-references.md", "Scoring plans with anchors", ["Problem", "Method"], 3),
        (
            "documents/bold-lines-as-headings.docx",
            "Scoring plans with bold lines for headings",
            ["INTRODUCTION", "METHODOLOGY"],
            3,
        ),
        ("documents/chinese-numbered.md", "计划书评审中的不确定性", ["研究背景"], 3),
        ("documents/chinese.txt", "计划书评审中的不确定性", ["Overview"], 3),
        ("documents/hebrew.txt", "הערכת הצעות מחקר", ["Overview"], 0),
        ("documents/latex.txt", "Scoring plans written in LaTeX", ["Abstract", "Problem", "Method"], 3),
        ("documents/openreview-v1.json", "Scoring plans from OpenReview 1", ["Abstract"], 0),
        ("documents/openreview-v2.json", "Scoring plans from OpenReview", ["Abstract", "Keywords", "TL;DR"], 0),
        ("documents/utf16-crlf.txt", "Scoring plans in UTF-16", ["Problem", "Method"], 0),
        ("documents/utf16-without-bom.txt", "Scoring plans in UTF-16", ["Problem", "Method"], 0),
        ("pdf/footnotes.pdf", "Scoring plans with notes at the foot", ["Introduction", "Method"], 4),
        ("pdf/line-numbers.pdf", "Scoring plans with numbered lines", ["Introduction", "Method"], 4),
        ("pdf/hanging-author-year.pdf", "Scoring plans with hanging entries", ["Introduction", "Method", "Budget"], 3),
        ("refs/01-sici-doi.md", "SICI identifiers in lists", PROPOSAL, 5),
        ("refs/02-hyphen-and-linebreaks.md", "Broken lines in lists", PROPOSAL, 4),
        ("refs/03-same-title.md", "Two works of one title", PROPOSAL, 5),
        ("refs/04-three-em-dash.md", "Dashes for names", PROPOSAL, 3),
        (
            "refs/07-appendix-after-references.md",
            "Appendix after the list",
            [*PROPOSAL, "A. Proof of the matching bound", "B. Interview guide for librarians"],
            3,
        ),
        ("refs/08-bibtex-block.md", "A list in BibTeX", PROPOSAL, 4),
        (
            "refs/11-non-ascii-first-letters.txt",
            "Scoring plans with entries that follow one another",
            ["Problem", "Method"],
            4,
        ),
        ("documents/nih-reporter.jsonl", "Scoring plans from RePORTER", ["Abstract", "Public health relevance"], 0),
        ("tables/nih-reporter.csv", "Scoring plans", ["Abstract", "Public health relevance"], 0),
        ("tables/sep-line-utf8.csv", "Scoring plans ä", ["Abstract"], 0),
        ("tables/cordis-projects.csv", "Scoring plans for research offices", ["Objective"], 0),
        ("tables/gtr.csv", "Scoring plans", ["Abstract"], 0),
        ("tables/nih-exporter.csv", "Scoring plans", ["Abstract", "Public health relevance"], 0),
        ("tables/proposal-title-project-summary.xlsx", "Scoring plans", ["Project summary"], 0),
        ("tables/title-above-header.xlsx", "Scoring plans", ["Abstract"], 0),
        ("tables/tsv-named-csv.csv", "Scoring plans", ["Abstract"], 0),
    ],
)
async def test_title_sections_and_references_are_read(
    name: str, title: str, sections: list[str], references: int
) -> None:
    idea = await read(name)
    assert idea.title == title
    assert [section.title for section in get_reading(idea).sections] == sections
    assert len(idea.references) == references


async def test_reference_list_is_excluded_from_judged_text() -> None:
    assert (await read("refs/with-list.txt")).text == (await read("refs/without-list.txt")).text


async def test_generated_idea_text_fields_are_read_and_omissions_are_listed() -> None:
    idea = await read("documents/ai-scientist-ideas.json")
    titles = [section.title for section in get_reading(idea).sections]
    assert titles == ["Abstract", "Short hypothesis", "Related work", "Experiments", "Risk factors and limitations"]
    assert [item.part for item in get_reading(idea).unread_parts] == ['the field "Name"', 'the field "Interestingness"']


async def test_front_matter_is_excluded_from_text() -> None:
    idea = await read("documents/front-matter.md")
    assert idea.title == "Scoring plans: a front matter case"
    assert "A. Verne" not in idea.text
    assert get_reading(idea).front_matter == ("title", "author", "date", "abstract", "bibliography")


async def test_citation_marks_are_counted_without_a_reference_list() -> None:
    record = get_reading(await read("documents/changes-and-fields.docx"))
    assert (record.citation_marks, record.references) == (2, 0)


async def test_tracked_deletions_are_excluded_and_field_results_are_kept() -> None:
    text = (await read("documents/changes-and-fields.docx")).text
    assert "Delawhere" in text
    assert "(Ostby et al., 2018)" in text


async def test_formula_in_docx_is_read_as_text() -> None:
    assert "(a+b)/c" in (await read("documents/omml.docx")).text.replace(" ", "")


async def test_odt_footnote_is_counted_and_reference_is_read() -> None:
    idea = await read("documents/footnote-and-change.odt")
    assert get_reading(idea).notes == 1
    assert len(idea.references) == 1


async def test_html_markup_and_entities_are_removed_from_csv_export() -> None:
    idea = await read("tables/nsf-awards.csv")
    assert idea.title == "EAGER: Scoring plans – a naïve view"
    assert not {"<br", "&amp;", "&lt;"} & set(idea.text.split())


@pytest.mark.parametrize(("name", "marks"), [("front-matter.md", 2), ("anchored-references.md", 1)])
async def test_citation_marks_of_pandoc_are_counted(name: str, marks: int) -> None:
    record = get_reading(await read(f"documents/{name}"))
    assert record.citation_marks == marks
    assert "References" not in [section.title for section in record.sections]


async def test_pdf_footnotes_follow_their_paragraph_and_compound_words_are_not_split() -> None:
    idea = await read("pdf/footnotes.pdf")
    assert get_reading(idea).notes == 3
    paragraphs = idea.text.split("\n\n")
    for mark, note in (("1", "Juana Maldonaro, Large N"), ("2", "We thank nobody."), ("3", "See the interview guide")):
        place = next(number for number, text in enumerate(paragraphs) if text.startswith(f"[^{mark}]: {note}"))
        assert any(f"[^{mark}]" in text for text in paragraphs[max(0, place - 3) : place])
    assert "firstclass" not in idea.text
    assert "thousands of plans and cannot check" in " ".join(idea.text.split())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pdf/scanned.pdf", "no text; it probably consists of scanned images"),
        ("tables/openalex-style-duplicate.csv", "more than one column named title"),
    ],
)
async def test_unreadable_file_is_rejected_with_advice(name: str, message: str) -> None:
    ideas = await read_ideas([CASES / name])
    assert ideas.ideas == []
    assert message in ideas.rejected[0].message
