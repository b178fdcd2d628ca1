"""What an idea missed, in memory: only papers that were found, none that it names."""

import datetime as dt

from assayer.methods.scicompanion.missed_references import missed_references
from tests.unit.scicompanion_world import IDEA, OPTIONS, PAPERS, backends_without_llm, corpus
from tests.unit.twins import a_run


async def test_missed_references_are_papers_that_the_idea_does_not_name() -> None:
    idea = IDEA.model_copy(update={"text": f"{IDEA.text}\n\nAs in “{PAPERS[5].title}”."})
    missed = await missed_references(idea, backends_without_llm(), a_run(), OPTIONS)
    found = [one.paper.id for one in missed.references]
    assert len(found) == OPTIONS.recommended
    assert set(found) <= {paper.id for paper in PAPERS} - {PAPERS[5].id}
    assert any(why.label for one in missed.references for why in one.found), "some were reached along citations"


async def test_papers_after_the_cutoff_were_not_missed() -> None:
    day = dt.date(2020, 6, 1)
    missed = await missed_references(IDEA, backends_without_llm(), a_run(day), OPTIONS)
    assert missed.references
    assert all(one.paper.publication_date and one.paper.publication_date <= day for one in missed.references)


async def test_an_idea_without_neighbours_missed_nothing() -> None:
    missed = await missed_references(IDEA, backends_without_llm(corpus([], {})), a_run(), OPTIONS)
    assert missed.references == ()
