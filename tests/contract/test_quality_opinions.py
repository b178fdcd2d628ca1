"""Opinions on judged texts, asked over HTTP by the gateway that asks every model; a second start asks only the rest."""

from pathlib import Path

import numpy as np
import pytest

from assayer.run.budget import Budget
from benchmarks.quality.judged_sets.asking import OPINIONS, OpinionOutcome, ask_opinions
from benchmarks.quality.judged_sets.judged import JudgedItem, JudgedSet
from benchmarks.quality.judged_sets.page import build_page
from benchmarks.quality.judged_sets.part import build_set_figures
from benchmarks.quality.outcome_file import OutcomeFile
from cluster.clock import SystemClock
from simulator.process import Simulator
from workers.llm import LlmSettings
from workers.llm.gateway import LlmGateway
from workers.outbound.store import InMemoryAnswerStore

ITEMS = [JudgedItem(f"i{n}", f"Plan {n}: we map towns by hand and count them.", float(n % 2)) for n in range(4)]


@pytest.mark.parametrize("scorer", OPINIONS)
async def test_kept_opinions_are_reused_and_simulated_results_labelled(scorer: str, tmp_path: Path) -> None:
    path, task = tmp_path / "opinions.jsonl", OPINIONS[scorer]
    with Simulator(latency_mean=0) as simulator:
        settings = {"base_url": simulator.base_url, "api_key": "sk-test", "model": "simulated"}
        llm_settings = LlmSettings.model_validate(settings)
        async with LlmGateway(llm_settings, InMemoryAnswerStore(), SystemClock()) as gateway:
            outcomes_file = OutcomeFile(path, OpinionOutcome, {})
            await ask_opinions(gateway, "Good?", ITEMS[:3], task, Budget(), outcomes_file)
            again = OutcomeFile(path, OpinionOutcome, {})
            await ask_opinions(gateway, "Good?", ITEMS, task, Budget(), again)
        stats = simulator.read_stats()
    values = np.array([again.get_outcome(item.id, 0).value for item in ITEMS], np.float64)
    assert not np.isnan(values).any()
    assert ((values >= 0) & (values <= 100)).all()
    assert stats.answered == len(ITEMS), "what was kept is not asked again"
    judged_set = JudgedSet("iclr_years", "2022", "Good?", ITEMS, has_decisions=True, has_proposals=True)
    figures = [
        set_figure.model_copy(update={"simulated": True})
        for set_figure in build_set_figures(judged_set, {(scorer, "prompt"): values}, [], 10)
    ]
    rows = [line for line in build_page(figures, {}, {}, "a test") if line.startswith("| 2022")]
    assert rows
    assert all(f"SIMULATED: {scorer}" in line for line in rows)
