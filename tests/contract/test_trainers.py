"""Rewards in the trainers' own hands: TRL, verl and verifiers call what the client gives them."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import create_model

from assayer_client import ApiProblem, ConfigurationError, RetryPolicy, ServiceUnreachable
from assayer_client.errors import InvalidRequest
from assayer_client.trainers import (
    GatheredRewards,
    RewardQuery,
    ServiceRewards,
    Unjudged,
    compute_score,
    trl_reward,
    verifiers_reward,
)
from assayer_client.trainers.reward_sources import get_default_reward_source
from tests.contract.scripted_service import answer, build_problem, run_script

KEY = "ak_0123_a-secret"
ITEMS = [RewardQuery("Why?", f"idea {number}", "Because.") for number in range(3)]


class KnownWords:
    """A judge to whom an idea with the abstract's first word is a match, and an empty one no case at all."""

    def __init__(self) -> None:
        self.asked: list[list[RewardQuery]] = []

    async def rewards(self, items: Sequence[RewardQuery], judge: str | None = None) -> list[float | None]:
        self.asked.append(list(items))
        return [float(item.abstract.split()[0] in item.idea.split()) if item.idea else None for item in items]


def _create_service(url: str, attempts: int = 3) -> ServiceRewards:
    async def return_at_once(_: float) -> None:
        return None

    return ServiceRewards(url, KEY, retries=RetryPolicy(attempts=attempts, seconds=100), sleep=return_at_once)


def _build_outcome(item: int, value: Any) -> dict[str, Any]:
    return {"item": item, "reward": {"value": value, "reason": "", "judge": "pair"}}


LINKS = dict.fromkeys(("job", "items", "events"), "/")


def _build_accepted(item_count: int) -> bytes:
    return answer({"id": "rw_1", "item_count": item_count, "judge": "pair", "links": LINKS}, 202)


def _build_page(state: str) -> bytes:
    return answer({"items": [], "last": 0, "state": state})


def _build_job_answers(state: str, item_count: int, *items: dict[str, Any]) -> list[bytes]:
    """The answers of a service whose job has ended, from its submission on."""
    unknown = dict.fromkeys(("problem", "cost_usd", "started_at", "finished_at", "result"))
    job = {"id": "rw_1", "state": state, "title": "", "priority": "interactive", "attempt": 1, "links": LINKS}
    job |= {**unknown, "created_at": "2026-11-21T12:00:00Z", "item_count": item_count, "items": items}
    return [_build_accepted(item_count), _build_page(state), answer(job)]


ABSENT = {"reason": "The model was out of reach."}


def test_rewards_keep_item_order_and_are_none_for_failed_items() -> None:
    refused_item = {"item": 1, "problem": {"type": "budget-exhausted", "title": "Spent", "detail": "Nothing is left."}}
    with run_script(
        _build_job_answers("succeeded", 3, _build_outcome(2, 1), refused_item, _build_outcome(0, ABSENT))
    ) as scripted:
        assert asyncio.run(_create_service(scripted.url).rewards(ITEMS, "pair")) == [None, None, 1.0]
    request_body = json.loads(scripted.received[0].body)
    assert request_body["judge"] == "pair"
    assert request_body["items"][1] == {"question": "Why?", "idea": "idea 1", "abstract": "Because."}


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_unsuccessful_job_returns_its_partial_rewards(state: str) -> None:
    with run_script(_build_job_answers(state, 3, _build_outcome(1, 1))) as scripted:
        assert asyncio.run(_create_service(scripted.url).rewards(ITEMS)) == [None, 1.0, None]


def test_timed_out_group_is_cancelled_and_returns_partial_rewards() -> None:
    job_answers = _build_job_answers("cancelled", 3, _build_outcome(0, 0))
    with run_script([job_answers[0], _build_page("running"), job_answers[-1]]) as scripted:
        service = ServiceRewards(scripted.url, KEY, seconds=0)
        assert asyncio.run(service.rewards(ITEMS)) == [0.0, None, None]
    assert [item.method for item in scripted.received] == ["POST", "GET", "DELETE"]


def test_lost_request_is_resent_with_the_same_idempotency_key() -> None:
    with run_script(
        [
            b"",
            build_problem("busy", 503),
            *_build_job_answers("succeeded", 3, *(_build_outcome(n, 1) for n in range(3))),
        ]
    ) as scripted:
        assert asyncio.run(_create_service(scripted.url).rewards(ITEMS)) == [1.0, 1.0, 1.0]
    assert len({item.headers["idempotency-key"] for item in scripted.received[:3]}) == 1


def test_unreachable_or_rejecting_service_stops_the_trainer() -> None:
    with run_script([]) as scripted, pytest.raises(ServiceUnreachable):
        asyncio.run(_create_service(scripted.url).rewards(ITEMS))
    with run_script([build_problem("unauthorized", 401)]) as scripted, pytest.raises(ApiProblem, match="401"):
        asyncio.run(_create_service(scripted.url).rewards(ITEMS))


def test_missing_api_key_is_reported_at_construction(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAYER_API_KEY", raising=False)
    with pytest.raises(ConfigurationError):
        ServiceRewards()


def test_over_1000_items_are_split_into_ordered_requests() -> None:
    items = [RewardQuery("Why?", str(number), "Because.") for number in range(1_001)]
    first = _build_job_answers("succeeded", 1_000, *(_build_outcome(number, number % 2) for number in range(1_000)))
    with run_script([*first, *_build_job_answers("succeeded", 1, _build_outcome(0, 1))]) as scripted:
        rewards = asyncio.run(_create_service(scripted.url).rewards(items))
    assert [len(json.loads(item.body)["items"]) for item in scripted.received if item.method == "POST"] == [1_000, 1]
    assert rewards == [*[float(number % 2) for number in range(1_000)], 1.0]


def test_concurrent_completions_are_sent_in_a_single_request() -> None:
    judge = KnownWords()

    async def gather_rewards() -> list[list[float | None]]:
        gathered = GatheredRewards(judge)
        return await asyncio.gather(
            *(gathered.rewards([RewardQuery("Why?", idea, "red")]) for idea in ("red", "blue", ""))
        )

    assert asyncio.run(gather_rewards()) == [[1.0], [0.0], [None]]
    assert [len(query) for query in judge.asked] == [3]


def test_cancelled_waiter_does_not_affect_other_rewards() -> None:
    judge = KnownWords()

    async def cancel_one() -> list[float | None]:
        gathered = GatheredRewards(judge)
        leaving = asyncio.ensure_future(gathered.rewards([RewardQuery("Why?", "red", "red")]))
        staying = asyncio.ensure_future(gathered.rewards([RewardQuery("Why?", "blue", "red")]))
        await asyncio.sleep(0)
        leaving.cancel()
        return await staying

    assert asyncio.run(cancel_one()) == [0.0]


async def test_trl_reward_reads_conversations_and_logs_judged_share() -> None:
    logged: dict[str, float] = {}
    messages = [{"role": "assistant", "content": [{"type": "text", "text": "red"}]}]
    reward = trl_reward(KnownWords())
    columns = {"question": ["Why?"] * 3, "abstract": ["red"] * 3, "log_metric": logged.__setitem__}
    assert await reward([""] * 3, ["blue", messages, ""], **columns) == [0.0, 1.0, None]
    assert logged == {"judged": pytest.approx(2 / 3)}


async def test_trl_reward_names_a_column_that_is_missing() -> None:
    with pytest.raises(InvalidRequest, match="abstract"):
        await trl_reward(KnownWords())([""], ["blue"], question=["Why?"])


async def test_verl_uses_fallback_score_when_the_judge_fails() -> None:
    info = {"question": "Why?"}
    score = await compute_score("ideas", "red", "red", info, unjudged=-1.0, source=KnownWords())
    assert score == {"score": 1.0, "judged": 1.0}
    failed = await compute_score("ideas", "", "red", info, unjudged=-1.0, source=KnownWords())
    assert failed == {"score": -1.0, "judged": 0.0}
    with pytest.raises(InvalidRequest, match="question"):
        await compute_score("ideas", "red", "red", {}, unjudged=0.0, source=KnownWords())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of TRL and transformers about each other
def test_trl_training_continues_when_the_judge_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)
    trl = pytest.importorskip("trl")
    datasets = pytest.importorskip("datasets")
    from tests.tiny_policy import make_tiny_policy

    policy = make_tiny_policy(("red", "blue", "which"), seed=0)
    rows = [{"prompt": "which", "question": "which", "abstract": "red"}] * 8
    judge = KnownWords()
    arguments = trl.GRPOConfig(
        output_dir=str(tmp_path),
        per_device_train_batch_size=8,
        num_generations=4,
        max_completion_length=2,
        max_steps=2,
        logging_steps=1,
        loss_type="dr_grpo",
        scale_rewards="none",
        save_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        bf16=False,
        seed=3,
    )
    trainer = trl.GRPOTrainer(
        policy.model,
        trl_reward(judge),
        arguments,
        train_dataset=datasets.Dataset.from_list(rows),
        processing_class=policy.tokenizer,
    )
    trainer.train()
    assert [len(query) for query in judge.asked] == [8, 8]
    assert any(not item.idea for query in judge.asked for item in query)
    logged = [row for row in trainer.state.log_history if "judged" in row]
    assert len(logged) == 2
    assert all(0 < row["judged"] <= 1 for row in logged)
    assert {key for key in logged[0] if key.startswith("rewards/")} == {
        "rewards/assayer_reward/mean",
        "rewards/assayer_reward/std",
    }


@pytest.mark.filterwarnings("ignore")  # of verl's own imports
async def test_verl_loads_the_score_by_its_path_and_awaits_it() -> None:
    reward = pytest.importorskip("verl.trainer.ppo.reward", reason="verl needs transformers before 5.11")
    omegaconf = pytest.importorskip("omegaconf")
    choice = {
        "path": "pkg://assayer_client.trainers.verl",
        "name": "compute_score",
        "reward_kwargs": {"unjudged": 0.0},
    }
    loaded = reward.get_custom_reward_fn(omegaconf.OmegaConf.create({"reward": {"custom_reward_function": choice}}))
    score = await loaded(
        data_source="ideas",
        solution_str="red",
        ground_truth="red",
        extra_info={"question": "Why?"},
        source=KnownWords(),
    )
    assert score == {"score": 1.0, "judged": 1.0}


@pytest.mark.filterwarnings("ignore")  # of verifiers' own imports
async def test_verifiers_loads_reward_by_path_and_records_none_on_judge_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    vf = pytest.importorskip("verifiers.v1", reason="verifiers needs openai before 3")
    data = create_model("IdeaData", __base__=vf.TaskData, question=(str, ""), abstract=(str, ""))
    plugged = {"methodology": {"fn": "assayer_client.trainers.verifiers:methodology"}}
    task = vf.Task(data(idx=0, prompt="Why?", question="Why?", abstract="red"), vf.TaskConfig(rewards=plugged))
    traces = [vf.Trace.model_construct(root_reply="red", rewards={}, metrics={}) for _ in range(2)]
    get_default_reward_source.cache_clear()
    with run_script(
        [
            *_build_job_answers("succeeded", 1, _build_outcome(0, 1)),
            *_build_job_answers("succeeded", 1, _build_outcome(0, ABSENT)),
        ]
    ) as scripted:
        monkeypatch.setenv("ASSAYER_API_URL", scripted.url)
        monkeypatch.setenv("ASSAYER_API_KEY", KEY)
        await task.score(traces[0])
        with pytest.raises(vf.TaskError, match="no verdict"):
            await task.score(traces[1])
    get_default_reward_source.cache_clear()
    assert [trace.rewards["methodology"] and trace.rewards["methodology"].score for trace in traces] == [1.0, None]
    assert json.loads(scripted.received[0].body)["items"][0]["idea"] == "red"


async def test_verifiers_reward_raises_unjudged_when_the_judge_fails() -> None:
    class Task:
        question, abstract = "Why?", "red"

    class Trace:
        last_reply = ""

    with pytest.raises(Unjudged):
        await verifiers_reward(KnownWords())(Task(), Trace())
