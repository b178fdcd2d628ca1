"""A viewpoint graph of labelled ideas about maps and bees, and verdicts from it."""

import datetime as dt
from collections.abc import Sequence

from assayer.backends import Backends
from assayer.evaluation_context import EvaluationContext
from assayer.ideas.parsing import parse_idea
from assayer.llm import NoLlm
from assayer.methods.grapheval import GraphEvalOptions
from assayer.methods.grapheval.graph.records import GraphContents, GraphPlan, LabelledIdea, PreparedIdea, Viewpoints
from assayer.methods.grapheval.judge import GraphJudge
from assayer.methods.grapheval.options import HOPS
from assayer.methods.grapheval.pipeline import evaluate
from assayer.methods.grapheval.scoring.calibration import ProbabilityCalibration
from assayer.methods.grapheval.scoring.label_propagation import LabelPropagation
from assayer.methods.grapheval.viewpoints.splitter import SPLITTER, split_viewpoints
from assayer.models import Absent, Idea, IdeaId, Verdict
from index.viewpoint_neighbours import FaissNeighbours
from tests.grapheval_graphs import make_graph_contents
from tests.memory_corpus import MemoryCorpus
from tests.unit.twins import NoFullTexts, make_run
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()
OPTIONS = GraphEvalOptions()
PLAN = GraphPlan(
    name="default",
    embedder=EMBEDDER.name,
    dimensions=EMBEDDER.dimensions,
    maker=SPLITTER,
    classes=("reject", "accept"),
    ordered=True,
)
TOPICS = {
    "reject": "Drawing maps of towns by hand takes surveyors {n} weeks. Ink on paper maps fades after {n} winters.",
    "accept": "Bees visit flower strips beside orchards {n} times. Honey from such orchards weighs {n} kilograms.",
}
MAPS_TEXT = (
    "We draw maps of towns by hand, as surveyors do with ink on paper. Town maps drawn by hand fade after winters."
)
BACKENDS = Backends(NoLlm(), MemoryCorpus((), EMBEDDER), NoFullTexts(), EMBEDDER)
UNCALIBRATED = Absent(reason="no calibration was fitted.")


def make_maps_idea(text: str = MAPS_TEXT, title: str = "Maps") -> Idea:
    """Return an idea, about maps unless it has another text."""
    return parse_idea(text, "maps.txt", title)


async def prepare_ideas(ideas: Sequence[LabelledIdea]) -> list[PreparedIdea]:
    """Return the ideas with their viewpoints and vectors."""
    prepared_list = []
    for idea in ideas:
        viewpoints = split_viewpoints(idea.text, 64)
        vectors = await EMBEDDER.embed([viewpoint.text for viewpoint in viewpoints], "passage")
        prepared_list.append(PreparedIdea(idea, Viewpoints(viewpoints=viewpoints, maker=SPLITTER), vectors))
    return prepared_list


async def build_idea_graph(ideas: Sequence[LabelledIdea]) -> GraphContents:
    """Return a graph of the viewpoints of labelled ideas."""
    return make_graph_contents(PLAN, await prepare_ideas(ideas))


def make_labelled_idea(
    number: int, label: str | None, day: dt.date | None = dt.date(2020, 1, 1), text: str = ""
) -> LabelledIdea:
    """Return an idea about the topic of its label, published on a day."""
    words = text or TOPICS[label or "reject"].format(n=number + 2)
    url = f"https://example.org/{number}"
    return LabelledIdea(id=IdeaId(f"k{number}"), title=f"Plan {number}", text=words, label=label, date=day, url=url)


def make_forty_labelled_ideas(day: dt.date | None = dt.date(2020, 1, 1)) -> list[LabelledIdea]:
    """Return 40 ideas, every second accepted."""
    return [make_labelled_idea(number, ("reject", "accept")[number % 2], day) for number in range(40)]


def judge_over(contents: GraphContents, calibration: ProbabilityCalibration | Absent = UNCALIBRATED) -> GraphJudge:
    """Return a judge that propagates labels over the graph."""
    neighbours = FaissNeighbours()
    neighbours.add(contents.arrays.vectors)
    return GraphJudge(contents, neighbours, LabelPropagation(), HOPS, calibration)


async def judge_idea(judge: GraphJudge, idea: Idea | None = None, cutoff: dt.date | None = None) -> Verdict:
    """Return the verdict of a judge on an idea, by default `maps_idea()`."""
    evaluation = await evaluate(
        EvaluationContext.open(idea or make_maps_idea(), BACKENDS, make_run(cutoff), OPTIONS), judge
    )
    verdict = evaluation.report.verdict
    assert isinstance(verdict, Verdict)
    return verdict
