"""Stored viewpoint graphs: rows in the database, with derived files in a folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from assayer.errors import ConfigurationError
from assayer.methods.grapheval.graph.records import AdditionSummary, GraphContents, GraphPlan, PreparedIdea
from assayer.methods.grapheval.graph.subgraph import LocalScorer
from assayer.methods.grapheval.judge import GraphJudge
from assayer.methods.grapheval.options import HOPS
from assayer.methods.grapheval.ports import NeighbourIndex
from assayer.methods.grapheval.scoring.calibration import ProbabilityCalibration
from assayer.methods.grapheval.scoring.label_propagation import ALL_EDGES, FEW_EDGES
from assayer.methods.grapheval.scoring.verdict_model import VerdictModel
from assayer.models import Absent
from cluster.settings import Settings
from index.viewpoint_neighbours import FaissNeighbours
from orchestrator.store import Database
from orchestrator.store.viewpoint_graph import PgViewpointGraph

NO_GRAPH = Absent(reason="there is no graph of labelled ideas. Build one with assayer graph build FILE.jsonl.")
_INDEX = "neighbours.faiss"
MODEL_FILE = "verdict-model.json"
"""Verdict model, written if the scorer was chosen by comparison."""
CALIBRATION_FILE = "calibration.json"
"""Calibration of a scorer that was set explicitly."""
NETWORK_FILE = "network.safetensors"
NETWORK_HOPS = 2
"""Number of hops around an idea that affect the network's answer, because it has two layers."""
UNCALIBRATED = Absent(reason="no calibration was fitted for this graph and scorer; run `assayer graph train`.")


@dataclass(frozen=True)
class StoredGraph:
    """Viewpoint graph in the database, with its nearest-neighbour index and the folder for its files."""

    store: PgViewpointGraph
    neighbours: FaissNeighbours
    home: Path

    async def find_folder(self) -> Path:
        """Return the folder for this graph's files. A graph created later under the same name gets a different folder.
        Raises InputError if the graph does not exist."""
        return self.home / await self.store.read_key()

    async def plan(self) -> GraphPlan | None:
        return await self.store.read_plan()

    async def add(self, ideas: Sequence[PreparedIdea]) -> AdditionSummary:
        folder = await self.find_folder()
        self.neighbours.restore(folder / _INDEX)
        added = await self.store.add(ideas)
        self.neighbours.save(folder / _INDEX)
        return added

    async def load(self) -> GraphContents:
        """Load the graph and update the saved index."""
        folder = await self.find_folder()
        self.neighbours.restore(folder / _INDEX)
        loaded_count = len(self.neighbours)
        contents = await self.store.load()
        if len(self.neighbours) != loaded_count:
            self.neighbours.save(folder / _INDEX)
        return contents

    async def judge(self) -> GraphJudge:
        """Return a judge based on this graph and its last training. Raises InputError if the graph does not exist,
        ConfigurationError if a file is unusable."""
        return create_judge_from(await self.find_folder(), await self.load(), self.neighbours)


def open_stored_graph(settings: Settings, database: Database, name: str) -> StoredGraph:
    neighbours = FaissNeighbours()
    return StoredGraph(PgViewpointGraph(database, name, neighbours), neighbours, settings.home / "graphs")


async def open_judge(settings: Settings, database: Database) -> GraphJudge | Absent:
    """Open the configured graph's judge, or return the reason why there is none."""
    graph = open_stored_graph(settings, database, settings.grapheval.graph)
    if await graph.plan() is None:
        return NO_GRAPH
    return await graph.judge()


def create_judge_from(folder: Path, contents: GraphContents, neighbours: NeighbourIndex) -> GraphJudge:
    """Return a judge that uses the last training's scorer, whose files are in the folder or, if there was no training,
    uncalibrated label propagation. Raises ConfigurationError if a file is unusable."""
    if (model := _read_model(folder / MODEL_FILE)) is not None:
        # If a regression was chosen, propagation provides only the evidence.
        scorer = ALL_EDGES if model.choice.scorer == LocalScorer(ALL_EDGES, HOPS).name else FEW_EDGES
        return GraphJudge(contents, neighbours, scorer, HOPS, model.calibration, model)
    calibration = _read_calibration(folder / CALIBRATION_FILE)
    if not (folder / NETWORK_FILE).is_file():
        return GraphJudge(contents, neighbours, FEW_EDGES, HOPS, calibration)
    from workers.viewpoint_network import NetworkScorer, load_checkpoint

    network = NetworkScorer(load_checkpoint(folder / NETWORK_FILE), contents.plan.embedder)
    return GraphJudge(contents, neighbours, network, NETWORK_HOPS, calibration)


def _read_model(path: Path) -> VerdictModel | None:
    if not path.is_file():
        return None
    try:
        return VerdictModel.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise ConfigurationError(
            f"The model {path} cannot be read.", "Run assayer graph train to train it again."
        ) from None


def _read_calibration(path: Path) -> ProbabilityCalibration | Absent:
    if not path.is_file():
        return UNCALIBRATED
    try:
        return ProbabilityCalibration.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        raise ConfigurationError(
            f"The calibration {path} cannot be read.", "Run assayer graph train to fit it again."
        ) from None
