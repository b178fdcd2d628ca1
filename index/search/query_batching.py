"""Batch queries that wait for the same thread, because searching many queries together uses all cores and takes less
time than searching one after another."""

import threading
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np

Question = TypeVar("Question", bound=Callable[..., Any])

_MAX_QUERIES = 64
"""Maximum number of queries per pass over the index. More would save little and delay the next caller."""
_COLUMNS = "columns_by_query"


def batchable(columns: int) -> Callable[[Question], Question]:
    """Mark a function as batchable, so that calls from several callers can be answered together. Its result and its
    first `columns` arguments must be sequences with one entry per query; its other arguments must be hashable."""

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
    """Number of batchable arguments; 0 if the call is not batched."""
    queries: int
    batch_key: Hashable
    """Key that is the same for calls that can be answered together."""


def _create_pending_call(question: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> _PendingCall:
    """Create a pending call. Errors in the arguments are raised here, before the call is queued."""
    columns: int = getattr(question, _COLUMNS, 0)
    kind = (question, *args[columns:], *sorted(kwargs.items())) if columns else None
    return _PendingCall(question, args, kwargs, Future(), columns, len(args[0]) if columns else 1, kind)


class QueryBatcher:
    """Calls functions in order, in a single thread, with the same subject as first argument. A batchable call is
    answered together with later calls that have the same batch key."""

    def __init__(self, subject: object, name: str) -> None:
        self._subject = subject
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._queue: deque[_PendingCall] = deque()
        self._lock = threading.Lock()

    def submit(self, question: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Future[Any]:
        """Queue a call. Raises RuntimeError if the batcher is closed."""
        call = _create_pending_call(question, args, kwargs)
        with self._lock:
            self._queue.append(call)
        self._thread.submit(self._run_next)
        return call.answer

    def close(self) -> None:
        """Cancel pending calls."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        for call in self._take_all():
            call.answer.cancel()

    def _run_next(self) -> None:
        """Run the next call and its batch. This is submitted once per call, so an earlier batch may have left nothing
        to do."""
        calls = [call for call in self._take_batch() if call.answer.set_running_or_notify_cancel()]
        if len(calls) > 1:
            calls = self._answer_batch(calls)
        for item in calls:
            self._answer_one(item)

    def _take_batch(self) -> list[_PendingCall]:
        with self._lock:
            if not self._queue:
                return []
            first = self._queue.popleft()
            if not first.columns:
                return [first]
            batch, remaining, queries = [first], deque[_PendingCall](), first.queries
            for call in self._queue:
                if call.columns and call.batch_key == first.batch_key and queries + call.queries <= _MAX_QUERIES:
                    batch.append(call)
                    queries += call.queries
                else:
                    remaining.append(call)
            self._queue = remaining
            return batch

    def _take_all(self) -> list[_PendingCall]:
        with self._lock:
            calls, self._queue = list(self._queue), deque()
            return calls

    def _answer_batch(self, calls: Sequence[_PendingCall]) -> list[_PendingCall]:
        """Answer a batch, and return the calls that must be run individually: none, or all if the batch failed."""
        first = calls[0]
        try:
            columns = [_join([call.args[column] for call in calls]) for column in range(first.columns)]
            answers = first.function(self._subject, *columns, *first.args[first.columns :], **first.kwargs)
        except Exception:  # noqa: BLE001 - running the calls individually raises the error in the right one
            return list(calls)
        start = 0
        for item in calls:
            item.answer.set_result(answers[start : start + item.queries])
            start += item.queries
        return []

    def _answer_one(self, pending_call: _PendingCall) -> None:
        try:
            pending_call.answer.set_result(
                pending_call.function(self._subject, *pending_call.args, **pending_call.kwargs)
            )
        except BaseException as error:  # noqa: BLE001 - passed on to the caller
            pending_call.answer.set_exception(error)


def _join(values: Sequence[Any]) -> Any:
    if isinstance(values[0], np.ndarray):
        return np.concatenate(values)
    return [element for value in values for element in value]
