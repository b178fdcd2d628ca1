"""GraphEval's LLM tasks: extract an idea's viewpoints and, optionally, relate them to each other."""

from assayer.llm import Task
from assayer.methods.grapheval.graph.records import Viewpoint
from assayer.methods.grapheval.schemas import ExtractedViewpoints, Relations, RelationsQuestion, ViewpointsQuestion
from assayer.methods.grapheval.viewpoints.faithfulness import IdeaWords, check_faithfulness
from assayer.prompts import Prompts

_PROMPTS = Prompts("assayer.methods.grapheval")
_MAX_UNFAITHFUL = 0.2
"""Maximum share of viewpoints that may be rejected individually; above it, the whole answer is requested again."""


def _check_viewpoints(question: ViewpointsQuestion, answer: ExtractedViewpoints) -> list[str]:
    viewpoints = [Viewpoint(text=viewpoint.statement, words=viewpoint.words) for viewpoint in answer.viewpoints]
    complaints = []
    if len(viewpoints) > question.limit:
        complaints.append(f"There are {len(viewpoints)} viewpoints; at most {question.limit} are wanted.")
    _, refusals = check_faithfulness(viewpoints, IdeaWords(question.idea))
    if len(refusals) > _MAX_UNFAITHFUL * len(viewpoints):
        complaints += [f"In {item.text[:80]!r}: {item.reason}." for item in refusals]
    return complaints


def _check_relations(question: RelationsQuestion, answer: Relations) -> list[str]:
    labels = {viewpoint.label for viewpoint in question.viewpoints}
    complaints: list[str] = []
    seen_pairs: set[frozenset[str]] = set()
    for relation in answer.relations:
        pair = frozenset((relation.first, relation.second))
        unknown = sorted(pair - labels)
        if unknown:
            complaints.append(f"{', '.join(unknown)} is no viewpoint given here.")
        elif len(pair) == 1:
            complaints.append(f"{relation.first} is related to itself.")
        elif pair in seen_pairs:
            complaints.append(f"The pair {relation.first}, {relation.second} stands there twice.")
        seen_pairs.add(pair)
    return complaints


VIEWPOINTS = Task[ViewpointsQuestion, ExtractedViewpoints](
    "grapheval.viewpoints",
    _PROMPTS,
    "viewpoints.v1.md",
    ExtractedViewpoints,
    max_tokens=6_000,
    check=_check_viewpoints,
)
RELATIONS = Task[RelationsQuestion, Relations](
    "grapheval.relations",
    _PROMPTS,
    "relations.v1.md",
    Relations,
    max_tokens=3_000,
    check=_check_relations,
)

ALL = (VIEWPOINTS, RELATIONS)
