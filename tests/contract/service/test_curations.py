"""From papers to scored ideas over HTTP, with the client, a real database and a simulated language model."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from assayer_client import (
    ApiProblem,
    AsyncClient,
    CandidateIdeasBody,
    CuratedPaperBody,
    CurationBody,
    IdeaBody,
    QuestionBody,
    ScoreBody,
    ScoredIdeaBody,
)
from assayer_client.resources import Absent, Limits
from cluster.settings import Settings
from simulator.process import Simulator
from tests.contract.service.running_service import RunningService

ABSTRACT = (
    "Seedlings of {n} species die in dry summers, and watering all of them is out of reach. We propose to shade "
    "every second plot with cloth of {n} grades. Experiments show that more seedlings live."
)
QUESTION = "How can seedlings be brought through a dry summer without water?"


def build_paper(number: int, **more: Any) -> CuratedPaperBody:
    return CuratedPaperBody(title=f"Shade plan {number}", abstract=ABSTRACT.format(n=number), **more)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    kinds = settings.curation.model_copy(update={"question_kinds": ("new_idea", "survey", "evaluation")})
    return settings.model_copy(update={"curation": kinds})


@pytest.fixture
async def assayer(running: RunningService) -> AsyncIterator[AsyncClient]:
    http = running.caller.client
    async with AsyncClient(str(http.base_url), http.headers["Authorization"].removeprefix("Bearer ")) as client:
        yield client


async def test_curated_papers_have_kind_and_question_and_duplicates_are_paid_once(
    assayer: AsyncClient, simulator: Simulator
) -> None:
    body = CurationBody(items=(build_paper(3), build_paper(4, id="fourth"), build_paper(3, id="third again")))
    accepted = await assayer.curations.create(body)
    item_numbers = {outcome.item async for outcome in assayer.curations.outcomes(accepted.id)}
    curation = await assayer.curations.wait(accepted.id)
    stats = simulator.read_stats()
    assert item_numbers == {0, 1, 2}
    assert curation.items is not None
    assert [item.duplicate_of for item in curation.items] == [None, None, 0]
    assert [item.id for item in curation.items[1:]] == ["fourth", "third again"]
    for item in curation.items:
        assert item.paper is not None
        assert isinstance(item.paper.question, str) or item.paper.question.reason
    first, _, again = curation.items
    assert (again.paper, again.llm_requests, again.cost_usd) == (first.paper, 0, 0)
    paid = (stats.prompt_tokens * 1.0 + stats.completion_tokens * 2.0) / 1e6
    assert curation.cost_usd == pytest.approx(paid)
    assert curation.result is not None
    assert curation.result.cost_usd == pytest.approx(paid)
    assert (curation.result.items, curation.result.succeeded + curation.result.absent, curation.result.repeated) == (
        3,
        3,
        1,
    )
    free = await assayer.curations.wait((await assayer.curations.create(body)).id)
    assert free.cost_usd == 0
    assert [item.paper for item in free.items or ()] == [item.paper for item in curation.items]


async def test_proposed_candidates_are_distinct_ranked_and_can_be_scored(assayer: AsyncClient) -> None:
    candidates_body = CandidateIdeasBody(
        items=(QuestionBody(question=QUESTION, id="q1"),), candidates=3, ranking_method="comparisons"
    )
    proposed = await assayer.candidate_ideas.wait((await assayer.candidate_ideas.create(candidates_body)).id)
    [outcome] = proposed.items or ()
    assert outcome.candidate_ideas is not None
    candidates = outcome.candidate_ideas.candidates
    assert len(candidates) + len(outcome.candidate_ideas.missing) == 3
    assert [candidate.rank for candidate in candidates] == list(range(1, len(candidates) + 1))
    assert {candidate.id for candidate in candidates} <= {"q1-1", "q1-2", "q1-3"}
    assert len({candidate.text for candidate in candidates}) == len(candidates) > 1

    ideas = tuple(
        ScoredIdeaBody(idea=IdeaBody(text=candidate.text), question=QUESTION, id=candidate.id)
        for candidate in candidates
    )
    scored = await assayer.scores.wait((await assayer.scores.create(ScoreBody(items=ideas))).id)
    assert [item.id for item in scored.items or ()] == [candidate.id for candidate in candidates]
    for item in scored.items or ():
        assert item.scores is not None
        assert [score.dimension for score in item.scores.scores] == ["novelty", "feasibility", "effectiveness"]
        assert all(isinstance(each.score, Absent) or 1 <= each.score <= 5 for each in item.scores.scores)
        assert item.scores.blinding is not None
    assert scored.result is not None
    assert (scored.result.kind, scored.result.items) == ("score", len(candidates))


async def test_items_beyond_the_budget_are_absent_with_a_reason(assayer: AsyncClient) -> None:
    body = CurationBody(items=tuple(build_paper(number) for number in range(3, 9)), limits=Limits(max_usd=0.000_01))
    curation = await assayer.curations.wait((await assayer.curations.create(body)).id)
    assert curation.state == "succeeded"
    assert curation.cost_usd is not None
    assert curation.cost_usd <= 0.000_01
    assert curation.result is not None
    assert curation.result.absent == 6
    for item in curation.items or ():
        assert item.paper is not None
        assert isinstance(item.paper.kind, Absent)
        assert "budget" in item.paper.kind.reason


async def test_invalid_items_are_named_before_any_payment(assayer: AsyncClient, simulator: Simulator) -> None:
    with pytest.raises(ApiProblem, match=r"Paper 1: .* 20") as short:
        await assayer.curations.create(
            CurationBody(items=(build_paper(3), CuratedPaperBody(title="T", abstract="Short.")))
        )
    assert [error.pointer for error in short.value.errors] == ["/items/1"]
    with pytest.raises(ApiProblem) as empty:
        await assayer.candidate_ideas.create(
            CandidateIdeasBody(items=(QuestionBody(question=QUESTION), QuestionBody(question=" ")))
        )
    assert [error.pointer for error in empty.value.errors] == ["/items/1/question"]
    with pytest.raises(ApiProblem) as wordless:
        await assayer.scores.create(ScoreBody(items=(ScoredIdeaBody(idea=IdeaBody(text=" ")),)))
    assert [error.pointer for error in wordless.value.errors] == ["/items/0/idea/text"]
    too_many = CandidateIdeasBody.model_construct(items=(QuestionBody(question=QUESTION),) * 1_001)
    with pytest.raises(ApiProblem, match="at most 1,000"):
        await assayer.candidate_ideas.create(too_many)
    assert simulator.read_stats().requests == 0
