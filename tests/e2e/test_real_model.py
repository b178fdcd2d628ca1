"""Evaluation, ranking and reward with a real language model: SmolLM2-135M in llama.cpp.

A model of this size writes well-formed nonsense that often runs on until it is cut off. So the tests ask whether
everything ends, is counted and says what it lacks, never whether it is right.
"""

import json
from collections.abc import Iterator
from typing import Literal

import pytest
from pydantic import Field

from assayer.llm import Task
from assayer.models import Frozen
from assayer.prompts import Prompts
from cluster.clock import SystemClock
from tests.contract.weighing import Question, a_question, a_run
from tests.e2e.program import Ended, Homes, Program, read_reports
from tests.real_model import SMALL_MODEL, model_settings, real_model
from workers.llm.gateway import LlmGateway
from workers.llm.settings import LlmSettings
from workers.local_model.server import LocalModel, LocalModelOptions
from workers.outbound.store import InMemoryAnswerStore

_FIRST = (
    "We have a language model copy a passage before it answers, and count invented facts in 500 answers without it."
)
_SECOND = "We count how often fish are heard at night near ten coral reefs, with two microphones at each, for a year."
_SMALLEST = {
    "SCHOLAREVAL__METHODS": 1,
    "SCHOLAREVAL__DIMENSIONS": 1,
    "SCHOLAREVAL__LOOKED_AT": 0,
    "SCHOLAREVAL__OPENED": 1,
    "SCHOLAREVAL__AUGMENTED": 0,
    "SCHOLAREVAL__EVIDENCE_CHARS": 400,
    "EVALUATION__MAX_PROMPT_TOKENS": 8_000,
    "RANKING__DIMENSIONS": '[{"name": "overall", "question": "Which idea is better?"}]',
    "RANKING__COMPARISONS_PER_IDEA": 1,
    "RANKING__BOTH_WAYS": 0,
    "RANKING__ANALYSED_IDEAS": 0,
    "RANKING__MAX_PROMPT_TOKENS": 2_000,
    "REWARDS__MAX_PROMPT_TOKENS": 2_000,
}
_ANSWER_TOKENS = 48


class _Verdict(Frozen):
    stance: Literal["for", "against"]
    weight: int = Field(ge=0, le=5)


_JUDGING: Task[Question, _Verdict] = Task(
    name="tests.verdict", prompts=Prompts("tests.contract"), prompt="weighing.v3.md", output=_Verdict, max_tokens=48
)


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    with real_model(SMALL_MODEL, LocalModelOptions(context_tokens=1_536)) as running:
        yield running


@pytest.fixture
def program_with_model(homes: Homes, model: LocalModel) -> Program:
    return homes.create_home("real-model").with_settings(**model_settings(model, _ANSWER_TOKENS), **_SMALLEST)


def _write_json_lines(program: Program, name: str, *records: dict[str, str]) -> str:
    (program.home / name).write_text("\n".join(map(json.dumps, records)), "utf-8")
    return name


def _explains_lost_answer(result: Ended) -> bool:
    return "gave no valid answer" in result.err + result.out or "cut off" in result.err + result.out


async def test_short_answer_matches_schema_on_first_attempt(model: LocalModel) -> None:
    settings = LlmSettings.model_validate(
        {"base_url": model.base_url, "api_key": model.api_key, "model": model.name, "request_timeout_seconds": 600}
    )
    async with LlmGateway(settings, InMemoryAnswerStore(), SystemClock()) as gateway:
        answer = await gateway.run(_JUDGING, a_question(), a_run())
    assert 0 <= answer.value.weight <= 5
    assert (answer.record.attempts, answer.record.faults) == (1, ())
    assert answer.record.prompt_tokens > 0
    assert 0 < answer.record.completion_tokens <= 48


@pytest.mark.slow
def test_evaluation_writes_report_with_call_counts_or_names_lost_answer(program_with_model: Program) -> None:
    (program_with_model.home / "idea.md").write_text(_FIRST, "utf-8")
    result = program_with_model.run("evaluate", "idea.md", "--format", "json")
    if result.code == 0:
        coverage = read_reports(program_with_model.out)["idea"]["coverage"]
        assert coverage["llm_requests"] + coverage["llm_requests_failed"] > 0
    else:
        assert result.code == 2, result.err
        assert result.err.startswith("No report: idea.md: ")
        assert _explains_lost_answer(result), result.err


@pytest.mark.slow
def test_ranking_contains_both_ideas_and_reports_lost_comparisons(program_with_model: Program) -> None:
    file = _write_json_lines(program_with_model, "two.jsonl", {"id": "A", "text": _FIRST}, {"id": "B", "text": _SECOND})
    result = program_with_model.run("rank", file, "--format", "json")
    assert result.code in (0, 1), result.err
    ranking = json.loads((program_with_model.out / "ranking.json").read_text("utf-8"))
    assert sorted(idea["rank"] for idea in ranking["ideas"]) == [1, 2]
    assert ranking["faults"] or ranking["judge"]["comparisons"] > 0
    assert result.code == (0 if ranking["judge"]["comparisons"] else 1)


def test_reward_is_a_value_or_absent_with_the_reason(program_with_model: Program) -> None:
    item = {"question": "How can forgetting be foreseen?", "idea": _FIRST, "abstract": _SECOND}
    result = program_with_model.run("reward", _write_json_lines(program_with_model, "items.jsonl", item))
    (line,) = (program_with_model.home / "rewards.jsonl").read_text("utf-8").splitlines()
    reward = json.loads(line)["reward"]
    if result.code == 0:
        assert reward["value"] in (0, 1)
    else:
        assert result.code == 1, result.err
        assert reward["value"]["reason"]
        assert reward["transcript"]
