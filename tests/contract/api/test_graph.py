"""The graph of a report over HTTP."""

from xml.etree import ElementTree

import httpx2

from assayer.models import EdgeKey, EvidenceEdge, EvidenceNode, GraphRecord, GraphStep, NodeKey
from tests.contract.api.problems import check_problem, get_first_error
from tests.contract.api.service import TEXT, Service

IDEA, CLAIM, STATES = NodeKey("N0"), NodeKey("N1"), EdgeKey("E1")
GRAPH = GraphRecord(
    nodes=(
        EvidenceNode(key=IDEA, kind="idea", name="Rehearsal by risk", step=0),
        EvidenceNode(key=CLAIM, kind="claim", name="Some examples are forgotten first <&>", step=1),
    ),
    edges=(EvidenceEdge(key=STATES, source=IDEA, target=CLAIM, kind="states", basis="stated", step=1),),
    steps=(
        GraphStep(
            number=1,
            queries=("forgetting",),
            papers_found=3,
            papers_added=0,
            edits=(),
            notebook_entry="",
            nodes=(IDEA, CLAIM),
            edges=(STATES,),
        ),
    ),
    recommended=(),
)


async def _submit(client: httpx2.AsyncClient) -> str:
    accepted = await client.post("/v1/evaluations", json={"idea": {"text": TEXT}})
    return str(accepted.json()["id"])


async def test_graph_is_returned_as_json_or_graphml(service: Service, client: httpx2.AsyncClient) -> None:
    job = await _submit(client)
    await service.finish(graph=GRAPH)
    graph_answer = await client.get(f"/v1/evaluations/{job}/graph")
    graphml = await client.get(f"/v1/evaluations/{job}/graph", params={"format": "graphml"})
    wrong = await client.get(f"/v1/evaluations/{job}/graph", params={"format": "dot"})
    assert graph_answer.headers["content-type"] == "application/json"
    members = {name: graph_answer.json()[name] for name in GraphRecord.model_fields}
    assert GraphRecord.model_validate(members) == GRAPH
    assert graph_answer.json()["references"] == []
    assert graphml.headers["content-type"] == "application/graphml+xml"
    read = ElementTree.fromstring(graphml.text)  # noqa: S314 - our own text
    assert len(list(read.iter("{http://graphml.graphdrawing.org/xmlns}node"))) == 2
    error = get_first_error(wrong)
    assert error.parameter == "format"


async def test_report_without_a_graph_names_the_method_that_builds_it(
    service: Service, client: httpx2.AsyncClient
) -> None:
    job = await _submit(client)
    early = await client.get(f"/v1/evaluations/{job}/graph")
    await service.finish()
    answer = await client.get(f"/v1/evaluations/{job}/graph")
    check_problem(early, 409, "not-finished")
    assert "scicompanion" in check_problem(answer, 404, "not-found").detail
