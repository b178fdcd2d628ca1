"""The port of the LLM without any LLM."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from assayer.errors import MalformedAnswer, NoFallback
from assayer.ports import Vectors
from tests.contract.weighing import WEIGHING, a_question, a_run
from workers.llm.fallback_llm import FallbackLlm


class Ones:
    """Embeds every text as the same unit vector."""

    name = "ones"
    dimensions = 1

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        return np.ones((len(texts), 1), dtype=np.float32)


async def test_fallback_answers_for_free_under_no_model() -> None:
    llm = FallbackLlm(Ones())
    answer = await llm.run(WEIGHING, a_question(), a_run())
    assert [weight.label for weight in answer.value.weights] == ["P1", "P2"]
    assert answer.value.remark == "1 vector of ones"
    assert llm.models == ()
    record = answer.record
    assert (record.task, record.version, record.model) == ("tests.weighing", 3, "none")
    assert (record.prompt_tokens, record.completion_tokens, record.cost_usd, record.attempts) == (0, 0, 0.0, 0)
    assert record.latency_seconds >= 0


async def test_task_without_fallback_is_refused_by_name_with_the_settings_to_set() -> None:
    with pytest.raises(NoFallback, match=r"tests\.weighing.*ASSAYER_LLM__MODEL"):
        await FallbackLlm(Ones()).run(replace(WEIGHING, fallback=None), a_question(), a_run())


async def test_fallback_that_breaks_its_own_rules_is_an_error() -> None:
    with pytest.raises(MalformedAnswer, match=r"tests\.weighing.*no weight for P2"):
        await FallbackLlm(Ones()).run(WEIGHING, a_question("No comma at all."), a_run())
