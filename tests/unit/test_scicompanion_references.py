"""Papers an idea missed, in memory: only papers that were found, and none that it names."""

import datetime as dt

from assayer.methods.scicompanion.missed_references import find_missed_references
from tests.unit.scicompanion_world import IDEA, OPTIONS, PAPERS, make_corpus
from tests.unit.twins import FixedClock


async def test_missed_references_are_papers_that_the_idea_does_not_name() -> None:
    idea = IDEA.model_copy(update={"text": f"{IDEA.text}\n\nAs in “{PAPERS[5].title}”."})
    missed = await find_missed_references(idea, make_corpus(), None, FixedClock(), OPTIONS)
    missed_ids = [reference.paper.id for reference in missed.references]
    assert len(missed_ids) == OPTIONS.recommended
    assert set(missed_ids) <= {paper.id for paper in PAPERS} - {PAPERS[5].id}
    assert any(search_path.from_paper for reference in missed.references for search_path in reference.found), (
        "some were reached along citations"
    )


async def test_papers_after_cutoff_are_not_missed_references() -> None:
    day = dt.date(2020, 6, 1)
    missed = await find_missed_references(IDEA, make_corpus(), day, FixedClock(), OPTIONS)
    assert missed.references
    assert all(
        reference.paper.publication_date and reference.paper.publication_date <= day for reference in missed.references
    )


async def test_idea_without_related_papers_has_no_missed_references() -> None:
    missed = await find_missed_references(IDEA, make_corpus([], {}), None, FixedClock(), OPTIONS)
    assert missed.references == ()
