"""Page about one reward: the contributions and votes in each round of the debate, whether quotes were found, and when
and why the debate was decided."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from assayer.models import Absent
from assayer.models.reward import RewardItem
from assayer.reports.html import render_page
from assayer.reports.markdown import render_markdown
from assayer.reports.wording import format_count
from assayer_client.rewards import DebateTurn, Reward


class DebateRound(NamedTuple):
    number: int
    turns: Sequence[DebateTurn]
    decided: bool
    """True if the verdict was settled in this round."""


class SeatVotes(NamedTuple):
    """Row in the table of votes."""

    seat: str
    turns: tuple[DebateTurn | None, ...]
    """Contributions of the seat, one per round; None if the seat did not speak in the round."""


class ShownVote(NamedTuple):
    text: str
    short: str
    """Vote as shown in the table of votes. Votes differ by symbol and words as well as by colour."""
    look: str
    """CSS class of the vote's badge; empty if the role does not vote."""


_VOTES = {
    "match": ShownVote("votes: match", "✓ match", "good"),
    "no_match": ShownVote("votes: no match", "✗ no match", "poor"),
}


@dataclass(frozen=True)
class DebatePage:
    item: RewardItem
    reward: Reward

    @property
    def verdict(self) -> str:
        if isinstance(self.reward.value, Absent):
            return "No reward"
        if self.reward.leakage:
            return "Matches because of leakage; earns nothing"
        return "Matches" if self.reward.value else "Does not match"

    @property
    def look(self) -> str:
        """CSS class of the verdict's badge."""
        return "partial" if isinstance(self.reward.value, Absent) else "good" if self.reward.value else "poor"

    @property
    def decided_by(self) -> str:
        if self.reward.guard is not None:
            return f"the guard {self.reward.guard.replace('_', ' ')}, before any call"
        if self.reward.decided_in_round is None:
            return "none of the rounds"
        return f"round {self.reward.decided_in_round}"

    @cached_property
    def rounds(self) -> tuple[DebateRound, ...]:
        rounds: dict[int, list[DebateTurn]] = {}
        for turn in self.reward.transcript:
            rounds.setdefault(turn.round, []).append(turn)
        decided_in = self.reward.decided_in_round
        return tuple(DebateRound(number, turns, number == decided_in) for number, turns in sorted(rounds.items()))

    @cached_property
    def seats(self) -> tuple[SeatVotes, ...]:
        """Seats in the order they first spoke."""
        spoke: dict[str, dict[int, DebateTurn]] = {}
        for turn in self.reward.transcript:
            spoke.setdefault(self.format_seat(turn), {})[turn.round] = turn
        return tuple(
            SeatVotes(seat, tuple(turns.get(round.number) for round in self.rounds)) for seat, turns in spoke.items()
        )

    @property
    def cost(self) -> str:
        calls = format_count(self.reward.llm_requests, "call")
        cost = self.reward.cost_usd
        tokens = f"{self.reward.prompt_tokens:,} + {self.reward.completion_tokens:,} tokens paid for"
        money = f"cost unknown: {cost.reason}" if isinstance(cost, Absent) else f"${cost:.4f}"
        return f"{calls}, {tokens}, {money}"

    @property
    def quotes(self) -> str:
        are_found = [quote.found for turn in self.reward.transcript for quote in turn.quotes]
        return f"{sum(are_found)} of {format_count(len(are_found), 'quote')} found" if are_found else "no quotes"

    def format_seat(self, turn: DebateTurn) -> str:
        return f"{turn.role.capitalize()} {turn.seat}"

    def get_shown_vote(self, turn: DebateTurn) -> ShownVote:
        if not isinstance(turn.vote, Absent):
            return _VOTES[turn.vote]
        if turn.argument:
            return ShownVote(turn.vote.reason, "no vote", "")
        return ShownVote(f"Answer lost. {turn.vote.reason}", "? lost", "partial")

    def split_lines(self, turn: DebateTurn) -> Iterator[str]:
        return (line for line in turn.argument.split("\n") if line.strip())


def render_debate_html(item: RewardItem, reward: Reward) -> str:
    page = DebatePage(item, reward)
    return render_page("debate.html", "report.css", "debate.css", page=page, reward=reward, item=item)


def render_debate_markdown(item: RewardItem, reward: Reward) -> str:
    return render_markdown("debate.md", page=DebatePage(item, reward), reward=reward, item=item)
