"""A call as its people work on it: invited, assigned, blind opinions first, then the program's, overrides, sign-off."""

import re

import pytest

from assayer.models import Point, Summary
from orchestrator.access.audit_chain import ActBy, find_audit_faults
from orchestrator.jobs.models import BatchId, JobId
from orchestrator.store import PgReports
from tests.contract.api.console_forms import open_session
from tests.contract.api.people import OPERATOR, Person, add_person, call_of
from tests.contract.api.problems import check_problem
from tests.contract.api.reviewed_calls import assign_reviewers
from tests.contract.api.service import ACME, Service
from tests.contract.store_records import report

PAPERS = ("# Rehearsal by risk\n\nAuthors: Grace Hopper, Yale University", "# Two", "# Three", "# Four", "# Five")


async def test_a_call_is_reviewed_from_invitation_to_sign_off(service: Service, owner: Person, officer: Person) -> None:
    ada, bob = await add_person(service, "reviewer", "Ada Byron"), await add_person(service, "reviewer", "Bob Noyce")
    batch, evaluations = await call_of(service, *PAPERS)
    for _ in evaluations:
        await service.finish()
    planned = await assign_reviewers(officer, batch, dry_run=True)
    assignment = await assign_reviewers(officer, batch)
    assert (planned["assigned"], assignment["assigned"], assignment["unfilled_proposals"]) == (10, 10, [])
    assert set(assignment["loads"].values()) == {5}
    again = await assign_reviewers(officer, batch)
    assert again["assigned"] == 0
    for person, scores in ((ada, (1, 2, 3, 4, 5)), (bob, (1, 2, 3, 5, 5))):
        queue = (await person.get("/v1/assignments")).json()["items"]
        assert [item["evaluation"] for item in queue] == evaluations
        for item, score in zip(queue, scores, strict=True):
            path = f"/v1/evaluations/{item['evaluation']}"
            check_problem(await person.get(f"{path}/report"), 403, "forbidden")
            answer = await person.post(f"{path}/opinions", json={"score": score, "note": "at first"})
            assert answer.json()["score"] == answer.json()["blind_score"] == score
            assert (await person.get(f"{path}/report")).status_code == 200
    first = evaluations[0]
    revised = await bob.patch(f"/v1/evaluations/{first}/opinions", json={"score": 3, "note": "read it"})
    assert (revised.json()["blind_score"], revised.json()["score"]) == (1, 3)
    await officer.post(f"/v1/evaluations/{evaluations[1]}/override", json={"score": 4, "reason": "the board"})
    panel = (await officer.get(f"/v1/batches/{batch}/panel")).json()
    assert (panel["assigned_opinions"], panel["submitted_opinions"], panel["revised_opinions"]) == (10, 10, 1)
    assert panel["blind"]["kappa"] == pytest.approx(0.9565, abs=0.0001)
    assert panel["current"]["kappa"] < panel["blind"]["kappa"]
    rows = {row["evaluation"]: row for row in panel["rows"]}
    assert (rows[first]["mean"], rows[first]["spread"], rows[first]["score"]) == (2, 2, 2)
    assert (rows[evaluations[1]]["mean"], rows[evaluations[1]]["score"]) == (2, 4)
    check_problem(await officer.post(f"/v1/batches/{batch}/sign-off", json={}), 403, "forbidden")
    body = {"note": "Agreed.", "allow_unfinished_evaluations": True}
    response = (await owner.post(f"/v1/batches/{batch}/sign-off", json=body)).json()
    assert (response["signed_off_by"], response["missing_opinions"]) == ("Olga Owner", 0)
    check_problem(await owner.post(f"/v1/batches/{batch}/sign-off", json={}), 409, "conflict")
    late = {"score": 5, "reason": "a friend"}
    check_problem(await officer.post(f"/v1/evaluations/{first}/override", json=late), 409, "conflict")
    check_problem(await ada.patch(f"/v1/evaluations/{first}/opinions", json={"score": 5}), 409, "conflict")
    log = await service.services.audit_log.list_entries(ACME)
    assert (log[-1].action, log[-1].number, log[-1].hash) == (
        "signed off",
        response["audit_number"],
        response["audit_hash"],
    )
    actions = [entry.action for entry in log]
    assert actions.count("blind opinion given") == 10
    assert {"reviewers assigned", "opinion revised", "score overridden"} <= set(actions)
    assert list(find_audit_faults(log, await service.services.audit_log.get_head(ACME))) == []


async def test_reviewer_sees_only_the_proposal_before_the_first_opinion(service: Service) -> None:
    officer, ada = await add_person(service, "officer", "Otto Officer"), await add_person(service, "reviewer")
    batch, (first, waiting) = await call_of(service, PAPERS[0], PAPERS[0])
    await service.finish()
    check_problem(await ada.get(f"/v1/evaluations/{first}/report"), 404, "not-found")
    check_problem(await ada.post(f"/v1/evaluations/{first}/opinions", json={"score": 3}), 404, "not-found")
    check_problem(await ada.get(f"/v1/evaluations/{first}/proposal"), 404, "not-found")
    await assign_reviewers(officer, batch, per_proposal=1)
    judged, masked = [
        (await ada.get(f"/v1/evaluations/{evaluation}/proposal")).json() for evaluation in (first, waiting)
    ]
    assert judged["text"] == report().idea.text
    assert "rehearse" in masked["text"]
    for text in (judged, masked):
        assert text["masked"] is True
        assert "Hopper" not in text["text"]
    for accept in ("application/json", "text/html", "text/markdown"):
        answer = await ada.get(f"/v1/evaluations/{first}/report", headers={"Accept": accept})
        assert "own opinion" in check_problem(answer, 403, "forbidden").detail
    judgement = {"point": "/parts/0", "agrees": True, "reason": "so it is"}
    check_problem(await ada.post(f"/v1/evaluations/{first}/judgements", json=judgement), 403, "forbidden")
    check_problem(await ada.patch(f"/v1/evaluations/{first}/opinions", json={"score": 3}), 409, "conflict")


async def test_first_opinion_cannot_be_changed(service: Service, officer: Person, ada: Person) -> None:
    batch, (first,) = await call_of(service, "# One")
    await assign_reviewers(officer, batch, per_proposal=1)
    path = f"/v1/evaluations/{first}/opinions"
    for _ in range(2):
        assert (await ada.post(path, json={"score": 2})).status_code == 200
    check_problem(await ada.post(path, json={"score": 4}), 409, "conflict")
    (assignment,) = (await ada.get(path)).json()["items"]
    assert assignment["blind_score"] == 2
    actions = [entry.action for entry in await service.services.audit_log.list_entries(ACME)]
    assert actions.count("blind opinion given") == 1


async def test_reviewer_agrees_or_disagrees_with_points_of_the_report(service: Service) -> None:
    officer, ada = await add_person(service, "officer", "Otto Officer"), await add_person(service, "reviewer")
    batch, (first,) = await call_of(service, "# One")
    await service.finish()
    strength = Point(kind="strength", text="It is cheap.")
    summary = Summary(strengths=(strength,), weaknesses=(), suggestions=())
    stored = report(f"run_{first}").model_copy(update={"summary": summary})
    await PgReports(service.database).store(stored)
    await assign_reviewers(officer, batch, per_proposal=1)
    await ada.post(f"/v1/evaluations/{first}/opinions", json={"score": 2})
    path = f"/v1/evaluations/{first}/judgements"
    for agrees in (True, False):
        body = {"point": "/summary/strengths/0", "agrees": agrees, "reason": "the source says otherwise"}
        (own,) = (await ada.post(path, json=body)).json()["items"]
        assert (own["point"], own["agrees"]) == ("/summary/strengths/0", agrees)
    for wrong in ("/summary/strengths", "/summary/strengths/1", "summary/strengths/0", "/idea", "/idea/text"):
        body = {"point": wrong, "agrees": True, "reason": "so it is"}
        check_problem(await ada.post(path, json=body), 422, "invalid-request")
    assert len((await officer.get(path)).json()["items"]) == 1


async def test_conflicts_are_detected_declared_cleared_and_enforced(service: Service, officer: Person) -> None:
    grace = await add_person(service, "reviewer", "Grace Hopper")
    yale = await add_person(service, "reviewer", "Ada Byron", affiliation="Nowhere; Yale University")
    free = await add_person(service, "reviewer", "Bob Noyce")
    batch, (first, second, *_) = await call_of(service, *PAPERS)
    outcome = await assign_reviewers(officer, batch, per_proposal=2)
    conflicts = {item["member"]: item for item in outcome["conflicts"]}
    assert conflicts.keys() == {grace.member.id, yale.member.id}
    assert (conflicts[grace.member.id]["source"], conflicts[yale.member.id]["source"]) == ("name", "affiliation")
    assert "Grace Hopper" in conflicts[grace.member.id]["reason"]
    assert [item["missing_reviewers"] for item in outcome["unfilled_proposals"]] == [1]
    queue = (await officer.get("/v1/assignments", params={"batch": batch})).json()["items"]
    assert [item["member"] for item in queue if item["evaluation"] == first] == [free.member.id]
    own_evaluations = [item["evaluation"] for item in (await grace.get("/v1/assignments")).json()["items"]]
    declared = await grace.post(f"/v1/evaluations/{own_evaluations[0]}/conflicts", json={"reason": "a former student"})
    assert declared.json()["source"] == "declared"
    assert own_evaluations[0] not in (await grace.get("/v1/assignments")).text
    check_problem(
        await grace.post(f"/v1/evaluations/{own_evaluations[0]}/opinions", json={"score": 3}), 404, "not-found"
    )
    of_others = {"reviewer": free.member.id, "reason": "I want it"}
    check_problem(await grace.post(f"/v1/evaluations/{own_evaluations[1]}/conflicts", json=of_others), 403, "forbidden")
    cleared_conflict = {"reviewer": yale.member.id, "reason": "left in 2001"}
    answer = await officer.delete(f"/v1/evaluations/{first}/conflicts", params=cleared_conflict)
    assert answer.json()["cleared_reason"] == "left in 2001"
    assert (await assign_reviewers(officer, batch, per_proposal=2))["unfilled_proposals"] == []
    items = (await officer.get(f"/v1/batches/{batch}/conflicts")).json()["items"]
    assert len(items) == 3
    assert second


async def test_opinion_with_a_conflict_is_shown_but_not_counted(service: Service) -> None:
    officer, ada = await add_person(service, "officer", "Otto Officer"), await add_person(service, "reviewer")
    bob = await add_person(service, "reviewer", "Bob Noyce")
    batch, (first,) = await call_of(service, "# One")
    await assign_reviewers(officer, batch, per_proposal=2)
    for person, score in ((ada, 5), (bob, 2)):
        await person.post(f"/v1/evaluations/{first}/opinions", json={"score": score})
    before = (await officer.get(f"/v1/batches/{batch}/panel")).json()
    assert (before["excluded_opinions"], before["rows"][0]["mean"]) == (0, 3.5)
    body = {"reviewer": ada.member.id, "reason": "her husband's"}
    await officer.post(f"/v1/evaluations/{first}/conflicts", json=body)
    check_problem(await ada.patch(f"/v1/evaluations/{first}/opinions", json={"score": 5}), 409, "conflict")
    panel = (await officer.get(f"/v1/batches/{batch}/panel")).json()
    (row,) = panel["rows"]
    assert (panel["submitted_opinions"], panel["excluded_opinions"], row["excluded_opinions"]) == (2, 1, 1)
    assert (row["mean"], row["spread"], row["score"]) == (2, None, 2)
    assert {item["name"]: item["conflict"] for item in row["opinions"]} == {"Ada Byron": True, "Bob Noyce": False}
    carol = await add_person(service, "reviewer", "Carol Shaw")
    again = await assign_reviewers(officer, batch, per_proposal=2)
    assert (again["assigned"], again["loads"][carol.member.id], again["withdrawn"]) == (1, 1, 0)
    async with open_session(service, officer.key) as browser:
        page = (await browser.get(f"/console/calls/{batch}/panel")).text
    assert "not counted: conflict" in page
    assert "1, by reviewers with a conflict of interest" in page
    cleared_conflict = {"reviewer": ada.member.id, "reason": "divorced in 2001"}
    await officer.delete(f"/v1/evaluations/{first}/conflicts", params=cleared_conflict)
    after = (await officer.get(f"/v1/batches/{batch}/panel")).json()
    assert (after["excluded_opinions"], after["rows"][0]["mean"]) == (0, 3.5)


async def test_conflict_found_later_moves_the_assignment_to_another_reviewer(service: Service) -> None:
    officer, ada = await add_person(service, "officer", "Otto Officer"), await add_person(service, "reviewer")
    batch, (first,) = await call_of(service, PAPERS[0])
    await assign_reviewers(officer, batch, per_proposal=1)
    await officer.patch(f"/v1/members/{ada.member.id}", json={"affiliation": "Yale University"})
    preview = await assign_reviewers(officer, batch, per_proposal=1, dry_run=True)
    assert (preview["assigned"], preview["withdrawn"], preview["unfilled_proposals"][0]["missing_reviewers"]) == (
        0,
        1,
        1,
    )
    assert len((await ada.get("/v1/assignments")).json()["items"]) == 1
    bob = await add_person(service, "reviewer", "Bob Noyce")
    outcome = await assign_reviewers(officer, batch, per_proposal=1)
    assert (outcome["assigned"], outcome["withdrawn"], outcome["unfilled_proposals"]) == (1, 1, [])
    assert outcome["loads"] == {ada.member.id: 0, bob.member.id: 1}
    assert (await ada.get("/v1/assignments")).json()["items"] == []
    check_problem(await ada.get(f"/v1/evaluations/{first}/proposal"), 404, "not-found")
    ended, given = (await service.services.audit_log.list_entries(ACME))[-2:]
    assert (ended.action, ended.subject) == ("assignment withdrawn", first)
    assert ended.content == {"by": "Otto Officer", "member": ada.member.id, "reason": "a conflict of interest"}
    assert (given.content or {})["pairs"] == [[first, bob.member.id]]


async def test_assignments_page_announces_and_ends_conflicted_assignments(service: Service) -> None:
    officer, ada = await add_person(service, "officer", "Otto Officer"), await add_person(service, "reviewer")
    batch, _ = await call_of(service, PAPERS[0])
    path = f"/console/calls/{batch}/assignments"
    async with open_session(service, officer.key) as browser:
        await assign_reviewers(officer, batch, per_proposal=1)
        await officer.patch(f"/v1/members/{ada.member.id}", json={"affiliation": "Yale University"})
        page = (await browser.get(f"{path}?per_proposal=1")).text
        assert "Only 1 without a review ends, because of a conflict of interest: Ada Byron" in page
        assert "End it" in page
        fields = dict(re.findall(r'name="(csrf_token|shown)" value="(\w+)"', page))
        body = {**fields, "per_proposal": "1"}
        assert (await browser.post(path, data=body, headers={"Origin": "http://api"})).status_code == 303
        assert (await officer.get("/v1/assignments")).json()["items"] == []


async def test_outdated_assignment_pairs_are_skipped(service: Service, ada: Person) -> None:
    bob = await add_person(service, "reviewer", "Bob Noyce")
    batch, (first, second, third) = await call_of(service, "# One", "# Two", "# Three")
    stores, now = service.services, service.services.clock.now()
    pairs = [(JobId(item), person.member.id) for item in (first, second, third) for person in (ada, bob)]
    await stores.reviewing.assignments.declare(ACME, JobId(first), ada.member.id, "my sister's", ActBy(OPERATOR, now))
    await stores.erasures.erase(ACME, [JobId(second)], ActBy(OPERATOR, now))
    await stores.members.remove(ACME, bob.member.id, ActBy(OPERATOR, now))
    original_assign = await stores.reviewing.assignments.assign(
        ACME, BatchId(batch), dict.fromkeys(pairs, ""), ActBy(OPERATOR, now)
    )
    assert original_assign == [(JobId(third), ada.member.id)]
    last = (await stores.audit_log.list_entries(ACME))[-1]
    assert (last.content or {})["pairs"] == [[third, ada.member.id]]


async def test_sign_off_with_unfinished_evaluations_requires_confirmation(service: Service) -> None:
    owner = await add_person(service, "owner", "Olga Owner")
    await add_person(service, "reviewer")
    batch, _ = await call_of(service, "# One", "# Two", "# Three")
    await service.finish()
    sign_off = f"/v1/batches/{batch}/sign-off"
    problem = check_problem(await owner.post(sign_off, json={}), 409, "conflict")
    assert "2 evaluations have not ended." in problem.detail
    assert "allow_unfinished_evaluations" in problem.detail
    await assign_reviewers(owner, batch, per_proposal=1)
    both = check_problem(await owner.post(sign_off, json={}), 409, "conflict").detail
    assert "3 assigned opinions are missing" in both
    assert "2 evaluations have not ended" in both
    for item, other_field in (("allow_missing_opinions", "evaluations"), ("allow_unfinished_evaluations", "opinions")):
        assert other_field in check_problem(await owner.post(sign_off, json={item: True}), 409, "conflict").detail
    assert (await owner.get(f"/v1/batches/{batch}/panel")).json()["sign_off"] is None
    await service.finish()
    answer = await owner.post(sign_off, json={"allow_missing_opinions": True, "allow_unfinished_evaluations": True})
    assert answer.json()["missing_opinions"] == 3, answer.text
    check_problem(await owner.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 2}), 409, "conflict")
    log = await service.services.audit_log.list_entries(ACME)
    assert (log[-1].content or {})["unfinished_evaluations"] == 1


async def test_assignment_can_be_withdrawn_only_before_an_opinion(service: Service) -> None:
    officer, ada = await add_person(service, "officer", "Otto Officer"), await add_person(service, "reviewer")
    batch, (first, second) = await call_of(service, "# One", "# Two")
    await assign_reviewers(officer, batch, per_proposal=1)
    await ada.post(f"/v1/evaluations/{first}/opinions", json={"score": 2})
    body = {"reviewer": ada.member.id}
    check_problem(await officer.delete(f"/v1/evaluations/{first}/assignments", params=body), 404, "not-found")
    assert (await officer.delete(f"/v1/evaluations/{second}/assignments", params=body)).status_code == 204


async def test_removed_reviewer_is_replaced_only_where_no_opinion_exists(service: Service) -> None:
    officer, ada = await add_person(service, "officer", "Otto Officer"), await add_person(service, "reviewer")
    gus = await add_person(service, "reviewer", "Gus Gone")
    batch, (first, second) = await call_of(service, "# One", "# Two")
    await assign_reviewers(officer, batch, per_proposal=2)
    assert (await gus.post(f"/v1/evaluations/{first}/opinions", json={"score": 2})).status_code == 200
    await officer.delete(f"/v1/members/{gus.member.id}")
    short = await assign_reviewers(officer, batch, per_proposal=2)
    assert short["withdrawn"] == 1
    assert [(item["evaluation"], item["missing_reviewers"]) for item in short["unfilled_proposals"]] == [(second, 1)]
    grace = await add_person(service, "reviewer", "Grace Hopper")
    await assign_reviewers(officer, batch, per_proposal=2)
    assignments = (await officer.get("/v1/assignments")).json()["items"]
    pairs = {(item["evaluation"], item["member"]) for item in assignments}
    assert pairs == {
        (first, ada.member.id), (first, gus.member.id), (second, ada.member.id), (second, grace.member.id),
    }  # fmt: skip
