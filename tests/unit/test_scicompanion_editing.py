"""Effect of proposed edits: an edge replaced within a single answer, words of a title, references from the graph."""

from assayer.ideas.parsing import parse_idea
from assayer.methods.scicompanion.editing import Edited, apply_edits
from assayer.methods.scicompanion.graph import IDEA_NODE, NewEdge, StateGraph, build_empty_graph
from assayer.methods.scicompanion.retrieval import FoundPapers, rank_recommended_references
from assayer.methods.scicompanion.schemas import AddedEdge, GraphCompletion, GraphPaper, Removal
from assayer.models import EdgeKey, NodeKey, Paper, PaperId
from workers.embedding.hashing_embedder import HashingEmbedder

WORDS = "in forty of a hundred reviews a quote was not found in its source"
SHOWN_PAPER = GraphPaper(
    label="P1",
    paper_id=PaperId("one"),
    title="Quoted sentences and their sources in reviews of papers",
    year=2020,
    text=f"We count that {WORDS}, and compare two readers.",
    new=True,
)
CLAIM = NodeKey("N2")


def make_graph() -> StateGraph:
    """Return the idea, paper N1 and a claim N2 that both state; the paper's edge is E1."""
    graph = build_empty_graph("An idea").add_paper(PaperId("one"), SHOWN_PAPER.title, 1).graph
    graph = graph.add_node("claim", "Quotes are often wrong", "", 1).graph
    graph = graph.add_edge(
        NewEdge(NodeKey("N1"), CLAIM, "states", "unverified", "Old.", "x y", PaperId("one")), 1
    ).graph
    return graph.add_edge(NewEdge(IDEA_NODE, CLAIM, "states", "stated", "Its premise."), 1).graph


async def edit(edges: list[AddedEdge], delete: list[Removal]) -> Edited:
    answer = GraphCompletion(nodes=[], edges=edges, revise=[], delete=delete)
    return await apply_edits(make_graph(), answer, [SHOWN_PAPER], HashingEmbedder(), 0.92, 24, 2)


def make_quoting_edge(words: str) -> AddedEdge:
    return AddedEdge(source="N1", kind="states", target="N2", label="P1", quote=words, statement="It counted them.")


async def test_edge_deleted_and_readded_in_same_answer_has_new_quote() -> None:
    edit_result = await edit([make_quoting_edge(WORDS)], [Removal(label="E1", reason="Its quote does not hold.")])
    assert [(edit.action, edit.refusal_reason) for edit in edit_result.edits] == [("delete", None), ("add", None)]
    (edge,) = [item for item in edit_result.graph.edges.values() if item.source == "N1"]
    assert (edge.basis, edge.target, WORDS in (edge.quote or "")) == ("quoted", CLAIM, True)


async def test_duplicate_of_existing_edge_is_rejected() -> None:
    edit_result = await edit([make_quoting_edge(WORDS)], [Removal(label="E2", reason="Another one.")])
    assert [(edit.action, edit.refusal_reason) for edit in edit_result.edits] == [
        ("add", "it is there already: E1"),
        ("delete", None),
    ]
    assert EdgeKey("E1") in edit_result.graph.edges


async def test_title_words_are_not_stored_as_quote_or_marked_unverified() -> None:
    edit_result = await edit(
        [make_quoting_edge(SHOWN_PAPER.title)], [Removal(label="E1", reason="Its quote does not hold.")]
    )
    (edge,) = [item for item in edit_result.graph.edges.values() if item.source == "N1"]
    assert (edge.basis, edge.quote) == ("stated", "")


def test_papers_linked_to_idea_claims_are_recommended_first() -> None:
    ids = [PaperId(name) for name in ("loud", "shown", "one")]
    papers = {item: Paper(id=item, title=f"On the matter of {item}", abstract="", source="corpus") for item in ids}
    found_papers = FoundPapers(papers, {ids[0]: 0.9, ids[1]: 0.5, ids[2]: 0.1}, dict.fromkeys(ids, ()))
    graph = make_graph().add_paper(ids[1], "Shown only", 1).graph
    idea = parse_idea(
        f"# Quotes\n\n{'We check every quoted sentence of a review against its source. ' * 3}", source="idea.md"
    )
    order = [
        recommended_reference.label
        for recommended_reference in rank_recommended_references(idea, graph, found_papers, 10)
    ]
    assert order == ["@one", "@shown", "@loud"]
