"""Storage of a reviewer's expertise, after their papers have been looked up in the corpus."""

import asyncio

from assayer_client.expertise import Expertise, ExpertiseBody, ExpertiseOutcome
from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import TenantId
from orchestrator.problems import HttpProblem, build_not_found_problem, require
from orchestrator.reviewing.models import Member
from orchestrator.services.expertise import distinct_papers, papers_in_corpus, read_papers
from orchestrator.web.corpus_requests import answered_by_corpus
from orchestrator.web.services import Services

_MAX_PAPERS = 1_000


async def store_expertise(
    services: Services, tenant: TenantId, member: Member, body: ExpertiseBody, by: ActBy
) -> ExpertiseOutcome:
    """Store a reviewer's expertise and conflicts of interest. If the corpus is unavailable, papers are stored as
    listed. Raises HttpProblem if there are too many papers, and ReviewRefused if another version has been stored in the
    meantime."""
    read, unread = await asyncio.to_thread(read_papers, body.references)
    papers = distinct_papers([*body.papers, *read])
    if len(papers) > _MAX_PAPERS:
        raise HttpProblem.invalid(f"A reviewer can have at most {_MAX_PAPERS:,} papers.", "/papers")
    without_corpus = ""
    if papers or body.keywords:
        try:
            papers = await answered_by_corpus(
                services, lambda corpus: papers_in_corpus(corpus, member.name, papers, body.keywords)
            )
        except HttpProblem as problem:
            without_corpus = problem.detail
    new = Expertise(
        member=member.id,
        version=body.version,
        keywords=body.keywords,
        papers=tuple(papers[:_MAX_PAPERS]),
        institutions=body.institutions,
        people=body.people,
    )
    stored = await services.reviewing.expertise.store(tenant, new, by)
    return ExpertiseOutcome(
        expertise=require(stored, build_not_found_problem("member", member.id)),
        unparsed_references=tuple(unread),
        corpus_lookup_absent=without_corpus,
    )
