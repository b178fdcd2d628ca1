"""One proposal: from a claim to its quote and its source and back, remarks of people, with keys and a small screen."""

import asyncpg
import pytest

from assayer.errors import StorageError
from orchestrator.store.migrator import AnyConnection
from tests.contract.api.console_forms import open_session
from tests.contract.api.people import add_person
from tests.contract.api.reported_evaluations import store_full_report
from tests.contract.api.reviewed_calls import call_with_reviewer
from tests.contract.api.service import Service


async def test_remarks_are_immutable_and_logged(service: Service, table_owner: AnyConnection) -> None:
    job = await store_full_report(service)
    officer = await add_person(service, "officer")
    first = await officer.post(f"/v1/evaluations/{job}/remarks", json={"text": "Look at the budget."})
    assert first.status_code == 201, first.text
    again = await officer.post(f"/v1/evaluations/{job}/remarks", json={"text": "Look at the budget."})
    assert again.json() == first.json()
    await officer.post(f"/v1/evaluations/{job}/remarks", json={"text": "It was corrected."})
    items = (await officer.get(f"/v1/evaluations/{job}/remarks")).json()["items"]
    assert [(item["text"], item["author"], item["role"]) for item in items] == [
        ("Look at the budget.", "Ada Byron", "officer"),
        ("It was corrected.", "Ada Byron", "officer"),
    ]
    change = "UPDATE remarks SET text = 'Nothing.'"
    with pytest.raises(StorageError, match="permission denied for table remarks"):
        await service.database.execute(change)
    with pytest.raises(asyncpg.RaiseError, match="rows of remarks are added and never changed"):
        await table_owner.execute(change)
    owner = await add_person(service, "owner", "Olga Owner")
    entries = (await owner.get("/v1/audit-log")).json()["items"]
    await owner.delete(f"/v1/evaluations/{job}?erase=true")
    remarks = [entry for entry in entries if entry["action"] == "remark added"]
    assert [(item["subject"], item["content"]["text"]) for item in remarks] == [
        (job, "Look at the budget."),
        (job, "It was corrected."),
    ]
    assert await service.database.fetch("SELECT FROM remarks") == []


async def test_reviews_are_shown_before_the_proposal_and_the_findings(service: Service) -> None:
    ada, _, (first,) = await call_with_reviewer(service, "# One")
    assert (await ada.post(f"/v1/evaluations/{first}/opinions", json={"score": 4, "note": "Sound."})).is_success
    owner = await add_person(service, "owner", "Olga Owner")
    async with open_session(service, owner.key) as browser:
        page = (await browser.get(f"/console/proposals/{first}")).text
    places = [
        page.index(text) for text in ("Sound.", ">The proposal<", ">Report findings<", ">Remarks</h2>", ">Sources</h2>")
    ]
    assert places == sorted(places)
