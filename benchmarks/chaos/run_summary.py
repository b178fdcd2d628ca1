"""The outcome of a run as text and tables."""

from collections.abc import Sequence
from statistics import mean

from benchmarks.chaos.killing import CallCounts
from benchmarks.chaos.running import Outcome

_HEADING = "| killed | times | calls in flight | paid twice | abandoned | API away, s (mean, longest) |"

_EACH_KILL_HEADING = (
    "| killed | at, s | load | calls in flight | paid twice | first answer after, s "
    "| unanswered | last unanswered after, s | whole again after, s |"
)


def summarise(outcome: Outcome) -> str:
    findings, stats = outcome.findings, outcome.stats
    distinct = stats.answered - stats.repeated_answers
    lines = [
        f"{findings.accepted} accepted, {findings.lost} lost, {findings.duplicated} duplicated: "
        + ", ".join(f"{count} {state}" for state, count in sorted(findings.states.items())),
        f"{findings.interrupted} needed more than one attempt, {findings.attempts} attempts in total; "
        f"{len(outcome.kills)} processes killed in {outcome.seconds:.0f} s",
        f"{stats.answered} calls answered, {distinct} with distinct prompts: {stats.repeated_answers} paid twice "
        f"({_format_percent(stats.repeated_answers, distinct)}); {stats.abandoned} abandoned in flight "
        f"(if billed: {_format_percent(stats.repeated_answers + stats.abandoned, distinct)})",
        *([outcome.probe_description] if outcome.probe_description else []),
        f"endpoint faults: {stats.injected}",
        f"{findings.erased} erased during the run; ledger {findings.ledger_usd:.4f} USD, charged "
        f"{findings.spent_usd:.4f} USD, "
        f"{findings.late} calls recorded after the verdict; {findings.tokens:,} tokens in the ledger "
        "(for requests without an answer, only the prompts), "
        f"{stats.prompt_tokens + stats.completion_tokens:,} tokens in the endpoint's answers",
        "kills: "
        + "; ".join(
            f"{kill.at:.0f} s {kill.kind} ({kill.counts_before.in_flight} in flight, {kill.faults})"
            for kill in outcome.kills
        ),
        "",
        *_format_kills_by_kind(outcome),
        "",
        *(_format_each_kill(outcome) if outcome.probe_summaries else []),
    ]
    if outcome.gave_up:
        lines.append(f"GAVE UP: {outcome.gave_up}")
    if outcome.missed_kinds:
        lines.append(f"no process found to kill: {', '.join(sorted(set(outcome.missed_kinds)))}")
    lines += findings.problems
    lines += [f"BROKEN: {violation}" for violation in findings.violations] or ["All guarantees held."]
    return "\n".join(lines)


def _format_kills_by_kind(outcome: Outcome) -> Sequence[str]:
    """Return table rows by kind of kill; everything between two kills is attributed to the earlier kill."""
    kills = outcome.kills
    ends = [*(kill.counts_before for kill in kills[1:]), outcome.counts_at_end]
    rows = [_HEADING, "|---|" + "---:|" * 5]
    for kind in dict.fromkeys(kill.kind for kill in kills):
        kills_of_kind = [
            (kill, _subtract_counts(kill.counts_before, end))
            for kill, end in zip(kills, ends, strict=True)
            if kill.kind == kind
        ]
        mean_in_flight = mean(kill.counts_before.in_flight for kill, _ in kills_of_kind)
        repeated_calls, abandoned_calls = (
            sum(counts.repeated for _, counts in kills_of_kind),
            sum(counts.abandoned for _, counts in kills_of_kind),
        )
        seconds_away = [kill.seconds_away for kill, _ in kills_of_kind]
        rows.append(
            f"| {kind} | {len(kills_of_kind)} | {mean_in_flight:.0f} | {repeated_calls} | {abandoned_calls} | "
            f"{mean(seconds_away):.1f}, {max(seconds_away):.1f} |"
        )
    return rows


def _format_each_kill(outcome: Outcome) -> Sequence[str]:
    kills = outcome.kills
    ends = [*(kill.counts_before for kill in kills[1:]), outcome.counts_at_end]
    rows = [_EACH_KILL_HEADING, "|---|" + "---:|" * 8]
    for kill, end, probes in zip(kills, ends, outcome.probe_summaries, strict=True):
        counts = _subtract_counts(kill.counts_before, end)
        rows.append(
            f"| {kill.kind} | {kill.at:.0f} | {kill.load:.0f} | {kill.counts_before.in_flight} | {counts.repeated} "
            f"| {kill.seconds_away:.1f} | {probes.unanswered} of {probes.probe_count} | {probes.until:.1f} "
            f"| {kill.seconds_until_whole:.0f} |"
        )
    return [*rows, ""]


def _subtract_counts(before: CallCounts, after: CallCounts) -> CallCounts:
    return CallCounts(*(late - early for early, late in zip(before, after, strict=True)))


def _format_percent(part: int, total: int) -> str:
    return f"{part / max(total, 1):.2%}"
