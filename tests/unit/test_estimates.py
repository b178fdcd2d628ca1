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

TYPICAL = TypicalEvaluation(calls=60, prompt_tokens=200_000, completion_tokens=20_000, cost_usd=0.4, high_cost_usd=0.5)
UNKNOWN = Absent(reason="Nobody measured it.")


def own(*costs: float | None) -> list[EvaluationUsage]:
    return [EvaluationUsage(calls=10, prompt_tokens=1_000, completion_tokens=100, cost_usd=cost) for cost in costs]


def made(
    ideas: int, taken: list[EvaluationUsage], max_usd: float | None = None, pace: QueuePace | None = None
) -> CostEstimate:
    found = estimate_cost(ideas, taken, TYPICAL, pace or QueuePace(), max_usd)
    assert isinstance(found, CostEstimate)
    return found


def test_too_few_own_evaluations_fall_back_to_typical_costs() -> None:
    found = made(100, own(*[9.0] * 9))
    assert (found.basis, found.evaluations, found.calls, found.prompt_tokens) == ("typical", 0, 6_000, 20_000_000)
    assert (found.cost_usd, found.high_cost_usd) == (40.0, 50.0)
    assert isinstance(found.share_over_max_usd, Absent)


def test_own_evaluations_take_precedence_over_typical_costs() -> None:
    found = made(100, own(*[0.1] * 18, 1.0, 1.0))
    assert (found.basis, found.evaluations, found.calls) == ("own", 20, 1_000)
    assert found.cost_usd == pytest.approx(19.0)
    assert isinstance(found.high_cost_usd, float)
    assert found.high_cost_usd > 10 * 0.1 * 2


def test_cost_limit_per_idea_bounds_estimate_and_reports_share_cut_short() -> None:
    found = made(100, own(*[0.1] * 15, *[1.0] * 5), max_usd=0.5)
    assert found.cost_usd == pytest.approx(100 * (15 * 0.1 + 5 * 0.5) / 20)
    assert found.share_over_max_usd == 0.25
    assert made(100, [], max_usd=0.3).high_cost_usd == pytest.approx(30.0)


def test_unknown_price_of_an_evaluation_makes_cost_absent() -> None:
    found = made(100, own(*[0.1] * 19, None))
    assert isinstance(found.cost_usd, Absent)
    assert "1 of your last 20" in found.cost_usd.reason
    assert found.prompt_tokens == 100_000


def test_unmeasured_method_has_unknown_estimate_until_enough_evaluations() -> None:
    assert estimate_cost(5, own(*[0.1] * 9), UNKNOWN, QueuePace()) == UNKNOWN
    assert isinstance(estimate_cost(5, own(*[0.1] * 10), UNKNOWN, QueuePace()), CostEstimate)


def test_estimated_time_includes_queued_and_new_ideas() -> None:
    found = made(90, [], pace=QueuePace(ended=61, seconds=1_800, waiting=30))
    assert found.hours == pytest.approx(120 / 120)
    assert isinstance(made(90, [], pace=QueuePace(ended=9, seconds=60)).hours, Absent)
    assert isinstance(made(90, [], pace=QueuePace(ended=20, seconds=0)).hours, Absent)


@given(st.integers(1, 10_000), st.lists(st.floats(0, 50), min_size=10, max_size=40), st.floats(0.01, 60))
def test_cost_estimate_never_exceeds_its_limits(ideas: int, costs: list[float], limit: float) -> None:
    found = made(ideas, own(*costs), max_usd=limit)
    assert isinstance(found.cost_usd, float)
    assert isinstance(found.high_cost_usd, float)
    assert found.cost_usd <= ideas * limit * (1 + 1e-9)
    assert found.high_cost_usd <= ideas * limit * (1 + 1e-9)
    assert found.high_cost_usd <= ideas * max(costs) * (1 + 1e-9)


def llm(**prices: Price) -> LlmSettings:
    return LlmSettings(base_url="http://localhost/v1", model="big", fast_model="small", prices=prices)


def test_typical_cost_uses_prices_of_configured_models() -> None:
    known = estimate_typical_evaluations(llm(big=Price(10, 40), small=Price(1, 4)))
    cheap = estimate_typical_evaluations(llm(big=Price(1, 4), small=Price(1, 4)))
    assert known.keys() <= METHOD_DESCRIPTIONS.keys()
    one, other = known[scholareval.METHOD], cheap[scholareval.METHOD]
    assert isinstance(one.cost_usd, float)
    assert isinstance(one.high_cost_usd, float)
    assert isinstance(other.cost_usd, float)
    assert other.cost_usd == pytest.approx((one.prompt_tokens + 4 * one.completion_tokens) / 1e6)
    assert other.cost_usd < one.cost_usd < one.high_cost_usd


def test_missing_price_makes_cost_absent_and_missing_model_makes_it_zero() -> None:
    missing = estimate_typical_evaluations(llm(small=Price(1, 4)))[scholareval.METHOD].cost_usd
    assert isinstance(missing, Absent)
    assert "big" in missing.reason
    assert {typical_evaluation.cost_usd for typical_evaluation in estimate_typical_evaluations(None).values()} == {0.0}


def test_gpu_hours_come_from_the_speeds_of_all_models_in_use() -> None:
    speed = GpuSpeed(read=1_000, written=100)
    settings = llm().model_copy(update={"gpu_speeds": {"big": speed, "small": speed}})
    found = estimate_typical_evaluations(settings)[scholareval.METHOD]
    assert found.gpu_hours == pytest.approx((found.prompt_tokens / 1_000 + found.completion_tokens / 100) / 3600)
    assert isinstance(found.gpu_hours, float)
    assert isinstance(found.high_gpu_hours, float)
    assert found.gpu_hours < found.high_gpu_hours
    incomplete = settings.model_copy(update={"gpu_speeds": {"big": speed}})
    assert estimate_typical_evaluations(incomplete)[scholareval.METHOD].gpu_hours is None


def test_own_gpu_hours_need_the_speed_of_every_evaluation() -> None:
    taken = [item.model_copy(update={"gpu_hours": 0.5, "cached_prompt_tokens": 400}) for item in own(*[0.1] * 20)]
    slow = taken[0].model_copy(update={"gpu_hours": 2.5})
    found = made(100, [*taken[:16], *[slow] * 4])
    assert found.gpu_hours == pytest.approx(90.0)
    assert found.cached_prompt_tokens == 40_000
    assert found.high_gpu_hours == pytest.approx(250.0)
    assert made(100, [*taken, *own(0.1)]).gpu_hours is None


def test_board_cost_depends_on_its_size_and_models() -> None:
    prices = {"big": Price(10, 40), "small": Price(1, 4), "dear": Price(100, 400)}
    usual = estimate_typical_evaluations(llm(**prices))[INNOEVAL]
    board = estimate_typical_board(llm(**prices), BoardOptions())
    assert board(None, ()) == usual
    one, ten, dear = board(1, ()), board(10, ()), board(None, ("big", "dear"))
    assert one.calls < usual.calls < ten.calls
    assert ten.calls - usual.calls == pytest.approx(1.25 * (usual.calls - one.calls), abs=1)
    costs = [one.cost_usd, usual.cost_usd, dear.cost_usd, board(None, ("dear",)).cost_usd]
    known = [cost for cost in costs if isinstance(cost, float)]
    assert len(known) == len(costs)
    assert known == sorted(known)
    unpriced = board(None, ("big", "unheard"))
    assert isinstance(unpriced.cost_usd, Absent)
    assert "unheard" in unpriced.cost_usd.reason


def test_estimate_uses_the_configured_board_size() -> None:
    usual = estimate_typical_evaluations(llm(big=Price(1, 4), small=Price(1, 4)))[INNOEVAL]
    control = estimate_typical_evaluations(llm(big=Price(1, 4), small=Price(1, 4)), BoardOptions(board=0))[INNOEVAL]
    assert control.prompt_tokens < usual.prompt_tokens
    assert estimate_typical_board(None, BoardOptions())(50, ("any",)).cost_usd == 0.0
