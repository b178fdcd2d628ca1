"""Number of evaluators the queue wants: none without work, more as jobs wait, never fewer than running jobs need."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.serving.evaluator_scaling import EvaluatorLoad, compute_wanted_evaluators
from orchestrator.store.queue_depth import QueueDepth, WaitingJobs

EMPTY = QueueDepth()
SLOTS_PER_EVALUATOR, MAX_WAIT_SECONDS = 8.0, 10.0


def count_batch_evaluators(load: EvaluatorLoad) -> float:
    return compute_wanted_evaluators(
        load, SLOTS_PER_EVALUATOR, MAX_WAIT_SECONDS, takes_interactive=False, takes_batch=True
    )


def count_all_evaluators(load: EvaluatorLoad) -> float:
    return compute_wanted_evaluators(
        load, SLOTS_PER_EVALUATOR, MAX_WAIT_SECONDS, takes_interactive=True, takes_batch=True
    )


def test_batch_evaluators_scale_to_zero_when_idle() -> None:
    assert count_batch_evaluators(EvaluatorLoad(3, (0.0, 0.0, 0.0), EMPTY)) == 0


def test_interactive_jobs_add_evaluators_only_where_they_are_accepted() -> None:
    load = EvaluatorLoad(1, (8.0,), QueueDepth(interactive=WaitingJobs(8, 0.0)))
    assert count_all_evaluators(load) == 2
    assert count_batch_evaluators(load) == 1


def test_unknown_queue_depth_keeps_capacity_for_running_jobs() -> None:
    assert count_all_evaluators(EvaluatorLoad(2, (8.0, 4.0), None)) == 1.5


def test_silent_evaluators_are_counted_at_the_average_load() -> None:
    assert count_all_evaluators(EvaluatorLoad(4, (8.0, 8.0), EMPTY)) == 4
    assert count_all_evaluators(EvaluatorLoad(4, (), EMPTY)) == 4


@given(
    st.lists(st.floats(0, 8), max_size=6).map(tuple), st.integers(0, 10_000), st.floats(0, 1e6), st.integers(0, 10_000)
)
def test_more_waiting_jobs_never_reduce_evaluators(
    in_hand: tuple[float, ...], jobs: int, age: float, more_jobs: int
) -> None:
    fewer_evaluators, more_evaluators = (
        count_batch_evaluators(EvaluatorLoad(len(in_hand), in_hand, QueueDepth(batch=WaitingJobs(number, age))))
        for number in (jobs, jobs + more_jobs)
    )
    assert fewer_evaluators <= more_evaluators
    assert fewer_evaluators >= sum(in_hand) / SLOTS_PER_EVALUATOR * (1 - 1e-9)
    assert fewer_evaluators == pytest.approx(
        (sum(in_hand) + (jobs if age >= MAX_WAIT_SECONDS else 0)) / SLOTS_PER_EVALUATOR
    )
