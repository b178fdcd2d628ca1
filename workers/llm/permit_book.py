"""The permits of one endpoint, as all processes that ask it share them: who may have how many calls in flight, and how
many tokens each may spend.

`PermitBook` is a synchronous state machine over times of one shared clock; `workers.llm.shared_admission` carries it to
where the processes meet. Processes that have calls come every half second or so, tell what came of their calls and how
many they want in flight, and are given permits: a number, no objects. What was given to one process is not given to
another before the first has come again with fewer in flight, or has been silent for a lease. So all together never
begin a call above the limit, whatever dies, and however many generations of a service run at once: only calls that were
in flight before the limit fell end above it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import TypeAdapter

from workers.llm.limiter import CallCounts, CallLimit

__all__ = ["PermitBook", "PermitGrant", "PermitReport", "PermitRules", "fair_shares"]

_FORGET_SECONDS = 600.0
"""After so long a silence what the endpoint could take before is not known any more."""
_SAVED_SECONDS = 5.0
"""For which tokens that nobody spends are saved up: so much more than the budget may be spent in one minute."""


class PermitRules(NamedTuple):
    start: int
    """Calls in flight of all processes together, at first."""
    most: int
    """To which that may grow."""
    tokens_per_minute: int | None
    """Read and written, of all processes together; None: as many as they like."""
    lease_seconds: float
    """Permits of a process that has been silent for so long are given to others."""


class PermitReport(NamedTuple):
    """What a process tells since it last came."""

    holder: str
    number: int
    """Of its reports; one that comes twice counts once."""
    kept: int
    """Calls in flight, and those that may be so before it hears what it is granted."""
    wanted: int
    """Calls in flight and waiting, but for the urgent ones that wait."""
    urgent: int
    demand: int
    """Most that were in flight or waiting at once."""
    epoch: int
    """Of the limit, as this process knew it."""
    counts: CallCounts
    """What came of calls that were sent in that epoch."""
    tokens_left: float
    """Of those it was given; below zero it owes some, and without a budget it is zero."""
    tokens_wanted: float
    leaving: bool = False
    """It wants no permits until it comes again."""


class PermitGrant(NamedTuple):
    permits: int
    """Calls that the process may have in flight. Where it has more by now it begins none until enough have ended."""
    epoch: int
    paused_for: float
    """Seconds in which nobody may begin a call."""
    tokens: float
    """That it may spend until it comes again; infinite without a budget."""


@dataclass
class _Holder:
    until: float
    number: int = -1
    permits: int = 0
    wanted: int = 0
    urgent: int = 0
    demand: int = 0
    tokens: float = 0.0
    tokens_wanted: float = 0.0


@dataclass
class PermitBook:
    """The state that processes share. Its fields are stored: they may be added to, not renamed."""

    limit: CallLimit = field(default_factory=CallLimit)
    heard: float = 0.0
    """When somebody came last. Time never goes back, whatever the clock does."""
    tokens: float = 0.0
    """That nobody has been given yet."""
    holders: dict[str, _Holder] = field(default_factory=dict)

    @classmethod
    def from_json(cls, text: str) -> "PermitBook":
        return _STATE.validate_json(text) if text else cls()

    def to_json(self) -> str:
        return _STATE.dump_json(self).decode()

    def exchange(self, report: PermitReport, now: float, rules: PermitRules) -> PermitGrant:
        now = self._pass_time(now, rules)
        holder = self.holders.setdefault(report.holder, _Holder(now))
        holder.until = now + rules.lease_seconds
        if report.number > holder.number:
            self._note(holder, report, now)
        if report.leaving:
            del self.holders[report.holder]
            return self._grant(0, 0.0, now, rules)
        if report.number > holder.number:
            holder.number = report.number
            holder.tokens = self._tokens_for(holder)
        permits = min(self._target(report.holder), self._free_for(holder))
        holder.permits = max(report.kept, permits)
        return self._grant(permits, holder.tokens, now, rules)

    def _note(self, holder: _Holder, report: PermitReport, now: float) -> None:
        holder.urgent, holder.wanted = report.urgent, report.wanted
        holder.demand, holder.tokens_wanted = report.demand, report.tokens_wanted
        self.tokens += report.tokens_left
        demand = sum(one.demand for one in self.holders.values())
        self.limit.absorb(report.epoch, now, report.counts, demand)

    def _free_for(self, holder: _Holder) -> int:
        others = sum(one.permits for one in self.holders.values() if one is not holder)
        return max(0, self.limit.value - others)

    def _target(self, name: str) -> int:
        """The fair share of a process: urgent calls first, then all others. What nobody wants is spread, so that a call
        that comes before the next exchange finds a permit; one part of it stays for who comes new."""
        urgent = fair_shares(self.limit.value, {one: holder.urgent for one, holder in self.holders.items()})
        left = self.limit.value - sum(urgent.values())
        others = fair_shares(left, {one: holder.wanted for one, holder in self.holders.items()})
        unwanted = left - sum(others.values())
        return urgent[name] + others[name] + unwanted // (len(self.holders) + 1)

    def _tokens_for(self, holder: _Holder) -> float:
        wanted = sum(one.tokens_wanted for one in self.holders.values())
        given = max(0.0, min(holder.tokens_wanted, self.tokens * holder.tokens_wanted / wanted)) if wanted else 0.0
        self.tokens -= given
        return given

    def _grant(self, permits: int, tokens: float, now: float, rules: PermitRules) -> PermitGrant:
        spendable = math.inf if rules.tokens_per_minute is None else tokens
        return PermitGrant(permits, self.limit.epoch, max(0.0, self.limit.paused_until - now), spendable)

    def _pass_time(self, now: float, rules: PermitRules) -> float:
        now = max(now, self.heard)
        silence = now - self.heard
        if silence > _FORGET_SECONDS:
            self.limit, self.holders = CallLimit(min(rules.start, rules.most), rules.most), {}
        self.limit.bound(rules.most)
        if rules.tokens_per_minute is not None:
            rate = rules.tokens_per_minute / 60
            self.tokens = min(self.tokens + rate * silence, rate * _SAVED_SECONDS)
        if silence > rules.lease_seconds / 2:
            # Nobody came: the meeting place was out of reach, and nobody's silence says that it is dead.
            for holder in self.holders.values():
                holder.until = now + rules.lease_seconds
        self.holders = {name: one for name, one in self.holders.items() if one.until >= now}
        self.heard = now
        return now


_STATE = TypeAdapter(PermitBook)


def fair_shares(total: int, wanted: Mapping[str, int]) -> dict[str, int]:
    """Of `total`, to each no more than it wants, and to none more than one above another that wants more than it
    got."""
    shares: dict[str, int] = {}
    left = total
    for number, (name, want) in enumerate(sorted(wanted.items(), key=lambda item: (item[1], item[0]))):
        fair = -(-left // (len(wanted) - number))
        shares[name] = min(want, fair)
        left -= shares[name]
    return shares
