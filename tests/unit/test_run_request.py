"""Budget of a unit of work, and the naming of its runs."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import BudgetExhausted
from assayer.run.budget import Reservation
from cluster.methods import METHOD_DESCRIPTIONS, METHODS
from cluster.run_request import LOCAL_REQUEST, RunRequest, compute_run_id, normalise_result_inputs
from cluster.settings import EvaluationSettings
from orchestrator.jobs.requests import Limits

amounts = st.none() | st.floats(0.01, 100)


@given(amounts, amounts, amounts)
def test_usd_budget_is_minimum_of_settings_request_and_tenant_limit(
    configured: float | None, requested: float | None, tenant_limit: float | None
) -> None:
    run_request = RunRequest(limits=Limits(max_usd=requested), max_usd=tenant_limit)
    budget = run_request.create_budget(EvaluationSettings(max_usd=configured))
    limits = [item for item in (configured, requested, tenant_limit) if item is not None]
    assert budget.max_usd == (min(limits) if limits else None)


@pytest.mark.parametrize(
    ("configured", "requested", "expected"), [(None, None, None), (9, None, 9), (None, 8, 8), (9, 8, 8)]
)
def test_tokens_are_limited_by_the_lesser_of_settings_and_request(
    configured: int | None, requested: int | None, expected: int | None
) -> None:
    budget = RunRequest(limits=Limits(max_prompt_tokens=requested)).create_budget(
        EvaluationSettings(max_prompt_tokens=configured)
    )
    assert budget.max_prompt_tokens == expected


def test_spending_of_earlier_attempts_counts_against_every_limit() -> None:
    run_request = RunRequest(limits=Limits(max_usd=2, max_prompt_tokens=1_000), paid_usd=1.5, paid_prompt_tokens=900)

    budget = run_request.create_budget(EvaluationSettings())

    with pytest.raises(BudgetExhausted, match=r"\$0\.5000 of the \$2\.00 budget is left"):
        budget.try_reserve(Reservation(0.6, 0))
    with pytest.raises(BudgetExhausted, match="100 of the budgeted 1000 are left"):
        budget.try_reserve(Reservation(0, 101))
    assert budget.try_reserve(Reservation(0.5, 100))
    assert (budget.spent_usd, budget.spent_prompt_tokens) == (0, 0)


def test_limit_exhausted_by_earlier_attempts_admits_no_llm_requests() -> None:
    budget = RunRequest(limits=Limits(max_usd=2), paid_usd=2.5).create_budget(EvaluationSettings())

    with pytest.raises(BudgetExhausted, match=r"The budget of \$2\.00 for this evaluation is spent"):
        budget.require_budget_left()


def test_remaining_tenant_budget_does_not_affect_result_inputs() -> None:
    settings = EvaluationSettings(max_usd=5)
    assert RunRequest(max_usd=1).combine_limits(settings) == LOCAL_REQUEST.combine_limits(settings) == Limits(max_usd=5)


def test_run_id_depends_on_request_and_job() -> None:
    request = normalise_result_inputs({"idea": "a", "models": ("m",)})
    repeated_inputs = normalise_result_inputs({"models": ["m"], "idea": "a"})
    assert compute_run_id("ev", request, "job_1") == compute_run_id("ev", repeated_inputs, "job_1")
    names = {compute_run_id("ev", request, job) for job in ("", "job_1", "job_2")}
    assert len(names) == 3


@given(st.dictionaries(st.text(), st.tuples(st.integers(), st.text())))
def test_result_inputs_round_trip_through_json(values: dict[str, object]) -> None:
    request = normalise_result_inputs(values)
    assert json.loads(json.dumps(request)) == request


def test_every_method_has_a_description() -> None:
    assert METHOD_DESCRIPTIONS.keys() == METHODS.keys()
    assert all(line.endswith(".") for line in METHOD_DESCRIPTIONS.values())
