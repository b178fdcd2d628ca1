"""Storage of a reviewer's expertise, after their papers have been looked up in the corpus."""

import asyncio

from assayer_client.expertise import Expertise, ExpertiseBody, ExpertiseOutcome
from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import TenantId
from orchestrator.problems import HttpProblem, build_not_found_problem, require
from orchestrator.reviewing.models import Member
from orchestrator.services.expertise import look_up_papers, parse_papers, remove_duplicate_papers
from orchestrator.web.corpus_requests import run_corpus_search
from orchestrator.web.services import Services

_MAX_PAPERS = 1_000


async def store_expertise(
    services: Services, tenant: TenantId, member: Member, body: ExpertiseBody, by: ActBy
) -> ExpertiseOutcome:
    """Store a reviewer's expertise and conflicts of interest. If the corpus is unavailable, papers are stored as
    listed. Raises HttpProblem if there are too many papers, and ReviewRefused if another version has been stored in the
    meantime."""
    listed_papers, unparsed = await asyncio.to_thread(parse_papers, body.references)
    papers = remove_duplicate_papers([*body.papers, *listed_papers])
    if len(papers) > _MAX_PAPERS:
        raise HttpProblem.invalid(f"A reviewer can have at most {_MAX_PAPERS:,} papers.", "/papers")
    corpus_problem = ""
    if papers or body.keywords:
        try:
            papers = await run_corpus_search(
                services, lambda corpus: look_up_papers(corpus, member.name, papers, body.keywords)
            )
        except HttpProblem as problem:
            corpus_problem = problem.detail
    expertise = Expertise(
        member=member.id,
        version=body.version,
        keywords=body.keywords,
        papers=tuple(papers[:_MAX_PAPERS]),
        institutions=body.institutions,
        people=body.people,
    )
    stored_expertise = await services.reviewing.expertise.store(tenant, expertise, by)
    return ExpertiseOutcome(
        expertise=require(stored_expertise, build_not_found_problem("member", member.id)),
        unparsed_references=tuple(unparsed),
        corpus_lookup_absent=corpus_problem,
    )
