"""The page on which reviewers are assigned to a call: tried, done, withdrawn; conflicts declared and cleared."""

from tests.contract.api.console_forms import find_hidden_field, open_session, submit_form
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.service import Service


async def test_reviewer_assignments_are_previewed_made_and_withdrawn(
    service: Service, officer: Person, ada: Person
) -> None:
    batch, (first, _) = await call_of(service, "# One", "# Two")
    path = f"/console/calls/{batch}/assignments"
    async with open_session(service, officer.key) as browser:
        assert path in (await browser.get(f"/console/calls/{batch}")).text
        text = (await browser.get(path, params={"per_proposal": "2"})).text
        assert "2 new assignments" in text
        assert "Only 1 reviewer is available." in text
        assert (
            await service.services.reviewing.assignments.list_assignments(
                officer.member.tenant, member=None, batch=None
            )
            == []
        )
        plan = {"per_proposal": "2", "shown": find_hidden_field(text, "shown")}
        assert (await submit_form(browser, path, **plan)).status_code == 303
        assert "no review yet" in (await browser.get(path)).text
        assignment = {"evaluation": first, "reviewer": str(ada.member.id)}
        assert (await submit_form(browser, path, "/withdraw", **assignment)).status_code == 303
        again = await submit_form(browser, path, "/withdraw", **assignment)
        assert again.status_code == 409
        assert "Nothing was withdrawn" in again.text
    assignments = await service.services.reviewing.assignments.list_assignments(
        officer.member.tenant, member=None, batch=None
    )
    assert len(assignments) == 1


async def test_outdated_assignment_plan_is_rejected_without_assigning_reviewers(service: Service) -> None:
    officer = await add_person(service, "officer", "Otto Officer")
    await add_person(service, "reviewer")
    batch, _ = await call_of(service, "# One")
    path = f"/console/calls/{batch}/assignments"
    async with open_session(service, officer.key) as browser:
        field = find_hidden_field((await browser.get(path, params={"per_proposal": "2"})).text, "shown")
        await add_person(service, "reviewer", "Bob Noyce")
        answer = await submit_form(browser, path, per_proposal="2", shown=field)
    assert answer.status_code == 409
    assert "no reviewers were assigned" in answer.text
    assert (
        await service.services.reviewing.assignments.list_assignments(officer.member.tenant, member=None, batch=None)
        == []
    )


async def test_conflict_is_declared_excludes_the_reviewer_and_is_cleared_with_reason(service: Service) -> None:
    officer, ada = await add_person(service, "officer", "Otto Officer"), await add_person(service, "reviewer")
    batch, (first,) = await call_of(service, "# One")
    path, whose = f"/console/calls/{batch}/assignments", {"evaluation": first, "reviewer": str(ada.member.id)}
    async with open_session(service, officer.key) as browser:
        assert (await submit_form(browser, path, "/conflicts", **whose, reason=" x ")).status_code == 409
        assert (await submit_form(browser, path, "/conflicts", **whose, reason="a former student")).status_code == 303
        text = (await browser.get(path, params={"per_proposal": "1"})).text
        assert "1 of 1 reviewer has a conflict." in text
        assert "a former student" in text
        answer = await submit_form(browser, path, "/conflicts/clear", **whose, reason="twenty years ago")
        assert answer.status_code == 303
        text = (await browser.get(path, params={"per_proposal": "1"})).text
        assert "twenty years ago" in text
        assert "1 new assignment," in text
        assert (
            await submit_form(browser, path, "/conflicts", **whose | {"reviewer": "mb_no"}, reason="abc")
        ).status_code == 404


async def test_reviewer_is_assigned_by_hand_unless_a_conflict_forbids_it(service: Service, officer: Person) -> None:
    ada = await add_person(service, "reviewer", affiliation="Yale University")
    batch, (first, second) = await call_of(service, "# One", "# Two\n\nAda Byron, Yale University")
    path = f"/console/calls/{batch}/assignments"
    async with open_session(service, officer.key) as browser:
        fields = {"evaluation": first, "reviewer": str(ada.member.id)}
        assert (await submit_form(browser, path, "/one", **fields)).status_code == 303
        assert "already assigned" in (await submit_form(browser, path, "/one", **fields)).text
        answer = await submit_form(browser, path, "/one", **fields | {"evaluation": second})
        assert answer.status_code == 409
        assert "conflict of interest" in answer.text
    assert [item["evaluation"] for item in (await ada.get("/v1/assignments")).json()["items"]] == [first]


async def test_no_reviewer_gets_more_than_the_maximum(service: Service, officer: Person, ada: Person) -> None:
    batch, _ = await call_of(service, *(f"# Title {place}" for place in range(5)))
    limited = {"per_proposal": 1, "max_load": 2}
    answer = (await officer.post(f"/v1/batches/{batch}/assignments", json=limited)).json()
    assert (answer["assigned"], sum(item["missing_reviewers"] for item in answer["unfilled_proposals"])) == (2, 3)
    again = (await officer.post(f"/v1/batches/{batch}/assignments", json=limited)).json()
    assert again["assigned"] == 0
    async with open_session(service, officer.key) as browser:
        query = {"per_proposal": "1", "max_load": "3"}
        page = await browser.get(f"/console/calls/{batch}/assignments", params=query)
        assert "at most 3 proposals each" in page.text
        free = await browser.get(f"/console/calls/{batch}/assignments", params=query | {"max_load": ""})
        assert free.status_code == 200
    assert len((await ada.get("/v1/assignments")).json()["items"]) == 2


async def test_declined_review_leaves_the_queue_with_its_reason_and_does_not_return(
    service: Service, officer: Person, ada: Person
) -> None:
    batch, (first, _) = await call_of(service, "# One", "# Two")
    await officer.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    async with open_session(service, ada.key) as browser:
        form = {"kind": "expertise", "reason": "I know no chemistry."}
        declined = await submit_form(browser, f"/console/review/{first}", "/conflict", **form)
        assert "The proposal was removed from your queue" in (await browser.get(declined.headers["location"])).text
        assert "was removed from your queue" not in (await browser.get("/console/queue")).text
    again = (await officer.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})).json()
    assert [item["evaluation"] for item in again["unfilled_proposals"]] == [first]
    async with open_session(service, officer.key) as browser:
        page = (await browser.get(f"/console/calls/{batch}/assignments")).text
        assert "declined the review" in page
        assert "Not my field: I know no chemistry." in page
