"""Every page of the console, with content."""

from typing import NamedTuple

from tests.contract.api.erasures import request_erasure, submit_rows_to_erase
from tests.contract.api.evaluated_calls import call_of_two_fields, call_with_reports, evaluate_call_of_six
from tests.contract.api.people import Person
from tests.contract.api.ranking_jobs import finish_ranking
from tests.contract.api.reported_evaluations import store_llm_requests
from tests.contract.api.reviewed_calls import call_with_opinions
from tests.contract.api.service import Service


class ConsolePage(NamedTuple):
    """A page: the template of its route, its path and a name for pictures."""

    route: str
    path: str
    name: str


async def fill_pages(service: Service, owner: Person, reviewer: Person) -> tuple[list[ConsolePage], list[ConsolePage]]:
    """Return the pages of an owner and those of a reviewer, and store something to show on each."""
    evaluation_in_progress = await store_llm_requests(service)
    fields = await call_of_two_fields(service)
    call_of_reports = await call_with_reports(service)
    ended_call = await evaluate_call_of_six(service)
    reviewed_call, *_ = await call_with_opinions(service, other_count=1)
    decided_evaluation = (await owner.get(f"/v1/batches/{reviewed_call}/evaluations")).json()["items"][0]["id"]
    ranking = (await owner.post("/v1/rankings", json={"batch": ended_call, "shortlist_size": 2})).json()["id"]
    await finish_ranking(service)
    tags_answer = await owner.patch(f"/v1/batches/{ended_call}", json={"tags": ["A" + "-tag-of-many-letters" * 4]})
    assert tags_answer.status_code == 200, tags_answer.text
    assignment_answer = await owner.post(f"/v1/batches/{ended_call}/assignments", json={"per_proposal": 1})
    assert assignment_answer.status_code < 300, assignment_answer.text
    expertise = {"keywords": ["overwriting"], "papers": [{"title": "A rehearsal of examples"}], "people": ["Cy Young"]}
    stored_expertise = await reviewer.put(f"/v1/members/{reviewer.member.id}/expertise", json=expertise)
    assert stored_expertise.status_code == 200, stored_expertise.text
    await owner.put(f"/v1/batches/{ended_call}/bidding", json={"open": True})
    evaluations = (await owner.get(f"/v1/batches/{ended_call}/evaluations")).json()["items"]
    await submit_rows_to_erase(owner)
    proof = (await request_erasure(owner, source="A-1"))["proof"]
    first, second = (evaluation["id"] for evaluation in evaluations[:2])
    call, proposal, member = "/console/calls/{id}", "/console/proposals/{id}", "/console/members/{id}"
    ended_call_path, proposal_path = f"/console/calls/{ended_call}", f"/console/proposals/{evaluation_in_progress}"
    of_member = f"/console/members/{reviewer.member.id}"
    owners = [
        ConsolePage("/console", "/console", "calls"),
        ConsolePage("/console/evaluations", "/console/evaluations", "evaluations"),
        ConsolePage("/console/calls/new", "/console/calls/new", "new-call"),
        ConsolePage("/console/calls/set-up", "/console/calls/set-up", "call-set-up"),
        ConsolePage(f"{call}/terms", f"/console/calls/{call_of_reports}/terms", "call-terms"),
        ConsolePage(f"{call}/decisions", f"/console/calls/{reviewed_call}/decisions", "decisions"),
        ConsolePage(f"{call}/letters", f"/console/calls/{reviewed_call}/letters", "letters"),
        ConsolePage(
            f"{call}/letters/{{evaluation}}", f"/console/calls/{reviewed_call}/letters/{decided_evaluation}", "letter"
        ),
        ConsolePage(call, f"/console/calls/{call_of_reports}", "table"),
        ConsolePage(call, f"{ended_call_path}?ranking={ranking}&sort=rank", "table-by-rank"),
        ConsolePage(f"{call}/plots", f"/console/calls/{fields}/plots", "plots-by-field"),
        ConsolePage(f"{call}/plots", f"{ended_call_path}/plots?ranking={ranking}", "plots-of-ranks"),
        ConsolePage(f"{call}/plots", f"/console/calls/{reviewed_call}/plots", "plots-of-agreement"),
        ConsolePage(f"{call}/cancel", f"/console/calls/{call_of_reports}/cancel", "cancel"),
        ConsolePage(f"{call}/assignments", f"{ended_call_path}/assignments", "assignments"),
        ConsolePage(f"{call}/panel", f"{ended_call_path}/panel", "panel"),
        ConsolePage(f"{call}/rankings", f"{ended_call_path}/rankings?cut=2", "rankings"),
        ConsolePage(f"{call}/rankings/{{ranking}}", f"{ended_call_path}/rankings/{ranking}", "ranking"),
        ConsolePage(proposal, proposal_path, "proposal"),
        ConsolePage(f"{proposal}/contestation", f"{proposal_path}/contestation", "contestation"),
        ConsolePage(f"{proposal}/making", f"{proposal_path}/making", "making"),
        ConsolePage(f"{proposal}/making/{{number}}", f"{proposal_path}/making/1", "making-call"),
        ConsolePage("/console/compare", f"/console/compare?id={first}&id={second}", "compare"),
        ConsolePage("/console/erase", "/console/erase?source=A-2", "erase"),
        ConsolePage("/console/erase/{number}", f"/console/erase/{proof}", "erased"),
        ConsolePage("/console/members", "/console/members", "members"),
        ConsolePage(member, of_member, "member"),
        ConsolePage(f"{member}/expertise", f"{of_member}/expertise", "member-expertise"),
        ConsolePage(f"{member}/remove", f"{of_member}/remove", "member-remove"),
        ConsolePage("/console/account", "/console/account", "account"),
        ConsolePage("/console/audit-log", "/console/audit-log", "audit-log"),
        ConsolePage("/console/audit-log/check", "/console/audit-log/check", "audit-log-check"),
    ]
    reviewers = [
        ConsolePage("/console/queue", "/console/queue", "queue"),
        ConsolePage("/console/expertise", "/console/expertise", "expertise"),
        ConsolePage("/console/bids", "/console/bids", "calls-for-bids"),
        ConsolePage("/console/bids/{id}", f"/console/bids/{ended_call}", "bids"),
        ConsolePage("/console/review/{id}", f"/console/review/{first}", "review"),
    ]
    return owners, reviewers
