"""Texts made to cost time: reading text from outside takes time that grows with the text, not with its square."""

from collections.abc import Callable

import pytest

from assayer.models import Idea, IdeaId, Report
from assayer.own_references.entries import read_references
from assayer.own_references.passages import find_citing_passages
from assayer.reports.html import render_html
from assayer.reports.json_and_csv import render_json
from assayer.reports.markdown import render_report_markdown
from assayer.text.sentences import sentence_spans, sentences
from tests.unit import reports_hostile
from tests.unit.processor_time import fill_text, limited_processor_time

__all__ = ["limited_processor_time"]


@pytest.mark.parametrize(
    "unit",
    ["[1] ", "[1, ", "[1-99] ", "[2-999]", "Lee 2019 ", "(Lee, 2019; ", "Lee, Lee, Lee and 2019", "Lee et al., ",
     "2019a", "[a](https://arxiv.org/abs/1706.03762) ", "10.1000/", "10.1000/a ", "arxiv:", "## References\n- x\n",
     "- a\n", "\n", ". A", "[", "Lee (2019). a\n", "[1] Lee, A. (2019). A title of this. X.\n",
     "- Lee, A. (2019a). A title. X.\n"],
)  # fmt: skip
@pytest.mark.parametrize("end", ["", "\n\n## References\n\n" + "- Lee, A. (2019). Replay of text. Methods.\n" * 200])
def test_hostile_references_and_citing_passages_are_parsed_in_time(unit: str, end: str) -> None:
    text = fill_text(unit, "References\n\n" if not end else "", end)
    references = read_references(Idea(id=IdeaId("x"), title="x", text=text, sections=(), source="x"))
    find_citing_passages(text, references.entries)


@pytest.mark.parametrize("unit", ["<!-- ", "«a. "])
def test_text_with_unclosed_quotes_is_split_in_time(unit: str) -> None:
    text = fill_text(unit, characters=200_000)
    spans = sentence_spans(text)
    assert (spans[0][0], spans[-1][1]) == (0, len(text))


def test_long_text_splits_into_same_sentences_as_its_paragraphs() -> None:
    paragraph = "We measure how often two reviewers agree. They read the same plans of research twice."
    assert sentences("\n\n".join([paragraph] * 1_000)) == sentences(paragraph) * 1_000


@pytest.mark.parametrize("render", [render_html, render_report_markdown, render_json])
def test_report_full_of_hostile_texts_is_written_in_time(
    render: Callable[[Report], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a megabyte or more: each text of it begins with a trick."""
    for unit in ("[@", "\\", "**a"):
        monkeypatch.setattr(reports_hostile, "ATTACK", fill_text(unit, characters=1_000))
        assert len(render(reports_hostile.make_hostile_report())) > 250_000
