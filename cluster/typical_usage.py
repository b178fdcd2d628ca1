"""What an evaluation typically takes, by method: tokens as measured (`typical_usage.toml`), at the settings' prices."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import TypeAlias

from pydantic import TypeAdapter

from assayer.models import Absent, Frozen
from cluster.methods import METHOD_DESCRIPTIONS
from orchestrator.jobs.estimates import TypicalEvaluation
from workers.llm.settings import LlmSettings

__all__ = ["typical_evaluations"]


class _TierUsage(Frozen):
    """Of one tier of model, an idea: means, and what nine of ten ideas stay below."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    high_prompt_tokens: int
    high_completion_tokens: int


_Tiers: TypeAlias = dict[str, _TierUsage]
_TIERS: TypeAdapter[dict[str, _Tiers]] = TypeAdapter(dict[str, _Tiers])
_NOTHING = TypicalEvaluation(calls=0, prompt_tokens=0, completion_tokens=0, cost_usd=0.0, high_cost_usd=0.0)


def typical_evaluations(llm: LlmSettings | None) -> Mapping[str, TypicalEvaluation]:
    """By method; methods that were not measured are missing. Without a language model nothing is called or paid."""
    if llm is None:
        return dict.fromkeys(METHOD_DESCRIPTIONS, _NOTHING)
    return {method: _evaluation(llm, tiers) for method, tiers in _measured().items()}


@cache
def _measured() -> dict[str, _Tiers]:
    """By method and tier (`main`, `fast`)."""
    return _TIERS.validate_python(tomllib.loads(files(__package__).joinpath("typical_usage.toml").read_text("utf-8")))


def _evaluation(llm: LlmSettings, tiers: _Tiers) -> TypicalEvaluation:
    return TypicalEvaluation(
        calls=sum(one.calls for one in tiers.values()),
        prompt_tokens=sum(one.prompt_tokens for one in tiers.values()),
        completion_tokens=sum(one.completion_tokens for one in tiers.values()),
        cost_usd=_cost(llm, {tier: (one.prompt_tokens, one.completion_tokens) for tier, one in tiers.items()}),
        high_cost_usd=_cost(
            llm, {tier: (one.high_prompt_tokens, one.high_completion_tokens) for tier, one in tiers.items()}
        ),
    )


def _cost(llm: LlmSettings, tokens: Mapping[str, tuple[int, int]]) -> float | Absent:
    total = 0.0
    for tier, (prompt, completion) in tokens.items():
        model = (llm.fast_model or llm.model) if tier == "fast" else llm.model
        price = llm.prices.get(model)
        if price is None:
            return Absent(reason=f"The service has no price for the model {model}.")
        total += price.cost(prompt, completion)
    return total
