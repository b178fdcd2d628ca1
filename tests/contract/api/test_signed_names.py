"""Names on a panel that is signed off stay as they were signed, whatever its people are called later."""

from tests.contract.api.console_forms import open_session
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.reviewed_calls import call_with_reviewer
from tests.contract.api.service import ACME, OTHER, Service

BEFORE, AFTER = "Ada Byron", "Somebody Else"


async def test_signed_off_panel_keeps_the_old_name_of_a_renamed_member(service: Service, owner: Person) -> None:
    ada, batch, (first, second) = await call_with_reviewer(service, "# One", "# Two")
    going_on, (other,) = await call_of(service, "# Three")
    await owner.post(f"/v1/batches/{going_on}/assignments", json={"per_proposal": 1})
    for item in (first, other):
        assert (await ada.post(f"/v1/evaluations/{item}/opinions", json={"score": 4})).status_code == 200
    point = {"point": "/summary/strengths/0", "agrees": True, "reason": "It is so."}
    assert (await ada.post(f"/v1/evaluations/{first}/judgements", json=point)).status_code == 200
    conflict = {"reason": "We wrote a paper together."}
    assert (await ada.post(f"/v1/evaluations/{second}/conflicts", json=conflict)).status_code == 200
    body = {"allow_missing_opinions": True, "allow_unfinished_evaluations": True}
    assert (await owner.post(f"/v1/batches/{batch}/sign-off", json=body)).status_code == 200
    before = (await owner.get(f"/v1/batches/{batch}/panel")).json()
    renamed = await owner.patch(f"/v1/members/{ada.member.id}", json={"name": AFTER})
    assert renamed.status_code == 200
    assert (await owner.get(f"/v1/batches/{batch}/panel")).json() == before
    assert before["rows"][0]["opinions"][0]["name"] == BEFORE
    items = (await owner.get(f"/v1/evaluations/{first}/judgements")).json()["items"]
    assert [item["name"] for item in items] == [BEFORE]
    panel = (await owner.get(f"/v1/batches/{going_on}/panel")).json()
    assert panel["rows"][0]["opinions"][0]["name"] == AFTER
    async with open_session(service, owner.key) as browser:
        for page in ("panel", "assignments"):
            signed_page = (await browser.get(f"/console/calls/{batch}/{page}")).text
            assert BEFORE in signed_page, page
            assert AFTER not in signed_page, page
            assert BEFORE not in (await browser.get(f"/console/calls/{going_on}/{page}")).text
        assert BEFORE in (await browser.get(f"/console/proposals/{first}")).text


async def test_signed_names_are_erased_with_the_call_and_the_tenant(service: Service, owner: Person) -> None:
    await add_person(service, "reviewer", BEFORE)
    for text in ("# One", "# Two"):
        batch, _ = await call_of(service, text)
        await owner.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
        body = {"allow_missing_opinions": True, "allow_unfinished_evaluations": True}
        assert (await owner.post(f"/v1/batches/{batch}/sign-off", json=body)).status_code == 200
    assert len(await service.database.fetch("SELECT FROM signed_names WHERE name = $1", BEFORE)) == 2
    async with service.open_caller("manage") as machine:
        assert (await machine.post("/v1/erasures", json={"batch": batch})).status_code == 200
    assert len(await service.database.fetch("SELECT FROM signed_names")) == 1
    async with service.open_caller("admin", tenant=OTHER) as operator:
        assert (await operator.delete(f"/v1/tenants/{ACME}")).status_code == 204
    assert await service.database.fetch("SELECT FROM signed_names") == []
