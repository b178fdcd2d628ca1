"""What a run will cost, said before it starts."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmarks.quality.kept import Outcome, Spent
from workers.llm import LlmSettings

__all__ = ["KNOWN", "Expected", "Plan", "agreed", "expected", "total"]

KNOWN: Mapping[str, Spent] = {
    "points": Spent(calls=42, prompt_tokens=165_000, completion_tokens=19_000, usd=None),
    "pairs": Spent(calls=1, prompt_tokens=1_410, completion_tokens=255, usd=None),
    "pairs in both orders": Spent(calls=2, prompt_tokens=2_820, completion_tokens=505, usd=None),
    "groups": Spent(calls=12, prompt_tokens=17_000, completion_tokens=3_050, usd=None),
    "preferences": Spent(calls=2, prompt_tokens=24_000, completion_tokens=900, usd=None),
    "coverage": Spent(calls=1, prompt_tokens=12_000, completion_tokens=1_200, usd=None),
    "support": Spent(calls=1, prompt_tokens=3_400, completion_tokens=900, usd=None),
    "opinions": Spent(calls=1, prompt_tokens=750, completion_tokens=150, usd=None),
    "reviews": Spent(calls=1, prompt_tokens=1_600, completion_tokens=700, usd=None),
    "titles": Spent(calls=1, prompt_tokens=160, completion_tokens=350, usd=None),
    "viewpoints": Spent(calls=2, prompt_tokens=3_000, completion_tokens=1_500, usd=None),
    "venue scores": Spent(calls=8, prompt_tokens=74_000, completion_tokens=10_400, usd=None),
    "scholarideas": Spent(calls=60, prompt_tokens=240_000, completion_tokens=20_000, usd=None),
}
"""Per item, measured through the simulator (docs/quality/innoeval.md); a model's own words may be longer or shorter. Of
preferences, opinions, reviews and titles only the prompts are measured: answers are taken as long as they are asked
for."""


class Expected(NamedTuple):
    items: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    """None where the strong model has no price in the settings."""
    basis: str

    def __str__(self) -> str:
        price = "unknown (set ASSAYER_LLM__PRICES)" if self.usd is None else f"about ${self.usd:,.2f}"
        return (
            f"Expected for {self.items} item(s): {self.calls:,} calls, {self.prompt_tokens:,} prompt tokens, "
            f"{self.completion_tokens:,} completion tokens; cost {price}. Basis: {self.basis}."
        )


def expected(known: Spent, items: int, outcomes: Sequence[Outcome], llm: LlmSettings | None) -> Expected:
    """From the items of this run that are done, else from what is known; all tokens at the strong model's price."""
    measured = [one.spent for one in outcomes if one.spent is not None]
    if measured:
        mean = [sum(getattr(one, name) for one in measured) / len(measured) for name in _COUNTED]
        basis = f"the mean of {len(measured)} item(s) of this run that are done"
    else:
        mean = [float(getattr(known, name)) for name in _COUNTED]
        basis = "figures measured earlier with invented answers"
    calls, prompt, completion = (round(one * items) for one in mean)
    price = llm.prices.get(llm.model) if llm else None
    return Expected(items, calls, prompt, completion, price.cost(prompt, completion) if price else None, basis)


class Plan(NamedTuple):
    """What several parts will cost together."""

    parts: Mapping[str, Expected]
    cost: Expected

    @property
    def lines(self) -> Iterator[str]:
        for name, part in self.parts.items():
            yield f"{name}: {part}"
        yield f"Together: {self.cost}"

    def agreed(self, limit_usd: float, yes: bool) -> bool:
        return agreed(self.cost, limit_usd, yes)


def total(planned: Sequence[tuple[str, Expected]]) -> Plan:
    """Of parts that stand there several times the sum."""
    parts: dict[str, Expected] = {}
    for name, one in planned:
        parts[name] = _sum([*([parts[name]] if name in parts else []), one])
    return Plan(parts, _sum([*parts.values()]))


def _sum(some: Sequence[Expected]) -> Expected:
    costs = [one.usd for one in some if one.items]
    return Expected(
        sum(one.items for one in some),
        sum(one.calls for one in some),
        sum(one.prompt_tokens for one in some),
        sum(one.completion_tokens for one in some),
        None if None in costs else sum(cost for cost in costs if cost is not None),
        "; ".join(dict.fromkeys(one.basis for one in some if one.items)) or "nothing is left to ask",
    )


_COUNTED = ("calls", "prompt_tokens", "completion_tokens")


def agreed(cost: Expected, limit_usd: float, yes: bool) -> bool:
    """Whether the run may start: a known cost within the limit, `--yes`, or somebody at the terminal who says so."""
    if yes or not cost.items or (cost.usd is not None and cost.usd <= limit_usd):
        return True
    why = "of unknown cost" if cost.usd is None else f"above the limit of ${limit_usd:,.2f}"
    if not sys.stdin.isatty():
        print(f"Not started: {why}. Add --yes to go on, --probe N to measure a few items first, or raise --limit-usd.")
        return False
    return input(f"This run is {why}. Go on? [y/N] ").strip().casefold() in {"y", "yes"}
