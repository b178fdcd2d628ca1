"""Evidence report, without a judgement: the closest papers, the limitations and comparisons that they state, and the
works that they cite.

Papers are retrieved for each part of the plan and ranked; for each, the sentence nearest in meaning is quoted. Nothing
is scored, because similar words do not mean similar claims."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assayer.citing.evidence import Evidence, build_citation
from assayer.citing.labels import build_marker
from assayer.evaluation_context import EvaluationContext
from assayer.methods.check.closest import Nearest, find_closest_passages
from assayer.methods.check.named_passages import find_comparisons, find_limitations
from assayer.methods.check.options import CheckOptions
from assayer.methods.check.text_matching import Paragraph, compute_similarity, split_into_paragraphs, truncate_words
from assayer.methods.scholareval.candidate_order import fuse_rankings, keep_near_papers, rerank_papers
from assayer.methods.scholareval.paper_evidence import build_evidence, group_passages_by_paper
from assayer.models import (
    CorpusFit,
    EvidenceReport,
    FullText,
    NearPassage,
    OftenCited,
    OwnReferences,
    Paper,
    PaperId,
    Summary,
)
from assayer.plan_review.checklist import find_reliable_gaps
from assayer.reports.assembly import EvaluationResult, Findings, assemble_report
from assayer.run.concurrency import gather_pair

_STAGES = 4
_MAX_QUERY_WORDS = 70
_MIN_QUERY_WORDS = 12
"""Minimum number of words in a paragraph for it to be used as a query."""


async def evaluate(context: EvaluationContext[CheckOptions], method: str, with_checklist: bool) -> EvaluationResult:
    """Build the evidence report for a plan; `method` is the name recorded as the report's method. Raises
    LiteratureError if the corpus fails."""
    options, run = context.options, context.run
    run.report_progress(method, 0, _STAGES)
    fit = await context.library.fit(context.idea.text)
    parts = await _list_parts(context)
    run.report_progress(method, 1, _STAGES)
    read = await _read_papers(context, fit, parts)
    run.report_progress(method, 2, _STAGES)
    nearest_passages = await find_closest_passages(parts, read.evidence, context.backends.embedder)
    run.report_progress(method, 3, _STAGES)
    shown_passages = nearest_passages[: options.shown]
    run.journal.record_dropped(
        "paper", "read, but less similar than those shown", len(nearest_passages) - len(shown_passages)
    )
    often_cited, listed_papers = await gather_pair(
        find_often_cited(context, [item.paper_id for item in shown_passages]), collect_own_papers(context)
    )
    shown_evidence = [item.evidence for item in shown_passages]
    report = EvidenceReport(
        closest_passages=tuple(_sort_by_part(shown_passages, listed_papers)),
        limitations=find_limitations(shown_evidence, read.texts, options.listed),
        comparisons=find_comparisons(shown_evidence, options.listed),
        often_cited=often_cited.works,
        # In a thread, because it takes seconds for a long plan.
        not_stated=await asyncio.to_thread(find_reliable_gaps, context.text) if with_checklist else None,
    )
    run.report_progress(method, _STAGES, _STAGES)
    findings = Findings(
        summary=Summary(strengths=(), weaknesses=(), suggestions=()),
        parts=(),
        corpus_fit=fit,
        papers={**often_cited.papers, **read.papers},
        evidence=report,
    )
    return await assemble_report(method, context, findings)


def _sort_by_part(passages: Sequence[Nearest], listed_papers: frozenset[PaperId] | None) -> list[NearPassage]:
    places = {part: place for place, part in enumerate(dict.fromkeys(item.part for item in passages))}
    ordered_passages = sorted(passages, key=lambda item: (places[item.part], -item.cosine))
    return [
        item.build_passage(None if listed_papers is None else item.paper_id in listed_papers)
        for item in ordered_passages
    ]


async def _list_parts(context: EvaluationContext[CheckOptions]) -> list[Paragraph]:
    """Return the plan's paragraphs. If there are too many, only those nearest to the whole plan are kept, in their
    original order."""
    merged_paragraphs: list[Paragraph] = []
    for paragraph in split_into_paragraphs(context.text):
        if merged_paragraphs and paragraph.heading and paragraph.heading == merged_paragraphs[-1].heading:
            merged_paragraphs[-1] = merged_paragraphs[-1]._replace(
                text=f"{merged_paragraphs[-1].text} {paragraph.text}"
            )
        else:
            merged_paragraphs.append(paragraph)
    long_enough = [item for item in merged_paragraphs if len(item.text.split()) >= _MIN_QUERY_WORDS]
    parts = long_enough or [Paragraph("", "other", context.text)]
    if len(parts) <= context.options.parts:
        return parts
    cosines = await compute_similarity([context.text], [part.text for part in parts], context.backends.embedder)
    nearest_indexes = (-cosines[0]).argsort(kind="stable")[: context.options.parts]
    return [parts[index] for index in sorted(nearest_indexes.tolist())]


@dataclass(frozen=True)
class _ReadPapers:
    papers: Mapping[PaperId, Paper]
    evidence: Sequence[Evidence]
    texts: Mapping[PaperId, FullText]


async def _read_papers(
    context: EvaluationContext[CheckOptions], fit: CorpusFit, parts: Sequence[Paragraph]
) -> _ReadPapers:
    """Search with every paragraph of the plan, and read the best papers."""
    library, run, options = context.library, context.run, context.options
    queries = [_build_query(part) for part in parts]
    hits, snippets = await gather_pair(
        library.search(queries, options.hits), library.snippets(queries, options.snippets)
    )
    papers_by_id = {hit.paper.id: hit.paper for ranked in hits for hit in ranked}
    papers_by_id |= {snippet.paper.id: snippet.paper for ranked in snippets for snippet in ranked}
    cosines = await library.similarity(context.text, list(papers_by_id))
    nearest_papers = sorted(
        keep_near_papers(papers_by_id, cosines, fit.level, options.least_similarity_in_poor_corpus),
        key=lambda entry: (-cosines.get(entry, 0.0), entry),
    )
    run.journal.record_dropped(
        "candidate paper",
        "not similar enough to the idea, and the corpus does not cover the field",
        len(papers_by_id) - len(nearest_papers),
    )
    admitted_papers = set(nearest_papers)
    rankings = [[hit.paper.id for hit in ranked if hit.paper.id in admitted_papers] for ranked in hits]
    fused_order = fuse_rankings([nearest_papers, *rankings])
    order = await rerank_papers(
        context.backends.reranker, context.idea.title, [papers_by_id[entry] for entry in fused_order], run.journal
    )
    run.journal.record_dropped("candidate paper", "ranked below those read", max(0, len(order) - options.opened))
    papers = [papers_by_id[entry] for entry in order[: options.opened]]
    texts = await library.full_texts(papers) if papers else {}
    matched_passages = group_passages_by_paper(snippet for ranked in snippets for snippet in ranked)
    evidence = build_evidence(papers, run, options.evidence_chars, cosines, matched_passages, texts)
    return _ReadPapers({paper.id: paper for paper in papers}, evidence, texts)


def _build_query(part: Paragraph) -> str:
    return truncate_words(f"{part.heading}. {part.text}".lstrip(". "), _MAX_QUERY_WORDS, ellipsis="")


_MIN_CITING = 2
_MIN_TITLE_CHARS = 12
"""Minimum length of a title, in characters; a shorter one that occurs in the plan's text does not count as a
mention."""


class CitedWorks(NamedTuple):
    works: tuple[OftenCited, ...]
    papers: Mapping[PaperId, Paper]
    """The papers in `works`, by id."""


async def collect_own_papers(context: EvaluationContext[CheckOptions]) -> frozenset[PaperId] | None:
    """Return the ids of the papers identified in the plan's own references; None if no reference could be checked."""
    own_references = await context.run.own_references_check if context.run.own_references_check else None
    if not isinstance(own_references, OwnReferences):
        return None
    return frozenset(entry.record.id for entry in own_references.entries if entry.record is not None)


async def find_often_cited(context: EvaluationContext[CheckOptions], closest: Sequence[PaperId]) -> CitedWorks:
    """Return works that several of the closest papers cite and the plan does not name, most cited first."""
    if not closest or not context.options.references:
        return CitedWorks((), {})
    references_by_paper = await context.library.references(closest, context.options.references)
    own_papers = await collect_own_papers(context) or frozenset()
    text = _normalise(context.text)
    citing_by_work: dict[PaperId, list[PaperId]] = {}
    papers: dict[PaperId, Paper] = {}
    for paper in closest:
        for work in references_by_paper.get(paper, []):
            papers[work.id] = work
            citing_by_work.setdefault(work.id, []).append(paper)
    missed_works = [
        work
        for work, citing_papers in citing_by_work.items()
        if len(citing_papers) >= _MIN_CITING
        and work not in own_papers
        and work not in closest
        and not _is_named(papers[work], text)
    ]
    most_cited = sorted(missed_works, key=lambda work: (-len(citing_by_work[work]), work))[: context.options.listed]
    context.run.journal.record_dropped(
        "often-cited work",
        "cited by fewer of the closest papers than those listed",
        len(missed_works) - len(most_cited),
    )
    works = (
        OftenCited(
            label=build_marker(work),
            cited_by=tuple(build_citation(citing_papers, None) for citing_papers in citing_by_work[work]),
        )
        for work in most_cited
    )
    return CitedWorks(tuple(works), {work: papers[work] for work in most_cited})


def _is_named(paper: Paper, text: str) -> bool:
    title = _normalise(paper.title)
    return len(title) >= _MIN_TITLE_CHARS and title in text


def _normalise(text: str) -> str:
    return " ".join("".join(letter if letter.isalnum() else " " for letter in text.casefold()).split())
