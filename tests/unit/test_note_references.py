"""Notes that hold full citations become entries of the reference list; notes that are remarks stay notes."""

import pytest

from assayer.ideas.parsing import parse_idea
from assayer.models import Idea
from assayer.reference_lists.note_entries import split_note
from tests.contract.office_files import odt, word
from tests.unit.processor_time import fill_text, limited_processor_time
from workers.documents.document_ideas import read_document_idea

__all__ = ["limited_processor_time"]

LEE = "Lee, A., & Moss, B. (2019). Replay of wet meadows. Journal of Fens, 4(2), 1–9. https://doi.org/10.1000/fens.1"
BELL = "Ada Bell, “Seeds of the Fen,” Journal of Fens 7, no. 2 (2020): 12–30."
COLE = "Cole C, Dale D. Drained soils and their seeds. Fen Sci 2018;3:14–22."


@pytest.mark.parametrize(
    "note",
    [
        LEE,
        BELL,
        COLE,
        'A. Lee and B. Moss, "Replay of wet meadows," J. Fens 4 (2019) 1–9.',
        "Ada Bell, Seeds of the Fen (Oslo: Fen Press, 2019), 34.",
        "Bell, A. Seeds of the Fen. Oslo: Fen Press, 2019.",
        "World Fen Organization (2020). Guidelines for wet meadows. Geneva: Fen Press.",
        "Fen Agency, Report on wet meadows, 2021, https://fens.example/report.pdf (accessed 3 May 2021).",
        "Wet meadows of the north, https://fens.example/north, accessed 12 March 2022.",
        "https://doi.org/10.1000/fens.7",
        "arXiv:2101.01234",
        "Lee, A., Moss, B., 2019. Replay of wet meadows. J. Fens 4, 1-9.",
        "Ada Bell, «Les graines du marais», Revue des marais 7 (2020), p. 12-30.",
        "Øst, K.: Frø i våte enger. Tidsskrift for myr 3 (2017), S. 4–9.",
    ],
)
def test_note_that_is_a_full_citation_is_an_entry(note: str) -> None:
    assert split_note(note) == ("", (note,))


@pytest.mark.parametrize(
    "lead",
    ["See ", "See also ", "Cf. ", "e.g. ", "See, e.g., ", "For a review, see ", "On fens see ", "Vgl. "],
)
def test_words_that_lead_to_a_citation_are_not_part_of_the_entry(lead: str) -> None:
    assert split_note(lead + BELL) == ("", (BELL,))


def test_several_citations_in_a_note_are_several_entries() -> None:
    assert split_note(f"{LEE}; {COLE}") == ("", (LEE, COLE))
    assert split_note(f"See {BELL[:-1]}; {COLE}") == ("", (BELL[:-1], COLE))


def test_remark_before_a_citation_is_a_note() -> None:
    assert split_note(f"The plots were drained twice in a dry year. See {BELL}") == (
        "The plots were drained twice in a dry year.",
        (BELL,),
    )


@pytest.mark.parametrize(
    "note",
    [
        "A remark.",
        "We thank a reviewer for this point.",
        "The survey of 2019 had 40 plots, 3–5 per site.",
        "Lee (2019, p. 3) says that plots are small.",
        "Lee (2019) uses 4 plots of 2–3 m, and we use 12 plots.",
        "Ibid., p. 34.",
        "Bell, Seeds of the Fen, 34.",
        "Bell 2020, 34–36.",
        "Measured in May 2021 with a Fenmeter 3 (2020 model), vol. 2 of the manual.",
        "The code is at https://fens.example/code.",
        "Costs are in euro of 2020, at 1.1 dollars; see Table 3 (2021) and Section 4.2.",
        "In contrast to the earlier trial (Moss et al., 2018), which sowed in autumn and counted 3–5 plots in spring, "
        "we sow in spring and count all plots, because winter floods carry seeds away.",
        "All interviews were held between 2018 and 2020; names were changed.",
        "Corresponding author: fen@fens.example, 2021.",
    ],
)
def test_note_that_is_a_remark_is_not_a_reference(note: str) -> None:
    assert split_note(note) == (note, ())


BODY = "We count seeds of many plants in wet meadows and compare them with those of dry ones"


def check(idea: Idea, entries: int = 2) -> None:
    """Check an idea with two citations in notes, LEE and BELL, with a remark between them."""
    assert [work.number for work in idea.references] == [1, 3][:entries]
    assert [work.title for work in idea.references] == ["Replay of wet meadows", "Seeds of the Fen"][:entries]
    assert idea.references[0].doi == "10.1000/fens.1"
    assert "Fens" not in idea.text
    assert "Journal of Fens" in idea.reference_list
    assert "[^2]: Plots of four metres." in idea.text
    assert "[^1]" in idea.text
    assert idea.reading is not None
    assert (idea.reading.notes, idea.reading.references, idea.reading.citation_marks) == (1, entries, entries)


def test_markdown_reference_notes_are_distinguished_from_remarks() -> None:
    check(
        parse_idea(
            f"# On meadows\n\n## Problem\n\n{BODY}.[^1] More.[^2]\n\n[^2]: Plots of four metres.\n\n## Method\n\n"
            f"{BODY}.[^3]\n\n[^1]: {LEE[:60]}\n    {LEE[60:]}\n[^3]: {BELL}\n",
            "a.md",
        )
    )


def test_rst_and_org_reference_notes_are_distinguished_from_remarks() -> None:
    rst = f"On meadows\n~~~~~~~~~~\n\n{BODY}. [Lee19]_ Then. [#]_\n\n.. [Lee19] {LEE}\n.. [#] For a reason.\n"
    org = f"#+TITLE: On meadows\n\n{BODY}.[fn:lee] Then.[fn:2]\n\n[fn:lee] {LEE}\n[fn:2] For a reason.\n"
    for text in (rst, org):
        idea = parse_idea(text, "a.txt")
        assert [(work.number, work.doi) for work in idea.references] == [(1, "10.1000/fens.1")]
        assert "[^2]: For a reason." in idea.text


def test_named_notes_of_markdown_get_numbers() -> None:
    idea = parse_idea(f"# On meadows\n\n{BODY}.[^lee] Then.[^why]\n\n[^lee]: {LEE}\n[^why]: For a reason.\n", "a.md")
    assert [work.number for work in idea.references] == [1]
    assert idea.text == f"# On meadows\n\n{BODY}.[^1] Then.[^2]\n\n[^2]: For a reason."


def test_notes_next_to_a_numbered_list_get_no_numbers() -> None:
    reference_list = "\n".join(
        f"[{n}] Cole, C. ({2000 + n}). Soils of fen {n}. Fen Sci, {n}(1), 1–9." for n in (1, 2, 3)
    )
    idea = parse_idea(f"{BODY} [1, 2].[^1] So [3].\n\n[^1]: {LEE}\n\n## References\n\n{reference_list}\n", "a.md")
    assert [work.number for work in idea.references] == [1, 2, 3, None]
    assert idea.references[3].doi == "10.1000/fens.1"


def render_paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text.replace('&', '&amp;')}</w:t></w:r></w:p>"


@pytest.mark.parametrize("kind", ["endnote", "footnote"])
@pytest.mark.parametrize("heading", ["", '<w:pPr><w:pStyle w:val="H1"/></w:pPr>'])
async def test_word_reference_notes_are_distinguished_from_remarks(kind: str, heading: str) -> None:
    def render_marked_paragraph(text: str, number: int) -> str:
        return f'<w:p><w:r><w:t>{text}</w:t></w:r><w:r><w:{kind}Reference w:id="{number}"/></w:r></w:p>'

    notes = "".join(
        f'<w:{kind} w:id="{number}">{render_paragraph(text)}</w:{kind}>'
        for number, text in ((1, LEE), (2, "Plots of four metres."), (3, BELL))
    )
    part = f'<w:{kind}s xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">{notes}</w:{kind}s>'
    styles = '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    titles = [f"<w:p>{heading}<w:r><w:t>{title}</w:t></w:r></w:p>" for title in ("Problem", "Method")]
    body = (
        titles[0]
        + render_marked_paragraph(f"{BODY}.", 1)
        + render_marked_paragraph(f"{BODY}.", 2)
        + titles[1]
        + render_marked_paragraph(f"{BODY}.", 3)
    )
    check(await read_document_idea(word(body, styles, {f"word/{kind}s.xml": part}), "plan.docx"))


@pytest.mark.parametrize("kind", ["footnote", "endnote"])
async def test_open_document_reference_notes_are_distinguished_from_remarks(kind: str) -> None:
    def render_note(text: str) -> str:
        return (
            f'<text:note text:note-class="{kind}"><text:note-citation>i</text:note-citation><text:note-body><text:p>'
            f"{text.replace('&', '&amp;')}</text:p></text:note-body></text:note>"
        )

    body = "".join(f"<text:p>{BODY}.{render_note(text)}</text:p>" for text in (LEE, "Plots of four metres.", BELL))
    check(await read_document_idea(odt(body), "plan.odt"))


async def test_tex_reference_footnotes_are_distinguished_from_remarks() -> None:
    tex_lee = LEE.replace("&", r"\&").replace("–", "--")
    source = (
        rf"\documentclass{{article}}\begin{{document}}\section{{Problem}}{BODY}.\footnote{{{tex_lee}}} More."
        rf"\footnote{{Plots of four metres.}}\section{{Method}}{BODY}."
        rf"\footnote{{{BELL.replace('–', '--')}}}\end{{document}}"
    )
    check(await read_document_idea(source.encode(), "plan.tex"))


async def test_html_reference_footnotes_are_distinguished_from_remarks() -> None:
    def mark(number: int) -> str:
        return f'<sup><a href="#fn{number}" id="fnref{number}">{number}</a></sup>'

    notes = "".join(
        f'<li id="fn{number}"><p>{text.replace("&", "&amp;")} <a href="#fnref{number}">↩</a></p></li>'
        for number, text in ((1, LEE), (2, "Plots of four metres."), (3, BELL))
    )
    page = (
        f"<html><body><h1>On meadows</h1><h2>Problem</h2><p>{BODY}.{mark(1)} More.{mark(2)}</p>"
        f"<h2>Method</h2><p>{BODY}.{mark(3)}</p><section class=footnotes><ol>{notes}</ol></section></body></html>"
    )
    check(await read_document_idea(page.encode(), "plan.html"))


def test_hidden_text_in_a_note_that_is_an_entry_is_flagged() -> None:
    idea = parse_idea(f"{BODY} and again and again.[^1]\n\n[^1]: {LEE} <span hidden>Ignore all.</span>\n", "a.md")
    assert "Ignore" not in idea.reference_list
    assert [flag.kind for flag in idea.flags] == ["hidden_text"]


@pytest.mark.parametrize("unit", ["Lee, A. (2019). A b. J 4, 1. ", "; Lee", "see ", "see Lee, A. (2019). "])
def test_long_notes_are_read_in_linear_time(unit: str) -> None:
    split_note(fill_text(unit))


@pytest.mark.parametrize("unit", ["[^1]: a\n", "[^1]:", "[^a] ", "[^b]: Lee, A. (2019). A b. J 4(1), 1.\n"])
def test_texts_with_many_notes_are_read_in_linear_time(unit: str) -> None:
    parse_idea(fill_text(unit, start=f"{BODY} and {BODY}\n\n", characters=100_000), "a.md")
