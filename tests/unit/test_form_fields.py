"""Prompts, unticked options and marked instructions of a form are left out of the proposal, and are named."""

from collections.abc import Callable

import pytest

from assayer.ideas.parsing import parse_idea
from assayer.models import Idea
from assayer.text.form_fields import remove_form_fields
from tests.contract.office_files import odt, word
from workers.documents.document_ideas import read_document_idea

BODY = "We count seeds of many plants in wet meadows and compare them with those of dry ones, as others did in spring."
PROMPT = "Click or tap here to enter text."


@pytest.mark.parametrize(
    "prompt",
    [
        PROMPT,
        "Click here to enter text.",
        "Click or tap to enter a date.",
        "Choose an item.",
        "Choose a building block.",
        "Klicken oder tippen Sie hier, um Text einzugeben.",
        "Klicken Sie hier, um Text einzugeben.",
        "Wählen Sie ein Element aus.",
        "Cliquez ou appuyez ici pour entrer du texte.",
        "Choisissez un élément.",
        "Haga clic o pulse aquí para escribir texto.",
        "Elija un elemento.",
        "Fare clic o toccare qui per immettere il testo.",
        "Clique ou toque aqui para introduzir texto.",
        "Klik of tik om tekst in te voeren.",
        "[Insert text here]",
        "[Enter the title of your project]",
        "[Please describe your methods, max. 200 words]",
        "<Insert name>",
    ],
)
@pytest.mark.parametrize("frame", ["{}", "Budget | {}", "{} | {}", "Budget: {}", "- {}"])
def test_prompts_are_removed_and_counted(prompt: str, frame: str) -> None:
    text, left_out = remove_form_fields(f"Words.\n\n{frame.format(prompt, prompt)}\n\nMore.")
    assert prompt not in text
    assert text.startswith("Words.\n\n")
    assert text.endswith("\n\nMore.")
    assert ("Budget" in text) == ("Budget" in frame)
    assert [item.part for item in left_out] == [f"{frame.count('{}')} empty field{'s' * (frame.count('{}') > 1)}"]


@pytest.mark.parametrize(
    "text",
    [
        BODY,
        "We choose an item from each shelf. Visitors click here to enter text into a box.",
        "The button says “Click here”.",
        "Matrix [A, B] and set [insert, delete] of edits.",
        "- [ ] sow the seeds\n- [x] order the seeds",
        "☐ sow the seeds\n☐ count the shoots\n☐ weigh them",
    ],
)
def test_other_text_is_unchanged(text: str) -> None:
    assert remove_form_fields(text) == (text, ())


@pytest.mark.parametrize(
    ("text", "kept_text", "options"),
    [
        ("☐ Yes ☒ No", "☒ No", 1),
        ("Animals: ☐ yes ☑ no ☐ unclear", "Animals: ☑ no", 2),
        ("Animals | ☐ yes | ☒ no", "Animals | ☒ no", 1),
        ("☒ Fens\n☐ Bogs\n☐ Lakes and rivers", "☒ Fens", 2),
        ("Yes ☐ No ☒", "No ☒", 1),
        ("□ Seed ■ Standard", "■ Standard", 1),
        ("☐ Seed ☐ Standard", "", 2),
    ],
)
def test_unticked_options_are_removed_and_counted(text: str, kept_text: str, options: int) -> None:
    remaining_text, left_out = remove_form_fields(text)
    assert remaining_text.strip() == kept_text
    assert [item.part for item in left_out] == [f"{options} unticked option{'s' * (options > 1)}"]


def list_unread_parts(idea: Idea) -> list[str]:
    assert idea.reading is not None
    return [item.part for item in idea.reading.unread_parts]


def test_form_prompts_in_markdown_are_removed() -> None:
    idea = parse_idea(f"# On fens\n\n## Problem\n\n{BODY}\n\n## Budget\n\n{PROMPT}\n", "a.md")
    assert PROMPT not in idea.text
    assert list_unread_parts(idea) == ["1 empty field"]


def _run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def render_paragraph(*runs: str, style: str = "") -> str:
    return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{"".join(runs)}</w:p>'


STYLES = (
    '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:type="character" w:styleId="PH"><w:name w:val="Placeholder Text"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="G"><w:name w:val="Guidance"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="I"><w:name w:val="Instructions to applicants"/></w:style>'
    '<w:style w:type="character" w:styleId="IC"><w:name w:val="Instruction Char"/></w:style>'
)
HEADS = [render_paragraph(_run(title), style="H1") for title in ("Problem", "Method")]
FILLED_FORM = HEADS[0] + render_paragraph(_run(BODY)) + HEADS[1] + render_paragraph(_run(BODY))
PLACEHOLDERS = {
    "control": "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>"
    f"{render_paragraph(_run('Describe your budget.'))}</w:sdtContent></w:sdt>",
    "control in a line": render_paragraph(
        "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>"
        f"{_run('Describe your budget.')}</w:sdtContent></w:sdt>"
    ),
    "control in a cell": "<w:tbl><w:tr><w:tc><w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>"
    f"{render_paragraph(_run('Describe your budget.'))}</w:sdtContent></w:sdt></w:tc></w:tr></w:tbl>",
    "style": render_paragraph(_run("Describe your budget.", '<w:rStyle w:val="PH"/>')),
    "text": render_paragraph(_run(PROMPT)),
}


@pytest.mark.parametrize("name", PLACEHOLDERS)
async def test_word_placeholders_are_removed(name: str) -> None:
    idea = await read_document_idea(word(FILLED_FORM + PLACEHOLDERS[name], STYLES), "a.docx")
    assert idea.text.endswith(BODY)
    assert list_unread_parts(idea) == ["1 empty field"]
    assert not idea.flags


async def test_text_in_a_control_that_was_filled_in_is_read() -> None:
    control = (
        f"<w:sdt><w:sdtPr><w:text/></w:sdtPr><w:sdtContent>{render_paragraph(_run('Ten euro.'))}</w:sdtContent></w:sdt>"
    )
    idea = await read_document_idea(word(FILLED_FORM + control, STYLES), "a.docx")
    assert idea.text.endswith("Ten euro.")
    assert list_unread_parts(idea) == []


@pytest.mark.parametrize("style", ["G", "I"])
async def test_instructions_in_their_own_style_are_removed(style: str) -> None:
    guidance = render_paragraph(_run("Explain what you will do, in at most two pages."), style=style)
    idea = await read_document_idea(word(guidance + FILLED_FORM, STYLES), "a.docx")
    assert "Explain what" not in idea.text
    assert len(list_unread_parts(idea)) == 1
    assert list_unread_parts(idea)[0].startswith("the instruction 'Explain what you")


async def test_instructions_in_italics_alone_are_read() -> None:
    italics = render_paragraph(_run("Explain what you will do, in at most two pages.", "<w:i/>"))
    idea = await read_document_idea(word(FILLED_FORM + italics, STYLES), "a.docx")
    assert "Explain what" in idea.text


def render_box(ticked: bool) -> str:
    w14 = "http://schemas.microsoft.com/office/word/2010/wordml"
    box = f'<w14:checkbox><w14:checked w14:val="{int(ticked)}"/></w14:checkbox>'
    return (
        f'<w:sdt xmlns:w14="{w14}"><w:sdtPr>{box}</w:sdtPr>'
        f"<w:sdtContent>{_run('☒' if ticked else '☐')}</w:sdtContent></w:sdt>"
    )


def render_legacy_box(ticked: bool) -> str:
    return (
        f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:sizeAuto/><w:default w:val="{int(ticked)}"/>'
        "</w:checkBox></w:ffData></w:fldChar></w:r><w:r><w:instrText> FORMCHECKBOX </w:instrText></w:r>"
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


@pytest.mark.parametrize("box", [render_box, render_legacy_box])
async def test_unticked_word_boxes_are_removed_with_their_labels(box: Callable[[bool], str]) -> None:
    lines = render_paragraph(box(False), _run(" Animals")) + render_paragraph(box(True), _run(" Field work"))
    idea = await read_document_idea(word(FILLED_FORM + lines, STYLES), "a.docx")
    assert "Animals" not in idea.text
    assert idea.text.endswith("☒ Field work")
    assert list_unread_parts(idea) == ["1 unticked option"]
    idea_without_ticks = await read_document_idea(
        word(FILLED_FORM + render_paragraph(box(False), _run(" Animals")), STYLES), "a.docx"
    )
    assert "Animals" not in idea_without_ticks.text


async def test_chosen_entry_of_an_old_list_field_is_read() -> None:
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="Bogs"/>'
        '<w:listEntry w:val="Fens"/></w:ddList></w:ffData></w:fldChar></w:r><w:r><w:instrText> FORMDROPDOWN '
        '</w:instrText></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    idea = await read_document_idea(word(FILLED_FORM + render_paragraph(_run("Habitat: "), field), STYLES), "a.docx")
    assert idea.text.endswith("Habitat: Fens")


async def test_open_document_placeholders_are_removed() -> None:
    field = '<text:placeholder text:placeholder-type="text">&lt;Your budget&gt;</text:placeholder>'
    idea = await read_document_idea(odt(f"<text:p>{BODY}</text:p><text:p>{field}</text:p>"), "a.odt")
    assert idea.text == BODY
    assert list_unread_parts(idea) == ["1 empty field"]


async def test_boxes_of_html_are_read() -> None:
    boxes = '<p><input type="checkbox"> Bogs <input type="checkbox" checked> Fens</p>'
    page = f"<html><body><h1>On fens</h1><h2>Problem</h2><p>{BODY}</p>{boxes}</body></html>"
    idea = await read_document_idea(page.encode(), "a.html")
    assert idea.text.endswith("☒ Fens")
    assert list_unread_parts(idea) == ["1 unticked option"]


async def test_tags_of_the_european_commissions_forms_are_removed() -> None:
    tags = render_paragraph(_run("#@APP-FORM-HERIAIA@# #§PRJ-SUM-PS§#")) + render_paragraph(_run("#@REL-EVA-RE@#"))
    idea = await read_document_idea(word(tags + FILLED_FORM, STYLES), "a.docx")
    assert "#@" not in idea.text
    assert "§" not in idea.text
