"""What was counted of probes and debates, as lines of Markdown."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from assayer.methods.debate.composition import COMPOSITIONS
from assayer.methods.debate.options import ViewpointJudge
from assayer.models import Absent
from assayer.models.reward import Reward
from benchmarks.quality.grapheval.reporting import row
from benchmarks.quality.rewards.debates import NoisyDebates, share
from benchmarks.quality.rewards.passing import ProbesPassed
from benchmarks.quality.rewards.probes import BARRED, MATCHING, Probe
from benchmarks.quality.rewards.with_model import ProbeOutcome, ScriptedDebate

__all__ = [
    "calls_table",
    "composition_table",
    "guard_table",
    "http_table",
    "kind_table",
    "model_table",
    "noise_tables",
    "viewpoints_table",
]

_SHOWN = 70
"""Characters of a probe that got by the guards."""


def _head(*titles: str, texts: int = 1) -> Iterator[str]:
    """The first `texts` columns hold words, the others figures."""
    yield row(*titles)
    yield row(*["---"] * texts, *["---:"] * (len(titles) - texts))


def guard_table(kinds: Mapping[str, Sequence[Probe]]) -> Iterator[str]:
    yield "## Guards, before any call\n"
    yield from _head("probe", "stopped by", "made", "stopped", "share [95 %]", texts=2)
    for kind, own in kinds.items():
        names = Counter(one.stop.name for one in own if one.stop is not None)
        by = ", ".join(f"{name} {times}" for name, times in names.most_common())
        yield row(kind, by or "–", str(len(own)), str(names.total()), share(names.total(), len(own)))
    barred = [one for kind in BARRED for one in kinds.get(kind, ())]
    stopped = sum(one.stop is not None for one in barred)
    yield row(f"**{', '.join(BARRED)}**", "", str(len(barred)), str(stopped), share(stopped, len(barred)))
    copied = kinds.get("copied abstract", ())
    told = sum(one.stop is not None and one.stop.leakage for one in copied)
    yield f"\nCopied abstracts told as leakage: {share(told, len(copied))}.\n\nWhat got by, each opening once:\n"
    for kind in BARRED:
        yield from (f"- {kind}: {opening}" for opening in dict.fromkeys(map(_opening, kinds.get(kind, ()))) if opening)


def _opening(probe: Probe) -> str:
    """Empty for a probe that was stopped. An order stands in a paragraph of its own, the shortest."""
    if probe.stop is not None:
        return ""
    text = min(probe.item.idea.split("\n\n"), key=len) if probe.kind == "injection" else probe.item.idea
    return " ".join(text.replace(probe.item.question, "QUESTION").split())[:_SHOWN]


def kind_table(passed: Sequence[ProbesPassed], composition: str) -> Iterator[str]:
    own = [one for one in passed if one.composition == composition]
    found = {(one.kind, one.noise): one for one in own}
    judges = list(dict.fromkeys(one.noise for one in own))
    yield f"## Reward 1, of all probes made: {composition}, by what its seats are\n"
    yield from _head("probe", "made", "reach the seats", *judges)
    for kind in dict.fromkeys(one.kind for one in own):
        first = found[kind, judges[0]]
        shares = (share(found[kind, name].passed, first.probes) for name in judges)
        yield row(kind, str(first.probes), str(first.probes - first.stopped), *shares)


def composition_table(passed: Sequence[ProbesPassed]) -> Iterator[str]:
    """Seats that believe everything, or know the truth, vote alike in every composition."""
    judges = list(dict.fromkeys(one.noise for one in passed))
    yield "\n## Reward 1 by composition: of all that should earn nothing; of all that match\n"
    yield from _head("composition", *(f"{name}: {what}" for name in judges for what in ("wrongly", "rightly")))
    for name in COMPOSITIONS:
        cells: list[str] = []
        for judge in judges:
            own = [one for one in passed if one.composition == name and one.noise == judge]
            for some in (
                [one for one in own if one.kind not in MATCHING],
                [one for one in own if one.kind in MATCHING],
            ):
                cells.append(share(sum(one.passed for one in some), sum(one.probes for one in some)))
        yield row(name, *cells)


def http_table(debates: Sequence[ScriptedDebate]) -> Iterator[str]:
    """Of the probes that reach the seats."""
    probes = len({one.probe.name for one in debates})
    compositions = len({one.composition for one in debates})
    yield f"## Over HTTP: {probes} probes that no guard stops, {compositions} compositions, seats of one process\n"
    yield from _head(
        "seats", "debates", "calls", "lost", "wrong 1", "of", "right 1", "of", "verdict and calls as by the rules alone"
    )
    for judge in dict.fromkeys(one.noise for one in debates):
        own = [one for one in debates if one.noise == judge]
        matching = [one for one in own if one.probe.matches]
        others = [one for one in own if not one.probe.matches]
        yield row(
            judge,
            f"{len(own):,}",
            f"{sum(one.calls for one in own):,}",
            str(sum(one.value is None for one in own)),
            str(sum(one.value == 1 for one in others)),
            str(len(others)),
            str(sum(one.value == 1 for one in matching)),
            str(len(matching)),
            f"{sum(one.as_by_rules for one in own):,} of {len(own):,}",
        )


_POINTS = 0.02
_CONFIDENCE = 0.95


def noise_tables(counted: Sequence[NoisyDebates]) -> Iterator[str]:
    """What is said of all of them together holds with the confidence, so each has its share of what is left."""
    each = counted[0].each
    confidence = 1.0 - (1.0 - _CONFIDENCE) / (2 * len(counted))
    yield f"\n## Seats of known error, by the rules alone: {each:,} debates that should match, as many that should not"
    for noise in dict.fromkeys(one.noise.name for one in counted):
        own = [one for one in counted if one.noise.name == noise]
        yield f"\n### {noise}: {_rates(own[0])}\n"
        together = own[0].noise.shared > 0
        extra = ("as if alone: recall", "off by", "precision", "off by") if together else ()
        yield from _head("composition", "recall", "exact", "precision", "exact", "exact, 1 idea in 10 matches", *extra)
        for one in own:
            yield row(*_noise_cells(one), *(_as_if_alone(one) if together else ()))
        farthest = max(one.farthest(confidence) for one in own)
        within = "within" if farthest <= _POINTS else "**not** within"
        yield f"\nFarthest end of an interval from exact: {100 * farthest:.2f} points, {within} {100 * _POINTS:.0f}"
        yield f"({len(counted) * 2} intervals of Wilson's, together at {_CONFIDENCE:.0%})."


def _rates(one: NoisyDebates) -> str:
    rates = (f"{role} {own.false_yes:g}/{own.false_no:g}" for role, own in one.noise.errors.items())
    shared = f"; {one.noise.shared:g} of votes follow a shared belief" if one.noise.shared else ""
    return f"wrong yes/wrong no of {', '.join(rates)}; a moderator halts {one.noise.halts:g}{shared}"


def _noise_cells(one: NoisyDebates) -> tuple[str, ...]:
    return (
        one.composition.name,
        share(one.right, one.each),
        f"{one.exact_recall:.1%}",
        share(one.right, one.told),
        f"{one.exact_precision():.1%}",
        f"{one.exact_precision(0.1):.1%}",
    )


def _as_if_alone(one: NoisyDebates) -> tuple[str, ...]:
    recall = one.right / one.each - one.independent_recall
    precision = one.right / one.told - one.independent_precision if one.told else float("nan")
    return (
        f"{one.independent_recall:.1%}",
        f"{100 * recall:+.1f}",
        f"{one.independent_precision:.1%}",
        f"{100 * precision:+.1f}",
    )


def calls_table(counted: Sequence[NoisyDebates]) -> Iterator[str]:
    names = list(dict.fromkeys(one.noise.name for one in counted))
    found = {(one.composition.name, one.noise.name): one for one in counted}
    yield "\n## Calls saved by stopping early, of those of a debate to its end\n"
    yield from _head("composition", "most calls", *names, "where all agree at once", "verdicts changed")
    for composition in dict.fromkeys(one.composition for one in counted):
        own = [found[composition.name, name] for name in names]
        agreed = [one.saved_where_agreed for one in own if one.saved_where_agreed is not None]
        yield row(
            composition.name,
            str(composition.most_calls),
            *(f"{one.saved:.0%}" for one in own),
            f"{min(agreed):.0%}" if agreed else "never",
            str(sum(one.changed for one in own)),
        )
    changed, debates = sum(one.changed for one in counted), sum(2 * one.each for one in counted)
    yield f"\n{debates:,} debates; verdicts changed: {changed}."


def viewpoints_table(
    found: Mapping[str, tuple[Sequence[Reward], Sequence[Probe]]], judge: ViewpointJudge
) -> Iterator[str]:
    yield f"\n## Before the judge without a language model: nearness from {judge.threshold} on, {judge.fitted_for}\n"
    yield from _head(
        "probe", "made", "stopped by guards", "no reward", "reward 1", "of those it read", "median nearness"
    )
    for kind, (rewards, probes) in found.items():
        stopped = sum(one.guard is not None for one in rewards)
        lost = sum(isinstance(one.value, Absent) for one in rewards)
        passed = sum(one.value == 1 for one in rewards)
        near = sorted(one.similarity for one in rewards if one.similarity is not None)
        yield row(
            kind,
            str(len(probes)),
            str(stopped),
            str(lost),
            share(passed, len(probes)),
            share(passed, len(near)),
            f"{near[len(near) // 2]:.2f}" if near else "–",
        )


def model_table(outcomes: Sequence[ProbeOutcome], kinds: Mapping[str, Sequence[Probe]]) -> Iterator[str]:
    """Of the probes that reach the seats."""
    yield from _head("probe", "asked", "no reward", "reward 1, of all asked")
    for kind in kinds:
        own = [one for one in outcomes if one.kind == kind]
        yield row(
            kind,
            str(len(own)),
            str(sum(one.value is None for one in own)),
            share(sum(one.value == 1 for one in own), len(own)),
        )
    spent = [one.spent for one in outcomes if one.spent is not None]
    costs = [one.usd for one in spent if one.usd is not None]
    paid = f"${sum(costs):.2f}" if len(costs) == len(spent) else "unknown"
    yield f"\n{sum(one.calls for one in spent):,} calls, cost {paid}.\n"
