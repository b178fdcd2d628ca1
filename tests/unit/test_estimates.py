"""Estimates for a batch: from a tenant's own evaluations where there are enough, and never more certain than they
are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.methods import scholareval
from assayer.methods.innoeval.options import METHOD as INNOEVAL
from assayer.methods.innoeval.options import BoardOptions
from assayer.models import Absent
from assayer.models.llm import GpuSpeed
from cluster.methods import METHOD_DESCRIPTIONS
from cluster.typical_usage import estimate_typical_board, estimate_typical_evaluations
from orchestrator.jobs.estimates import CostEstimate, EvaluationUsage, QueuePace, TypicalEvaluation, estimate_cost
from workers.llm.settings import LlmSettings, Price

TYPICAL_EVALUATION = TypicalEvaluation(
    calls=60, prompt_tokens=200_000, completion_tokens=20_000, cost_usd=0.4, high_cost_usd=0.5
)
UNKNOWN = Absent(reason="Nobody measured it.")


def make_usages(*costs: float | None) -> list[EvaluationUsage]:
    return [EvaluationUsage(calls=10, prompt_tokens=1_000, completion_tokens=100, cost_usd=cost) for cost in costs]


def estimate(
    ideas: int, usages: list[EvaluationUsage], max_usd: float | None = None, pace: QueuePace | None = None
) -> CostEstimate:
    cost_estimate = estimate_cost(ideas, usages, TYPICAL_EVALUATION, pace or QueuePace(), max_usd)
    assert isinstance(cost_estimate, CostEstimate)
    return cost_estimate


def test_too_few_own_evaluations_fall_back_to_typical_costs() -> None:
    cost_estimate = estimate(100, make_usages(*[9.0] * 9))
    assert (cost_estimate.basis, cost_estimate.evaluations, cost_estimate.calls, cost_estimate.prompt_tokens) == (
        "typical",
        0,
        6_000,
        20_000_000,
    )
    assert (cost_estimate.cost_usd, cost_estimate.high_cost_usd) == (40.0, 50.0)
    assert isinstance(cost_estimate.share_over_max_usd, Absent)


def test_own_evaluations_take_precedence_over_typical_costs() -> None:
    cost_estimate = estimate(100, make_usages(*[0.1] * 18, 1.0, 1.0))
    assert (cost_estimate.basis, cost_estimate.evaluations, cost_estimate.calls) == ("own", 20, 1_000)
    assert cost_estimate.cost_usd == pytest.approx(19.0)
    assert isinstance(cost_estimate.high_cost_usd, float)
    assert cost_estimate.high_cost_usd > 10 * 0.1 * 2


def test_cost_limit_per_idea_bounds_estimate_and_reports_share_cut_short() -> None:
    cost_estimate = estimate(100, make_usages(*[0.1] * 15, *[1.0] * 5), max_usd=0.5)
    assert cost_estimate.cost_usd == pytest.approx(100 * (15 * 0.1 + 5 * 0.5) / 20)
    assert cost_estimate.share_over_max_usd == 0.25
    assert estimate(100, [], max_usd=0.3).high_cost_usd == pytest.approx(30.0)


def test_unknown_price_of_an_evaluation_makes_cost_absent() -> None:
    cost_estimate = estimate(100, make_usages(*[0.1] * 19, None))
    assert isinstance(cost_estimate.cost_usd, Absent)
    assert "1 of your last 20" in cost_estimate.cost_usd.reason
    assert cost_estimate.prompt_tokens == 100_000


def test_unmeasured_method_has_unknown_estimate_until_enough_evaluations() -> None:
    assert estimate_cost(5, make_usages(*[0.1] * 9), UNKNOWN, QueuePace()) == UNKNOWN
    assert isinstance(estimate_cost(5, make_usages(*[0.1] * 10), UNKNOWN, QueuePace()), CostEstimate)


def test_estimated_time_includes_queued_and_new_ideas() -> None:
    cost_estimate = estimate(90, [], pace=QueuePace(ended=61, seconds=1_800, waiting=30))
    assert cost_estimate.hours == pytest.approx(120 / 120)
    assert isinstance(estimate(90, [], pace=QueuePace(ended=9, seconds=60)).hours, Absent)
    assert isinstance(estimate(90, [], pace=QueuePace(ended=20, seconds=0)).hours, Absent)


@given(st.integers(1, 10_000), st.lists(st.floats(0, 50), min_size=10, max_size=40), st.floats(0.01, 60))
def test_cost_estimate_never_exceeds_its_limits(ideas: int, costs: list[float], limit: float) -> None:
    cost_estimate = estimate(ideas, make_usages(*costs), max_usd=limit)
    assert isinstance(cost_estimate.cost_usd, float)
    assert isinstance(cost_estimate.high_cost_usd, float)
    assert cost_estimate.cost_usd <= ideas * limit * (1 + 1e-9)
    assert cost_estimate.high_cost_usd <= ideas * limit * (1 + 1e-9)
    assert cost_estimate.high_cost_usd <= ideas * max(costs) * (1 + 1e-9)


def make_llm_settings(**prices: Price) -> LlmSettings:
    return LlmSettings(base_url="http://localhost/v1", model="big", fast_model="small", prices=prices)


def test_typical_cost_uses_prices_of_configured_models() -> None:
    typical = estimate_typical_evaluations(make_llm_settings(big=Price(10, 40), small=Price(1, 4)))
    cheap_evaluations = estimate_typical_evaluations(make_llm_settings(big=Price(1, 4), small=Price(1, 4)))
    assert typical.keys() <= METHOD_DESCRIPTIONS.keys()
    usage, cheap_usage = typical[scholareval.METHOD], cheap_evaluations[scholareval.METHOD]
    assert isinstance(usage.cost_usd, float)
    assert isinstance(usage.high_cost_usd, float)
    assert isinstance(cheap_usage.cost_usd, float)
    assert cheap_usage.cost_usd == pytest.approx((usage.prompt_tokens + 4 * usage.completion_tokens) / 1e6)
    assert cheap_usage.cost_usd < usage.cost_usd < usage.high_cost_usd


def test_missing_price_makes_cost_absent_and_missing_model_makes_it_zero() -> None:
    cost_without_price = estimate_typical_evaluations(make_llm_settings(small=Price(1, 4)))[scholareval.METHOD].cost_usd
    assert isinstance(cost_without_price, Absent)
    assert "big" in cost_without_price.reason
    assert {typical_evaluation.cost_usd for typical_evaluation in estimate_typical_evaluations(None).values()} == {0.0}


def test_gpu_hours_come_from_the_speeds_of_all_models_in_use() -> None:
    speed = GpuSpeed(read=1_000, written=100)
    settings = make_llm_settings().model_copy(update={"gpu_speeds": {"big": speed, "small": speed}})
    usage = estimate_typical_evaluations(settings)[scholareval.METHOD]
    assert usage.gpu_hours == pytest.approx((usage.prompt_tokens / 1_000 + usage.completion_tokens / 100) / 3600)
    assert isinstance(usage.gpu_hours, float)
    assert isinstance(usage.high_gpu_hours, float)
    assert usage.gpu_hours < usage.high_gpu_hours
    incomplete = settings.model_copy(update={"gpu_speeds": {"big": speed}})
    assert estimate_typical_evaluations(incomplete)[scholareval.METHOD].gpu_hours is None


def test_own_gpu_hours_need_the_speed_of_every_evaluation() -> None:
    usages = [
        item.model_copy(update={"gpu_hours": 0.5, "cached_prompt_tokens": 400}) for item in make_usages(*[0.1] * 20)
    ]
    slow = usages[0].model_copy(update={"gpu_hours": 2.5})
    cost_estimate = estimate(100, [*usages[:16], *[slow] * 4])
    assert cost_estimate.gpu_hours == pytest.approx(90.0)
    assert cost_estimate.cached_prompt_tokens == 40_000
    assert cost_estimate.high_gpu_hours == pytest.approx(250.0)
    assert estimate(100, [*usages, *make_usages(0.1)]).gpu_hours is None


def test_board_cost_depends_on_its_size_and_models() -> None:
    prices = {"big": Price(10, 40), "small": Price(1, 4), "dear": Price(100, 400)}
    usual_evaluation = estimate_typical_evaluations(make_llm_settings(**prices))[INNOEVAL]
    board = estimate_typical_board(make_llm_settings(**prices), BoardOptions())
    assert board(None, ()) == usual_evaluation
    board_of_one, board_of_ten, expensive_board = board(1, ()), board(10, ()), board(None, ("big", "dear"))
    assert board_of_one.calls < usual_evaluation.calls < board_of_ten.calls
    assert board_of_ten.calls - usual_evaluation.calls == pytest.approx(
        1.25 * (usual_evaluation.calls - board_of_one.calls), abs=1
    )
    costs = [
        board_of_one.cost_usd,
        usual_evaluation.cost_usd,
        expensive_board.cost_usd,
        board(None, ("dear",)).cost_usd,
    ]
    known_costs = [cost for cost in costs if isinstance(cost, float)]
    assert len(known_costs) == len(costs)
    assert known_costs == sorted(known_costs)
    unpriced = board(None, ("big", "unheard"))
    assert isinstance(unpriced.cost_usd, Absent)
    assert "unheard" in unpriced.cost_usd.reason


def test_estimate_uses_the_configured_board_size() -> None:
    usual_evaluation = estimate_typical_evaluations(make_llm_settings(big=Price(1, 4), small=Price(1, 4)))[INNOEVAL]
    control = estimate_typical_evaluations(
        make_llm_settings(big=Price(1, 4), small=Price(1, 4)), BoardOptions(board=0)
    )[INNOEVAL]
    assert control.prompt_tokens < usual_evaluation.prompt_tokens
    assert estimate_typical_board(None, BoardOptions())(50, ("any",)).cost_usd == 0.0
