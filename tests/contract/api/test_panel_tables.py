"""Reviewers' assignments and opinions as tables, sorted, filtered and paginated by the database."""

from collections.abc import Sequence

from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import BatchId, JobId
from orchestrator.store.assigned_tables import AssignedReviewer, AssignedView, ReviewerLoad
from orchestrator.store.panels import PanelCursor, PanelView
from tests.contract.api.console_forms import open_session
from tests.contract.api.people import OPERATOR, Person, add_person, call_of
from tests.contract.api.service import ACME, OTHER, Service


async def create_panel(service: Service, proposals: int = 6) -> tuple[Person, list[Person], BatchId, list[JobId]]:
    """Return an officer, three reviewers, a call and its evaluations in the order of the rows. Opinions: the first row
    has 1 and 5, with one missing; the second 4, 4 and an uncounted 1; the third 3 and an override of 2; the fourth
    none; the fifth has no reviewers, but an officer has set 5; the sixth has nothing."""
    officer = await add_person(service, "officer", "Otto Officer")
    people = [await add_person(service, "reviewer", name) for name in ("Ada Byron", "Bob Noyce", "Cleo Curie")]
    batch, _ = await call_of(service, *(f"# Proposal {place}" for place in range(proposals)))
    ids = list(await service.services.reviewing.assignments.get_proposal_versions(ACME, BatchId(batch)))
    pairs = [(item, person.member.id) for item in ids[:2] for person in people]
    pairs += [(item, person.member.id) for item in ids[2:4] for person in people[:2]]
    now = service.services.clock.now()
    await service.services.reviewing.assignments.assign(
        ACME, BatchId(batch), dict.fromkeys(pairs, ""), ActBy(OPERATOR, now)
    )
    for place, scores in enumerate([(1, 5), (4, 4, 1), (3,)]):
        for person, score in zip(people, scores, strict=False):
            await give_opinion(service, person, ids[place], score)
    declared = {"reviewer": str(people[2].member.id), "reason": "a former student"}
    assert (await officer.post(f"/v1/evaluations/{ids[1]}/conflicts", json=declared)).status_code == 200
    for place, score in ((2, 2), (4, 5)):
        body = {"score": score, "reason": "The budget is missing."}
        assert (await officer.post(f"/v1/evaluations/{ids[place]}/override", json=body)).status_code == 200
    return officer, people, BatchId(batch), ids


async def give_opinion(service: Service, person: Person, evaluation: JobId, score: int) -> None:
    answer = await person.post(f"/v1/evaluations/{evaluation}/opinions", json={"score": score})
    assert answer.status_code == 200, answer.text


async def test_panel_is_sorted_and_filtered_by_the_database(service: Service) -> None:
    _, _, batch, ids = await create_panel(service)
    panels = service.services.reviewing.panels

    async def list_shown_rows(**view: object) -> list[int]:
        page = await panels.get_page(ACME, batch, PanelView.model_validate(view))
        assert page.matching == len(page.rows)
        return [ids.index(proposal.evaluation) for proposal in page.rows]

    assert await list_shown_rows() == [0, 1, 2, 3, 4]
    assert await list_shown_rows(sort="spread") == [0, 1, 2, 3, 4]
    assert await list_shown_rows(sort="mean") == [1, 0, 2, 3, 4]
    assert await list_shown_rows(sort="score") == [4, 1, 0, 2, 3]
    assert await list_shown_rows(sort="missing") == [3, 0, 2, 1, 4]
    assert await list_shown_rows(only=("missing",)) == [0, 2, 3]
    assert await list_shown_rows(only=("apart",)) == [0]
    assert await list_shown_rows(only=("overridden",)) == [2, 4]
    assert await list_shown_rows(only=("excluded_opinions",)) == [1]
    assert await list_shown_rows(only=("missing", "overridden")) == [2]
    assert (await panels.get_page(OTHER, batch, PanelView())).rows == []
    rows = (await panels.get_page(ACME, batch, PanelView())).rows
    figures = [
        (row.row, row.assigned_reviewers, row.mean, row.spread, row.excluded_opinions, row.score) for row in rows
    ]
    assert figures == [
        (1, 3, 3.0, 4, 0, 3.0),
        (2, 3, 4.0, 0, 1, 4.0),
        (3, 2, 3.0, None, 0, 2.0),
        (4, 2, None, None, 0, None),
        (5, 0, None, None, 0, 5.0),
    ]


async def test_panel_scores_include_only_counted_opinions(service: Service) -> None:
    _, people, batch, ids = await create_panel(service)
    scores = await service.services.reviewing.panels.get_scores(ACME, batch)
    assert (scores.assigned_opinions, scores.submitted_opinions, scores.revised_opinions, scores.excluded_opinions) == (
        10,
        6,
        0,
        1,
    )
    columns = zip(scores.members, scores.proposals, scores.blind, scores.current, strict=True)
    ada, bob = (str(person.member.id) for person in people[:2])
    assert sorted(columns) == sorted(
        (person, ids[place], score, score)
        for person, place, score in ((ada, 0, 1), (bob, 0, 5), (ada, 1, 4), (bob, 1, 4), (ada, 2, 3))
    )
    assert (await service.services.reviewing.panels.get_scores(OTHER, batch)).assigned_opinions == 0


async def test_panel_pages_together_equal_the_full_panel(service: Service) -> None:
    officer, _, batch, _ = await create_panel(service)
    panel = (await officer.get(f"/v1/batches/{batch}/panel")).json()
    assert panel["next"] is None
    rows, after = list[object](), None
    while after or not rows:
        query = {"limit": 2} | ({"after": after} if after else {})
        page = (await officer.get(f"/v1/batches/{batch}/panel", params=query)).json()
        assert len(page["rows"]) <= 2
        assert {**page, "rows": [], "next": None} == {**panel, "rows": []}
        rows, after = rows + page["rows"], page["next"]
    assert rows == panel["rows"]
    for wrong in ("after=nothing", "limit=0", "limit=1001", "sort=row"):
        assert (await officer.get(f"/v1/batches/{batch}/panel?{wrong}")).status_code == 422


async def test_panel_page_continues_after_an_erased_proposal(service: Service) -> None:
    _, _, batch, ids = await create_panel(service)
    panels = service.services.reviewing.panels
    assert [
        proposal.evaluation
        for proposal in await panels.list_proposals(ACME, batch, after=PanelCursor(2, "ev_gone"), limit=2)
    ] == ids[2:4]
    assert await panels.list_proposals(ACME, batch, after=PanelCursor(None, "ev")) == []


async def test_assignments_are_sorted_and_filtered_by_the_database(service: Service) -> None:
    _, people, batch, ids = await create_panel(service)
    tables = service.services.reviewing.assigned_tables

    async def list_shown_rows(**view: object) -> Sequence[int]:
        page = await tables.get_page(ACME, batch, AssignedView.model_validate(view))
        return [ids.index(proposal.id) for proposal in page.rows]

    assert await list_shown_rows() == [0, 1, 2, 3, 4, 5]
    assert await list_shown_rows(sort="missing") == [3, 0, 2, 1, 4, 5]
    assert await list_shown_rows(only=("missing",)) == [0, 2, 3]
    assert await list_shown_rows(only=("unassigned",)) == [4, 5]
    ada, bob, cleo = (person.member.id for person in people)
    assert await tables.get_reviewer_loads(ACME, batch) == {
        ada: ReviewerLoad(4, 1),
        bob: ReviewerLoad(4, 2),
        cleo: ReviewerLoad(2, 1),
    }
    assert (await tables.get_page(ACME, batch, AssignedView())).rows[0].reviewers[0] == AssignedReviewer(
        cleo, "none", ""
    )
    ((conflict, title),), known = await tables.list_conflicts(ACME, batch, 1)
    assert (conflict.evaluation, conflict.member, title, known) == (ids[1], cleo, "Proposal 1", 1)
    assert await tables.get_reviewer_loads(OTHER, batch) == {}
    assert (await tables.get_page(OTHER, batch, AssignedView())).rows == []


async def test_page_links_keep_filter_and_sort_order(service: Service) -> None:
    officer, people, batch, ids = await create_panel(service, proposals=60)
    now, pairs = service.services.clock.now(), [(item, people[0].member.id) for item in ids[4:]]
    await service.services.reviewing.assignments.assign(ACME, batch, dict.fromkeys(pairs, ""), ActBy(OPERATOR, now))
    async with open_session(service, officer.key) as browser:
        for page in ("panel", "assignments"):
            path = f"/console/calls/{batch}/{page}"
            first = (await browser.get(path, params={"sort": "missing", "only": "missing"})).text
            assert "sort=missing&amp;only=missing&amp;page=2" in first
            assert "Page 1 of 2" in first
            second = (await browser.get(path, params={"sort": "missing", "only": "missing", "page": "2"})).text
            assert "Page 2 of 2" in second
        empty_page = (await browser.get(f"/console/calls/{batch}/panel", params={"only": ["apart", "overridden"]})).text
        assert "No proposals match this filter." in empty_page
        assert (await browser.get(f"/console/calls/{batch}/panel", params={"only": "nothing"})).status_code == 422
