"""The two tasks of GraphEval: extracting viewpoints of an idea and, as an option, relating them."""

from assayer.llm import Task
from assayer.methods.grapheval.graph.records import Viewpoint
from assayer.methods.grapheval.schemas import (
    ExtractedViewpoint,
    ExtractedViewpoints,
    Relations,
    RelationsQuestion,
    ViewpointsQuestion,
)
from assayer.methods.grapheval.viewpoints.faithfulness import IdeaWords, check_faithfulness
from assayer.methods.grapheval.viewpoints.splitter import split_viewpoints
from assayer.ports import Embedder
from assayer.prompts import Prompts

__all__ = ["ALL", "RELATIONS", "VIEWPOINTS"]

_PROMPTS = Prompts("assayer.methods.grapheval")
_MOST_UNFAITHFUL = 0.2
"""Share of viewpoints that are refused one by one; beyond it the answer is asked for again."""


def _check_viewpoints(question: ViewpointsQuestion, answer: ExtractedViewpoints) -> list[str]:
    given = [Viewpoint(text=one.statement, words=one.words) for one in answer.viewpoints]
    complaints = []
    if len(given) > question.limit:
        complaints.append(f"There are {len(given)} viewpoints; at most {question.limit} are wanted.")
    _, refused = check_faithfulness(given, IdeaWords(question.idea))
    if len(refused) > _MOST_UNFAITHFUL * len(given):
        complaints += [f"In {one.text[:80]!r}: {one.reason}." for one in refused]
    return complaints


def _check_relations(question: RelationsQuestion, answer: Relations) -> list[str]:
    labels = {viewpoint.label for viewpoint in question.viewpoints}
    complaints: list[str] = []
    seen: set[frozenset[str]] = set()
    for relation in answer.relations:
        pair = frozenset((relation.first, relation.second))
        unknown = sorted(pair - labels)
        if unknown:
            complaints.append(f"{', '.join(unknown)} is no viewpoint given here.")
        elif len(pair) == 1:
            complaints.append(f"{relation.first} is related to itself.")
        elif pair in seen:
            complaints.append(f"The pair {relation.first}, {relation.second} stands there twice.")
        seen.add(pair)
    return complaints


async def _split(question: ViewpointsQuestion, embedder: Embedder) -> ExtractedViewpoints:
    """What the splitter finds; an idea without a sentence is one viewpoint as a whole."""
    found = split_viewpoints(question.idea, question.limit) or (Viewpoint(text=question.idea, words=question.idea),)
    return ExtractedViewpoints(
        viewpoints=[ExtractedViewpoint(words=viewpoint.words, statement=viewpoint.text) for viewpoint in found]
    )


async def _unrelated(question: RelationsQuestion, embedder: Embedder) -> Relations:
    """Without a model no relation is known; edges inside the idea then come from cosines alone."""
    return Relations(relations=[])


VIEWPOINTS = Task[ViewpointsQuestion, ExtractedViewpoints](
    "grapheval.viewpoints",
    _PROMPTS,
    "viewpoints.v1.md",
    ExtractedViewpoints,
    max_tokens=6_000,
    check=_check_viewpoints,
    fallback=_split,
)
RELATIONS = Task[RelationsQuestion, Relations](
    "grapheval.relations",
    _PROMPTS,
    "relations.v1.md",
    Relations,
    max_tokens=3_000,
    check=_check_relations,
    fallback=_unrelated,
)

ALL = (VIEWPOINTS, RELATIONS)
