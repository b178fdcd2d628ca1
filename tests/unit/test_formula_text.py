"""Formulas of Word as text on one line."""

import pytest
from lxml import etree

from workers.sandbox.formula_text import format_formula

M = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("markup", "expected_text"),
    [
        (f"<m:f><m:num>{run('a+b')}</m:num><m:den>{run('c')}</m:den></m:f>", "(a+b)/c"),
        (f"<m:sSub><m:e>{run('x')}</m:e><m:sub>{run('i+1')}</m:sub></m:sSub>", "x_(i+1)"),
        (f"<m:sSup><m:e>{run('a+b')}</m:e><m:sup>{run('2')}</m:sup></m:sSup>", "(a+b)^2"),
        (f"<m:rad><m:radPr/><m:deg/><m:e>{run('n')}</m:e></m:rad>", "sqrt(n)"),
        (f"<m:rad><m:deg>{run('3')}</m:deg><m:e>{run('n')}</m:e></m:rad>", "root(3, n)"),
        (
            f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{run("i=1")}</m:sub><m:sup>{run("n")}</m:sup>'
            f"<m:e>{run('x')}</m:e></m:nary>",
            "∑_(i=1)^n x",
        ),
        (f"<m:d><m:e>{run('a')}</m:e><m:e>{run('b')}</m:e></m:d>", "(a|b)"),
        (f'<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val=""/></m:dPr><m:e>{run("a")}</m:e></m:d>', "[a"),
        (f"<m:func><m:fName>{run('log')}</m:fName><m:e>{run('n')}</m:e></m:func>", "log n"),
        (f"<m:m><m:mr><m:e>{run('a')}</m:e><m:e>{run('b')}</m:e></m:mr></m:m>", "[a, b]"),
        (f"<m:acc><m:e>{run('y')}</m:e></m:acc>", "hat(y)"),
        (f"<m:box><m:e>{run('kept')}</m:e></m:box>", "kept"),
    ],
)
def test_formula_structure_is_preserved_in_text(markup: str, expected_text: str) -> None:
    formula = etree.fromstring(f'<m:oMath xmlns:m="{M}">{markup}</m:oMath>')
    assert format_formula(formula, lambda run: True) == expected_text


def test_invisible_runs_are_omitted_from_formula_text() -> None:
    formula = etree.fromstring(f'<m:oMath xmlns:m="{M}">{run("a")}{run("b")}</m:oMath>')
    assert format_formula(formula, lambda item: "b" not in "".join(map(str, item.itertext()))) == "a"
