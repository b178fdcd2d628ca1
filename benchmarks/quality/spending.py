"""Estimates the cost of a run before it starts."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmarks.quality.outcome_file import Outcome, Spending
from workers.llm import LlmSettings

KNOWN_COSTS: Mapping[str, Spending] = {
    "points": Spending(calls=22, prompt_tokens=101_000, completion_tokens=22_000, usd=None),
    "pairs": Spending(calls=2, prompt_tokens=2_820, completion_tokens=505, usd=None),
    "groups": Spending(calls=12, prompt_tokens=17_000, completion_tokens=3_050, usd=None),
    "coverage": Spending(calls=1, prompt_tokens=12_000, completion_tokens=1_200, usd=None),
    "support": Spending(calls=1, prompt_tokens=3_400, completion_tokens=900, usd=None),
    "opinions": Spending(calls=1, prompt_tokens=750, completion_tokens=150, usd=None),
    "reviews": Spending(calls=1, prompt_tokens=1_600, completion_tokens=700, usd=None),
    "titles": Spending(calls=1, prompt_tokens=160, completion_tokens=350, usd=None),
    "judge coverage": Spending(calls=52, prompt_tokens=190_000, completion_tokens=50_000, usd=None),
    "judge sensitivity": Spending(calls=32, prompt_tokens=120_000, completion_tokens=50_000, usd=None),
    "judge persuasion": Spending(calls=28, prompt_tokens=110_000, completion_tokens=50_000, usd=None),
    "judge repeatability": Spending(calls=28, prompt_tokens=110_000, completion_tokens=48_000, usd=None),
    "scholarideas": Spending(calls=60, prompt_tokens=240_000, completion_tokens=20_000, usd=None),
}
"""Cost per item, measured with the simulator (docs/evidence/innoeval.md); a model's answers may be longer or shorter.
For opinions, reviews and titles only the prompts are measured; answers are assumed to have the requested length."""


class ExpectedCost(NamedTuple):
    items: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    """None if the strong model has no price in the settings."""
    basis: str

    def __str__(self) -> str:
        price = "unknown (set ASSAYER_LLM__PRICES)" if self.usd is None else f"about ${self.usd:,.2f}"
        return (
            f"Expected for {self.items} item(s): {self.calls:,} calls, {self.prompt_tokens:,} prompt tokens, "
            f"{self.completion_tokens:,} completion tokens; cost {price}. Basis: {self.basis}."
        )


def estimate_cost(
    known_cost: Spending, items: int, outcomes: Sequence[Outcome], llm: LlmSettings | None
) -> ExpectedCost:
    """Estimate the cost from the finished items of this run, else from `known_cost`, at the strong model's price."""
    measured_costs = [outcome.spent for outcome in outcomes if outcome.spent is not None]
    if measured_costs:
        mean_counts = [
            sum(getattr(cost, name) for cost in measured_costs) / len(measured_costs) for name in _COUNTED_FIELDS
        ]
        basis = f"the mean of the {len(measured_costs)} item(s) of this run that are done"
    else:
        mean_counts = [float(getattr(known_cost, name)) for name in _COUNTED_FIELDS]
        basis = "figures measured earlier with invented answers"
    calls, prompt, completion = (round(cost * items) for cost in mean_counts)
    price = llm.prices.get(llm.model) if llm else None
    return ExpectedCost(
        items, calls, prompt, completion, price.compute_cost(prompt, completion) if price else None, basis
    )


class Plan(NamedTuple):
    """Expected cost of several parts, and their total."""

    parts: Mapping[str, ExpectedCost]
    cost: ExpectedCost

    @property
    def lines(self) -> Iterator[str]:
        for name, part in self.parts.items():
            yield f"{name}: {part}"
        yield f"Together: {self.cost}"

    def confirm(self, limit_usd: float, yes: bool) -> bool:
        return confirm_cost(self.cost, limit_usd, yes)


def sum_parts(planned_parts: Sequence[tuple[str, ExpectedCost]]) -> Plan:
    """Return the plan of all parts; parts that occur several times are summed."""
    parts: dict[str, ExpectedCost] = {}
    for name, cost in planned_parts:
        parts[name] = _sum_costs([*([parts[name]] if name in parts else []), cost])
    return Plan(parts, _sum_costs([*parts.values()]))


def _sum_costs(expected_costs: Sequence[ExpectedCost]) -> ExpectedCost:
    costs = [expected_cost.usd for expected_cost in expected_costs if expected_cost.items]
    return ExpectedCost(
        sum(expected_cost.items for expected_cost in expected_costs),
        sum(expected_cost.calls for expected_cost in expected_costs),
        sum(expected_cost.prompt_tokens for expected_cost in expected_costs),
        sum(expected_cost.completion_tokens for expected_cost in expected_costs),
        None if None in costs else sum(cost for cost in costs if cost is not None),
        "; ".join(dict.fromkeys(expected_cost.basis for expected_cost in expected_costs if expected_cost.items))
        or "nothing is missing",
    )


_COUNTED_FIELDS = ("calls", "prompt_tokens", "completion_tokens")


def confirm_cost(cost: ExpectedCost, limit_usd: float, yes: bool) -> bool:
    """Return whether the run may start: with a known cost within the limit, with `--yes`, or if the user at the
    terminal agrees."""
    if yes or not cost.items or (cost.usd is not None and cost.usd <= limit_usd):
        return True
    reason = "of unknown cost" if cost.usd is None else f"above the limit of ${limit_usd:,.2f}"
    if not sys.stdin.isatty():
        print(
            f"Not started: {reason}. Use --yes to continue, --probe N to measure a few items first, or raise "
            "--limit-usd."
        )
        return False
    return input(f"This run is {reason}. Continue? [y/N] ").strip().casefold() in {"y", "yes"}
