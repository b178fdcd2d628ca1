"""Markdown tables of counts of probes and debates."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from scipy.stats import binomtest

from benchmarks.quality.grapheval.reporting import format_row
from benchmarks.quality.rewards.probes import BARRED, Probe
from benchmarks.quality.rewards.with_model import ProbeOutcome

_SHOWN_CHARACTERS = 70
"""Number of characters shown of a probe that passed the guards."""


def _format_head(*titles: str, texts: int = 1) -> Iterator[str]:
    """Yield a table head. The first `texts` columns contain text, the others numbers."""
    yield format_row(*titles)
    yield format_row(*["---"] * texts, *["---:"] * (len(titles) - texts))


def format_share(hits: int, total: int) -> str:
    """Format a percentage with its 95 % Wilson interval."""
    if not total:
        return "none"
    interval = binomtest(hits, total).proportion_ci(method="wilson")
    return f"{hits / total:.1%} [{interval.low:.1%}, {interval.high:.1%}]"


def format_guards(probes_by_kind: Mapping[str, Sequence[Probe]]) -> Iterator[str]:
    yield "## Guards, before any call\n"
    yield from _format_head("probe", "stopped by", "made", "stopped", "share [95 %]", texts=2)
    for kind, kind_probes in probes_by_kind.items():
        names = Counter(probe.stop.name for probe in kind_probes if probe.stop is not None)
        guard_counts = ", ".join(f"{name} {count}" for name, count in names.most_common())
        yield format_row(
            kind,
            guard_counts or "–",
            str(len(kind_probes)),
            str(names.total()),
            format_share(names.total(), len(kind_probes)),
        )
    barred_probes = [probe for kind in BARRED for probe in probes_by_kind.get(kind, ())]
    stopped_count = sum(probe.stop is not None for probe in barred_probes)
    yield format_row(
        f"**{', '.join(BARRED)}**",
        "",
        str(len(barred_probes)),
        str(stopped_count),
        format_share(stopped_count, len(barred_probes)),
    )
    copies = probes_by_kind.get("copied abstract", ())
    leaks = sum(probe.stop is not None and probe.stop.leakage for probe in copies)
    yield f"\nCopied abstracts reported as leakage: {format_share(leaks, len(copies))}.\n"
    yield "What passed, each opening once:\n"
    for kind in BARRED:
        yield from (
            f"- {kind}: {opening}"
            for opening in dict.fromkeys(map(_get_opening, probes_by_kind.get(kind, ())))
            if opening
        )


def _get_opening(probe: Probe) -> str:
    """Return the beginning of a probe, empty if it was stopped. An injected order is the shortest paragraph."""
    if probe.stop is not None:
        return ""
    text = min(probe.item.idea.split("\n\n"), key=len) if probe.kind == "injection" else probe.item.idea
    return " ".join(text.replace(probe.item.question, "QUESTION").split())[:_SHOWN_CHARACTERS]


def format_rewards(outcomes: Sequence[ProbeOutcome], probes_by_kind: Mapping[str, Sequence[Probe]]) -> Iterator[str]:
    """Yield the table of probes that reached the debates, judged by a language model."""
    yield from _format_head("probe", "asked", "no reward", "reward 1, of all asked")
    for kind in probes_by_kind:
        kind_outcomes = [outcome for outcome in outcomes if outcome.kind == kind]
        yield format_row(
            kind,
            str(len(kind_outcomes)),
            str(sum(outcome.value is None for outcome in kind_outcomes)),
            format_share(sum(outcome.value == 1 for outcome in kind_outcomes), len(kind_outcomes)),
        )
    spending = [outcome.spent for outcome in outcomes if outcome.spent is not None]
    costs = [spent.usd for spent in spending if spent.usd is not None]
    cost_text = f"${sum(costs):.2f}" if len(costs) == len(spending) else "unknown"
    yield f"\n{sum(spent.calls for spent in spending):,} calls, cost {cost_text}.\n"
