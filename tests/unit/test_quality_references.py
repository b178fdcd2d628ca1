"""Planted references: what is made of a list, and how outcomes are counted."""

import pytest

from assayer.models import CitedWork
from assayer.own_references.entries import read_references
from benchmarks.quality.own_references import JudgedEntry, format_outcomes, pair_by_title
from benchmarks.quality.reference_lists import STYLES, PlantedEntry, Work, make_proposals, read_works
from benchmarks.records import DATA

WORK = Work("Replay of text", ("Ann Lee",), 2019, "ACL")


def test_planted_reference_outcomes_are_counted_by_kind_and_style() -> None:
    judged_references = [
        JudgedEntry(PlantedEntry("real", WORK), "numbered", "found"),
        JudgedEntry(PlantedEntry("written otherwise", WORK), "numbered", "not_found"),
        JudgedEntry(PlantedEntry("invented", WORK), "quoted", "not_found"),
    ]
    lines = list(format_outcomes(judged_references))
    assert "| real | 1 | 1 | 0 | 0 | 0 | 0 |" in lines
    assert "False alarms (honest entries that are not found or differ): 1 of 2 (50.0 %, 9.5 to 90.5)." in lines
    assert "Reported planted entries, wrong year: none planted." in lines
    assert "| numbered | 2 | 1 | 0 |" in lines


def test_entries_of_two_readers_are_paired_by_title() -> None:
    own_work, other_work = CitedWork(title="Replay of Text."), CitedWork(title="Replay of text", year=2019)
    assert pair_by_title([own_work, CitedWork()], [other_work, CitedWork(title="Another")]) == [(own_work, other_work)]


@pytest.mark.skipif(not DATA.is_dir(), reason="the data folder is not beside the clone")
def test_generated_reference_lists_are_fully_parsed_in_every_style() -> None:
    proposals = make_proposals(DATA, read_works(DATA), len(STYLES), seed=0)
    assert [item.style for item in proposals] == list(STYLES)
    for proposal in proposals:
        assert len(read_references(proposal.idea).entries) == len(proposal.entries)
        assert {entry.kind for entry in proposal.entries} >= {"invented", "wrong year", "wrong first author"}
