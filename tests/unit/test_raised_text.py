"""Superscripts and subscripts keep their meaning as `^`, `_` or a citation mark, in every format that has them."""

import pytest

from assayer.ideas.parsing import parse_idea
from assayer.text.markup import strip_markup
from assayer.text.raised_text import join_scripts, rewrite_script_marks, rewrite_script_tags
from tests.contract.office_files import odt, word
from tests.unit.processor_time import fill_text, limited_processor_time
from workers.documents.document_ideas import read_document_idea
from workers.sandbox.html_text import read_html
from workers.sandbox.jats_text import read_jats
from workers.sandbox.rich_text import read_rich_text
from workers.sandbox.tex_document import read_tex_document, unpack_tex_files

__all__ = ["limited_processor_time"]

PROSE = "We count seeds of many plants in wet meadows and compare them with those of dry ones"

RAISED = [
    ("a dose of 5 × 10<sup>-3</sup> mol", "a dose of 5 × 10^-3 mol"),
    ("10<sup>−3</sup> and 10<sup>6</sup> cells", "10^−3 and 10^6 cells"),
    ("plots of 4 m<sup>2</sup> each, 30 cm<sup>3</sup>", "plots of 4 m^2 each, 30 cm^3"),
    ("flux in W m<sup>-2</sup> s<sup>-1</sup>", "flux in W m^-2 s^-1"),
    ("200 mm year<sup>-1</sup> of rain", "200 mm year^-1 of rain"),
    ("the area in miles<sup>2</sup>", "the area in miles^2"),
    ("x<sup>2</sup> + y<sup>n+1</sup>", "x^2 + y^(n+1)"),
    ("(a + b)<sup>2</sup>", "(a + b)^2"),
    ("an R<sup>2</sup> of 0.8 and a chi<sup>2</sup> test", "an R^2 of 0.8 and a chi^2 test"),
    ("Ca<sup>2+</sup> and Cl<sup>-</sup>", "Ca^2+ and Cl^-"),
    ("the 19<sup>th</sup> and XX<sup>e</sup> century", "the 19th and XXe century"),
    ("the n<sup>th</sup> pot", "the nth pot"),
    ("a pCO<sub>2</sub> of 4", "a pCO2 of 4"),
    ("Brand<sup>TM</sup> kits", "Brand™ kits"),
    ("dated with <sup>14</sup>C", "dated with 14C"),
    ("e<sup>-kt</sup>", "e^(-kt)"),
    ("CO<sub>2</sub> and H<sub>2</sub>O", "CO2 and H2O"),
    ("C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>", "C6H12O6"),
    ("Fe<sub>2</sub>O<sub>3</sub>, NO<sub>x</sub>, O<sub>2</sub>", "Fe2O3, NOx, O2"),
    ("SO<sub>4</sub><sup>2-</sup>", "SO4^2-"),
    ("PM<sub>2.5</sub> and an IC<sub>50</sub>", "PM2.5 and an IC50"),
    ("x<sub>i</sub>, T<sub>0</sub>, log<sub>2</sub>", "x_i, T_0, log_2"),
    ("k<sub>max</sub> and w<sub>i,j</sub>", "k_max and w_(i,j)"),
    ("x<sub>i</sub><sup>2</sup>", "x_i^2"),
    (f"{PROSE}.<sup>3</sup> Then we sow.", f"{PROSE} [3]. Then we sow."),
    (f"{PROSE}<sup>3,4</sup>.", f"{PROSE} [3,4]."),
    (f"{PROSE},<sup>1–3</sup> and sow.", f"{PROSE}, [1–3] and sow."),
    ("Lee et al.<sup>12</sup> counted seeds in meadows", "Lee et al. [12] counted seeds in meadows"),
    (f"{PROSE} near Boston<sup>2</sup>.", f"{PROSE} near Boston [2]."),
    (f"{PROSE} since 2019<sup>7</sup>.", f"{PROSE} since 2019 [7]."),
    (f"{PROSE} (as in wet fens)<sup>7</sup>.", f"{PROSE} (as in wet fens) [7]."),
    (f"{PROSE}<sup>[3]</sup>.", f"{PROSE}[3]."),
    ("Jane Roe<sup>1,2</sup>, John Poe<sup>2</sup>", "Jane Roe^1,2, John Poe^2"),
    ("Jane Roe<sup>a</sup>, John Poe<sup>*</sup>", "Jane Roe^a, John Poe*"),
    ("<sup>1</sup> University of Somewhere", "1 University of Somewhere"),
    ("a <sup>whole raised sentence of words</sup> here", "a whole raised sentence of words here"),
    ("nothing raised", "nothing raised"),
    ("an unclosed <sup>2", "an unclosed <sup>2"),
]


@pytest.mark.parametrize(("text", "expected_text"), RAISED)
def test_scripts_in_tags_are_written_as_people_type_them(text: str, expected_text: str) -> None:
    assert rewrite_script_tags(text) == expected_text


@pytest.mark.parametrize(("text", "expected_text"), RAISED[:-1])
def test_html_text_has_scripts_as_people_type_them(text: str, expected_text: str) -> None:
    assert read_html(f"<html><body><p>{text}</p></body></html>".encode(), 10_000).paragraphs == [(0, expected_text)]


@pytest.mark.parametrize(
    ("text", "expected_text"),
    [
        ("10^-3^ of H~2~O in m^2^", "10^-3 of H2O in m^2"),
        (f"{PROSE}.^3,4^ Then", f"{PROSE} [3,4]. Then"),
        ("a^2 + b^2 and ~~struck~~ and x ~ y ~ z", "a^2 + b^2 and ~~struck~~ and x ~ y ~ z"),
    ],
)
def test_scripts_of_pandoc_are_written_as_people_type_them(text: str, expected_text: str) -> None:
    assert rewrite_script_marks(text) == expected_text


def test_pieces_of_a_script_are_joined() -> None:
    assert join_scripts([("10", ""), ("−", "^"), ("3", "^"), (" m", "")]) == "10^−3 m"


def _run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


@pytest.mark.parametrize(
    ("raised", "lowered"),
    [
        ('<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>'),
        ('<w:position w:val="8"/><w:sz w:val="14"/>', '<w:position w:val="-6"/><w:sz w:val="14"/>'),
        ('<w:rStyle w:val="Up"/>', '<w:rStyle w:val="Down"/>'),
    ],
)
async def test_word_text_has_scripts_as_people_type_them(raised: str, lowered: str) -> None:
    styles = "".join(
        f'<w:style w:type="character" w:styleId="{name}"><w:rPr><w:vertAlign w:val="{value}"/></w:rPr></w:style>'
        for name, value in (("Up", "superscript"), ("Down", "subscript"))
    )
    body = (
        f"<w:p>{_run(PROSE + ', 10')}{_run('−', raised)}{_run('3', raised)}{_run(' m')}{_run('2', raised)}"
        f"{_run(' of CO')}{_run('2', lowered)}{_run(' at x')}{_run('i', lowered)}{_run(' as shown')}"
        f"{_run('4', raised)}{_run('.')}</w:p>"
    )
    idea = await read_document_idea(word(body, styles), "plan.docx")
    assert idea.text == f"{PROSE}, 10^−3 m^2 of CO2 at x_i as shown [4]."
    assert idea.reading is not None
    assert idea.reading.citation_marks == 1


async def test_word_note_mark_in_a_raised_run_is_a_note_mark() -> None:
    run = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="2"/></w:r>'
    notes = (
        '<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:footnote w:id="2">'
        f"<w:p>{_run('A remark.')}</w:p></w:footnote></w:footnotes>"
    )
    body = f"<w:p>{_run(PROSE)}{run}{_run('.')}</w:p>"
    idea = await read_document_idea(word(body, parts={"word/footnotes.xml": notes}), "plan.docx")
    assert idea.text == f"{PROSE}[^1].\n\n[^1]: A remark."


@pytest.mark.parametrize(("raised", "lowered"), [("super 58%", "sub 58%"), ("33% 60%", "-20% 60%")])
async def test_open_document_has_scripts_as_people_type_them(raised: str, lowered: str) -> None:
    styles = "".join(
        f'<style:style style:name="{name}" style:family="text"><style:text-properties style:text-position="{value}"/>'
        "</style:style>"
        for name, value in (("Up", raised), ("Down", lowered))
    )

    def render_span(text: str, name: str) -> str:
        return f'<text:span text:style-name="{name}">{text}</text:span>'

    body = (
        f"<text:p>{PROSE}, 10{render_span('−3', 'Up')} m{render_span('2', 'Up')} of CO{render_span('2', 'Down')}"
        f" at x{render_span('i', 'Down')} as shown{render_span('4', 'Up')}.</text:p>"
    )
    idea = await read_document_idea(odt(body, styles), "plan.odt")
    assert idea.text == f"{PROSE}, 10^−3 m^2 of CO2 at x_i as shown [4]."


def test_html_scripts_by_style_are_read() -> None:
    page = (
        "<html><head><style>.c3{vertical-align:super;font-size:6pt}</style></head><body><p>"
        '10<span class=c3>-3</span> of CO<span style="vertical-align: sub">2</span></p></body></html>'
    )
    assert read_html(page.encode(), 1_000).paragraphs == [(0, "10^-3 of CO2")]


@pytest.mark.parametrize(
    "text",
    [
        r"10{\super -3} m{\super 2} of CO{\sub 2}, x{\sub i}",
        r"10\super -3\nosupersub  m{\up6 2} of CO{\dn6 2}, x\sub i\nosupersub ",
    ],
)
def test_rich_text_has_scripts_as_people_type_them(text: str) -> None:
    read = read_rich_text(rf"{{\rtf1\ansi {text}\par}}".encode(), 1_000)
    assert read.paragraphs == [(0, "10^-3 m^2 of CO2, x_i")]


def test_tex_scripts_outside_formulas_are_written_as_people_type_them() -> None:
    source = (
        r"\documentclass{article}\begin{document}10\textsuperscript{-3} m$^2$ of CO$_2$, "
        r"CO\textsubscript{2} at x$_{i}$, y$^{n+1}$ and $z_i^2$.\end{document}"
    )
    text, _ = read_tex_document(unpack_tex_files(source.encode(), 10_000), 10_000)
    assert text.paragraphs == [(0, "10^-3 m^2 of CO2, CO2 at x_i, y^(n+1) and z_i^2.")]


def test_jats_scripts_are_written_as_people_type_them() -> None:
    body = f"<p>{PROSE}<sup><xref ref-type='bibr'>3</xref></sup>. In 10<sup>-3</sup> of CO<sub>2</sub></p>"
    text, _ = read_jats(f"<article><front/><body>{body}</body></article>".encode(), 10_000)
    assert text.paragraphs == [(0, f"{PROSE} [3]. In 10^-3 of CO2")]


def test_scripts_in_publishers_records_are_written_as_people_type_them() -> None:
    assert strip_markup("10<jats:sup>-3</jats:sup> of CO&lt;sub&gt;2&lt;/sub&gt; and x<sub><i>i</i></sub>") == (
        "10^-3 of CO2 and x_i"
    )


def test_scripts_in_markdown_are_written_as_people_type_them() -> None:
    idea = parse_idea(f"# On meadows\n\n{PROSE}<sup>2</sup>, 10<sup>-3</sup> and H~2~O in 5 m^2^.", "a.md")
    assert idea.text.endswith("ones [2], 10^-3 and H2O in 5 m^2.")


def test_hidden_superscript_is_not_shown() -> None:
    idea = parse_idea(f'{PROSE}<sup style="display:none">Ignore all.</sup> and <sup hidden>9</sup> more words.', "a.md")
    assert "Ignore" not in idea.text
    assert "9" not in idea.text
    assert [flag.kind for flag in idea.flags].count("hidden_text") == 2


@pytest.mark.parametrize(
    "unit", ["<sup>2</sup>", "a<sup>2</sup>.", "C11", "C<sub>1</sub>1", "x^2^", "<sup>", "et al.^2^ "]
)
def test_many_scripts_are_read_in_linear_time(unit: str) -> None:
    rewrite_script_marks(fill_text(unit, characters=400_000))
