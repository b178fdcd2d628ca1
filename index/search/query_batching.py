"""Batching of queries that wait for the same thread: many queries searched together cost less than one after the other,
and use every core."""

import threading
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np

__all__ = ["QueryBatcher", "batchable"]

Question = TypeVar("Question", bound=Callable[..., Any])

_MOST_QUERIES = 64
"""Of one pass over the index: more would save little and delay the next caller."""
_COLUMNS = "columns_by_query"


def batchable(columns: int) -> Callable[[Question], Question]:
    """Marks a function whose first `columns` arguments are sequences with one entry a query, as its result is; its
    other arguments must be hashable. Calls of several callers may then be answered together."""

    def mark(question: Question) -> Question:
        setattr(question, _COLUMNS, columns)
        return question

    return mark


class _PendingCall(NamedTuple):
    function: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    answer: Future[Any]
    columns: int
    """0: it is called by itself."""
    queries: int
    batch_key: Hashable
    """Equal for calls that may be answered together."""


def _pending_call(question: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> _PendingCall:
    """Raises errors of the arguments in the caller, before anything is queued."""
    columns: int = getattr(question, _COLUMNS, 0)
    kind = (question, *args[columns:], *sorted(kwargs.items())) if columns else None
    return _PendingCall(question, args, kwargs, Future(), columns, len(args[0]) if columns else 1, kind)


class QueryBatcher:
    """Calls functions of a subject in one thread, in order; calls that can be batched are answered with the first of
    them."""

    def __init__(self, subject: object, name: str) -> None:
        self._subject = subject
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._queue: deque[_PendingCall] = deque()
        self._lock = threading.Lock()

    def submit(self, question: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Future[Any]:
        """Raises RuntimeError when it is closed."""
        one = _pending_call(question, args, kwargs)
        with self._lock:
            self._queue.append(one)
        self._thread.submit(self._run_next)
        return one.answer

    def close(self) -> None:
        """Cancels pending calls."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        for one in self._take_all():
            one.answer.cancel()

    def _run_next(self) -> None:
        """Submitted once for each call; those of calls that were batched with an earlier one find nothing to do."""
        some = [one for one in self._take_batch() if one.answer.set_running_or_notify_cancel()]
        if len(some) > 1:
            some = self._answer_batch(some)
        for one in some:
            self._answer_one(one)

    def _take_batch(self) -> list[_PendingCall]:
        with self._lock:
            if not self._queue:
                return []
            first = self._queue.popleft()
            if not first.columns:
                return [first]
            taken, left, queries = [first], deque[_PendingCall](), first.queries
            for one in self._queue:
                if one.columns and one.batch_key == first.batch_key and queries + one.queries <= _MOST_QUERIES:
                    taken.append(one)
                    queries += one.queries
                else:
                    left.append(one)
            self._queue = left
            return taken

    def _take_all(self) -> list[_PendingCall]:
        with self._lock:
            taken, self._queue = list(self._queue), deque()
            return taken

    def _answer_batch(self, some: Sequence[_PendingCall]) -> list[_PendingCall]:
        """Returns those that are left to be called one by one: all of them, if one made the batch fail."""
        first = some[0]
        try:
            columns = [_joined([one.args[column] for one in some]) for column in range(first.columns)]
            answers = first.function(self._subject, *columns, *first.args[first.columns :], **first.kwargs)
        except Exception:  # noqa: BLE001 - whoever is to blame is told so when asked alone
            return list(some)
        start = 0
        for one in some:
            one.answer.set_result(answers[start : start + one.queries])
            start += one.queries
        return []

    def _answer_one(self, one: _PendingCall) -> None:
        try:
            one.answer.set_result(one.function(self._subject, *one.args, **one.kwargs))
        except BaseException as error:  # noqa: BLE001 - whoever asked is told
            one.answer.set_exception(error)


def _joined(values: Sequence[Any]) -> Any:
    if isinstance(values[0], np.ndarray):
        return np.concatenate(values)
    return [one for some in values for one in some]
