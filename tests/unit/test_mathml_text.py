"""Formulas in MathML, as HTML pages and OpenDocument texts hold them, keep their meaning as text."""

import pytest
from lxml import etree

from tests.contract.office_files import odt
from workers.documents.document_ideas import read_document_idea
from workers.sandbox.mathml_text import format_mathml

TEXT = "We rehearse what the next round of training would overwrite, as bees do in a garden. " * 3
FRACTION = "<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>"


@pytest.mark.parametrize(
    ("inner", "expected_text"),
    [
        (FRACTION, "(a+b)/c"),
        ("<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>", "sqrt(x+1)"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "root(3, x)"),
        ("<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_i^2"),
        ("<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>x</mi>",
         "∑_(i=1)^n x"),
        ("<mover><mi>y</mi><mo>^</mo></mover>", "hat(y)"),
        ("<mfrac linethickness='0'><mi>n</mi><mi>k</mi></mfrac>", "binom(n, k)"),
        ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr></mtable>", "[1, 2]"),
        (f"<semantics>{FRACTION}<annotation encoding='application/x-tex'>\\frac{{a+b}}c</annotation></semantics>",
         "(a+b)/c"),
    ],
)  # fmt: skip
def test_formula_keeps_its_meaning(inner: str, expected_text: str) -> None:
    assert (
        format_mathml(etree.fromstring(f"<math xmlns='http://www.w3.org/1998/Math/MathML'>{inner}</math>"))
        == expected_text
    )


def test_deeply_nested_formula_is_read() -> None:
    format_mathml(etree.fromstring(f"<math>{'<mrow>' * 240}<mi>x</mi>{'</mrow>' * 240}</math>"))


async def test_formulas_of_html_and_open_document_are_read() -> None:
    page = f"<html><body><p>{TEXT}</p><p>Score <math>{FRACTION}</math> of it.</p></body></html>"
    frame = '<draw:frame><draw:object xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="./Object 1"/></draw:frame>'
    formula = f'<math xmlns="http://www.w3.org/1998/Math/MathML">{FRACTION}</math>'
    text = odt(f"<text:p>{TEXT}</text:p><text:p>Score {frame} of it.</text:p>", parts={"Object 1/content.xml": formula})
    for data, name in ((page.encode(), "a.html"), (text, "a.odt")):
        assert "Score (a+b)/c of it." in (await read_document_idea(data, name)).text


async def test_bibliography_of_an_open_document_is_its_reference_list() -> None:
    entries = "".join(f"<text:p>Lee, A. (20{n}). Replay buffers of kind {n}. Text Methods.</text:p>" for n in (18, 19))
    index = f"<text:index-title><text:p>Bibliography</text:p></text:index-title>{entries}"
    body = f"<text:p>{TEXT}</text:p><text:bibliography><text:index-body>{index}</text:index-body></text:bibliography>"
    idea = await read_document_idea(odt(body), "a.odt")
    assert [work.year for work in idea.references] == [2018, 2019]
    assert "Replay" not in idea.text
