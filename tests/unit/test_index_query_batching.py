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
    """Index that records its calls and blocks until `may_continue` is set."""

    def __init__(self) -> None:
        self.is_started, self.may_continue = threading.Event(), threading.Event()
        self.passes: list[list[str]] = []

    def hold(self) -> None:
        self.is_started.set()
        self.may_continue.wait()

    @batchable(2)
    def search(self, queries: Sequence[str], vectors: VECTORS, limit: int, *, is_loud: bool = False) -> list[str]:
        self.passes.append(list(queries))
        if "poison" in queries:
            raise ValueError("poison")
        texts = [f"{query}{vector.sum():.0f}:{limit}" for query, vector in zip(queries, vectors, strict=True)]
        return [text.upper() for text in texts] if is_loud else texts

    def search_single(self, name: str) -> str:
        self.passes.append([name])
        return name


@pytest.fixture
def subject() -> Subject:
    return Subject()


@pytest.fixture
def combined(subject: Subject) -> Iterator[QueryBatcher]:
    """Batcher whose thread is blocked until `subject.may_continue` is set, so that queries queue up."""
    batcher = QueryBatcher(subject, "test")
    batcher.submit(Subject.hold, (), {})
    subject.is_started.wait()
    yield batcher
    subject.may_continue.set()
    batcher.close()


def make_vectors(*values: float) -> VECTORS:
    return np.array([[value] for value in values])


def test_similar_searches_share_a_pass_and_get_separate_results(combined: QueryBatcher, subject: Subject) -> None:
    first = combined.submit(Subject.search, (["a", "b"], make_vectors(1, 2), 5), {})
    other_limit = combined.submit(Subject.search, (["c"], make_vectors(3), 9), {})
    third = combined.submit(Subject.search, (["d"], make_vectors(4), 5), {})
    loud_search = combined.submit(Subject.search, (["e"], make_vectors(5), 5), {"is_loud": True})
    subject.may_continue.set()
    assert [item.result() for item in (first, other_limit, third, loud_search)] == [
        ["a1:5", "b2:5"],
        ["c3:9"],
        ["d4:5"],
        ["E5:5"],
    ]
    assert subject.passes == [["a", "b", "d"], ["c"], ["e"]]


def test_unmarked_calls_run_individually_in_order(combined: QueryBatcher, subject: Subject) -> None:
    submitted = [
        combined.submit(Subject.search_single, ("x",), {}),
        combined.submit(Subject.search, (["a"], make_vectors(1), 5), {}),
        combined.submit(Subject.search_single, ("x",), {}),
    ]
    subject.may_continue.set()
    assert [item.result() for item in submitted] == ["x", ["a1:5"], "x"]
    assert subject.passes == [["x"], ["a"], ["x"]]


@pytest.mark.parametrize(
    ("texts", "query_vectors", "reason"),
    [(["poison"], make_vectors(2), "poison"), (["b", "c"], np.ones((1, 3)), "zip")],
)
def test_query_that_fails_or_has_mismatched_vectors_does_not_affect_others_in_batch(
    combined: QueryBatcher, subject: Subject, texts: list[str], query_vectors: VECTORS, reason: str
) -> None:
    valid_search = combined.submit(Subject.search, (["a"], make_vectors(1), 5), {})
    invalid_search = combined.submit(Subject.search, (texts, query_vectors, 5), {})
    subject.may_continue.set()
    assert valid_search.result() == ["a1:5"]
    with pytest.raises(ValueError, match=reason):
        invalid_search.result()


def test_pass_never_exceeds_its_query_limit(combined: QueryBatcher, subject: Subject) -> None:
    submitted = [combined.submit(Subject.search, ([f"q{number}"] * 30, np.ones((30, 1)), 1), {}) for number in range(4)]
    subject.may_continue.set()
    wait(submitted)
    assert [len(item) for item in subject.passes] == [60, 60]


def test_cancelled_query_is_not_run(combined: QueryBatcher, subject: Subject) -> None:
    cancelled = combined.submit(Subject.search, (["gone"], make_vectors(1), 5), {})
    waiting = combined.submit(Subject.search, (["kept"], make_vectors(2), 5), {})
    assert cancelled.cancel()
    subject.may_continue.set()
    assert waiting.result() == ["kept2:5"]
    assert subject.passes == [["kept"]]


def test_closing_cancels_waiting_queries(combined: QueryBatcher, subject: Subject) -> None:
    waiting = combined.submit(Subject.search, (["a"], make_vectors(1), 5), {})
    combined.close()
    subject.may_continue.set()
    assert waiting.cancelled()
    assert subject.passes == []


def test_invalid_call_is_rejected_immediately(combined: QueryBatcher) -> None:
    with pytest.raises(IndexError):
        combined.submit(Subject.search, (), {"queries": ["a"]})
