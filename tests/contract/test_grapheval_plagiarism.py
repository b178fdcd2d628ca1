"""Detection of plagiarism with the packaged embedding and FAISS, on the invented example papers."""

import asyncio
import json
from pathlib import Path

import pytest

from assayer.methods.grapheval.plagiarism import (
    MINILM_LIMITS,
    IdeaViewpoints,
    Resemblance,
    find_resemblance_in_graph,
    find_resemblances_within_batch,
)
from assayer.methods.grapheval.viewpoints.splitter import split_viewpoints
from assayer.models import IdeaId
from index.viewpoint_neighbours import FaissNeighbours
from workers.embedding.embedder import SentenceTransformerEmbedder

CORPUS = Path(__file__).parents[2] / "examples" / "corpus.jsonl"
PAPERS = 12
REWORDED = (
    "Vertex representations that are learned from random walks mix the neighbours at all distances. We keep the "
    "distances apart: walks are cut into skips of lengths one, two, four and eight, a separate vector is trained for "
    "every one of them, and the downstream task picks the mixture. Sharing parameters between rungs proportionally to "
    "degree removes the loss. In contrast to classification, link prediction profits only from short skips."
)
"""Text of the first paper, reworded by hand."""


def build_viewpoints(name: str, text: str, embedding_model: SentenceTransformerEmbedder) -> IdeaViewpoints:
    texts = [viewpoint.text for viewpoint in split_viewpoints(text, 64)]
    return IdeaViewpoints(IdeaId(name), texts, asyncio.run(embedding_model.embed(texts, "passage")))


@pytest.fixture(scope="module")
def papers(embedding_model: SentenceTransformerEmbedder) -> list[IdeaViewpoints]:
    records = [json.loads(line) for line in CORPUS.read_text("utf-8").splitlines()[:PAPERS]]
    return [
        build_viewpoints(record["id"], f"{record['title']}\n\n{record['abstract']}", embedding_model)
        for record in records
    ]


def find_resemblance(idea: IdeaViewpoints, papers: list[IdeaViewpoints]) -> Resemblance | None:
    index = FaissNeighbours(384)
    for paper in papers:
        index.add(paper.vectors)
    owners = [paper.idea for paper in papers for _ in paper.texts]
    return find_resemblance_in_graph(
        idea, index, owners, [text for paper in papers for text in paper.texts], MINILM_LIMITS
    )


def test_reworded_paper_is_found_with_its_sentences_side_by_side(
    papers: list[IdeaViewpoints], embedding_model: SentenceTransformerEmbedder
) -> None:
    resemblance = find_resemblance(build_viewpoints("reworded", REWORDED, embedding_model), papers)
    assert resemblance is not None
    assert (resemblance.kind, resemblance.closest) == ("copy", papers[0].idea)
    assert all(pair.text != pair.other_text and pair.other_text in papers[0].texts for pair in resemblance.pairs)


def test_papers_of_neighbouring_topics_do_not_resemble_each_other(papers: list[IdeaViewpoints]) -> None:
    assert find_resemblances_within_batch(papers, FaissNeighbours(384), MINILM_LIMITS) == []


def test_proposal_submitted_twice_is_found_in_its_batch(
    papers: list[IdeaViewpoints], embedding_model: SentenceTransformerEmbedder
) -> None:
    batch = [*papers, build_viewpoints("again", " ".join(papers[3].texts), embedding_model)]
    closest_by_idea = {
        resemblance.idea: resemblance.closest
        for resemblance in find_resemblances_within_batch(batch, FaissNeighbours(384), MINILM_LIMITS)
    }
    assert closest_by_idea == {papers[3].idea: IdeaId("again"), IdeaId("again"): papers[3].idea}
