"""All of one applicant, or of a call, shown first, then deleted by an owner, with a proof to take away."""

from tests.contract.api.console_forms import find_hidden_field, open_session
from tests.contract.api.erasures import find_tables_with, request_erasure, submit_rows_to_erase
from tests.contract.api.people import Person, add_person
from tests.contract.api.service import OTHER, Service
from tests.contract.pdf_files import read_pdf_text

ORIGIN = {"Origin": "http://api"}


async def test_erasure_proof_lists_deleted_jobs_without_naming_the_applicant(service: Service) -> None:
    async with service.open_caller() as owner, service.open_caller(tenant=OTHER) as other_tenant:
        batch = await submit_rows_to_erase(owner)
        erasure_answer = await request_erasure(owner, source="A-1")
        proof = (await owner.get(f"/v1/erasures/{erasure_answer['proof']}")).json()
        paper = await owner.get(f"/v1/erasures/{erasure_answer['proof']}?format=pdf")
        head = (await owner.get("/v1/audit-log/head")).json()
        assert (await other_tenant.get(f"/v1/erasures/{erasure_answer['proof']}")).status_code == 404
        batch_proof = await request_erasure(owner, batch=batch)
        assert (await owner.get(f"/v1/erasures/{batch_proof['proof']}")).json()["subject"] == batch
        assert (await owner.get("/v1/erasures/9999")).status_code == 404
    assert proof["erased_ids"] == [item["id"] for item in erasure_answer["jobs"]]
    assert (proof["still_stored"], proof["subject"]) == ([], "an applicant")
    assert proof["audit_head"] == f"{head['number']}:{head['hash']}"
    assert "A-1" not in str(proof)
    assert proof["hash"] in read_pdf_text(paper.content).replace(" ", "")
    assert await find_tables_with(service.database, "Reeds") == []


async def test_page_names_reviewers_whose_interests_name_the_applicant(service: Service, ada: Person) -> None:
    owner = await add_person(service, "owner", "Olga Owner")
    stored = await ada.put(f"/v1/members/{ada.member.id}/expertise", json={"version": 0, "people": ["Cy Young"]})
    assert stored.is_success, stored.text
    async with open_session(service, owner.key) as browser:
        page = (await browser.get("/console/erase?source=Cy+Young")).text
        assert f'<a href="/console/members/{ada.member.id}/expertise">Ada Byron</a>' in page
        assert "expertise or conflicts of interest" not in (await browser.get("/console/erase?source=Cy+Old")).text


async def test_proof_page_and_pdf_name_who_erased_and_the_deleted_items(service: Service) -> None:
    await submit_rows_to_erase(service.machine)
    owner = await add_person(service, "owner", "Olga Owner")
    async with open_session(service, owner.key) as reads:
        proof = (await owner.get(f"/v1/erasures/{(await request_erasure(owner, source='A-1'))['proof']}")).json()
        page = (await reads.get(f"/console/erase/{proof['number']}")).text.partition("<main")[2]
        paper = " ".join(read_pdf_text((await owner.get(f"/v1/erasures/{proof['number']}?format=pdf")).content).split())
    assert proof["erased_by"] == "Olga Owner"
    entry = f"{proof['number']}:{proof['hash']}"
    assert proof["audit_head"] == entry
    for document in (page, paper):
        assert "Olga Owner, owner" in document
        assert proof["erased_by_id"] not in document
        assert "All data of one applicant, who is not named here" in document
        assert "1 evaluation" in document
        assert "lost the words" not in document
        assert document.replace(" ", "").count(entry) == 1


async def test_erasure_is_rejected_when_data_changed_since_the_preview(service: Service) -> None:
    await submit_rows_to_erase(service.machine)
    async with open_session(service, (await add_person(service, "owner")).key) as owner:
        page = (await owner.get("/console/erase?source=A-1")).text
        await submit_rows_to_erase(service.machine)
        form = {name: find_hidden_field(page, name) for name in ("csrf_token", "shown", "source")}
        answer = await owner.post("/console/erase", data=form, headers=ORIGIN)
    assert answer.status_code == 409
    assert "nothing was deleted" in answer.text
    assert len((await service.machine.get("/v1/evaluations")).json()["items"]) == 4
