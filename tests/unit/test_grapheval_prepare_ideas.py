"""Labelled ideas prepared for a graph: in order, with their vectors, and refused where they say nothing."""

import numpy as np
import pytest

from assayer.errors import InputError
from assayer.llm import NoLlm
from assayer.methods.grapheval import tasks
from assayer.methods.grapheval.graph.records import LabelledIdea, PreparedIdea
from assayer.methods.grapheval.schemas import ExtractedViewpoint, ExtractedViewpoints, Relation, Relations
from assayer.methods.grapheval.viewpoints.extraction import name_extractor, prepare_ideas
from assayer.methods.grapheval.viewpoints.splitter import split_viewpoints
from assayer.models import IdeaId
from tests.grapheval_graphs import PLAN
from tests.unit.twins import TwinLlm, make_run
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()


def make_labelled_idea(number: int, text: str = "") -> LabelledIdea:
    words = text or f"We draw {number + 2} maps of one town. The town may change its roads."
    return LabelledIdea(id=IdeaId(str(number)), title="Maps", text=words, label="accept", date=None)


async def prepare(ideas: list[LabelledIdea]) -> list[PreparedIdea]:
    return await prepare_ideas(ideas, PLAN, EMBEDDER, NoLlm(), make_run(), 64, 30_000)


async def test_every_idea_gets_its_own_viewpoints_and_their_vectors() -> None:
    ideas = [make_labelled_idea(number) for number in range(70)]
    prepared_ideas = await prepare(ideas)
    assert [item.idea for item in prepared_ideas] == ideas
    for item in prepared_ideas:
        texts = [viewpoint.text for viewpoint in item.viewpoints.viewpoints]
        assert len(texts) == 2
        np.testing.assert_allclose(item.vectors, await EMBEDDER.embed(texts, "passage"))


@pytest.mark.parametrize("text", ["Maps.", "one", "?"])
async def test_idea_without_statements_is_rejected_by_id(text: str) -> None:
    with pytest.raises(InputError, match="Idea '3' contains no statement"):
        await prepare([make_labelled_idea(1), make_labelled_idea(3, text)])


async def test_long_idea_is_limited_to_the_maximum_viewpoints() -> None:
    text = "\n\n".join(f"Map number {n} shows one more town." for n in range(500))
    (prepared_idea,) = await prepare_ideas(
        [make_labelled_idea(1, text)], PLAN, EMBEDDER, NoLlm(), make_run(), 20, 30_000
    )
    assert len(prepared_idea.viewpoints.viewpoints) == 20


async def test_model_viewpoints_and_relations_are_used_when_available() -> None:
    related = Relations(relations=[Relation(first="V1", second="V2", kind="supporting")])
    statements = [
        ExtractedViewpoint(words=item.words, statement=item.text)
        for item in split_viewpoints(make_labelled_idea(1).text, 64)
    ]
    answers = {
        tasks.VIEWPOINTS.name: lambda _: ExtractedViewpoints(viewpoints=statements),
        tasks.RELATIONS.name: lambda _: related,
    }
    llm = TwinLlm(answers)
    plan = PLAN.model_copy(update={"maker": name_extractor(llm), "relations": True})
    (prepared_idea,) = await prepare_ideas([make_labelled_idea(1)], plan, EMBEDDER, llm, make_run(), 64, 30_000)
    assert prepared_idea.viewpoints.maker == "grapheval.viewpoints v1, twin"
    assert prepared_idea.relations == ((0, 1),)
