"""Stored viewpoint graphs: rows in the database, with derived files in a folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from assayer.errors import ConfigurationError, InputError
from assayer.methods.grapheval import GraphEvalOptions
from assayer.methods.grapheval.graph.records import AdditionSummary, GraphContents, GraphPlan, PreparedIdea
from assayer.methods.grapheval.graph.subgraph import LocalScorer
from assayer.methods.grapheval.judge import GraphJudge
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.scoring.calibration import ProbabilityCalibration
from assayer.methods.grapheval.scoring.label_propagation import LabelPropagation
from assayer.methods.grapheval.scoring.verdict_model import VerdictModel
from assayer.models import Absent
from cluster.settings import Settings
from index.viewpoint_neighbours import FaissNeighbours
from orchestrator.store import Database
from orchestrator.store.viewpoint_graph import PgViewpointGraph

NO_GRAPH = Absent(reason="there is no graph of labelled ideas. Build one with assayer graph build FILE.jsonl.")
UNCALIBRATED = Absent(reason="no calibration was fitted for this graph and scorer; run `assayer graph train`.")


@dataclass(frozen=True)
class StoredGraph:
    """Viewpoint graph in the database, with its nearest-neighbour index and the folder of its files."""

    store: PgViewpointGraph
    neighbours: FaissNeighbours
    home: Path

    async def folder(self) -> Path:
        """Return the folder of this graph's files; a later graph with the same name has another folder. Raises
        InputError if there is no graph."""
        return self.home / await self.store.key()

    async def plan(self) -> GraphPlan | None:
        return await self.store.plan()

    async def add(self, ideas: Sequence[PreparedIdea]) -> AdditionSummary:
        folder = await self.folder()
        self.neighbours.restore(folder / _INDEX)
        added = await self.store.add(ideas)
        self.neighbours.save(folder / _INDEX)
        return added

    async def load(self) -> GraphContents:
        """Load the graph and update the saved index."""
        folder = await self.folder()
        self.neighbours.restore(folder / _INDEX)
        kept = len(self.neighbours)
        contents = await self.store.load()
        if len(self.neighbours) != kept:
            self.neighbours.save(folder / _INDEX)
        return contents

    async def judge(self, options: GraphEvalOptions) -> GraphJudge:
        """Return a judge based on this graph. Raises InputError if the graph or a trained network is missing,
        ConfigurationError if a file cannot be used."""
        contents = await self.load()
        folder = await self.folder()
        if options.scorer == "best" and (model := _model(model_file(folder))) is not None:
            scorer = _chosen_scorer(model.choice.chosen, options)
            return GraphJudge(contents, self.neighbours, scorer, options.reach, model.calibration, model)
        scorer = _scorer(options, folder, contents.plan)
        calibration = _calibration(calibration_file(folder, options))
        return GraphJudge(contents, self.neighbours, scorer, options.reach, calibration)


def stored_graph(settings: Settings, database: Database, name: str) -> StoredGraph:
    neighbours = FaissNeighbours()
    return StoredGraph(PgViewpointGraph(database, name, neighbours), neighbours, settings.home / "graphs")


async def open_judge(settings: Settings, database: Database) -> GraphJudge | Absent:
    """Open the judge of the configured graph, or return the reason why there is none."""
    graph = stored_graph(settings, database, settings.grapheval.graph)
    if await graph.plan() is None:
        return NO_GRAPH
    return await graph.judge(settings.grapheval)


_INDEX = "neighbours.faiss"


def calibration_file(folder: Path, options: GraphEvalOptions) -> Path:
    return folder / f"calibration-{options.scorer}.json"


def model_file(folder: Path) -> Path:
    """Return the path of the verdict model, which is written if the scorer was chosen by comparison."""
    return folder / "verdict-model.json"


def checkpoint_file(folder: Path) -> Path:
    return folder / "network.safetensors"


def _scorer(options: GraphEvalOptions, folder: Path, plan: GraphPlan) -> Scorer:
    if options.scorer != "network":
        return LabelPropagation(options.rounds, options.strongest)
    from workers.viewpoint_network import NetworkScorer, load_checkpoint

    path = checkpoint_file(folder)
    if not path.is_file():
        raise InputError(
            f"No network was trained on the graph {plan.name!r}.", "Run assayer graph train --scorer network."
        )
    return NetworkScorer(load_checkpoint(path), plan.embedder)


def _chosen_scorer(name: str, options: GraphEvalOptions) -> Scorer:
    """Return the scorer for the graph; if a regression was chosen, the scorer provides only the evidence."""
    paper = LabelPropagation(options.rounds)
    return (
        paper if name == LocalScorer(paper, options.reach).name else LabelPropagation(options.rounds, options.strongest)
    )


def _model(path: Path) -> VerdictModel | None:
    if not path.is_file():
        return None
    try:
        return VerdictModel.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise ConfigurationError(
            f"The model {path} cannot be read.", "Run assayer graph train to train it again."
        ) from None


def _calibration(path: Path) -> ProbabilityCalibration | Absent:
    if not path.is_file():
        return UNCALIBRATED
    try:
        return ProbabilityCalibration.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise ConfigurationError(
            f"The calibration {path} cannot be read.", "Run assayer graph train to fit it again."
        ) from None
