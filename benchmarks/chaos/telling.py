"""The outcome of a run as text and tables."""

from collections.abc import Sequence
from statistics import mean

from benchmarks.chaos.killing import Spent
from benchmarks.chaos.running import Outcome

_HEADING = "| killed | times | calls in flight | paid twice | abandoned | API away, s (mean, longest) |"

_EACH = (
    "| killed | at, s | load | calls in flight | paid twice | first answer after, s "
    "| unanswered | last unanswered after, s | whole again after, s |"
)


def told(outcome: Outcome) -> str:
    found, stats = outcome.findings, outcome.stats
    distinct = stats.answered - stats.repeated_answers
    lines = [
        f"{found.accepted} accepted, {found.lost} lost, {found.doubled} duplicated: "
        + ", ".join(f"{count} {state}" for state, count in sorted(found.states.items())),
        f"{found.interrupted} needed more than one attempt, {found.attempts} attempts in total; "
        f"{len(outcome.killings)} processes killed in {outcome.seconds:.0f} s",
        f"{stats.answered} calls answered, {distinct} with distinct prompts: {stats.repeated_answers} paid twice "
        f"({_percent(stats.repeated_answers, distinct)}); {stats.abandoned} abandoned in flight "
        f"(if billed: {_percent(stats.repeated_answers + stats.abandoned, distinct)})",
        *([outcome.silence] if outcome.silence else []),
        f"endpoint faults: {stats.injected}",
        f"{found.erased} erased during the run; ledger {found.ledger_usd:.4f} USD, charged {found.spent_usd:.4f} USD, "
        f"{found.late} calls recorded after the verdict; {found.tokens:,} tokens in the ledger "
        "(for requests without an answer, only the prompts), "
        f"{stats.prompt_tokens + stats.completion_tokens:,} tokens in the endpoint's answers",
        "kills: "
        + "; ".join(
            f"{killing.at:.0f} s {killing.kind} ({killing.before.in_flight} in flight, {killing.weather})"
            for killing in outcome.killings
        ),
        "",
        *_by_kind(outcome),
        "",
        *(_one_by_one(outcome) if outcome.quiet else []),
    ]
    if outcome.gave_up:
        lines.append(f"GAVE UP: {outcome.gave_up}")
    if outcome.missed:
        lines.append(f"no process found to kill: {', '.join(sorted(set(outcome.missed)))}")
    lines += found.problems
    lines += [f"BROKEN: {violation}" for violation in found.violations] or ["All guarantees held."]
    return "\n".join(lines)


def _by_kind(outcome: Outcome) -> Sequence[str]:
    """Return table rows by kind of kill; everything between two kills is attributed to the earlier kill."""
    killings = outcome.killings
    ends = [*(killing.before for killing in killings[1:]), outcome.last]
    rows = [_HEADING, "|---|" + "---:|" * 5]
    for kind in dict.fromkeys(killing.kind for killing in killings):
        those = [
            (killing, _between(killing.before, end))
            for killing, end in zip(killings, ends, strict=True)
            if killing.kind == kind
        ]
        flying = mean(item.before.in_flight for item, _ in those)
        twice, left = sum(spent.repeated for _, spent in those), sum(spent.abandoned for _, spent in those)
        away = [item.away for item, _ in those]
        rows.append(f"| {kind} | {len(those)} | {flying:.0f} | {twice} | {left} | {mean(away):.1f}, {max(away):.1f} |")
    return rows


def _one_by_one(outcome: Outcome) -> Sequence[str]:
    killings = outcome.killings
    ends = [*(killing.before for killing in killings[1:]), outcome.last]
    rows = [_EACH, "|---|" + "---:|" * 8]
    for killing, end, quiet in zip(killings, ends, outcome.quiet, strict=True):
        paid = _between(killing.before, end)
        rows.append(
            f"| {killing.kind} | {killing.at:.0f} | {killing.load:.0f} | {killing.before.in_flight} | {paid.repeated} "
            f"| {killing.away:.1f} | {quiet.unanswered} of {quiet.asked} | {quiet.until:.1f} | {killing.whole:.0f} |"
        )
    return [*rows, ""]


def _between(before: Spent, after: Spent) -> Spent:
    return Spent(*(late - early for early, late in zip(before, after, strict=True)))


def _percent(part: int, whole: int) -> str:
    return f"{part / max(whole, 1):.2%}"
