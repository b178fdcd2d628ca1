"""The judge of the chaos notices every promise that is broken; otherwise its silence would mean nothing."""

import pytest

from benchmarks.chaos.findings import Accepted, StoredEvaluation, check_guarantees
from benchmarks.chaos.ledger_audit import Charge, LedgerAudit, is_unbalanced

DONE = StoredEvaluation("succeeded", 2, False, True, None, [(1, "queued"), (2, "started"), (3, "succeeded")])
JOBS = {"ev_1": DONE}
ACCEPTED = [Accepted(tenant="t", key="k1", job="ev_1")]


def test_correct_evaluations_are_counted_without_violations() -> None:
    again = ACCEPTED * 2
    found = check_guarantees(JOBS, [], 7, again)
    assert found.violations == []
    assert (found.accepted, found.states, found.interrupted, found.calls_paid) == (1, {"succeeded": 1}, 1, 7)


@pytest.mark.parametrize(
    ("told", "broken"),
    [
        (DONE._replace(state="queued"), "without a verdict"),
        (DONE._replace(is_leased=True), "still leased"),
        (DONE._replace(events=DONE.events[:2]), "not told of exactly one verdict"),
        (DONE._replace(events=[*DONE.events, (4, "succeeded")]), "not told of exactly one verdict"),
        (DONE._replace(events=[*DONE.events, (4, "failed")]), "not told of exactly one verdict"),
        (DONE._replace(events=[*DONE.events, (4, "progress")]), "told of another verdict than theirs"),
        (DONE._replace(state="failed", problem="why"), "told of another verdict than theirs"),
        (DONE._replace(events=[(1, "queued"), (3, "succeeded")]), "with a gap in their events"),
        (DONE._replace(has_report=False), "done without a report"),
        (DONE._replace(state="failed", events=[(1, "failed")]), "failed without an explanation"),
    ],
)
def test_each_violation_is_reported_with_its_evaluation_id(told: StoredEvaluation, broken: str) -> None:
    found = check_guarantees({"ev_1": told}, [], 0, ACCEPTED)
    assert any(violation.startswith(broken) and violation.endswith("ev_1") for violation in found.violations)


def test_accepted_evaluation_missing_from_tables_is_reported() -> None:
    assert check_guarantees({}, [], 0, ACCEPTED).broken["accepted, and not in the tables"] == ("ev_1",)


def test_stored_evaluation_never_accepted_is_reported() -> None:
    assert check_guarantees(JOBS, [], 0, []).broken["in the tables, and never accepted"] == ("ev_1",)


def test_duplicate_idempotency_key_is_reported_only_within_a_tenant() -> None:
    second = Accepted(tenant="t", key="k1", job="ev_2")
    jobs = {"ev_1": DONE, "ev_2": DONE}
    assert check_guarantees(jobs, [], 0, [*ACCEPTED, second]).violations != []
    assert check_guarantees(jobs, [], 0, [*ACCEPTED, second.model_copy(update={"tenant": "u"})]).violations == []


def test_llm_request_after_the_verdict_is_reported() -> None:
    assert check_guarantees(JOBS, ["ev_1"], 0, ACCEPTED).violations == [
        "called a language model after the verdict: ev_1"
    ]


def test_erased_evaluation_is_not_lost() -> None:
    assert check_guarantees({}, [], 0, ACCEPTED, erased_ids=["ev_1"]).violations == []


def test_accounting_faults_are_reported_as_violations() -> None:
    books = LedgerAudit({"erased, and still in the tables": ["ev_1"]}, tokens=10, ledger_usd=1.0, spent_usd=1.0, late=0)
    found = check_guarantees(JOBS, [], 0, ACCEPTED, ledger_audit=books)
    assert found.violations == ["erased, and still in the tables: ev_1"]
    assert (found.tokens, found.ledger_usd, found.spent_usd) == (10, 1.0, 1.0)


@pytest.mark.parametrize(
    ("charged", "wrong"), [(1.0, False), (1.5, False), (2.0, False), (0.99, True), (2.01, True), (None, True)]
)
def test_charge_outside_the_reported_cost_range_is_unbalanced(charged: float | None, wrong: bool) -> None:
    assert is_unbalanced(Charge("ev_1", charged, min_usd=1.0, max_usd=2.0)) == wrong
