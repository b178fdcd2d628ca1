"""From any sequence of events a job comes to exactly one verdict, and says why when there is no result."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.jobs.models import TERMINAL
from orchestrator.jobs.state_machine import (
    AttemptHistory,
    AttemptLimits,
    Cancelled,
    Expired,
    Finished,
    GivenBack,
    Leased,
    Rejected,
    StateChange,
    gave_up_problem,
    transition,
)

MOST = AttemptLimits(failures=3, losses=4, outages=5)

reasons = st.text(max_size=600)
events: st.SearchStrategy[StateChange] = st.one_of(
    st.just(Leased()),
    st.builds(Finished, st.sampled_from(["done", "failed", "dead"])),
    st.builds(GivenBack, reasons, st.sampled_from(["failure", "loss", "outage"])),
    st.builds(Expired, reasons),
    st.just(Cancelled()),
    st.just(Rejected()),
)
attempts = st.one_of(st.builds(GivenBack, reasons, st.sampled_from(["failure", "loss", "outage"])), st.builds(Expired))


def history(happened: list[StateChange]) -> list[AttemptHistory]:
    """The standings that a job went through; events that come at the wrong time change nothing."""
    seen = [AttemptHistory()]
    for event in happened:
        if (after := transition(seen[-1], event, MOST)) is not None:
            seen.append(after)
    return seen


@given(st.lists(events, max_size=60))
def test_any_events_lead_to_at_most_one_verdict_and_it_is_the_last_state(happened: list[StateChange]) -> None:
    verdicts = [standing.state for standing in history(happened) if standing.state in TERMINAL]

    assert verdicts == [history(happened)[-1].state][: len(verdicts)]
    assert len(verdicts) <= 1


@given(st.sampled_from(sorted(TERMINAL)), events)
def test_verdict_stands_whatever_happens(state: str, event: StateChange) -> None:
    assert transition(AttemptHistory(state), event, MOST) is None  # type: ignore[arg-type] # states are strings


@given(st.lists(events, max_size=60))
def test_states_alternate_between_queue_and_worker_until_the_verdict(happened: list[StateChange]) -> None:
    for before, after in pairwise(history(happened)):
        assert after.state != before.state
        assert after.state != "queued" or before.state == "running"
        assert after.state != "running" or before.state == "queued"


@given(st.lists(attempts, min_size=sum(MOST), max_size=2 * sum(MOST)))
def test_job_that_is_never_finished_dies_after_a_bounded_number_of_tries(ends: list[StateChange]) -> None:
    happened = [event for end in ends for event in (Leased(), end)]

    seen = history(happened)

    assert seen[-1].state == "dead"
    assert sum(standing.state == "running" for standing in seen) <= sum(MOST) - 2


@given(st.lists(attempts, min_size=sum(MOST), max_size=2 * sum(MOST)))
def test_dead_job_says_how_often_it_was_tried_and_the_last_reasons(ends: list[StateChange]) -> None:
    last = history([event for end in ends for event in (Leased(), end)])[-1]

    problem = gave_up_problem(last)

    assert str(last.failures + last.losses + last.outages) in problem.title
    assert last.reasons
    assert all(reason in problem.detail for reason in last.reasons)
    assert len(problem.detail) < 5_000


def test_worker_killed_every_time_ends_dead_as_a_loss_and_names_the_workers() -> None:
    last = history([event for number in range(9) for event in (Leased(), Expired(f"w{number}"))])[-1]

    assert (last.state, last.losses, last.failures) == ("dead", MOST.losses, 0)
    assert "the process that worked on it was lost or had to stop" in gave_up_problem(last).detail
    assert "w3" in gave_up_problem(last).detail


def test_job_refused_before_it_began_is_failed() -> None:
    assert history([Rejected()])[-1].state == "failed"
    assert transition(AttemptHistory("running"), Rejected(), MOST) is None
