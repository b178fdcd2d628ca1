"""Items a plan does not state: detected by wordings, only where they apply, and never for an unreadable text."""

from typing import get_args

import pytest

from assayer.models import Absent, ChecklistItem, ChecklistRow
from assayer.plan_review.checklist import build_checklist, load_wordings
from tests.unit.processor_time import fill_text, limited_processor_time

__all__ = ["limited_processor_time"]

STUDY = (
    "We will test whether short naps improve recall. In the laboratory 48 volunteers learn a list of words, then "
    "nap or stay awake. We measure the share of words recalled and compare both groups by a permutation test."
)
PROOF = (
    "We will prove that every planar graph of this class has a colouring of the wanted kind. The argument goes by "
    "induction over the blocks of the graph, and we expect the bound to be tight for all but finitely many of them."
)
MEETING = (
    "This award supports the travel of students who attend the conference. The conference will be held in Ghent and "
    "brings together people who measure the oceans, with talks, posters and two panels for those who are new to it."
)
SENTENCE_BY_ITEM: dict[ChecklistItem, str] = {
    "sample_size": "Each arm has 24 mice.",
    "comparator": "A group without the drug serves as control.",
    "measure": "The metric is the distance swum.",
    "uncertainty": "Differences are told by an ANOVA.",
    "sharing": "All data will be deposited in a public repository.",
    "ethics": "The animal care committee has approved it, and the IACUC number is known.",
    "resources": "It runs on eight NVIDIA cards within a budget of 40,000 euros.",
    "timeline": "Months 1 to 6 go to training, and the milestones are listed below.",
    "risks": "If the drug does not reach the brain, we will give it by pump instead.",
}


def index_rows(text: str) -> dict[ChecklistItem, ChecklistRow]:
    checklist = build_checklist(text)
    assert not isinstance(checklist, Absent)
    return {row.item: row for row in checklist}


def group_by_outcome(text: str) -> dict[str, set[str]]:
    checklist_rows = index_rows(text).values()
    return {
        outcome: {row.item for row in checklist_rows if row.outcome == outcome}
        for outcome in {row.outcome for row in checklist_rows}
    }


def test_checklist_rows_follow_a_fixed_order() -> None:
    assert tuple(index_rows(STUDY)) == get_args(ChecklistItem) == tuple(load_wordings().stated)


def test_items_missing_from_a_study_are_reported_as_not_stated() -> None:
    assert group_by_outcome(STUDY) == {
        "stated": {"sample_size", "comparator", "measure", "uncertainty"},
        "not_stated": {"sharing", "ethics", "resources", "timeline", "risks"},
    }


def test_stated_item_is_quoted_with_its_sentence() -> None:
    quote = index_rows(STUDY)["sample_size"].quote
    assert quote == "In the laboratory 48 volunteers learn a list of words, then nap or stay awake."


def test_quote_is_the_most_informative_sentence_without_markup() -> None:
    text = (
        f"# Plan: a comparison of naps\n\n{STUDY}\n\n- **Baselines**: we compare it with a placebo and a control group."
    )
    assert index_rows(text)["comparator"].quote == "Baselines: we compare it with a placebo and a control group."


@pytest.mark.parametrize("item", get_args(ChecklistItem))
def test_each_checklist_item_is_recognised_by_its_own_wording(item: ChecklistItem) -> None:
    other_sentences = " ".join(text for name, text in SENTENCE_BY_ITEM.items() if name != item)
    assert index_rows(f"{STUDY} {SENTENCE_BY_ITEM[item]}")[item].outcome == "stated"
    assert (
        index_rows(f"This is an experiment with mice, and we will learn from it. {other_sentences}")[item].outcome
        == "not_stated"
    )


def test_proof_needs_neither_sample_nor_ethics_and_reason_is_stated() -> None:
    row_by_item = index_rows(PROOF)
    assert group_by_outcome(PROOF)["not_applicable"] == {
        "sample_size", "comparator", "measure", "uncertainty", "sharing", "ethics",
    }  # fmt: skip
    assert (
        row_by_item["sample_size"].reason == "The text does not mention anything to be measured, tested or collected."
    )
    assert row_by_item["ethics"].reason.startswith("The text does not mention people, animals")


def test_meeting_is_not_treated_as_a_study() -> None:
    assert group_by_outcome(MEETING)["not_stated"] <= {"resources", "timeline"}
    assert "meeting" in index_rows(MEETING)["risks"].reason


def test_virtual_animals_do_not_need_ethics_approval() -> None:
    text = STUDY.replace("48 volunteers", "48 simulated mice").replace("groups", "groups of virtual animals")
    assert index_rows(text)["ethics"].outcome == "not_applicable"


def test_text_in_another_language_is_not_checked() -> None:
    checklist = build_checklist(
        "Wir prüfen, ob ein kurzer Schlaf am Mittag das Gedächtnis stärkt. Dazu lernen achtundvierzig Freiwillige eine "
        "Liste von Wörtern, schlafen oder bleiben wach, und geben sie danach wieder. Wir vergleichen beide Gruppen."
    )
    assert isinstance(checklist, Absent)
    assert "English" in checklist.reason


def test_single_sentence_is_too_short_to_check() -> None:
    assert isinstance(build_checklist("Short naps improve recall."), Absent)


HOSTILE = [
    "12 ", "1,", "1 a ", "if the ", "if it does not ", "month 1 ", "over 3 years ", "at the Aa ", "release ",
    "open source ", "data ", "to the next ", "mean of 1 ", "twelve a.a ", "award ", "workshop aa ", "repeat ",
    "set of a ", "n", "=", ".\n",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_checklist_processing_time_is_limited(piece: str) -> None:
    build_checklist(fill_text(piece, start=f"{STUDY} ", characters=100_000))
