"""A model that answers badly every third time: every idea gets its report, and every fault is in its books."""

from collections import Counter

import pytest

from assayer.claim_support.checking import CLAIMS_PER_CALL
from assayer.errors import AnswerRefused, LlmUnavailable, MalformedAnswer
from simulator.counters import Stats
from tests.e2e.evaluations import Evaluated
from tests.e2e.program import Report, find_violations, read_reports

LOST = {AnswerRefused.reason, LlmUnavailable.reason, MalformedAnswer.reason}
DROPPED = {
    "scholareval.methods": "module",
    "scholareval.first_look": "first look at titles",
    "scholareval.reading": "paper read for the methods",
    "scholareval.review": "review of a method",
    "scholareval.summary": "summary of soundness",
    "scholareval.dimensions": "module",
    "scholareval.comparison": "candidate paper",
    "scholareval.synthesis": "review of a dimension",
    "plan.flaws": "review of the plan",
    "support.claims": "support check of a claim",
}
"""Item a report misses when a call of a task is lost, by task."""
LARGEST_BATCH = max(10, CLAIMS_PER_CALL)
"""Papers or claims in one call."""
HARMLESS = ("slow", "brackets_in_strings")
"""Harmless kinds of injection by the simulator; every other kind is a fault, exactly 1 per answer."""
CLASSES = {
    "fenced": "wrapped",
    "preamble": "wrapped",
    "string_number": "coerced",
    "trailing_comma": "coerced",
    "respelled_choice": "coerced",
    "wrong_enum": "contradicts the schema or the question",
    "missing_field": "contradicts the schema or the question",
    "extra_field": "contradicts the schema or the question",
    "unknown_label": "contradicts the schema or the question",
    "schema_violation": "contradicts the schema or the question",
    "failed_check": "contradicts the schema or the question",
    # Cutting an answer's last character off is both.
    "invalid_json": "no whole object",
    "truncated": "no whole object",
    "dropped": "connection",
}
"""Kinds as the simulator and the program name them, where they differ, by what they have in common."""


@pytest.fixture(scope="module")
def faulty_reports(faulty_run: Evaluated) -> dict[str, Report]:
    return read_reports(faulty_run.program.out)


def _count_injected_faults(stats: Stats) -> Counter[str]:
    return Counter({kind: count for kind, count in stats.injected.items() if kind not in HARMLESS})


def _count_recorded_faults(reports_by_name: dict[str, Report]) -> Counter[str]:
    recorded: Counter[str] = Counter()
    for report in reports_by_name.values():
        for fault in report["coverage"]["faults"]:
            recorded[fault["kind"]] += fault["occurrences"]
    return recorded


def _count_by_class(kinds: Counter[str]) -> Counter[str]:
    classes: Counter[str] = Counter()
    for kind, count in kinds.items():
        classes[CLASSES.get(kind, kind)] += count
    return classes


def _count_dropped_items(report: Report) -> Counter[str]:
    """Return the number of items lost because of the model, by kind."""
    dropped: Counter[str] = Counter()
    for item in report["coverage"]["dropped"]:
        if item["reason"] in LOST:
            dropped[item["item_kind"]] += item["count"]
    return dropped


def test_every_idea_gets_a_report_that_passes_every_check(faulty_run: Evaluated) -> None:
    assert (faulty_run.ended.code, faulty_run.ended.err) == (0, "")
    assert find_violations(faulty_run.program.out, expected=2) == ""


def test_every_injected_fault_is_in_a_coverage_box(faulty_run: Evaluated, faulty_reports: dict[str, Report]) -> None:
    assert faulty_run.stats.cut_by_max_tokens == 0
    injected, recorded = _count_injected_faults(faulty_run.stats), _count_recorded_faults(faulty_reports)
    assert len(injected) >= 8
    assert injected.total() >= 0.15 * faulty_run.stats.answered
    assert recorded.total() == injected.total()
    assert _count_by_class(recorded) == _count_by_class(injected)


def test_every_failed_llm_request_is_listed_as_dropped(
    faulty_run: Evaluated, faulty_reports: dict[str, Report]
) -> None:
    rows = faulty_run.program.fetch_rows("SELECT run_id, task FROM ledger WHERE outcome = 'failed'")
    assert rows, "No call was lost for good: choose another seed."
    for report in faulty_reports.values():
        lost = Counter(DROPPED[row["task"]] for row in rows if row["run_id"] == report["evaluation_id"])
        dropped = _count_dropped_items(report)
        assert dropped.keys() == lost.keys()
        assert all(calls <= dropped[task] <= calls * LARGEST_BATCH for task, calls in lost.items())


def test_llm_calls_in_coverage_match_answered_requests_in_ledger(
    faulty_run: Evaluated, faulty_reports: dict[str, Report]
) -> None:
    rows = faulty_run.program.fetch_rows(
        "SELECT run_id, count(*) AS calls FROM ledger WHERE outcome = 'answered' GROUP BY 1"
    )
    assert {row["run_id"]: row["calls"] for row in rows} == {
        report["evaluation_id"]: report["coverage"]["llm_requests"] for report in faulty_reports.values()
    }


def test_ledger_counts_every_billed_token_including_unusable_answers(faulty_run: Evaluated) -> None:
    """Where a connection broke before the endpoint told what it had read, the prompt is charged for: at most as much
    beyond the simulator's own count as the calls concerned hold."""
    (row,) = faulty_run.program.fetch_rows(
        "SELECT sum(prompt_tokens) AS read, sum(completion_tokens) AS written FROM ledger"
    )
    (broken,) = faulty_run.program.fetch_rows(
        """SELECT coalesce(sum(prompt_tokens), 0) AS read FROM ledger WHERE faults @> '[{"kind": "connection"}]'"""
    )
    untold = row["read"] - faulty_run.stats.prompt_tokens
    assert row["written"] == faulty_run.stats.completion_tokens
    assert (untold > 0) == (faulty_run.stats.injected.get("dropped", 0) > 0)
    assert 0 <= untold < max(1, broken["read"])


def test_recovered_faults_match_answered_requests_in_ledger(
    faulty_run: Evaluated, faulty_reports: dict[str, Report]
) -> None:
    rows = faulty_run.program.fetch_rows(
        "SELECT run_id, sum(jsonb_array_length(faults)) AS faults FROM ledger WHERE outcome = 'answered' GROUP BY 1"
    )
    assert {row["run_id"]: row["faults"] for row in rows} == {
        report["evaluation_id"]: sum(fault["recovered"] for fault in report["coverage"]["faults"])
        for report in faulty_reports.values()
    }
