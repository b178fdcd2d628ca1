"""The support check's benchmark over HTTP, through the gateway that asks every model. Simulated answers say nothing
about quality: what is tested is that every claim gets an outcome or a reason, and that nothing is asked twice."""

import math
from pathlib import Path

import pytest

from assayer.claim_support.checking import CLAIMS_PER_CALL
from assayer.run.budget import Budget
from benchmarks.quality.claim_support.items import read_claims
from benchmarks.quality.claim_support.with_model import SupportOutcomes, ask_support, split_into_calls
from benchmarks.quality.outcome_file import OutcomeFile
from benchmarks.records import DATA
from cluster.clock import SystemClock
from simulator.process import Simulator
from workers.llm import LlmSettings
from workers.llm.gateway import LlmGateway
from workers.outbound.store import InMemoryAnswerStore

pytestmark = pytest.mark.skipif(not (DATA / "claims").is_dir(), reason="the data folder is not beside the clone")


async def test_every_claim_is_judged_once_and_stored(tmp_path: Path) -> None:
    claims = read_claims("scifact", 35)
    calls = split_into_calls("scifact", claims)
    path = tmp_path / "kept.jsonl"
    with Simulator(latency_mean=0, answer_fault_rate=0.2) as simulated:
        settings = {"base_url": simulated.base_url, "api_key": "sk-test", "model": "simulated"}
        gateway = LlmGateway(LlmSettings.model_validate(settings), InMemoryAnswerStore(), SystemClock())
        outcomes_file = OutcomeFile(path, SupportOutcomes, {})
        await ask_support(gateway, calls, Budget(), outcomes_file)
        requests = simulated.read_stats().requests
        await ask_support(gateway, calls, Budget(), OutcomeFile(path, SupportOutcomes, {}))
        assert simulated.read_stats().requests == requests
        await gateway.aclose()
    assert len(outcomes_file.outcomes) == len(calls) == math.ceil(len(claims) / CLAIMS_PER_CALL)
    outcomes = [outcome for item in outcomes_file.outcomes for outcome in item.outcomes.values()]
    assert {"supports", "partly", "not", "contradicts"} >= set(outcomes)
    assert len(outcomes) > len(claims) / 3
    assert all(item.failure or item.outcomes for item in outcomes_file.outcomes)
