"""Expertise, declared interests and bids of reviewers over the API, and assignments that use them."""

from typing import Any

import pytest

from assayer.models import Paper, PaperId
from orchestrator.jobs.models import JobId
from orchestrator.store import bids
from orchestrator.store.assignments import PgAssignments, ProposalText
from tests.contract.api.erasures import find_tables_with
from tests.contract.api.funding_calls import TERMS, add_proposals, create_funding_call, list_proposals
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.reviewed_calls import assign_reviewers, choose_reviewers, list_member_ids
from tests.contract.api.service import ACME, OTHER, Service
from tests.memory_corpus import MemoryCorpus
from tests.unit.batch_bodies import WORDS
from workers.embedding.hashing_embedder import HashingEmbedder

BEETLES = "# Bark beetles in spruce\n\nWe count bark beetles in spruce forests after storms."
PROOFS = "# Proof assistants\n\nWe formalise topology in a proof assistant."
RECORD = Paper(
    id=PaperId("p1"),
    title="Counting bark beetles in spruce forests",
    abstract="Bark beetles are counted by drone in spruce forests after storms.",
    authors=("Ada Byron", "Bob Noyce"),
    source="corpus",
)


class _Corpora:
    async def current(self) -> MemoryCorpus:
        return MemoryCorpus([RECORD], HashingEmbedder())


@pytest.fixture
async def forester(service: Service) -> Person:
    """A reviewer who knows beetles."""
    ada = await add_person(service, "reviewer")
    await _store(ada, ada, keywords=["bark beetles", "spruce forests"])
    return ada


async def _store(person: Person, about: Person, **body: object) -> dict[str, object]:
    answer = await person.put(f"/v1/members/{about.member.id}/expertise", json=body)
    assert answer.status_code == 200, answer.text
    content: dict[str, object] = answer.json()
    return content


async def test_expertise_is_stored_by_reviewer_and_officer_in_versions(
    service: Service, officer: Person, ada: Person
) -> None:
    stored = await _store(
        officer, ada, keywords=["beetles"], references="Counting bark beetles in spruce (2024)\n10.1/x"
    )
    assert stored["unparsed_references"] == ["10.1/x"]
    assert "corpus" in str(stored["corpus_lookup_absent"])
    expertise = (await ada.get(f"/v1/members/{ada.member.id}/expertise")).json()
    assert (expertise["version"], expertise["declared_at"]) == (1, None)
    assert [paper["title"] for paper in expertise["papers"]] == ["Counting bark beetles in spruce"]
    late = await ada.put(f"/v1/members/{ada.member.id}/expertise", json={"version": 0})
    assert late.status_code == 409
    own = await _store(ada, ada, version=1, institutions=["Yale University"], people=["Bob Noyce"])
    assert own["expertise"]["declared_at"] is not None  # type: ignore[index]
    tenant = officer.member.tenant
    actions = [
        entry.action for entry in await service.services.audit_log.list_newest(tenant, about=ada.member.id, limit=2)
    ]
    assert actions == ["expertise changed"] * 2


async def test_reviewers_and_other_tenants_cannot_see_or_change_expertise(service: Service, forester: Person) -> None:
    bob = await add_person(service, "reviewer", "Bob Noyce")
    other_tenant = await add_person(service, "officer", "Eve Else", tenant=OTHER)
    path = f"/v1/members/{forester.member.id}/expertise"
    assert (await bob.get(path)).status_code == 404
    assert (await bob.put(path, json={})).status_code == 404
    assert (await other_tenant.get(path)).status_code == 404
    assert (await other_tenant.put(path, json={})).status_code == 404


async def test_papers_are_completed_from_the_corpus_and_coauthors_are_conflicts(
    service: Service, officer: Person, ada: Person
) -> None:
    searching = service.with_services(corpora=_Corpora())
    officer_there = Person(searching, officer.member, officer.key)
    stored = await _store(officer_there, ada, references="Counting bark beetles in spruce forests")
    (paper,) = stored["expertise"]["papers"]  # type: ignore[index]
    assert (paper["abstract"], paper["in_corpus"]) == (RECORD.abstract, True)
    batch, (first, _) = await call_of(service, "# Rehearsal\n\nAuthors: Bob Noyce\n\nWe rehearse.", "# Two")
    outcome = await assign_reviewers(officer, batch, per_proposal=1)
    (conflict,) = outcome["conflicts"]
    assert (conflict["evaluation"], conflict["source"]) == (first, "coauthor")
    assert "co-author of “Counting bark beetles in spruce forests”" in conflict["reason"]
    (unfilled,) = outcome["unfilled_proposals"]
    assert unfilled["reason"] == "1 of 1 reviewer has a conflict."


async def test_coauthors_are_not_searched_for_if_the_call_disables_it(
    service: Service, officer: Person, ada: Person
) -> None:
    paper = {"title": "Counting beetles together", "authors": ["Ada Byron", "Bob Noyce"], "year": 2026}
    await _store(officer, ada, papers=[paper])
    for years, expected in ((0, 0), (3, 1)):
        batch = await create_funding_call(officer, TERMS.model_copy(update={"coauthor_years": years}))
        added = await add_proposals(officer, batch, f"# Rehearsal {years}\n\nAuthors: Bob Noyce\n\n{WORDS}")
        assert added.status_code == 202, added.text
        assert len((await assign_reviewers(officer, batch, dry_run=True))["conflicts"]) == expected


async def test_declared_people_and_institutions_bar_a_reviewer(officer: Person, service: Service, ada: Person) -> None:
    await _store(ada, ada, people=["Cy Young"], institutions=["Yale University"])
    batch, evaluations = await call_of(
        service, "# One\n\nAuthors: Cy Young\n\nText.", "# Two\n\nGrace Hopper, Yale University\n\nText.", "# Three"
    )
    outcome = await assign_reviewers(officer, batch, per_proposal=1)
    assert {item["evaluation"]: item["source"] for item in outcome["conflicts"]} == {
        evaluations[0]: "person",
        evaluations[1]: "affiliation",
    }
    assert [item["evaluation"] for item in outcome["assignments"]] == [evaluations[2]]


async def test_applicant_and_institution_of_a_table_bar_a_reviewer(service: Service, officer: Person) -> None:
    grace = await add_person(service, "reviewer", "Grace Hopper", affiliation="Yale University")
    batch = await create_funding_call(officer)
    texts = [f'Forgetting {number},"{WORDS}"' for number in range(3)]
    people = ("Cy Young,Yale University", "Grace Hopper,Rice University", "Cy Young,Rice University")
    rows = "\n".join(f"{text},{person}" for text, person in zip(texts, people, strict=True))
    table = f"title,abstract,applicant,institution\n{rows}\n".encode()
    form = [("file", ("table.csv", table))]
    added = await officer.post(f"/v1/batches/{batch}/rows", params={"first_row": "1", "reopen": "true"}, files=form)
    assert added.status_code == 202, added.text
    first, second, third = await list_proposals(officer, batch)
    outcome = await assign_reviewers(officer, batch, per_proposal=1, reviewers=[grace.member.id])
    conflicts = {item["evaluation"]: item["source"] for item in outcome["conflicts"]}
    assert conflicts == {first: "affiliation", second: "name"}
    assert [item["evaluation"] for item in outcome["assignments"]] == [third]


async def test_expertise_is_deleted_when_its_member_is_removed(service: Service, owner: Person, ada: Person) -> None:
    await _store(ada, ada, people=["Cy Young"])
    naming = service.services.reviewing.expertise.find_members_by_mention
    assert await naming(ACME, "cy  young") == [(ada.member.id, "Ada Byron")]
    assert (await owner.delete(f"/v1/members/{ada.member.id}")).is_success
    assert await naming(ACME, "cy young") == []
    assert await find_tables_with(service.database, "Cy Young") == ["audit_contents"]


async def test_proposals_go_to_experts_with_the_reason_which_reviewers_do_not_see(
    service: Service, officer: Person, forester: Person
) -> None:
    prover = await add_person(service, "reviewer", "Bob Noyce")
    await _store(officer, prover, papers=[{"title": "Topology in a proof assistant"}])
    batch, (beetles, proofs) = await call_of(service, BEETLES, PROOFS)
    preview = await assign_reviewers(officer, batch, per_proposal=1, dry_run=True)
    assignment = await assign_reviewers(officer, batch, per_proposal=1)
    assert assignment["assignments"] == preview["assignments"]
    assert {(item["evaluation"], item["member"]) for item in assignment["assignments"]} == {
        (beetles, forester.member.id),
        (proofs, prover.member.id),
    }
    items = (await officer.get("/v1/assignments", params={"batch": batch})).json()["items"]
    reasons = {item["evaluation"]: item["reason"] for item in items}
    assert "Shared words: " in reasons[beetles]
    assert reasons[proofs].startswith("The reviewer's only known paper is close: “Topology in a proof assistant”.")
    assert [item["reason"] for item in (await forester.get("/v1/assignments")).json()["items"]] == [""]


async def test_bids_need_declared_interests_and_an_open_call(service: Service, officer: Person, ada: Person) -> None:
    batch, (first, second) = await call_of(service, "# One\n\nAuthors: Cy Young\n\nText.", "# Two")
    path = f"/v1/batches/{batch}/biddable-proposals"
    assert (await ada.get(path)).status_code == 409
    assert (await ada.put(f"/v1/batches/{batch}/bidding", json={"open": True})).status_code == 403
    response = await officer.put(f"/v1/batches/{batch}/bidding", json={"open": True})
    assert response.json() == {"open": True}
    undeclared = await ada.get(path)
    assert undeclared.status_code == 409
    assert "Declare your conflicts of interest" in undeclared.json()["detail"]
    await _store(ada, ada, people=["Cy Young"])
    items = (await ada.get(path)).json()["items"]
    assert [item["evaluation"] for item in items] == [second]
    refusal = await ada.put(f"/v1/batches/{batch}/bids", json={"bids": {first: "eager"}})
    assert refusal.status_code == 409
    answer = await ada.put(f"/v1/batches/{batch}/bids", json={"bids": {second: "eager"}})
    assert [item["bid"] for item in answer.json()["items"]] == ["eager"]
    assert [item["bid"] for item in (await officer.get(f"/v1/batches/{batch}/bids")).json()["items"]] == ["eager"]
    assert (await ada.get(f"/v1/batches/{batch}/bids")).status_code == 403
    await officer.put(f"/v1/batches/{batch}/bidding", json={"open": False})
    closed = await ada.put(f"/v1/batches/{batch}/bids", json={"bids": {second: "willing"}})
    assert closed.status_code == 409


async def test_new_declarations_are_searched_for_before_titles_are_shown_again(
    service: Service, officer: Person, ada: Person
) -> None:
    batch, (first, second) = await call_of(service, "# One\n\nAuthors: Cy Young\n\nText.", "# Two")
    await officer.put(f"/v1/batches/{batch}/bidding", json={"open": True})
    await _store(ada, ada)
    path = f"/v1/batches/{batch}/biddable-proposals"
    assert [item["evaluation"] for item in (await ada.get(path)).json()["items"]] == [first, second]
    await _store(ada, ada, version=1, people=["Cy Young"])
    assert [item["evaluation"] for item in (await ada.get(path)).json()["items"]] == [second]


async def test_texts_are_read_once_for_all_bidders_and_again_when_they_change(
    service: Service, officer: Person, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[JobId] = []
    list_proposal_texts = PgAssignments.list_proposal_texts

    async def record_and_list(self: PgAssignments, *place: Any) -> list[ProposalText]:
        texts = await list_proposal_texts(self, *place)
        read.extend(item.id for item in texts)
        return texts

    batch, (first, second) = await call_of(service, BEETLES, PROOFS)
    monkeypatch.setattr(PgAssignments, "list_proposal_texts", record_and_list)
    await officer.put(f"/v1/batches/{batch}/bidding", json={"open": True})
    assert read == [first, second]
    path = f"/v1/batches/{batch}/biddable-proposals"
    for name in ("Bob Noyce", "Cy Young"):
        bidder = await add_person(service, "reviewer", name)
        await _store(bidder, bidder, keywords=["topology"])
        assert [item["evaluation"] for item in (await bidder.get(path)).json()["items"]] == [second, first]
    assert read == [first, second]
    changed = await officer.put(f"/v1/evaluations/{first}/applicant", json={"name": "Ada Byron"})
    assert changed.status_code == 200, changed.text
    await _store(ada, ada)
    assert [item["evaluation"] for item in (await ada.get(path)).json()["items"]] == [second]
    assert read == [first, second, first, first], "indexed again, and searched for the conflict"


async def test_searched_proposals_are_found_with_a_hash_table_before_statistics_exist(service: Service) -> None:
    plan = await service.database.fetch(f"EXPLAIN {bids._SELECT_UNCHECKED}", ACME, "mb_1", "bt_1")
    assert "hashed SubPlan" in "\n".join(row[0] for row in plan)


async def test_proposals_to_bid_on_are_listed_by_expertise(service: Service, officer: Person, ada: Person) -> None:
    batch, (proofs, other_id, beetles) = await call_of(service, PROOFS, "# Something else\n\nOther words.", BEETLES)
    await officer.put(f"/v1/batches/{batch}/bidding", json={"open": True})
    orders: list[tuple[list[str], list[str]]] = [
        ([], [proofs, other_id, beetles]),
        (["bark beetles", "spruce forests"], [beetles, proofs, other_id]),
        (["topology in a proof assistant"], [proofs, other_id, beetles]),
    ]
    for version, (keywords, order) in enumerate(orders):
        await _store(ada, ada, version=version, keywords=keywords)
        items = (await ada.get(f"/v1/batches/{batch}/biddable-proposals")).json()["items"]
        assert [item["evaluation"] for item in items] == order


async def test_only_reviewers_chosen_for_the_call_see_its_titles(
    service: Service, officer: Person, forester: Person
) -> None:
    batch, _ = await call_of(service, "# One")
    bob = await add_person(service, "reviewer", "Bob Noyce")
    await choose_reviewers(officer, batch, list_member_ids(bob))
    await officer.put(f"/v1/batches/{batch}/bidding", json={"open": True})
    assert (await forester.get(f"/v1/batches/{batch}/biddable-proposals")).status_code == 409


@pytest.mark.parametrize(("blind", "title"), [("true", "Proposal 1"), ("false", "The Byron Method")])
async def test_titles_of_blind_calls_are_masked_for_bidders(
    service: Service, officer: Person, forester: Person, blind: str, title: str
) -> None:
    batch = await create_funding_call(officer)
    added = await add_proposals(officer, batch, f"# The Byron Method\n\n{WORDS}", blind=blind)
    assert added.status_code == 202, added.text
    await officer.put(f"/v1/batches/{batch}/bidding", json={"open": True})
    items = (await forester.get(f"/v1/batches/{batch}/biddable-proposals")).json()["items"]
    assert [item["title"] for item in items] == [title]


async def test_bids_steer_the_assignment_and_a_conflict_bars_the_reviewer(
    service: Service, officer: Person, forester: Person
) -> None:
    bob = await add_person(service, "reviewer", "Bob Noyce")
    await _store(bob, bob)
    batch, (beetles, other_id) = await call_of(service, BEETLES, "# Something else\n\nOther words.")
    await officer.put(f"/v1/batches/{batch}/bidding", json={"open": True})
    await bob.put(f"/v1/batches/{batch}/bids", json={"bids": {beetles: "eager", other_id: "unwilling"}})
    answers = {beetles: "conflict", other_id: "willing"}
    answer = await forester.put(f"/v1/batches/{batch}/bids", json={"bids": answers, "reason": "A former student."})
    assert [item["evaluation"] for item in answer.json()["items"]] == [other_id]
    outcome = await assign_reviewers(officer, batch, per_proposal=1)
    assert {item["evaluation"]: item["member"] for item in outcome["assignments"]} == {
        beetles: bob.member.id,
        other_id: forester.member.id,
    }
    reasons = {item["evaluation"]: item["reason"] for item in outcome["assignments"]}
    assert reasons[beetles].startswith("The reviewer's bid: eager.")
    (conflict,) = outcome["conflicts"]
    assert (conflict["source"], conflict["reason"]) == ("declared", "A former student.")


async def test_removed_proposals_take_their_bids_with_them(service: Service, officer: Person, forester: Person) -> None:
    batch, (first, _) = await call_of(service, BEETLES, PROOFS)
    await officer.put(f"/v1/batches/{batch}/bidding", json={"open": True})
    await forester.get(f"/v1/batches/{batch}/biddable-proposals")
    await forester.put(f"/v1/batches/{batch}/bids", json={"bids": {first: "willing"}})
    async with service.open_caller("manage", "submit", "read") as machine:
        answer = await machine.delete(f"/v1/evaluations/{first}", params={"erase": "true"})
        assert answer.status_code < 300, answer.text
    assert (await officer.get(f"/v1/batches/{batch}/bids")).json()["items"] == []
    assert await list_proposals(officer, batch) != []
