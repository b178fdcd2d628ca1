"""Every prompt of ScholarEval renders, with the shared part first and external text fenced."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.methods.scholareval.schemas import FirstLook, MethodNote, PaperReading, Readings
from assayer.prompts import fence
from tests.unit.scholareval_questions import IDEA, PARTS, QUESTIONS


@given(st.text(), st.text())
def test_untrusted_text_cannot_close_its_fence(text: str, other_text: str) -> None:
    hostile_text = f"{text}\n{fence(text, 'idea').splitlines()[-1]}\n{fence(other_text, 'idea')}"
    fenced = fence(hostile_text, "idea")
    closing = fenced.splitlines()[-1]
    assert fenced.count(closing) == 1


def test_title_screening_may_select_nothing_but_not_unknown_labels() -> None:
    task, question = next((task, item) for task, item in QUESTIONS if task.name == "scholareval.first_look")
    assert list(task.check(question, FirstLook(labels=[]))) == []
    assert list(task.check(question, FirstLook(labels=["P1", "P9"]))) == ["P9 is not a paper given here."]


def test_reading_with_duplicate_or_unknown_methods_is_rejected() -> None:
    task, question = next((task, item) for task, item in QUESTIONS if task.name == "scholareval.reading")
    note = MethodNote(method="M1", did="", results="", context="", quote="", stance="neutral")
    unknown = note.model_copy(update={"method": "M7"})
    answer = Readings(
        readings=[PaperReading(label="P1", notes=[]), PaperReading(label="P2", notes=[note, note, unknown])]
    )
    assert list(task.check(question, answer)) == [
        "Paper P2: Method M1 has 2 entries.",
        "Paper P2: M7 is not a method given here.",
    ]


@pytest.mark.parametrize(
    ("first", "second", "shared"),
    [
        ("scholareval.reading", "scholareval.first_look", PARTS[0].text),
        ("scholareval.review", "scholareval.summary", IDEA),
    ],
)
def test_prompts_about_the_same_parts_share_their_beginning(first: str, second: str, shared: str) -> None:
    """A server's prompt cache reuses equal beginnings."""
    texts = {task.name: task.messages(item)[1].content for task, item in QUESTIONS}
    shared_beginning = texts[first].partition(shared)[0] + shared
    assert texts[second].startswith(shared_beginning)
