"""Viewpoints and relations from scripts whose answers are known beforehand, over HTTP and to the printed figures."""

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from assayer.errors import ConfigurationError
from assayer.methods.grapheval.scoring.calibration import TrainingProvenance
from assayer.methods.grapheval.viewpoints.splitter import SPLITTER
from assayer.models import IdeaId
from benchmarks.quality.grapheval.data import CLASSES, Labelled
from benchmarks.quality.grapheval.extracted import ask_viewpoints, extraction_figures, kept_viewpoints, sample, split
from benchmarks.quality.grapheval.graphs import Vectoriser
from benchmarks.quality.grapheval.reporting import Setup
from benchmarks.quality.scripted import ScriptedJudge, Way
from cluster.clock import SystemClock
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.llm import LlmSettings
from workers.llm.answer_store import InMemoryAnswerStore
from workers.llm.gateway import LlmGateway

_DAY = dt.date(2017, 1, 1)
_TEXT = (
    "Plan {n}\n\nWe plant {n} rows of birch on burnt ground to see which fungi come back first. Half of the rows get "
    "spores from an old forest, and the other half get none. We expect that trees with spores grow {n} percent "
    "faster in the second year."
)
PAPERS = [Labelled(IdeaId(f"p{n}"), _TEXT.format(n=n), n % 2, _DAY) for n in range(12)]
PROVENANCE = TrainingProvenance(
    made_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
    files=(),
    embedding="hashing",
    viewpoints_by=SPLITTER,
    counts=dict.fromkeys(CLASSES, 6),
    seed=0,
    split="inside each training part",
)


def _gateway(judge: ScriptedJudge) -> LlmGateway:
    settings = {"base_url": judge.base_url, "api_key": "sk-test", "model": "simulated"}
    return LlmGateway(LlmSettings.model_validate(settings), InMemoryAnswerStore(), SystemClock())


async def test_what_the_script_says_arrives_and_is_kept_so_that_a_second_start_asks_nothing(tmp_path: Path) -> None:
    kept = kept_viewpoints(tmp_path / "kept.jsonl", "simulated")
    with ScriptedJudge("sentences") as judge:
        async with _gateway(judge) as llm:
            await ask_viewpoints(llm, PAPERS, kept)
    again = kept_viewpoints(tmp_path / "kept.jsonl", "simulated")
    async with _gateway(judge) as nobody:
        await ask_viewpoints(nobody, PAPERS, again)
    assert [again.of(paper.id, 0).viewpoints for paper in PAPERS] == [one.viewpoints for one in split(PAPERS)]
    assert all(one.relations == tuple((n, n + 1) for n in range(len(one.viewpoints) - 1)) for one in again.outcomes)
    assert all(one.spent and one.spent.calls == 2 for one in again.outcomes)
    with pytest.raises(ConfigurationError, match="made in another way"):
        kept_viewpoints(tmp_path / "kept.jsonl", "another model")


@pytest.mark.parametrize(("way", "by_splitter"), [("sentences", 0), ("nothing", len(PAPERS))])
async def test_figures_stand_beside_the_splitters_and_count_what_the_model_left_to_it(
    way: Way, by_splitter: int, tmp_path: Path
) -> None:
    kept = kept_viewpoints(tmp_path / "kept.jsonl", "simulated")
    with ScriptedJudge(way) as judge:
        async with _gateway(judge) as llm:
            await ask_viewpoints(llm, PAPERS, kept)
    vectors = await HashingEmbedder().embed([text for one in split(PAPERS) for text in one.viewpoints], "passage")
    texts = [text for one in split(PAPERS) for text in one.viewpoints]
    setup = Setup(PROVENANCE, False, 20, 0)
    lines = list(extraction_figures(PAPERS, kept, _Known(dict(zip(texts, vectors, strict=True))), setup, 3, 1))
    model = next(line for line in lines if line.startswith("| model"))
    assert model.split(" | ")[1:3] == [str(len(PAPERS)), str(by_splitter)]
    same = [line for line in lines if line.startswith("| model | cosine")]
    assert len(same) == 3
    assert all(line.endswith("| +0.000 [+0.000, +0.000] |") for line in same), "the splitter's words give its figures"


def test_a_sample_holds_each_decision_by_its_share() -> None:
    some = sample(PAPERS, 6, 1)
    assert [one.id for one in some] == [one.id for one in PAPERS if one in some]
    assert np.bincount([one.label for one in some]).tolist() == [3, 3]


class _Known(Vectoriser):
    """Vectors that were made beforehand, as no other text is asked for."""

    def __init__(self, known: dict[str, np.ndarray]) -> None:
        self._vectors = known

    def __call__(self, texts: object) -> np.ndarray:
        return np.stack([self._vectors[str(text)] for text in texts])  # type: ignore[attr-defined]
