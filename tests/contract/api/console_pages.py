"""Every page of the console, with content."""

from typing import NamedTuple

from tests.contract.api.erasures import request_erasure, submit_rows_to_erase
from tests.contract.api.evaluated_calls import call_of_two_fields, call_with_reports, evaluated_call_of_six
from tests.contract.api.people import Person
from tests.contract.api.ranking_jobs import finish_ranking
from tests.contract.api.reported_evaluations import evaluation_with_llm_requests
from tests.contract.api.reviewed_calls import call_with_opinions
from tests.contract.api.service import Service


class ConsolePage(NamedTuple):
    """A page: the template of its route, its path and a name for pictures."""

    route: str
    path: str
    name: str


async def pages_with_content(
    service: Service, owner: Person, reviewer: Person
) -> tuple[list[ConsolePage], list[ConsolePage]]:
    """Return the pages of an owner and those of a reviewer, and store something to show on each."""
    making = await evaluation_with_llm_requests(service)
    fields = await call_of_two_fields(service)
    mixed = await call_with_reports(service)
    ended = await evaluated_call_of_six(service)
    reviewed, *_ = await call_with_opinions(service, others=1)
    decided = (await owner.get(f"/v1/batches/{reviewed}/evaluations")).json()["items"][0]["id"]
    ranking = (await owner.post("/v1/rankings", json={"batch": ended, "shortlist_size": 2})).json()["id"]
    await finish_ranking(service)
    changed = await owner.patch(f"/v1/batches/{ended}", json={"tags": ["A" + "-tag-of-many-letters" * 4]})
    assert changed.status_code == 200, changed.text
    assigned = await owner.post(f"/v1/batches/{ended}/assignments", json={"per_proposal": 1})
    assert assigned.status_code < 300, assigned.text
    declared = {"keywords": ["overwriting"], "papers": [{"title": "A rehearsal of examples"}], "people": ["Cy Young"]}
    stored = await reviewer.put(f"/v1/members/{reviewer.member.id}/expertise", json=declared)
    assert stored.status_code == 200, stored.text
    await owner.put(f"/v1/batches/{ended}/bidding", json={"open": True})
    listed = (await owner.get(f"/v1/batches/{ended}/evaluations")).json()["items"]
    await submit_rows_to_erase(owner)
    proof = (await request_erasure(owner, source="A-1"))["proof"]
    first, second = (evaluation["id"] for evaluation in listed[:2])
    call, proposal, member = "/console/calls/{id}", "/console/proposals/{id}", "/console/members/{id}"
    of_ended, of_made = f"/console/calls/{ended}", f"/console/proposals/{making}"
    of_member = f"/console/members/{reviewer.member.id}"
    owners = [
        ConsolePage("/console", "/console", "calls"),
        ConsolePage("/console/evaluations", "/console/evaluations", "evaluations"),
        ConsolePage("/console/calls/new", "/console/calls/new", "new-call"),
        ConsolePage("/console/calls/set-up", "/console/calls/set-up", "call-set-up"),
        ConsolePage(f"{call}/terms", f"/console/calls/{mixed}/terms", "call-terms"),
        ConsolePage(f"{call}/decisions", f"/console/calls/{reviewed}/decisions", "decisions"),
        ConsolePage(f"{call}/letters", f"/console/calls/{reviewed}/letters", "letters"),
        ConsolePage(f"{call}/letters/{{evaluation}}", f"/console/calls/{reviewed}/letters/{decided}", "letter"),
        ConsolePage(call, f"/console/calls/{mixed}", "table"),
        ConsolePage(call, f"{of_ended}?ranking={ranking}&sort=rank", "table-by-rank"),
        ConsolePage(f"{call}/plots", f"/console/calls/{fields}/plots", "plots-by-field"),
        ConsolePage(f"{call}/plots", f"{of_ended}/plots?ranking={ranking}", "plots-of-ranks"),
        ConsolePage(f"{call}/plots", f"/console/calls/{reviewed}/plots", "plots-of-agreement"),
        ConsolePage(f"{call}/cancel", f"/console/calls/{mixed}/cancel", "cancel"),
        ConsolePage(f"{call}/assignments", f"{of_ended}/assignments", "assignments"),
        ConsolePage(f"{call}/panel", f"{of_ended}/panel", "panel"),
        ConsolePage(f"{call}/rankings", f"{of_ended}/rankings?shortlist_size=2", "rankings"),
        ConsolePage(f"{call}/rankings/{{ranking}}", f"{of_ended}/rankings/{ranking}", "ranking"),
        ConsolePage(proposal, of_made, "proposal"),
        ConsolePage(f"{proposal}/contestation", f"{of_made}/contestation", "contestation"),
        ConsolePage(f"{proposal}/making", f"{of_made}/making", "making"),
        ConsolePage(f"{proposal}/making/{{number}}", f"{of_made}/making/1", "making-call"),
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
        ConsolePage("/console/bids/{id}", f"/console/bids/{ended}", "bids"),
        ConsolePage("/console/review/{id}", f"/console/review/{first}", "review"),
    ]
    return owners, reviewers
