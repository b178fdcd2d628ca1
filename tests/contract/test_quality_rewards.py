"""Probes of the judges of rewards: what is made of a paper, and that a model is asked about each probe once."""

from pathlib import Path

import pytest

from assayer.methods.debate.composition import get_composition
from assayer.run.budget import Budget
from benchmarks.quality.__main__ import main
from benchmarks.quality.outcome_file import OutcomeFile
from benchmarks.quality.rewards.probes import BARRED, MATCHING, Probe, make_probes
from benchmarks.quality.rewards.references import Reference, draw_references
from benchmarks.quality.rewards.tables import format_share
from benchmarks.quality.rewards.with_model import ProbeOutcome, ask_rewards
from benchmarks.records import DATA
from cluster.clock import SystemClock
from simulator.process import Simulator
from tests.unit.debate_answers import ITEM
from workers.llm import LlmSettings
from workers.llm.gateway import LlmGateway
from workers.outbound.store import InMemoryAnswerStore

_DEFAULT = get_composition("two-analysts-evaluator")
_REFERENCE = Reference(
    "Elastic weights",
    ITEM.question,
    ITEM.abstract,
    neighbour="Tasks interfere. We propose to freeze a part of the network for each task and to grow another.",
    rewording=ITEM.idea,
)
_OTHER = Reference(
    "Replay of shuffled tokens",
    "Which new method would advance replay and continual learning?",
    "Old examples are costly to keep. We propose to generate them anew with a small decoder that is trained beside the "
    "classifier, and to mix two of them into each batch. Results improve on four streams of images.",
    neighbour="Memory is limited. We introduce a buffer that keeps whichever gradient points farthest from the mean.",
)


def _create_probes() -> list[Probe]:
    return [*make_probes([_REFERENCE, _OTHER], [_REFERENCE], [_REFERENCE], seed=0)]


def _get_probe_by_kind() -> dict[str, Probe]:
    return {probe.kind: probe for probe in _create_probes()}


def test_every_probe_kind_is_built_and_only_authors_paraphrases_match() -> None:
    probes = _get_probe_by_kind()
    assert tuple(kind for kind, probe in probes.items() if probe.matches) == MATCHING
    assert set(BARRED) < set(probes)
    assert "Replay of shuffled tokens" in probes["30 methods, one of them right"].item.idea
    assert "We do not propose to generate them anew" in probes["negated abstract"].item.idea
    partly = probes["partly met"].item.idea
    assert partly.startswith("We propose to generate them anew")
    assert partly.endswith("farthest from the mean.")


def test_shares_are_shown_with_wilson_intervals() -> None:
    assert format_share(0, 400) == "0.0% [0.0%, 1.0%]"
    assert format_share(0, 0) == "none"


async def test_model_answers_are_kept_and_budget_limited_probes_reported(tmp_path: Path) -> None:
    probes = [probe for probe in _create_probes() if probe.stop is None]
    path = tmp_path / "kept.jsonl"
    with Simulator(latency_mean=0) as simulated:
        prices = {"simulated": (1_000.0, 1_000.0)}
        settings = {"base_url": simulated.base_url, "model": "simulated", "prices": prices}
        async with LlmGateway(LlmSettings.model_validate(settings), InMemoryAnswerStore(), SystemClock()) as gateway:
            outcomes_file = OutcomeFile(path, ProbeOutcome, {})
            await ask_rewards(gateway, _DEFAULT, probes, Budget(), outcomes_file)
            requests = simulated.read_stats().requests
            await ask_rewards(gateway, _DEFAULT, probes, Budget(), OutcomeFile(path, ProbeOutcome, {}))
            assert simulated.read_stats().requests == requests
            assert {outcome.value for outcome in outcomes_file.outcomes} <= {0, 1}
            poor = OutcomeFile(tmp_path / "poor.jsonl", ProbeOutcome, {})
            changed = [
                probe._replace(item=probe.item.model_copy(update={"question": "Another one?"})) for probe in probes
            ]
            await ask_rewards(gateway, _DEFAULT, changed, Budget(max_usd=0.001), poor)
            assert {outcome.value for outcome in poor.outcomes} == {None}
            assert all("budget" in outcome.failure for outcome in poor.outcomes)


_NO_DATA = pytest.mark.skipif(not DATA.is_dir(), reason="the data folder is not beside the clone")


@_NO_DATA
def test_neighbours_are_other_papers() -> None:
    references = draw_references(3, seed=0)
    assert len(references) == 3
    assert all(item.neighbour not in ("", item.abstract) for item in references)


@_NO_DATA
def test_cost_is_reported_before_asking_and_limit_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Simulator(latency_mean=0) as simulated:
        for name, value in {
            "ASSAYER_LLM__BASE_URL": simulated.base_url,
            "ASSAYER_LLM__MODEL": "simulated",
            "ASSAYER_LLM__PRICES": '{"simulated": [2.0, 10.0]}',
            "ASSAYER_HOME": str(tmp_path / "home"),
        }.items():
            monkeypatch.setenv(name, value)
        small = ["rewards", "--first", "2", "--each", "1", "--out", str(tmp_path / "out")]
        arguments = [*small, "--endpoint", simulated.base_url, "--model", "simulated", "--max-usd"]
        assert main([*arguments, "0.0001"]) == 0
        output = capsys.readouterr().out
        assert "cost about $" in output
        assert "Not started: above the limit of $0.00." in output
        assert simulated.read_stats().requests == 0
        assert main([*arguments, "5"]) == 0
        output = capsys.readouterr().out
        assert output.index("cost about $") < output.index("## two-analysts-evaluator, seats of endpoint")
        assert simulated.read_stats().requests > 0
