"""Queries that share a pass; every caller gets the answer to its own query."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import wait

import numpy as np
import pytest
from numpy.typing import NDArray

from index.search.query_batching import QueryBatcher, batchable

VECTORS = NDArray[np.float64]


class Subject:
    """Notes what it is asked, and answers nothing before it may."""

    def __init__(self) -> None:
        self.begun, self.may = threading.Event(), threading.Event()
        self.passes: list[list[str]] = []

    def hold(self) -> None:
        self.begun.set()
        self.may.wait()

    @batchable(2)
    def search(self, queries: Sequence[str], vectors: VECTORS, limit: int, *, loud: bool = False) -> list[str]:
        self.passes.append(list(queries))
        if "poison" in queries:
            raise ValueError("poison")
        texts = [f"{query}{vector.sum():.0f}:{limit}" for query, vector in zip(queries, vectors, strict=True)]
        return [text.upper() for text in texts] if loud else texts

    def single(self, name: str) -> str:
        self.passes.append([name])
        return name


@pytest.fixture
def subject() -> Subject:
    return Subject()


@pytest.fixture
def combined(subject: Subject) -> Iterator[QueryBatcher]:
    """Batcher whose thread is blocked until `subject.may` is set, so that queries queue up."""
    made = QueryBatcher(subject, "test")
    made.submit(Subject.hold, (), {})
    subject.begun.wait()
    yield made
    subject.may.set()
    made.close()


def vectors(*values: float) -> VECTORS:
    return np.array([[value] for value in values])


def test_similar_searches_share_a_pass_and_get_separate_results(combined: QueryBatcher, subject: Subject) -> None:
    first = combined.submit(Subject.search, (["a", "b"], vectors(1, 2), 5), {})
    other = combined.submit(Subject.search, (["c"], vectors(3), 9), {})
    third = combined.submit(Subject.search, (["d"], vectors(4), 5), {})
    aloud = combined.submit(Subject.search, (["e"], vectors(5), 5), {"loud": True})
    subject.may.set()
    assert [item.result() for item in (first, other, third, aloud)] == [["a1:5", "b2:5"], ["c3:9"], ["d4:5"], ["E5:5"]]
    assert subject.passes == [["a", "b", "d"], ["c"], ["e"]]


def test_unmarked_calls_run_individually_in_order(combined: QueryBatcher, subject: Subject) -> None:
    asked = [
        combined.submit(Subject.single, ("x",), {}),
        combined.submit(Subject.search, (["a"], vectors(1), 5), {}),
        combined.submit(Subject.single, ("x",), {}),
    ]
    subject.may.set()
    assert [item.result() for item in asked] == ["x", ["a1:5"], "x"]
    assert subject.passes == [["x"], ["a"], ["x"]]


@pytest.mark.parametrize(
    ("texts", "given", "reason"), [(["poison"], vectors(2), "poison"), (["b", "c"], np.ones((1, 3)), "zip")]
)
def test_query_that_fails_or_has_mismatched_vectors_does_not_affect_others_in_batch(
    combined: QueryBatcher, subject: Subject, texts: list[str], given: VECTORS, reason: str
) -> None:
    good = combined.submit(Subject.search, (["a"], vectors(1), 5), {})
    bad = combined.submit(Subject.search, (texts, given, 5), {})
    subject.may.set()
    assert good.result() == ["a1:5"]
    with pytest.raises(ValueError, match=reason):
        bad.result()


def test_pass_never_exceeds_its_query_limit(combined: QueryBatcher, subject: Subject) -> None:
    asked = [combined.submit(Subject.search, ([f"q{number}"] * 30, np.ones((30, 1)), 1), {}) for number in range(4)]
    subject.may.set()
    wait(asked)
    assert [len(item) for item in subject.passes] == [60, 60]


def test_cancelled_query_is_not_run(combined: QueryBatcher, subject: Subject) -> None:
    gone = combined.submit(Subject.search, (["gone"], vectors(1), 5), {})
    kept = combined.submit(Subject.search, (["kept"], vectors(2), 5), {})
    assert gone.cancel()
    subject.may.set()
    assert kept.result() == ["kept2:5"]
    assert subject.passes == [["kept"]]


def test_closing_cancels_waiting_queries(combined: QueryBatcher, subject: Subject) -> None:
    waiting = combined.submit(Subject.search, (["a"], vectors(1), 5), {})
    combined.close()
    subject.may.set()
    assert waiting.cancelled()
    assert subject.passes == []


def test_invalid_call_is_rejected_immediately(combined: QueryBatcher) -> None:
    with pytest.raises(IndexError):
        combined.submit(Subject.search, (), {"queries": ["a"]})
