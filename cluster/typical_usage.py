"""Typical usage and cost of an evaluation by method, from measured tokens (`typical_usage.toml`) and configured
prices."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib.resources import files
from typing import TypeAlias

from pydantic import TypeAdapter

from assayer.methods.innoeval.options import METHOD as INNOEVAL
from assayer.methods.innoeval.options import BoardOptions
from assayer.models import Absent, Frozen
from cluster.methods import METHOD_DESCRIPTIONS
from orchestrator.jobs.estimates import TypicalEvaluation
from workers.llm.settings import LlmSettings


class _TierUsage(Frozen):
    """One model tier's usage in one evaluation: means, and 90th percentiles (`high_…`)."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    high_prompt_tokens: int
    high_completion_tokens: int


_Tiers: TypeAlias = dict[str, _TierUsage]
_TIERS: TypeAdapter[dict[str, _Tiers]] = TypeAdapter(dict[str, _Tiers])
_BOARD = "board"
_NOTHING = TypicalEvaluation(calls=0, prompt_tokens=0, completion_tokens=0, cost_usd=0.0, high_cost_usd=0.0)


def estimate_typical_evaluations(
    llm: LlmSettings | None, board: BoardOptions | None = None
) -> Mapping[str, TypicalEvaluation]:
    """Return the typical usage by method, without methods that were not measured. Without a language model, all values
    are zero."""
    if llm is None:
        return dict.fromkeys(METHOD_DESCRIPTIONS, _NOTHING)
    return {
        method: _estimate_evaluation(llm, tiers, board or BoardOptions()) for method, tiers in _load_measured().items()
    }


def estimate_typical_board(
    llm: LlmSettings | None, default_board: BoardOptions
) -> Callable[[int | None, Sequence[str]], TypicalEvaluation]:
    """Return a function that maps board size and board models to InnoEval's typical usage. A size of None and an empty
    list of models stand for the values in `default_board`."""
    return partial(_apply_board, llm, default_board)


def _apply_board(
    llm: LlmSettings | None, default_board: BoardOptions, board: int | None, models: Sequence[str]
) -> TypicalEvaluation:
    if llm is None:
        return _NOTHING
    usage = default_board.model_copy(
        update={
            "board": default_board.board if board is None else board,
            "models": tuple(models) or default_board.models,
        }
    )
    return _estimate_evaluation(llm, _load_measured()[INNOEVAL], usage)


@cache
def _load_measured() -> dict[str, _Tiers]:
    """Return the measured usage by method and tier. Tiers are `main`, `fast` and, for InnoEval, `board`: its reviewers
    at the default board size."""
    return _TIERS.validate_python(tomllib.loads(files(__package__).joinpath("typical_usage.toml").read_text("utf-8")))


def _estimate_evaluation(llm: LlmSettings, tiers: _Tiers, board: BoardOptions) -> TypicalEvaluation:
    """Return the typical usage. The board's usage is proportional to its number of reviewers, because each gets one
    request. A board of 0 (one control reviewer without a persona) counts as one reviewer."""
    seats = max(board.board, 1) / BoardOptions().board
    usage_by_tier = {tier: _multiply_usage(usage, seats) if tier == _BOARD else usage for tier, usage in tiers.items()}
    mean = {tier: (usage.prompt_tokens, usage.completion_tokens) for tier, usage in usage_by_tier.items()}
    high = {tier: (usage.high_prompt_tokens, usage.high_completion_tokens) for tier, usage in usage_by_tier.items()}
    return TypicalEvaluation(
        calls=sum(usage.calls for usage in usage_by_tier.values()),
        prompt_tokens=sum(usage.prompt_tokens for usage in usage_by_tier.values()),
        completion_tokens=sum(usage.completion_tokens for usage in usage_by_tier.values()),
        cost_usd=_estimate_cost(llm, board, mean),
        high_cost_usd=_estimate_cost(llm, board, high),
        gpu_hours=_estimate_gpu_hours(llm, board, mean),
        high_gpu_hours=_estimate_gpu_hours(llm, board, high),
    )


def _multiply_usage(usage: _TierUsage, factor: float) -> _TierUsage:
    return _TierUsage(**{name: round(value * factor) for name, value in usage.model_dump().items()})


def _estimate_cost(llm: LlmSettings, board: BoardOptions, tokens: Mapping[str, tuple[int, int]]) -> float | Absent:
    """Return the cost in US dollars of the (prompt, completion) tokens by tier, or Absent if a price is unknown."""
    usage = _list_usage_by_model(llm, board, tokens)
    unpriced_model = next((model for model, *_ in usage if model not in llm.prices), None)
    if unpriced_model is not None:
        return Absent(reason=f"The service has no price for the model {unpriced_model}.")
    return sum(share * llm.prices[model].compute_cost(prompt, completion) for model, share, prompt, completion in usage)


def _estimate_gpu_hours(llm: LlmSettings, board: BoardOptions, tokens: Mapping[str, tuple[int, int]]) -> float | None:
    """Return the GPU-hours for the (prompt, completion) tokens by tier; None if the speed of a model is unknown."""
    speeds, usage = llm.gpu_speeds, _list_usage_by_model(llm, board, tokens)
    if any(model not in speeds for model, *_ in usage):
        return None
    return sum(share * speeds[model].hours(prompt, completion) for model, share, prompt, completion in usage)


def _list_usage_by_model(
    llm: LlmSettings, board: BoardOptions, tokens: Mapping[str, tuple[int, int]]
) -> list[tuple[str, float, int, int]]:
    """Return each tier's models, with a model's share of the tier, and the tier's prompt and completion tokens. The
    board's tokens are divided equally among its models."""
    models = ((tier, _list_models(llm, board, tier)) for tier in tokens)
    return [(model, 1 / len(names), *tokens[tier]) for tier, names in models for model in names]


def _list_models(llm: LlmSettings, board: BoardOptions, tier: str) -> tuple[str, ...]:
    match tier:
        case "fast":
            return (llm.fast_model or llm.model,)
        case "board":
            return board.models or (llm.model,)
        case _:
            return (llm.model,)
