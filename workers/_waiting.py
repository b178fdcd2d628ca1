"""Who is computed next: plain decisions, no event loop.

What is asked is first made ready (a text becomes tokens, and so gets its shape), then computed together with others of
its shape. Whoever is urgent passes those who are not; among equals the one that came first is next, and takes along
others of its shape, urgent ones first, until the pass is full. But the urgent pass the others only so often: then one
pass is the others', who therefore get an eighth of all passes at least.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

__all__ = ["IN_A_ROW", "Group", "Line", "Waiting"]

IN_A_ROW = 7
"""Passes that the urgent may lead, one after the other, while others wait."""

Item = TypeVar("Item", bound=Hashable)
Ready = TypeVar("Ready")
Out = TypeVar("Out")


@dataclass(eq=False)
class Waiting(Generic[Item, Ready, Out]):
    """One item, and all who asked for it."""

    item: Item
    number: int
    """In the order of coming."""
    urgent: bool = False
    answers: list["asyncio.Future[Out]"] = field(default_factory=list)
    left: bool = False
    """The unready: it was taken from its queue already."""

    @property
    def wanted(self) -> bool:
        """Not when all who asked have been cancelled."""
        return any(not answer.done() for answer in self.answers)


class Prepared(NamedTuple, Generic[Item, Ready, Out]):
    waiting: Waiting[Item, Ready, Out]
    shape: int
    ready: Ready


class Group(NamedTuple, Generic[Item, Ready, Out]):
    """To be computed in one pass."""

    shape: int
    some: list[Prepared[Item, Ready, Out]]


class Line(Generic[Item, Ready, Out]):
    """At most `ready` items are held ready; the others wait as they came, so that a long line costs little memory."""

    def __init__(self, ready: int) -> None:
        self._most = ready
        self._known: dict[Item, Waiting[Item, Ready, Out]] = {}
        self._came: dict[bool, deque[Waiting[Item, Ready, Out]]] = {True: deque(), False: deque()}
        self._ready: list[Prepared[Item, Ready, Out]] = []
        self._number = 0
        self._in_a_row = 0

    def __bool__(self) -> bool:
        return bool(self._known)

    def join(self, item: Item, answer: "asyncio.Future[Out]", urgent: bool) -> None:
        """What waits already is computed once, for all who ask."""
        waiting = self._known.get(item)
        if waiting is None:
            waiting = self._known[item] = Waiting(item, self._number)
            self._number += 1
            self._came[urgent].append(waiting)
        elif urgent and not waiting.urgent:
            self._came[urgent].append(waiting)
        waiting.urgent |= urgent
        waiting.answers.append(answer)

    def unready(self, most: int) -> list[Waiting[Item, Ready, Out]]:
        """Who is to be made ready now; they leave the line until `put` brings them back."""
        taken: list[Waiting[Item, Ready, Out]] = []
        others = sum(not one.waiting.urgent for one in self._ready)
        for urgent in (self._urgent_first, not self._urgent_first):
            queue = self._came[urgent]
            room = most if urgent else min(most, self._most - others)
            while queue and len(taken) < room:
                waiting = queue.popleft()
                if waiting.left:
                    continue
                waiting.left = True
                if waiting.wanted:
                    taken.append(waiting)
                else:
                    self.forget(waiting)
        return taken

    def put(self, waiting: Waiting[Item, Ready, Out], shape: int, ready: Ready) -> None:
        self._ready.append(Prepared(waiting, shape, ready))

    def forget(self, waiting: Waiting[Item, Ready, Out]) -> None:
        """Whoever asks for it from now on begins anew."""
        del self._known[waiting.item]

    def take(self, rows: Callable[[int], int]) -> Group[Item, Ready, Out] | None:
        """`rows` of a shape share a pass. None when nobody who waits is ready."""
        for one in self._ready:
            if not one.waiting.wanted:
                self.forget(one.waiting)
        self._ready = [one for one in self._ready if one.waiting.wanted]
        if not self._ready:
            return None
        first = self._urgent_first

        def turn(one: Prepared[Item, Ready, Out]) -> tuple[bool, int]:
            return one.waiting.urgent != first, one.waiting.number

        lead = min(self._ready, key=turn)
        self._count(lead.waiting.urgent)
        alike = sorted((one for one in self._ready if one.shape == lead.shape), key=turn)[: rows(lead.shape)]
        taken = {id(one) for one in alike}
        self._ready = [one for one in self._ready if id(one) not in taken]
        for one in alike:
            self.forget(one.waiting)
        return Group(lead.shape, alike)

    @property
    def _urgent_first(self) -> bool:
        return self._in_a_row < IN_A_ROW

    def _count(self, urgent: bool) -> None:
        others_wait = bool(self._came[False]) or any(not one.waiting.urgent for one in self._ready)
        self._in_a_row = self._in_a_row + 1 if urgent and others_wait and self._urgent_first else 0
