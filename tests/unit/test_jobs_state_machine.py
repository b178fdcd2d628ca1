"""A job that never comes to a verdict fails after a bounded number of attempts, and says why."""

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.jobs.models import TERMINAL, JobState
from orchestrator.jobs.state_machine import (
    RETRIABLE_STATES,
    UNFINISHED_STATES,
    AttemptHistory,
    AttemptLimits,
    RetryCause,
    build_gave_up_problem,
)

LIMITS = AttemptLimits(failures=3, losses=4, outages=5)
attempts = st.tuples(st.sampled_from(get_args(RetryCause)), st.text(max_size=600))


def run_attempts(attempt_ends: list[tuple[RetryCause, str]]) -> AttemptHistory:
    """Return the history with which the job fails, or the one after all attempts."""
    history = AttemptHistory()
    for end in attempt_ends:
        history = history.add_attempt(*end)
        if history.has_exhausted(LIMITS):
            break
    return history


@given(st.lists(attempts, min_size=sum(LIMITS), max_size=2 * sum(LIMITS)))
def test_unfinished_job_fails_after_limited_attempts_with_last_reasons(
    attempt_ends: list[tuple[RetryCause, str]],
) -> None:
    last = run_attempts(attempt_ends)
    problem = build_gave_up_problem(last)

    assert last.has_exhausted(LIMITS)
    assert sum(last[:3]) <= sum(LIMITS) - 2
    assert str(sum(last[:3])) in problem.title
    assert last.reasons
    assert all(reason in problem.detail for reason in last.reasons)
    assert len(problem.detail) < 5_000


def test_job_losing_its_worker_every_time_fails_as_lost() -> None:
    last = run_attempts([("loss", f"w{number} was lost") for number in range(9)])

    assert last[:3] == (0, LIMITS.losses, 0)
    assert "its worker was lost" in build_gave_up_problem(last).detail
    assert "w3" in build_gave_up_problem(last).detail


def test_every_state_is_unfinished_retriable_or_succeeded() -> None:
    assert {*UNFINISHED_STATES, *RETRIABLE_STATES, "succeeded"} == set(get_args(JobState))
    assert set(get_args(JobState)) - TERMINAL == set(UNFINISHED_STATES)
