import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from assayer.errors import ConfigurationError, InputError
from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphArrays
from assayer.methods.grapheval.scoring.baselines import find_labelled_rows
from assayer.methods.grapheval.scoring.metrics import compute_auroc
from tests.unit.grapheval_graphs import PROVENANCE, make_row_array, make_separable_graph
from workers.viewpoint_network import (
    Checkpoint,
    EpochProgress,
    FreshNetwork,
    NetworkScorer,
    TrainingSettings,
    load_checkpoint,
    save_checkpoint,
    train_network,
)
from workers.viewpoint_network.settings import Architecture

GRAPH = make_separable_graph()
SCORED_ROWS = make_row_array(0, 1, 10, 11, 20, 21)
EMBEDDING = PROVENANCE.embedding
QUICK_TRAINING = TrainingSettings(
    architecture=Architecture(hidden=8), rate=2e-2, epochs=30, members=1, batch=16, device="cpu", threads=1
)


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return train_network(GRAPH.hide_labels(SCORED_ROWS), QUICK_TRAINING, PROVENANCE)


def test_trained_network_scores_unseen_ideas_correctly(checkpoint: Checkpoint) -> None:
    scorer = NetworkScorer(checkpoint, EMBEDDING, "cpu")
    probabilities = scorer.score(GRAPH, SCORED_ROWS)
    assert probabilities.sum(axis=1) == pytest.approx(np.ones(len(SCORED_ROWS)))
    assert compute_auroc(GRAPH.labels[SCORED_ROWS], probabilities) == 1
    everyone = np.arange(40, dtype=np.int32)
    assert (scorer.score(GRAPH, everyone).argmax(axis=1) == GRAPH.labels).mean() > 0.9


def test_labels_of_scored_ideas_do_not_affect_their_scores(checkpoint: Checkpoint) -> None:
    scorer = NetworkScorer(checkpoint, EMBEDDING, "cpu")
    assert (scorer.score(GRAPH, SCORED_ROWS) == scorer.score(GRAPH.hide_labels(SCORED_ROWS), SCORED_ROWS)).all()


def test_labels_of_other_ideas_affect_scores(checkpoint: Checkpoint) -> None:
    scorer = NetworkScorer(checkpoint, EMBEDDING, "cpu")
    nobody = GRAPH.hide_labels(np.arange(40, dtype=np.int32))
    assert not np.allclose(scorer.score(GRAPH, SCORED_ROWS), scorer.score(nobody, SCORED_ROWS))


def test_order_of_requested_ideas_does_not_change_their_scores(checkpoint: Checkpoint) -> None:
    scorer = NetworkScorer(checkpoint, EMBEDDING, "cpu")
    assert scorer.score(GRAPH, SCORED_ROWS[::-1])[::-1] == pytest.approx(scorer.score(GRAPH, SCORED_ROWS), abs=1e-6)


def test_weights_are_reproducible_by_seed_and_differ_between_seeds(checkpoint: Checkpoint) -> None:
    def train_weights(seed: int) -> list[torch.Tensor]:
        settings = QUICK_TRAINING.model_copy(update={"seed": seed})
        return list(train_network(GRAPH.hide_labels(SCORED_ROWS), settings, PROVENANCE).weights[0].values())

    first = list(checkpoint.weights[0].values())
    assert all(torch.equal(item, two) for item, two in zip(first, train_weights(0), strict=True))
    assert not all(torch.equal(item, two) for item, two in zip(first, train_weights(1), strict=True))


def test_training_reports_every_epoch_and_stops_without_improvement() -> None:
    epochs: list[EpochProgress] = []
    settings = QUICK_TRAINING.model_copy(update={"members": 2, "patience": 2, "rate": 1e-9})
    description = train_network(GRAPH, settings, PROVENANCE, epochs.append).description
    assert [item.epochs for item in description.members] == [
        sum(e.member == member for e in epochs) for member in (0, 1)
    ]
    assert all(item.epochs == item.best_epoch + 2 < settings.epochs for item in description.members)
    assert min(e.validation_loss for e in epochs if e.member == 0) == description.members[0].validation_loss


def test_reloaded_checkpoint_gives_identical_scores_and_provenance(checkpoint: Checkpoint, tmp_path: Path) -> None:
    path = tmp_path / "network.safetensors"
    save_checkpoint(checkpoint, path)
    loaded_checkpoint = load_checkpoint(path)
    assert loaded_checkpoint.description == checkpoint.description
    assert loaded_checkpoint.description.provenance == PROVENANCE
    before, after = (
        NetworkScorer(item, EMBEDDING, "cpu").score(GRAPH, SCORED_ROWS) for item in (checkpoint, loaded_checkpoint)
    )
    assert (before == after).all()
    assert [item.name for item in tmp_path.iterdir()] == ["network.safetensors"]


def test_checkpoint_of_another_embedding_is_refused(checkpoint: Checkpoint) -> None:
    with pytest.raises(ConfigurationError, match=r"embedded with 'invented', but this graph uses 'other'.*train"):
        NetworkScorer(checkpoint, "other", "cpu")


def test_graph_of_other_classes_is_refused(checkpoint: Checkpoint) -> None:
    other_graph = make_separable_graph(classes=("no", "perhaps", "yes"))
    with pytest.raises(ConfigurationError, match="predicts bad, good, but this graph's labels are no, perhaps, yes"):
        NetworkScorer(checkpoint, EMBEDDING, "cpu").score(other_graph, SCORED_ROWS)


def write_foreign_file(path: Path) -> None:
    save_file({"0.x": torch.zeros(2)}, path)


def write_torch_file(path: Path) -> None:
    torch.save({"a": 1}, path)


def write_no_file(path: Path) -> None:
    assert not path.exists()


@pytest.mark.parametrize(
    ("prepare", "message"),
    [
        (write_foreign_file, "not a viewpoint network of this version"),
        (write_torch_file, "cannot be read as a checkpoint"),
        (write_no_file, "cannot be read as a checkpoint"),
    ],
)
def test_invalid_checkpoint_file_is_rejected(prepare: object, message: str, tmp_path: Path) -> None:
    assert callable(prepare)
    prepare(tmp_path / "some.file")
    with pytest.raises(InputError, match=message):
        load_checkpoint(tmp_path / "some.file")


def test_checkpoint_with_replaced_weights_is_rejected(checkpoint: Checkpoint, tmp_path: Path) -> None:
    path = tmp_path / "network.safetensors"
    save_checkpoint(checkpoint, path)
    metadata = {"assayer-viewpoint-network": checkpoint.description.model_dump_json()}
    smaller = {name: tensor[:1].clone() for name, tensor in load_file(path).items()}
    save_file(smaller, path, metadata=metadata)
    with pytest.raises(ConfigurationError, match="do not fit its own description"):
        load_checkpoint(path).build_networks()
    save_file({"7.head": torch.zeros(1)}, path, metadata=metadata)
    with pytest.raises(InputError, match="its weights do not match the network"):
        load_checkpoint(path)


def make_one_class_graph() -> GraphArrays:
    return GRAPH.hide_labels(np.flatnonzero(GRAPH.labels == 1).astype(np.int32))


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (make_one_class_graph(), "All labelled ideas \\(20\\) have the label 'bad'"),
        (GRAPH.hide_labels(np.arange(40, dtype=np.int32)), "has a label"),
        (GRAPH.hide_labels(np.arange(6, 40, dtype=np.int32)), "at least .* labelled ideas; this graph has 6"),
    ],
)
def test_graph_with_too_few_labels_is_rejected(graph: GraphArrays, message: str) -> None:
    with pytest.raises(InputError, match=message):
        train_network(graph, QUICK_TRAINING, PROVENANCE)


def test_idea_without_viewpoints_is_not_scored(checkpoint: Checkpoint) -> None:
    is_kept = GRAPH.idea_of != 39
    no_rows = np.empty(0, np.int32)
    empty = replace(
        GRAPH,
        vectors=GRAPH.vectors[is_kept],
        idea_of=GRAPH.idea_of[is_kept],
        sources=no_rows,
        targets=no_rows,
        weights=no_rows.astype(np.float32),
        kinds=no_rows.astype(np.int8),
    )
    probabilities = NetworkScorer(checkpoint, EMBEDDING, "cpu").score(empty, make_row_array(38, 39))
    assert np.isnan(probabilities[1]).all()
    assert probabilities[0].sum() == pytest.approx(1)
    assert np.isnan(NetworkScorer(checkpoint, EMBEDDING, "cpu").score(empty, make_row_array(39))).all()


def test_graph_with_dated_and_undated_ideas_can_be_scored() -> None:
    graph = GRAPH.hide_labels(make_row_array(0))
    graph.dates[::2] = 17_000
    scorer = FreshNetwork(QUICK_TRAINING, PROVENANCE)
    assert scorer.score(graph, SCORED_ROWS).shape == (6, 2)
    assert (graph.dates[1::2] == UNKNOWN).all()


def test_generated_negatives_are_excluded_from_validation() -> None:
    settings = QUICK_TRAINING.model_copy(update={"negatives": 6, "epochs": 2})
    description = train_network(GRAPH, settings, PROVENANCE).description
    assert description.members[0].validation_ideas == round(0.15 * 26) + round(0.15 * 20)
    assert len(find_labelled_rows(GRAPH, make_row_array())) == 40


def test_importing_the_package_does_not_import_torch() -> None:
    code = "import sys, workers.viewpoint_network; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0
