"""Calls for proposals with reviewers, assignments and opinions."""

from collections.abc import Sequence
from typing import Any

import httpx2

from assayer.models import Score
from orchestrator.jobs.models import BatchId
from tests.contract.api.evaluated_calls import build_part
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.reported_evaluations import finish_with_report
from tests.contract.api.service import Service
from tests.contract.store_records import report
from tests.unit.reports_fixture import make_full_report

OUTSIDE_REVIEWER = {"name": "Grace Hopper", "email": "grace@example.org", "affiliation": "Yale University"}
_REPORT_SCORES: Sequence[float | None] = (0.5, 1.5, 3.5, 4.5, 6.5, 7.5, 9.5, None)
"""Out of 10, in the order of the rows."""
_SCORES_OF_GRACE = (1, 1, 2, 3, 4, 4, 5, 3)
_SCORES_OF_BEN = (1, 2, 2, 4, 3, 4, 5, 1)
"""Out of 5, in the order of the rows."""


async def invite_reviewers(service: Service, *names: str) -> list[Person]:
    """Return new reviewers with these names."""
    return [await add_person(service, "reviewer", name) for name in names]


def list_member_ids(*people: Person) -> list[str]:
    """Return the member ids of people."""
    return [str(person.member.id) for person in people]


async def choose_reviewers(
    client: httpx2.AsyncClient, batch: str, reviewers: list[str] | None, **body: Any
) -> dict[str, Any]:
    """Choose who reviews a call and return the answer."""
    answer = await client.put(f"/v1/batches/{batch}/reviewers", json={"reviewers": reviewers, **body})
    assert answer.status_code == 200, answer.text
    content: dict[str, Any] = answer.json()
    return content


async def assign_reviewers(client: httpx2.AsyncClient, batch: str, **body: Any) -> dict[str, Any]:
    """Assign the proposals of a call to its reviewers and return the answer."""
    answer = await client.post(f"/v1/batches/{batch}/assignments", json=body)
    assert answer.status_code == 200, answer.text
    content: dict[str, Any] = answer.json()
    return content


async def create_assigned_call(service: Service, *texts: str) -> tuple[Person, str, list[str]]:
    """Return a reviewer with all proposals of a call assigned, the call and its evaluations."""
    officer, ada = await add_person(service, "officer", "Otto Officer"), await add_person(service, "reviewer")
    batch, evaluations = await call_of(service, *texts)
    await officer.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    return ada, batch, evaluations


async def call_with_reviewer(service: Service, *texts: str) -> tuple[Person, str, list[str]]:
    """Return a reviewer with all proposals of a call assigned, the call and its evaluations; the first has a report."""
    assigned_reviewers = await create_assigned_call(service, *texts)
    await finish_with_report(service, await service.lease_next(), make_full_report())
    return assigned_reviewers


async def call_with_opinions(
    service: Service, opinions: int = 8, other_count: int = 0
) -> tuple[BatchId, Person, Person]:
    """Return a call of eight proposals and its two reviewers, each of whom submitted that many opinions.

    `others`: the number of further reviewers for each proposal."""
    count = len(_REPORT_SCORES)
    rows = "\n".join(f'Number {n},"We count what {n} plots hold. {"We test it. " * 20}"' for n in range(count))
    grace, ben = await invite_reviewers(service, "Grace Hopper", "Ben Blum")
    officer = await add_person(service, "officer", "Otto Officer")
    response = await officer.post("/v1/batches", files=[("file", ("call.csv", f"title,text\n{rows}\n".encode()))])
    batch = BatchId(response.json()["id"])
    assignment = await officer.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 2 + other_count})
    assert assignment.status_code < 300, assignment.text
    evaluations = (await officer.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
    id_by_row = {evaluation["row"]: evaluation["id"] for evaluation in evaluations}
    for _ in _REPORT_SCORES:
        lease = await service.lease_next()
        value = next(_REPORT_SCORES[row - 1] for row, id in id_by_row.items() if id == lease.job)
        parts = () if value is None else (build_part(Score(value=value, basis="two papers", certainty="low")),)
        await finish_with_report(service, lease, report().model_copy(update={"parts": parts}))
    for reviewer, scores in ((grace, _SCORES_OF_GRACE), (ben, _SCORES_OF_BEN)):
        for row, score in list(enumerate(scores, 1))[:opinions]:
            answer = await reviewer.post(f"/v1/evaluations/{id_by_row[row]}/opinions", json={"score": score})
            assert answer.status_code < 300, answer.text
    return batch, grace, ben
