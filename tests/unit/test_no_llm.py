"""The port of the language model where none is configured."""

import pytest

from assayer.errors import NoFallback
from assayer.llm import NoLlm
from tests.contract.weighing import WEIGHING, a_question, a_run


async def test_task_without_a_model_is_rejected_naming_required_settings() -> None:
    with pytest.raises(NoFallback, match=r"tests\.weighing.*ASSAYER_LLM__MODEL"):
        await NoLlm().run(WEIGHING, a_question(), a_run())
