"""`/v1/references`: what an idea should cite, from the corpus, while the caller waits. No language model is asked."""

import asyncio
import datetime as dt
from typing import Literal

from fastapi import APIRouter, Depends
from pydantic import Field

from assayer.methods.scicompanion.missed_references import MissedReference, MissedReferences, missed_references
from assayer.models import FitLevel, Idea, PaperId
from orchestrator.api.authentication import Reader
from orchestrator.api.common_schemas import Body, IdeaBody, Resource
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.corpus_requests import answered_by_corpus
from orchestrator.api.job_routes import CUTOFF_AHEAD, idea_of, lies_ahead
from orchestrator.api.openapi import problem_responses
from orchestrator.api.problems import HttpProblem
from orchestrator.api.routes.corpus import CorpusPaper, Name, paper_fields
from orchestrator.api.searchable_corpus import SearchableCorpus
from orchestrator.api.services import Services, ServicesDependency

__all__ = ["ReferencePath", "ReferencesBody", "SuggestedReference", "SuggestedReferences", "router"]

_LONGEST = 100_000
"""Characters of an idea. All of it is embedded while the caller waits, which takes about a second a 100,000."""


class ReferencesBody(Body):
    idea: IdeaBody
    limit: int = Field(default=10, ge=1, le=100)
    """The most references."""
    cutoff: dt.date | None = None
    """Only papers published on this day or before; undated ones are left out. Null: no limit."""
    hops: int | None = Field(default=None, ge=0, le=4)
    """Along citations, from the papers nearest to the idea. 0: those papers alone. Null: what the service's settings
    say, by default 2."""
    without: tuple[Name, ...] = Field(default=(), max_length=1_000)
    """Ids of papers that the idea cites already. They lead to others; papers whose title stands in the idea are left
    out anyway."""


class ReferencePath(Resource):
    """One way by which a paper was found."""

    kind: Literal["dense", "reference", "citing", "co-cited", "neighbour"]
    """`dense`: near the idea's words; `reference`: the other paper cites it; `citing`: it cites the other paper;
    `co-cited`: a third paper cites both; `neighbour`: near the other paper's words."""
    from_id: str | None
    """The other paper's id; null where the idea's words led to it."""
    from_title: str | None


class SuggestedReference(CorpusPaper):
    rank: int
    found: tuple[ReferencePath, ...]


class SuggestedReferences(Resource):
    corpus: str
    """The version that answered: the same version gives the same answers."""
    corpus_fit: FitLevel
    """Whether the corpus covers the idea's field. Where it does not, finding nothing says nothing."""
    note: str | None
    """What there is to know about the whole answer."""
    references: tuple[SuggestedReference, ...]
    """Best first."""


router = APIRouter(prefix="/v1/references", tags=["references"])


@router.post("", responses=problem_responses(400, 413, 415, 422, 503), dependencies=[Depends(json_only)])
async def suggest(body: ReferencesBody, _: Reader, services: ServicesDependency) -> SuggestedReferences:
    """Suggests papers of the corpus that an idea does not name and should, each with how it was found: near its words,
    or along citations. Nothing is stored, so it takes no idempotency key."""
    idea = await asyncio.to_thread(_checked_idea, body, services)
    return await answered_by_corpus(services, "search", lambda corpus: _suggested(corpus, idea, body, services))


def _checked_idea(body: ReferencesBody, services: Services) -> Idea:
    """Raises HttpProblem."""
    if lies_ahead(body.cutoff, services):
        raise HttpProblem.invalid(CUTOFF_AHEAD, "/cutoff")
    idea = idea_of(body.idea, "", "/idea")
    if len(idea.text) > _LONGEST:
        detail = f"The idea has {len(idea.text):,} characters; the limit here is {_LONGEST:,}. Send its main sections."
        raise HttpProblem.invalid(detail, "/idea")
    return idea


async def _suggested(
    corpus: SearchableCorpus, idea: Idea, body: ReferencesBody, services: Services
) -> SuggestedReferences:
    said = {"recommended": body.limit, **({} if body.hops is None else {"hops": body.hops})}
    options = services.walks.model_copy(update=said)
    known = frozenset(map(PaperId, body.without))
    missed = await missed_references(idea, corpus, body.cutoff, services.clock, options, known)
    return SuggestedReferences(
        corpus=corpus.version,
        corpus_fit=missed.fit.level,
        note=_note(missed, options.hops),
        references=tuple(_resource(rank, one) for rank, one in enumerate(missed.references, start=1)),
    )


def _note(missed: MissedReferences, hops: int) -> str | None:
    if not missed.references:
        return "The corpus has no paper near this idea that it does not name already."
    if hops and all(way.from_paper is None for one in missed.references for way in one.found):
        return "No citation leads to any of these papers: they were found by the idea's words alone."
    return None


def _resource(rank: int, one: MissedReference) -> SuggestedReference:
    found = tuple(
        ReferencePath(
            kind=way.kind,
            from_id=way.from_paper.id if way.from_paper else None,
            from_title=way.from_paper.title if way.from_paper else None,
        )
        for way in one.found
    )
    return SuggestedReference(**paper_fields(one.paper), rank=rank, found=found)
