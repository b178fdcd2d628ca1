"""Graph of a report as GraphML, for programs that draw or analyse graphs (Gephi, yEd, networkx)."""

from xml.etree import ElementTree

from assayer.models import GraphRecord, Report
from assayer.reports.escaping import remove_unprintable

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_NODE_ATTRIBUTES = ("kind", "name", "note", "label", "paper", "url", "first_step", "remained")
_EDGE_ATTRIBUTES = ("kind", "basis", "statement", "quote", "evidence", "first_step", "remained")


def render_graphml(report: Report, graph: GraphRecord) -> str:
    """Return all nodes and edges that were ever in the graph, as GraphML. `remained` marks those present at the end."""
    root = ElementTree.Element("graphml", xmlns=_NAMESPACE)
    for target, names in (("node", _NODE_ATTRIBUTES), ("edge", _EDGE_ATTRIBUTES)):
        for name in names:
            kind = {"first_step": "int", "remained": "boolean"}.get(name, "string")
            attributes = {"id": f"{target}_{name}", "for": target, "attr.name": name, "attr.type": kind}
            ElementTree.SubElement(root, "key", attributes)
    graph_element = ElementTree.SubElement(root, "graph", {"id": report.evaluation_id, "edgedefault": "directed"})
    references = {item.label: item for item in report.references}
    last = graph.steps[-1] if graph.steps else None
    for node in graph.nodes:
        reference = references.get(node.label) if node.label else None
        element = ElementTree.SubElement(graph_element, "node", {"id": node.key})
        values = {
            "kind": node.kind,
            "name": node.name,
            "note": node.note,
            "label": node.label or "",
            "paper": reference.id if reference else "",
            "url": reference.url if reference else "",
            "first_step": str(node.step),
            "remained": _format_bool(last is None or node.key in last.nodes),
        }
        _add_data(element, "node", values)
    for edge in graph.edges:
        ends = {"id": edge.key, "source": edge.source, "target": edge.target}
        element = ElementTree.SubElement(graph_element, "edge", ends)
        values = {
            "kind": edge.kind,
            "basis": edge.basis,
            "statement": edge.statement,
            "quote": edge.quote,
            "evidence": edge.label or "",
            "first_step": str(edge.step),
            "remained": _format_bool(last is None or edge.key in last.edges),
        }
        _add_data(element, "edge", values)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _add_data(element: ElementTree.Element, target: str, values: dict[str, str]) -> None:
    for name, value in values.items():
        if value:
            ElementTree.SubElement(element, "data", {"key": f"{target}_{name}"}).text = remove_unprintable(value)


def _format_bool(value: bool) -> str:
    return "true" if value else "false"
