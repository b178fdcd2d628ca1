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


def summarise(outcome: Outcome) -> str:
    findings, stats = outcome.findings, outcome.stats
    distinct = stats.answered - stats.repeated_answers
    lines = [
        f"{findings.accepted} accepted, {findings.lost} lost, {findings.doubled} duplicated: "
        + ", ".join(f"{count} {state}" for state, count in sorted(findings.states.items())),
        f"{findings.interrupted} needed more than one attempt, {findings.attempts} attempts in total; "
        f"{len(outcome.killings)} processes killed in {outcome.seconds:.0f} s",
        f"{stats.answered} calls answered, {distinct} with distinct prompts: {stats.repeated_answers} paid twice "
        f"({_percent(stats.repeated_answers, distinct)}); {stats.abandoned} abandoned in flight "
        f"(if billed: {_percent(stats.repeated_answers + stats.abandoned, distinct)})",
        *([outcome.silence] if outcome.silence else []),
        f"endpoint faults: {stats.injected}",
        f"{findings.erased} erased during the run; ledger {findings.ledger_usd:.4f} USD, charged "
        f"{findings.spent_usd:.4f} USD, "
        f"{findings.late} calls recorded after the verdict; {findings.tokens:,} tokens in the ledger "
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
    lines += findings.problems
    lines += [f"BROKEN: {violation}" for violation in findings.violations] or ["All guarantees held."]
    return "\n".join(lines)


def _by_kind(outcome: Outcome) -> Sequence[str]:
    """Return table rows by kind of kill; everything between two kills is attributed to the earlier kill."""
    kills = outcome.killings
    ends = [*(kill.before for kill in kills[1:]), outcome.last]
    rows = [_HEADING, "|---|" + "---:|" * 5]
    for kind in dict.fromkeys(kill.kind for kill in kills):
        kills_of_kind = [
            (kill, _between(kill.before, end)) for kill, end in zip(kills, ends, strict=True) if kill.kind == kind
        ]
        mean_in_flight = mean(item.before.in_flight for item, _ in kills_of_kind)
        repeated_calls, abandoned_calls = (
            sum(spending.repeated for _, spending in kills_of_kind),
            sum(spending.abandoned for _, spending in kills_of_kind),
        )
        seconds_away = [item.away for item, _ in kills_of_kind]
        rows.append(
            f"| {kind} | {len(kills_of_kind)} | {mean_in_flight:.0f} | {repeated_calls} | {abandoned_calls} | "
            f"{mean(seconds_away):.1f}, {max(seconds_away):.1f} |"
        )
    return rows


def _one_by_one(outcome: Outcome) -> Sequence[str]:
    kills = outcome.killings
    ends = [*(kill.before for kill in kills[1:]), outcome.last]
    rows = [_EACH, "|---|" + "---:|" * 8]
    for kill, end, quiet in zip(kills, ends, outcome.quiet, strict=True):
        spending = _between(kill.before, end)
        rows.append(
            f"| {kill.kind} | {kill.at:.0f} | {kill.load:.0f} | {kill.before.in_flight} | {spending.repeated} "
            f"| {kill.away:.1f} | {quiet.unanswered} of {quiet.asked} | {quiet.until:.1f} | {kill.whole:.0f} |"
        )
    return [*rows, ""]


def _between(before: Spent, after: Spent) -> Spent:
    return Spent(*(late - early for early, late in zip(before, after, strict=True)))


def _percent(part: int, total: int) -> str:
    return f"{part / max(total, 1):.2%}"
