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
from tests.unit.twins import TwinLlm, a_run
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()


def known(number: int, text: str = "") -> LabelledIdea:
    words = text or f"We draw {number + 2} maps of one town. The town may change its roads."
    return LabelledIdea(id=IdeaId(str(number)), title="Maps", text=words, label="accept", date=None)


async def prepared(ideas: list[LabelledIdea]) -> list[PreparedIdea]:
    return await prepare_ideas(ideas, PLAN, EMBEDDER, NoLlm(), a_run(), 64, 30_000)


async def test_every_idea_gets_its_own_viewpoints_and_their_vectors() -> None:
    ideas = [known(number) for number in range(70)]
    found = await prepared(ideas)
    assert [item.idea for item in found] == ideas
    for item in found:
        texts = [viewpoint.text for viewpoint in item.viewpoints.viewpoints]
        assert len(texts) == 2
        np.testing.assert_allclose(item.vectors, await EMBEDDER.embed(texts, "passage"))


@pytest.mark.parametrize("text", ["Maps.", "one", "?"])
async def test_idea_without_statements_is_rejected_by_id(text: str) -> None:
    with pytest.raises(InputError, match="Idea '3' contains no statement"):
        await prepared([known(1), known(3, text)])


async def test_long_idea_is_limited_to_the_maximum_viewpoints() -> None:
    text = "\n\n".join(f"Map number {n} shows one more town." for n in range(500))
    (found,) = await prepare_ideas([known(1, text)], PLAN, EMBEDDER, NoLlm(), a_run(), 20, 30_000)
    assert len(found.viewpoints.viewpoints) == 20


async def test_model_viewpoints_and_relations_are_used_when_available() -> None:
    related = Relations(relations=[Relation(first="V1", second="V2", kind="supporting")])
    statements = [
        ExtractedViewpoint(words=item.words, statement=item.text) for item in split_viewpoints(known(1).text, 64)
    ]
    answers = {
        tasks.VIEWPOINTS.name: lambda _: ExtractedViewpoints(viewpoints=statements),
        tasks.RELATIONS.name: lambda _: related,
    }
    llm = TwinLlm(answers)
    plan = PLAN.model_copy(update={"maker": name_extractor(llm), "relations": True})
    (found,) = await prepare_ideas([known(1)], plan, EMBEDDER, llm, a_run(), 64, 30_000)
    assert found.viewpoints.maker == "grapheval.viewpoints v1, twin"
    assert found.relations == ((0, 1),)
