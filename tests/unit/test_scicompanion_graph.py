"""The state graph: what merges, what is refused and why, and that no change breaks it."""

from collections.abc import Callable
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assayer.methods.scicompanion.graph import (
    IDEA_NODE,
    KINDS_JOINED,
    RECORDED_KINDS,
    Changed,
    NewEdge,
    StateGraph,
    build_empty_graph,
)
from assayer.models import EdgeKey, EdgeKind, NodeKey, NodeKind, PaperId
from assayer.text.names import normalise_name

N1, N2, N3, N9 = (NodeKey(f"N{number}") for number in (1, 2, 3, 9))


def make_graph() -> StateGraph:
    """Return the idea, a paper N1, a paper N2 that N1 cites, and a claim N3 that N1 states."""
    graph = build_empty_graph("An idea")
    graph = graph.add_paper(PaperId("one"), "First paper", 1).graph
    graph = graph.add_paper(PaperId("two"), "Second paper", 1).graph
    graph = graph.add_node("claim", "Quotes are often wrong", "", 1).graph
    graph = graph.add_edge(NewEdge(N1, N2, "cites", "record"), 1).graph
    return graph.add_edge(NewEdge(N1, N3, "states"), 1).graph


def test_duplicate_paper_or_alias_id_maps_to_same_node() -> None:
    graph = make_graph().add_paper(PaperId("one"), "First paper", 2).graph
    graph = graph.add_paper(PaperId("copy"), "FIRST   paper.", 2).graph
    assert list(graph.nodes) == [IDEA_NODE, N1, N2, N3]
    assert graph.papers[PaperId("copy")] == N1
    assert graph.paper_of_node[N1] == "one"


def test_names_differing_in_case_accents_or_plural_share_a_node() -> None:
    assert normalise_name("Naïve  Bayes-classifiers!") == normalise_name("naive bayes classifier")
    graph = make_graph()
    changed = graph.add_node("claim", "Quotes are often WRONG.", "Counted twice.", 2)
    assert changed.node == N3
    assert changed.graph.nodes[N3].note == "Counted twice."
    assert changed.graph.nodes[N3].step == 1


def test_synonyms_are_merged_only_within_the_same_kind() -> None:
    graph = make_graph().add_node("method", "Edit distance", "", 1).graph
    assert graph.add_node("method", "Levenshtein distance", "", 2, same_node=NodeKey("N4")).node == "N4"
    assert graph.add_node("concept", "Levenshtein distance", "", 2, same_node=NodeKey("N4")).node == "N5"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda item: item.add_node("paper", "A paper from memory", "", 2), "papers come from searches only"),
        (lambda item: item.add_node("idea", "Another idea", "", 2), "there is one idea only"),
        (lambda item: item.add_node("concept", " … ", "", 2), "it has no name"),
        (lambda item: item.add_edge(NewEdge(N1, N9, "supports"), 2), "there is no node N9"),
        (lambda item: item.add_edge(NewEdge(N1, N1, "derives"), 2), "a node cannot be joined to itself"),
        (lambda item: item.add_edge(NewEdge(N2, N1, "cites"), 2), "only records and searches can say “cites”"),
        (lambda item: item.add_edge(NewEdge(N1, N2, "supports"), 2), "“supports” cannot lead from a paper to a paper"),
        (lambda item: item.add_edge(NewEdge(N1, N3, "states"), 2), "it is there already: E2"),
        (lambda item: item.delete_node(IDEA_NODE), "the idea itself cannot be deleted"),
        (lambda item: item.delete_node(N9), "there is no node N9"),
        (lambda item: item.delete_edge(EdgeKey("E9")), "there is no edge E9"),
        (lambda item: item.delete_edge(EdgeKey("E1")), "it is on record, and goes only with its papers"),
        (lambda item: item.revise_node(N9, "New", None), "there is no node N9"),
        (
            lambda item: item.revise_node(N1, "A better title", None),
            "the title of a paper or of the idea is a record and stays as it is",
        ),
        (lambda item: item.revise_node(N3, "Quotes are often wrong", None), "nothing would change"),
        (lambda item: item.revise_node(N3, "?", None), "it would have no name"),
        (
            lambda item: item.revise_edge(EdgeKey("E1"), "derives", None),
            "it is on record and cannot be changed",
        ),
        (lambda item: item.revise_edge(EdgeKey("E2"), None, None), "nothing would change"),
        (
            lambda item: item.revise_edge(EdgeKey("E2"), "uses", None),
            "“uses” cannot lead from a paper to a claim",
        ),
    ],
)
def test_invalid_change_is_rejected_with_reason(change: Callable[[StateGraph], Changed], reason: str) -> None:
    graph = make_graph()
    changed = change(graph)
    assert changed.refused == reason
    assert changed.graph == graph


def test_deleted_paper_loses_its_edges_and_cannot_be_readded() -> None:
    graph = make_graph().delete_node(N1).graph
    assert not graph.edges
    assert graph.add_paper(PaperId("one"), "First paper", 2).graph == graph
    readded = graph.add_node("claim", "Another claim", "", 2)
    assert readded.node == "N4", "a key is never given twice"


KEYS = st.integers(0, 8).map(lambda number: NodeKey(f"N{number}"))
EDGE_KEYS = st.integers(0, 8).map(lambda number: EdgeKey(f"E{number}"))
KINDS = st.sampled_from(get_args(EdgeKind))
NAMES = st.sampled_from(["Alpha", "alphas", "Beta", "Gamma ray", "", "Déjà vu"])
Change = Callable[[StateGraph], Changed]
CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.builds(lambda name: lambda graph: graph.add_paper(PaperId(name), name, 1), NAMES),
    st.builds(
        lambda kind, name, same: lambda graph: graph.add_node(kind, name, "", 1, same),
        st.sampled_from(get_args(NodeKind)),
        NAMES,
        st.none() | KEYS,
    ),
    st.builds(
        lambda source, target, kind, basis: lambda graph: graph.add_edge(NewEdge(source, target, kind, basis), 1),
        KEYS,
        KEYS,
        KINDS,
        st.sampled_from(["record", "stated", "quoted"]),
    ),
    st.builds(lambda key: lambda graph: graph.delete_node(key), KEYS),
    st.builds(lambda key: lambda graph: graph.delete_edge(key), EDGE_KEYS),
    st.builds(lambda key, name: lambda graph: graph.revise_node(key, name, None), KEYS, NAMES),
    st.builds(lambda key, kind: lambda graph: graph.revise_edge(key, kind, None), EDGE_KEYS, KINDS),
)


@settings(max_examples=120, deadline=None)
@given(st.lists(CHANGES, max_size=25))
def test_any_sequence_of_changes_keeps_graph_valid(changes: list[Change]) -> None:
    graph = build_empty_graph("An idea", 6, 5)
    for change in changes:
        before = graph
        graph, refusal, _ = change(graph)
        assert refusal is None or graph == before
        assert IDEA_NODE in graph.nodes
        assert len(graph.nodes) <= 6
        assert len(graph.edges) <= 5
        assert all(node in graph.nodes for node in graph.papers.values())
        names = [(node.kind, normalise_name(node.name)) for node in graph.nodes.values()]
        assert len(names) == len(set(names))
        for edge in graph.edges.values():
            sources, targets = KINDS_JOINED[edge.kind]
            assert graph.nodes[edge.source].kind in sources
            assert graph.nodes[edge.target].kind in targets
            assert edge.source != edge.target
            assert edge.basis == "record" or edge.kind not in RECORDED_KINDS
