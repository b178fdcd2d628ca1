"""Information shown to reviewers of a blind call: the proposal, and never its author, before or after their opinion."""

import httpx2
import pytest

from orchestrator.jobs.models import Problem
from tests.contract.api.console_forms import open_session
from tests.contract.api.people import Person, add_person
from tests.contract.api.reported_evaluations import finish_with_report
from tests.contract.api.service import JSONL_HEADERS, Service
from tests.unit.batch_bodies import make_idea_text, render_jsonl
from tests.unit.named_reports import IDENTIFYING, make_named_report

ROW = {
    "id": "HOPPER-7",
    "title": "Rehearsal after Grace Hopper",
    "text": "Authors: Grace Hopper, Yale University\n\n" + make_idea_text(3),
}
PDF = ("file", ("Hopper_Grace_Yale.pdf", b"%PDF-1.4\n" + b"x" * 2000))


async def _assign_first(service: Service, ada: Person, answer: httpx2.Response) -> str:
    """The evaluation of a batch's first row, assigned."""
    assert answer.status_code == 202, answer.text
    batch = answer.json()["id"]
    assigned = await service.machine.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    assert assigned.status_code == 200, assigned.text
    items = (await service.machine.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
    return min(items, key=lambda item: item["row"])["id"]  # type: ignore[no-any-return]  # of JSON


@pytest.mark.parametrize("kind", ["row", "document"])
async def test_author_identity_is_hidden_from_reviewers_of_a_blind_call(service: Service, kind: str) -> None:
    ada = await add_person(service, "reviewer")
    payload = {"files": [PDF]} if kind == "document" else {"content": render_jsonl([ROW]), "headers": JSONL_HEADERS}
    evaluation = await _assign_first(service, ada, await service.machine.post("/v1/batches", **payload))
    async with open_session(service, ada.key) as browser:

        async def read_everything() -> str:
            api = [await ada.get(path) for path in ("/v1/assignments", f"/v1/evaluations/{evaluation}/proposal")]
            pages = [await browser.get(path) for path in ("/console/queue", f"/console/review/{evaluation}")]
            return "\n".join(answer.text for answer in (*api, *pages))

        before = await read_everything()
        assert "Proposal 1" in before
        assert ("Rehearsal after" in before) == (kind == "row")
        await finish_with_report(service, await service.lease_next(), make_named_report("Rehearsal after [name]"))
        assert (await ada.post(f"/v1/evaluations/{evaluation}/opinions", json={"score": 4})).status_code == 200
        after = await read_everything()
        assert "Rehearsal after" in after
        read = "\n".join(
            [
                (await ada.get(f"/v1/evaluations/{evaluation}/report", headers={"Accept": accept})).text
                for accept in ("application/json", "text/html", "text/markdown")
            ]
        )
        brief = await ada.get(f"/v1/evaluations/{evaluation}/brief")
    assert brief.status_code == 200
    for word in (*IDENTIFYING, "HOPPER-7"):
        assert word not in before + after + read, word
    assert "Proposal 1" in read
    report_text = (await service.machine.get(f"/v1/evaluations/{evaluation}/report")).text
    assert "Hopper" in report_text


async def test_missing_report_reason_hides_the_file_name_from_reviewers(service: Service, ada: Person) -> None:
    evaluation = await _assign_first(service, ada, await service.machine.post("/v1/batches", files=[PDF]))
    await ada.post(f"/v1/evaluations/{evaluation}/opinions", json={"score": 4})
    await service.finish(Problem(type="about:blank", title="Not read", detail="Hopper_Grace_Yale.pdf is no PDF."))
    late = await ada.patch(f"/v1/evaluations/{evaluation}/opinions", json={"score": 3})
    assert late.status_code == 409, "there is nothing to review"
    assert "Hopper" not in late.text
    answer = await ada.get(f"/v1/evaluations/{evaluation}/report")
    assert answer.status_code >= 400
    assert "Hopper" not in answer.text
    assert "The people who run the call can see the reason." in answer.text


async def test_officers_and_reviewers_of_named_calls_see_the_original_title(service: Service) -> None:
    ada = await add_person(service, "reviewer")
    async with service.open_caller() as officer:
        await _assign_first(
            service, ada, await officer.post("/v1/batches", content=render_jsonl([ROW]), headers=JSONL_HEADERS)
        )
        (assignment,) = (await officer.get("/v1/assignments")).json()["items"]
        assert assignment["title"] == ROW["title"]
        async with service.open_caller() as named_caller:
            answer = await named_caller.post(
                "/v1/batches?blind=false", content=render_jsonl([ROW]), headers=JSONL_HEADERS
            )
        await _assign_first(service, ada, answer)
        titles = [item["title"] for item in (await ada.get("/v1/assignments")).json()["items"]]
    assert sorted("Hopper" in title for title in titles) == [False, True]
    assert ROW["title"] in titles


@pytest.mark.parametrize("blind", [True, False])
async def test_author_of_a_document_is_not_assigned_to_it(service: Service, blind: bool) -> None:
    """The stored text of a document judged blind contains no names, nor ever the field `author`."""
    grace = await add_person(service, "reviewer", "Grace Hopper")
    ada = await add_person(service, "reviewer", "Ada Byron")
    path = f"/v1/batches?blind={str(blind).lower()}"
    batch = (await service.machine.post(path, files=[PDF])).json()["id"]
    masked = make_named_report("Rehearsal after [name]")
    card = masked.idea.model_copy(update={"blinding": None, "people_fields": ("G. Roe; Grace Hopper",)})
    report = masked if blind else masked.model_copy(update={"idea": card})
    await finish_with_report(service, await service.lease_next(), report)
    answer = await service.machine.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 2})
    assert [item["member"] for item in answer.json()["conflicts"]] == [grace.member.id]
    queue = (await service.machine.get("/v1/assignments", params={"batch": batch})).json()["items"]
    assert [item["member"] for item in queue] == [ada.member.id]
