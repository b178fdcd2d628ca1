"""Evaluations, their reports, and the papers these cite."""

import asyncio

import pytest

from assayer.errors import StorageError
from assayer.models import EvaluationId, IdeaId, PaperId
from orchestrator.store import Database, PgEvaluations, PgPapers
from tests.contract.store_records import paper, report

ID = EvaluationId("ev_1")


async def begin(evaluations: PgEvaluations, evaluation: EvaluationId = ID) -> None:
    await evaluations.start(evaluation, IdeaId("idea"), "scholareval", {"cutoff": None, "models": ["small"]})


async def test_start_is_listed_running_without_a_report(database: Database) -> None:
    evaluations = PgEvaluations(database)

    await begin(evaluations)

    (listed,) = await evaluations.recent()
    assert (listed.id, listed.idea_id, listed.method, listed.state) == (ID, "idea", "scholareval", "running")
    assert listed.finished_at is None
    assert await evaluations.get(ID) is None


async def test_get_unknown_id_is_none(database: Database) -> None:
    assert await PgEvaluations(database).get(ID) is None


async def test_finish_gives_back_the_report_and_its_papers(database: Database) -> None:
    evaluations = PgEvaluations(database)
    await begin(evaluations)

    await evaluations.finish(report(), [paper(2), paper(1), paper(2)])

    (listed,) = await evaluations.recent()
    assert listed.state == "done"
    assert listed.finished_at is not None
    assert await evaluations.get(ID) == report()
    assert await evaluations.cited(ID) == [paper(1), paper(2)]


async def test_finish_never_started_is_refused_and_stores_nothing(database: Database) -> None:
    evaluations = PgEvaluations(database)

    with pytest.raises(StorageError, match="ev_1 was never started"):
        await evaluations.finish(report(), [])

    assert await evaluations.recent() == []


async def test_finish_report_with_nul_is_stored_with_a_replacement(database: Database) -> None:
    evaluations = PgEvaluations(database)
    await begin(evaluations)

    await evaluations.finish(report(text="a\0b \\u0000 \\\0"), [paper(1, abstract="\0")])

    stored = await evaluations.get(ID)
    assert stored is not None
    assert stored.idea.text == "a\ufffdb \\u0000 \\\ufffd"
    assert [one.abstract for one in await evaluations.cited(ID)] == ["\ufffd"]


async def test_fail_keeps_the_reason_and_the_older_report(database: Database) -> None:
    evaluations = PgEvaluations(database)
    await begin(evaluations)
    await evaluations.finish(report(), [])
    await begin(evaluations)

    await evaluations.fail(ID, "The endpoint is down.")

    (listed,) = await evaluations.recent()
    assert (listed.state, listed.error) == ("failed", "The endpoint is down.")
    assert await evaluations.get(ID) == report()


async def test_start_again_clears_the_failure(database: Database) -> None:
    evaluations = PgEvaluations(database)
    await begin(evaluations)
    await evaluations.fail(ID, "The endpoint is down.")

    await begin(evaluations)

    (listed,) = await evaluations.recent()
    assert (listed.state, listed.error, listed.finished_at) == ("running", "", None)


async def test_recent_gives_the_last_started_first_up_to_the_limit(database: Database) -> None:
    evaluations = PgEvaluations(database)
    for number in range(3):
        await begin(evaluations, EvaluationId(f"ev_{number}"))

    assert [listed.id for listed in await evaluations.recent(2)] == ["ev_2", "ev_1"]


async def test_cited_paper_that_changes_stays_as_it_was_in_the_older_report(database: Database) -> None:
    evaluations, papers = PgEvaluations(database), PgPapers(database)
    await begin(evaluations)
    await evaluations.finish(report(), [paper(1, abstract="As it was.")])

    await papers.save([paper(1, abstract="As it is now.")])

    assert await evaluations.cited(ID) == [paper(1, abstract="As it was.")]
    assert await papers.get([PaperId("corpus:1")]) == {PaperId("corpus:1"): paper(1, abstract="As it is now.")}


async def test_finish_many_at_once_with_shared_papers_all_succeed(database: Database) -> None:
    evaluations = PgEvaluations(database)
    shared = [paper(number) for number in range(40)]
    ids = [EvaluationId(f"ev_{number}") for number in range(24)]
    await asyncio.gather(*(begin(evaluations, one) for one in ids))

    orders = [shared if number % 2 else shared[::-1] for number in range(24)]
    await asyncio.gather(*(evaluations.finish(report(one), order) for one, order in zip(ids, orders, strict=True)))

    assert {listed.state for listed in await evaluations.recent()} == {"done"}
    assert len(await evaluations.cited(ids[0])) == 40


async def test_papers_unknown_ids_are_missing_from_the_answer(database: Database) -> None:
    papers = PgPapers(database)
    await papers.save([paper(1), paper(2)])
    await papers.save([])

    found = await papers.get([PaperId("corpus:2"), PaperId("corpus:3")])

    assert found == {PaperId("corpus:2"): paper(2)}
