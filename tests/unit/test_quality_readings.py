"""Orders of found papers beside what readers said: what a clue may know, what is opened, what is tuned on what."""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from benchmarks.quality.readings.labels import LabelledPaper, Sought, for_contribution, for_methods
from benchmarks.quality.readings.orders import (
    CLUES,
    DESCRIPTION,
    KNOWN,
    PARTS,
    WORDS,
    Floats,
    Scored,
    clues_of,
    cut,
    mixed,
    ranked_by_places,
    tuned,
)
from benchmarks.quality.readings.part import orders_table


def _shared_words(queries: Sequence[str], papers: Sequence[str]) -> Floats:
    """Of the words of either, the share that both have."""
    pairs = [[(set(query.split()), set(paper.split())) for paper in papers] for query in queries]
    return np.array([[len(a & b) / len(a | b) for a, b in line] for line in pairs], float).reshape(-1, len(papers))


def _scored(wanted: Sequence[bool], **clues: Sequence[float]) -> Scored:
    papers = tuple(LabelledPaper(f"p{place}", one) for place, one in enumerate(wanted))
    known = {"description": DESCRIPTION, "parts": PARTS, "words": WORDS, "known": KNOWN}
    nothing = np.zeros(len(wanted))
    values = {clue: np.array(clues.get(name, nothing), float) for name, clue in known.items()}
    return Scored(Sought("an idea", "a method", papers), values)


def test_a_paper_known_to_be_wanted_is_not_near_itself() -> None:
    papers = (LabelledPaper("weights norms", True), LabelledPaper("weights decay", True), LabelledPaper("cats", False))
    (scored,) = clues_of([Sought("idea", "weights are scaled", papers)], _shared_words, _shared_words)
    assert scored.clues[KNOWN][0] == scored.clues[KNOWN][1] > scored.clues[KNOWN][2]


def test_where_nothing_is_wanted_what_is_known_tells_nothing() -> None:
    papers = (LabelledPaper("weights norms", False), LabelledPaper("cats", False))
    (scored,) = clues_of([Sought("idea", "weights are scaled", papers)], _shared_words, _shared_words)
    assert scored.clues[KNOWN].tolist() == [0, 0]


def test_orders_fused_by_places_put_first_what_both_have_near_the_top() -> None:
    scored = _scored([False, True, False], description=[3, 2, 1], words=[1, 3, 2])
    assert int(np.argmax(ranked_by_places(scored, (DESCRIPTION, WORDS)))) == 1


def test_papers_are_opened_in_turn_and_each_counts_once() -> None:
    one = _scored([True, False, False], description=[3, 2, 1])
    other = _scored([False, False, True], description=[3, 1, 2])
    values = [mixed(some, {DESCRIPTION: 1.0}) for some in (one, other)]
    assert cut([one, other], values, 2) == (2, 1, 2)  # p0 of either, p1
    assert cut([one, other], values, 3) == (3, 2, 2)


def test_weights_go_to_the_clue_that_tells_and_to_no_other() -> None:
    scored = [_scored([True, False, False, True], description=[1, 2, 1, 2], words=[4, 1, 2, 3])]
    assert tuned(scored, CLUES) == {DESCRIPTION: 0.0, PARTS: 0.0, WORDS: 0.5, KNOWN: 0.0}


def test_an_idea_is_ordered_by_weights_of_the_other_idea() -> None:
    by_words = [_scored([True, False], words=[1, 0])]
    by_parts = [_scored([True, False], parts=[1, 0], words=[0, 1])]
    lines = list(orders_table({"first": by_words, "second": by_parts}, rounds=20))
    (told,) = (line for line in lines if line.startswith("| second") and "nothing known" in line)
    assert "(words 0.5)" in told
    assert "| 0.000 [" in told


def test_labels_are_read_by_idea_and_method(tmp_path: Path) -> None:
    folder = tmp_path / "readings"
    folder.mkdir()
    relevance = [{"idea": "I", "method": "M", "paper": "P", "relevant": True, "stance": "neutral", "year": 2020}]
    closeness = [{"idea": "I", "paper": "P", "closeness": one, "year": 2020} for one in (2, 3)]
    for name, rows in (("method_relevance", relevance), ("contribution_closeness", closeness)):
        with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    assert for_methods(tmp_path) == {"I": [Sought("I", "M", (LabelledPaper("P", True),))]}
    (contribution,) = for_contribution(tmp_path)["I"]
    assert contribution.text == "I\nM"
    assert [one.wanted for one in contribution.papers] == [False, True]


@pytest.mark.parametrize("clue", CLUES)
def test_clues_are_comparable_whatever_their_scale(clue: object) -> None:
    papers = tuple(LabelledPaper(text, text == "a b") for text in ("a b", "b c", "a a c", "d"))
    (scored,) = clues_of([Sought("i", "a b c d\na b c d e", papers)], _shared_words, _shared_words)
    values = next(value for one, value in scored.clues.items() if one == clue)
    assert values.mean() == pytest.approx(0, abs=1e-9)
    assert values.std() in (pytest.approx(1), 0)
