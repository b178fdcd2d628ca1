"""Funding calls with criteria, a review form and a budget, and reviews that answer the form."""

import httpx2

from assayer_client.calls import CallTerms, ReviewField, ReviewForm
from assayer_client.evaluations import CriterionBody
from tests.contract.api.people import Person
from tests.contract.api.reported_evaluations import finish_with_report
from tests.contract.api.service import Service
from tests.unit.batch_bodies import WORDS
from tests.unit.reports_fixture import make_full_report

IMPACT = CriterionBody(
    name="Impact",
    question="Would the results change what others do?",
    anchors={"1": "no user is named", "10": "the field would work differently"},
    weight=2,
)
COST = CriterionBody(name="Cost", question="Is what is asked for in proportion?")
TERMS = CallTerms(
    text="We fund work on forgetting.",
    budget=100_000,
    currency="EUR",
    criteria=(IMPACT, COST),
    form=ReviewForm(
        fields=(
            ReviewField(name="Team", question="Can this team do it?", kind="scale", highest=5),
            ReviewField(name="Ethics", question="What must an ethics board see?", required=False),
        ),
        confidence=True,
        to_applicant=True,
    ),
    conflict_policy="Declare co-authors of the last five years.",
)
ANSWERS = {
    "criteria": {"Impact": 8, "Cost": 4},
    "fields": {"Team": 3},
    "confidence": 4,
    "to_applicant": "Name the users.",
}


async def create_funding_call(officer: Person, terms: CallTerms = TERMS) -> str:
    """Return a funding call without proposals."""
    answer = await officer.post("/v1/calls", json={"name": "Spring", "terms": terms.model_dump(mode="json")})
    assert answer.status_code == 201, answer.text
    assert (answer.json()["rows"], answer.json()["next_row"]) == (0, 1)
    return str(answer.json()["id"])


async def add_proposals(officer: Person, batch: str, *texts: str, **query: str) -> httpx2.Response:
    """Add proposals to a call that is closed."""
    first = (await officer.get(f"/v1/batches/{batch}")).json()["next_row"]
    form = [("file", (f"{number}.txt", text.encode())) for number, text in enumerate(texts)]
    parameters = {"first_row": str(first), "reopen": "true", **query}
    return await officer.post(f"/v1/batches/{batch}/rows", params=parameters, files=form)


async def list_proposals(officer: Person, batch: str) -> list[str]:
    evaluations = (await officer.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
    return [item["id"] for item in sorted(evaluations, key=lambda item: item["row"])]


async def create_reviewed_call(
    service: Service, officer: Person, reviewer: Person, count: int = 2
) -> tuple[str, list[str]]:
    """Return a call whose proposals have reports and are assigned to the reviewer."""
    batch = await create_funding_call(officer)
    addition = await add_proposals(officer, batch, *(f"# Proposal {number}\n\n{WORDS}" for number in range(count)))
    assert addition.status_code == 202, addition.text
    for _ in range(count):
        await finish_with_report(service, await service.lease_next(), make_full_report())
    assignment = await officer.post(
        f"/v1/batches/{batch}/assignments", json={"per_proposal": 1, "reviewers": [reviewer.member.id]}
    )
    assert assignment.status_code == 200, assignment.text
    return batch, await list_proposals(officer, batch)
