"""The graph of a report: drawn the same way every time, told in words beside it, and as GraphML."""

from xml.etree import ElementTree

from assayer.models import EdgeKey, EvidenceEdge, EvidenceNode, GraphRecord, GraphStep, NodeKey, Report
from assayer.reports.graph_drawing import draw_graph
from assayer.reports.graphml import render_graphml
from assayer.reports.html import render_html
from assayer.reports.markdown import render_report_markdown
from tests.unit.scicompanion_world import evaluate_idea, make_backends_without_llm, make_corpus, make_twin_backends

_GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


async def make_report() -> tuple[Report, GraphRecord]:
    evaluation, graph = await evaluate_idea(make_twin_backends()[0])
    return evaluation.report, graph


async def test_every_node_and_edge_is_drawn_once_and_only_in_its_frames() -> None:
    _, graph = await make_report()
    drawing = draw_graph(graph)
    assert drawing is not None
    assert [node.node.key for node in drawing.nodes] == [node.key for node in graph.nodes]
    assert [tie.edge.key for tie in drawing.edges] == [edge.key for edge in graph.edges]
    deleted = next(node for node in drawing.nodes if node.node.key not in graph.steps[-1].nodes)
    assert "in-3" not in deleted.frames.split()
    assert len({(node.x, node.y) for node in drawing.nodes}) == len(drawing.nodes)
    assert all(0 <= node.y <= drawing.height for node in drawing.nodes)
    assert draw_graph(graph) == drawing


async def test_page_shows_all_steps_rejected_edits_and_recommendation_reasons() -> None:
    report, graph = await make_report()
    for text in (render_html(report), render_report_markdown(report)):
        assert "there is no node N900" in text
        assert "similar to the query “" in text
        assert "Quotes in reviews are often wrong" in text
    html = render_html(report)
    assert html.count('class="frame-choice"') == len(graph.steps)
    assert "<script" not in html
    assert " style=" not in html


async def test_hostile_node_names_are_escaped_in_html_and_graphml() -> None:
    report, graph = await make_report()
    evil = '"><script>alert(1)</script>&'
    nodes = tuple(node.model_copy(update={"name": evil}) for node in graph.nodes)
    hostile_report = report.model_copy(update={"graph": graph.model_copy(update={"nodes": nodes})})
    assert hostile_report.graph is not None
    assert "<script" not in render_html(hostile_report)
    read = ElementTree.fromstring(render_graphml(hostile_report, hostile_report.graph))  # noqa: S314 - our own text
    assert evil in {item.text for item in read.iter(f"{_GRAPHML}data")}


async def test_graphml_contains_all_nodes_and_edges_with_declared_data_keys() -> None:
    report, graph = await make_report()
    read = ElementTree.fromstring(render_graphml(report, graph))  # noqa: S314 - our own text
    assert [item.get("id") for item in read.iter(f"{_GRAPHML}node")] == [node.key for node in graph.nodes]
    assert [item.get("id") for item in read.iter(f"{_GRAPHML}edge")] == [edge.key for edge in graph.edges]
    declared_keys = {item.get("id") for item in read.iter(f"{_GRAPHML}key")}
    assert {item.get("key") for item in read.iter(f"{_GRAPHML}data")} <= declared_keys


async def test_graph_with_only_the_idea_is_described_but_not_drawn() -> None:
    evaluation, graph = await evaluate_idea(make_backends_without_llm(make_corpus([], {})))
    assert draw_graph(graph) is None
    for text in (render_html(evaluation.report), render_report_markdown(evaluation.report)):
        assert "The graph contains only the idea." in text
        assert "the searches found no paper that the idea does not mention" in text


def test_control_characters_do_not_break_graphml() -> None:
    node = EvidenceNode(key=NodeKey("N1"), kind="claim", name="A\x00B", step=1)
    idea = EvidenceNode(key=NodeKey("N0"), kind="idea", name="Idea", step=0)
    edge = EvidenceEdge(
        key=EdgeKey("E1"), source=NodeKey("N0"), target=NodeKey("N1"), kind="states", basis="stated", step=1
    )
    step = GraphStep(
        number=1,
        queries=(),
        papers_found=0,
        papers_added=0,
        edits=(),
        notebook_entry="",
        nodes=(NodeKey("N0"), NodeKey("N1")),
        edges=(EdgeKey("E1"),),
    )
    graph = GraphRecord(nodes=(idea, node), edges=(edge,), steps=(step,), recommended=())
    report = Report.model_construct(evaluation_id="ev_1", references=())
    assert ElementTree.fromstring(render_graphml(report, graph)) is not None  # noqa: S314 - our own text
