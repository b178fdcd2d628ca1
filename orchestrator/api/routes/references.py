"""Route `/v1/references`: papers in the corpus that an idea should cite, found while the caller waits and without a
language model."""

import asyncio

from fastapi import APIRouter

from assayer.methods.scicompanion.missed_references import MissedReference, MissedReferences, find_missed_references
from assayer.models import Idea, PaperId
from assayer_client.references import ReferencePath, ReferencesBody, SuggestedReference, SuggestedReferences
from orchestrator.api.job_routes import FUTURE_CUTOFF_MESSAGE, is_in_future
from orchestrator.api.routes.corpus import build_paper_fields
from orchestrator.problems import HttpProblem
from orchestrator.services.submitted_ideas import parse_idea_body
from orchestrator.web.authentication import Reader
from orchestrator.web.corpus_requests import run_corpus_search
from orchestrator.web.searchable_corpus import SearchableCorpus
from orchestrator.web.services import Services

_MAX_CHARS = 100_000
"""Maximum length of an idea in characters. The whole text is embedded while the caller waits, which takes about a
second per 100,000 characters."""


router = APIRouter(prefix="/v1/references", tags=["references"])


@router.post("")
async def suggest_references(body: ReferencesBody, context: Reader) -> SuggestedReferences:
    """Suggest papers in the corpus that an idea should cite but does not. Each suggestion states how it was found: by
    similarity to the idea's text, or through citations. Nothing is stored, so no idempotency key is needed."""
    idea = await asyncio.to_thread(_parse_idea, body, context.services)
    return await run_corpus_search(
        context.services, lambda corpus: _suggest_references(corpus, idea, body, context.services)
    )


def _parse_idea(body: ReferencesBody, services: Services) -> Idea:
    """Return the idea in the body. Raises HttpProblem if it is invalid or too long, or if the cutoff is in the
    future."""
    if is_in_future(body.cutoff, services):
        raise HttpProblem.invalid(FUTURE_CUTOFF_MESSAGE, "/cutoff")
    idea = parse_idea_body(body.idea, "", "/idea")
    if len(idea.text) > _MAX_CHARS:
        detail = (
            f"The idea has {len(idea.text):,} characters; the limit is {_MAX_CHARS:,}. Send only its main sections."
        )
        raise HttpProblem.invalid(detail, "/idea")
    return idea


async def _suggest_references(
    corpus: SearchableCorpus, idea: Idea, body: ReferencesBody, services: Services
) -> SuggestedReferences:
    counts = {"recommended": body.limit, **({} if body.hops is None else {"hops": body.hops})}
    options = services.options.scicompanion.model_copy(update=counts)
    excluded_ids = frozenset(map(PaperId, body.exclude))
    missed_references = await find_missed_references(idea, corpus, body.cutoff, services.clock, options, excluded_ids)
    return SuggestedReferences(
        corpus=corpus.version,
        corpus_fit=missed_references.fit.level,
        note=_build_note(missed_references, options.hops),
        references=tuple(
            _build_reference(rank, reference) for rank, reference in enumerate(missed_references.references, start=1)
        ),
    )


def _build_note(missed_references: MissedReferences, hops: int) -> str | None:
    if not missed_references.references:
        return "The corpus contains no further paper close to this idea: it already cites all that were found."
    if hops and all(path.from_paper is None for reference in missed_references.references for path in reference.found):
        return "All of these papers were found by similarity to the idea's text, none through citations."
    return None


def _build_reference(rank: int, missed_reference: MissedReference) -> SuggestedReference:
    paths = tuple(
        ReferencePath(
            kind=path.kind,
            from_id=path.from_paper.id if path.from_paper else None,
            from_title=path.from_paper.title if path.from_paper else None,
        )
        for path in missed_reference.found
    )
    return SuggestedReference(**build_paper_fields(missed_reference.paper), rank=rank, search_paths=paths)
