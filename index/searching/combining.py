"""Questions alike that wait for the same thread are answered as one: vectors of many queries cost less together than
one after the other, and use every core."""

import threading
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np

__all__ = ["Combined", "by_query"]

Question = TypeVar("Question", bound=Callable[..., Any])

_MOST_QUERIES = 64
"""Of one pass over the index: more would save little, and whoever asks next waits for it."""
_COLUMNS = "columns_by_query"


def by_query(columns: int) -> Callable[[Question], Question]:
    """Marks a question whose first so many arguments are sequences with one entry a query, as its answer is; the others
    can be hashed. It may then be asked for several callers at once."""

    def mark(question: Question) -> Question:
        setattr(question, _COLUMNS, columns)
        return question

    return mark


class _Waiting(NamedTuple):
    question: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    answer: Future[Any]
    columns: int
    """0: it is asked by itself."""
    queries: int
    kind: Hashable
    """Alike for those that may go together."""


def _waiting(question: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> _Waiting:
    """Raises what is wrong with the arguments, so that whoever asked is told and nobody waits for an answer."""
    columns: int = getattr(question, _COLUMNS, 0)
    kind = (question, *args[columns:], *sorted(kwargs.items())) if columns else None
    return _Waiting(question, args, kwargs, Future(), columns, len(args[0]) if columns else 1, kind)


class Combined:
    """Asks a subject in one thread, in the order of the questions; those that may be combined go with the first."""

    def __init__(self, subject: object, name: str) -> None:
        self._subject = subject
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix=name)
        self._line: deque[_Waiting] = deque()
        self._lock = threading.Lock()

    def ask(self, question: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Future[Any]:
        """Raises RuntimeError when it is closed."""
        one = _waiting(question, args, kwargs)
        with self._lock:
            self._line.append(one)
        self._thread.submit(self._turn)
        return one.answer

    def close(self) -> None:
        """Cancels what waits."""
        self._thread.shutdown(wait=False, cancel_futures=True)
        for one in self._taken_all():
            one.answer.cancel()

    def _turn(self) -> None:
        """One for every question; those of questions that went with another find nothing to do."""
        some = [one for one in self._next() if one.answer.set_running_or_notify_cancel()]
        if len(some) > 1:
            some = self._answered_together(some)
        for one in some:
            self._answer(one)

    def _next(self) -> list[_Waiting]:
        with self._lock:
            if not self._line:
                return []
            first = self._line.popleft()
            if not first.columns:
                return [first]
            taken, left, queries = [first], deque[_Waiting](), first.queries
            for one in self._line:
                if one.columns and one.kind == first.kind and queries + one.queries <= _MOST_QUERIES:
                    taken.append(one)
                    queries += one.queries
                else:
                    left.append(one)
            self._line = left
            return taken

    def _taken_all(self) -> list[_Waiting]:
        with self._lock:
            taken, self._line = list(self._line), deque()
            return taken

    def _answered_together(self, some: Sequence[_Waiting]) -> list[_Waiting]:
        """Those that are left to be asked one by one: all of them, if any made it fail."""
        first = some[0]
        try:
            columns = [_joined([one.args[column] for one in some]) for column in range(first.columns)]
            answers = first.question(self._subject, *columns, *first.args[first.columns :], **first.kwargs)
        except Exception:  # noqa: BLE001 - whoever is to blame is told so when asked alone
            return list(some)
        start = 0
        for one in some:
            one.answer.set_result(answers[start : start + one.queries])
            start += one.queries
        return []

    def _answer(self, one: _Waiting) -> None:
        try:
            one.answer.set_result(one.question(self._subject, *one.args, **one.kwargs))
        except BaseException as error:  # noqa: BLE001 - whoever asked is told
            one.answer.set_exception(error)


def _joined(values: Sequence[Any]) -> Any:
    if isinstance(values[0], np.ndarray):
        return np.concatenate(values)
    return [one for some in values for one in some]
