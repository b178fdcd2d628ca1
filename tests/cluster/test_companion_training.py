"""SciCompanion's policy is trained on Ray over a corpus on disk, and the command says beforehand what it would do."""

import asyncio
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cluster.cli.policy import app
from cluster.clock import SystemClock
from cluster.policy_training import train_on_ray
from cluster.ray_cluster import enter_private_environment, start_training_cluster
from index import build_corpus
from tests.corpus_papers import write_jsonl
from tests.tiny_companion import CITATIONS, PAPERS, collect_usual_contexts, fit_policy, make_tiny_training
from workers.embedding.embedder import SentenceTransformerEmbedder
from workers.embedding.settings import EmbedderSettings
from workers.policy_training import CompanionTraining
from workers.policy_training.configuration import GrpoSettings

pytestmark = pytest.mark.slow

QUICK = GrpoSettings(steps=1, generations=2, questions=2, micro_batch=4, most_tokens=4, learning_rate=1e-3)


@pytest.fixture
def plan(tmp_path: Path) -> CompanionTraining:
    papers = write_jsonl(
        tmp_path / "papers.jsonl",
        (
            {
                "id": paper.id,
                "title": paper.title,
                "abstract": paper.abstract,
                "publication_date": str(paper.publication_date),
                "references": list(CITATIONS.get(paper.id, ())),
            }
            for paper in PAPERS
        ),
    )
    with closing(SentenceTransformerEmbedder(EmbedderSettings())) as embedder:
        asyncio.run(build_corpus([papers], tmp_path / "corpus", embedder))
    training = make_tiny_training(tmp_path, tmp_path / "model", QUICK)
    fit_policy(collect_usual_contexts(training, SystemClock()), seed=0, steps=30).save(tmp_path / "model")
    return training


def test_policy_is_trained_on_ray_over_a_corpus(plan: CompanionTraining) -> None:
    with enter_private_environment() as folder, start_training_cluster(folder, 1, 0):
        curve = train_on_ray(plan)
    assert [point.step for point in curve.points] == [1]
    assert len((plan.folder / "trajectories.jsonl").read_text("utf-8").splitlines()) == 4
    assert (plan.folder / "policy" / "model.safetensors").is_file()
    written = f"""
method = "scicompanion"
folder = "training"
corpus = "corpus"
[policy]
model = "{plan.policy.model}"
[data]
file = "ideas.jsonl"
[loop]
steps = 1
[grpo]
steps = 10
questions = 4
"""
    file = plan.data.file.with_name("training.toml")
    file.write_text(written)
    result = CliRunner().invoke(app, ["check", str(file)])
    assert result.exit_code == 0, result.output
    assert "10 steps of 4 ideas with 8 rollouts each, from 4 ideas over 20 papers; at most 960 answers" in result.output
