"""Overnight jobs of the service: batches at half the price, while others are answered at once."""

import asyncio
import json

import pytest

from cluster.settings import Settings
from simulator.process import Simulator
from tests.contract.batch_tier_stand import HURRIED
from tests.contract.service.caller import IDEA
from tests.contract.service.running_service import RunningService, run_service
from tests.polling import wait_until_async


@pytest.fixture
def overnight_settings(settings: Settings) -> Settings:
    assert settings.llm is not None
    batch = settings.llm.batch.model_validate({**HURRIED, "gather_seconds": 0.3})
    return settings.model_copy(update={"llm": settings.llm.model_copy(update={"batch": batch})})


async def submit_batch(world: RunningService, count: int) -> str:
    rows = "\n".join(json.dumps({"text": f"{IDEA} This is variant {number}."}) for number in range(count))
    headers = {"Content-Type": "application/x-ndjson"}
    answer = await world.caller.client.post("/v1/batches?priority=overnight", content=rows, headers=headers)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def test_overnight_batch_completes_at_half_price_with_few_files(
    overnight_settings: Settings, simulator: Simulator
) -> None:
    simulator.configure(batch_seconds=0.2, batch_line_error_rate=0.05)
    async with run_service(overnight_settings) as world:
        path = f"/v1/batches/{await submit_batch(world, 6)}"

        async def get_batch() -> dict[str, object]:
            found: dict[str, object] = (await world.caller.client.get(path)).json()
            return found

        batch_item = await wait_until_async(get_batch, lambda item: item["finished_at"] is not None)
    stats = simulator.read_stats()
    assert batch_item["states"] == {"succeeded": 6}
    assert stats.answered - stats.batch_answers == stats.injected["batch_line_error"]
    assert stats.batches < 30
    assert stats.repeated_prompts == 0
    paid = (stats.billed_prompt_tokens * 1.0 + stats.billed_completion_tokens * 2.0) / 1e6
    assert batch_item["cost_usd"] == pytest.approx(paid)


async def test_interactive_evaluation_is_not_delayed_by_overnight_jobs(
    overnight_settings: Settings, simulator: Simulator
) -> None:
    simulator.configure(batch_seconds=3_600)
    evaluation = overnight_settings.evaluation.model_copy(update={"concurrency": 1})
    async with run_service(overnight_settings.model_copy(update={"evaluation": evaluation})) as world:
        await submit_batch(world, 4)
        await wait_until_async(lambda: asyncio.to_thread(simulator.read_stats), lambda stats: stats.batches > 0)
        slow_evaluation = await world.caller.wait_until_ended(await world.caller.submit())
        assert slow_evaluation["state"] == "succeeded"
        assert world.service.evaluator.overnight.running_count == 4


async def test_overnight_job_is_rejected_without_provider_batch_support(settings: Settings) -> None:
    async with run_service(settings) as world:
        body = {"idea": {"text": IDEA}, "priority": "overnight"}
        answer = await world.caller.client.post("/v1/evaluations", json=body)
    assert answer.status_code == 501
    assert "ASSAYER_LLM__BATCH__ENABLED" in answer.json()["detail"]
