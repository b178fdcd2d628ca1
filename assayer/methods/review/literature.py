"""Find literature for the panel's points: search, one screening of titles, and passages read for all points at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from assayer.citing.evidence import Evidence, batch_evidence, check_quote
from assayer.evaluation_context import EvaluationContext
from assayer.literature.library import list_ids_beyond_corpus, rate_field_coverage
from assayer.literature.work_versions import keep_one_paper_per_work
from assayer.methods.review import tasks
from assayer.methods.review.options import ReviewOptions
from assayer.methods.review.panel import Panel
from assayer.methods.review.passages import ReadPassage, read_passage, select_passages
from assayer.methods.review.prior_work import LookedUp, look_up_works
from assayer.methods.review.schemas import (
    LookQuestion,
    PassageQuestion,
    PriorWork,
    ReadingAnswer,
    RecalledWork,
    Subject,
)
from assayer.methods.scholareval.candidate_order import (
    fuse_rankings,
    interleave_rankings,
    keep_near_papers,
    rerank_papers,
)
from assayer.methods.scholareval.first_look import build_shown_title
from assayer.methods.scholareval.paper_evidence import build_evidence, group_passages_by_paper
from assayer.models import FitLevel, Paper, PaperId, Passage
from assayer.run.concurrency import Failed, catch_failure, gather_pair, gather_settled

FEW_ON_SUBJECT = 6
"""Minimum number of papers read that are on the plan's own subject; with fewer, the coverage is at most `partial`."""
_MIN_ON_SUBJECT = 3
"""Like FEW_ON_SUBJECT; with fewer, the coverage is `poor`."""


@dataclass(frozen=True)
class LiteratureRead:
    """The passages read, and how well the search covered the field."""

    passages: tuple[ReadPassage, ...]
    """Passages in the order shown to the editor, which labels them `E1`, `E2` …."""
    papers: Mapping[PaperId, Paper]
    """Papers chosen for reading, and records found for works named from memory, by id."""
    fit: FitLevel
    """Coverage of the field, based on how many of the papers read are on the plan's subject."""
    records: Mapping[PriorWork, PaperId] = field(default_factory=dict)
    """Paper records for the works named from memory, as far as they were identified."""
    unanswered: frozenset[PriorWork] = frozenset()
    """Works named from memory that could not be looked up in full: a source failed, or no source could be searched."""
    read: int = 0
    """Number of papers read."""
    on_subject: int = 0
    """Number of papers read that are on the plan's own subject."""


@dataclass(frozen=True)
class _Candidates:
    papers: tuple[Paper, ...]
    passages: Mapping[PaperId, Sequence[Passage]]
    nearness: Mapping[PaperId, float]
    """Cosine similarity between each paper and the idea."""
    fit: FitLevel


@dataclass(frozen=True)
class ChosenPapers:
    """Papers chosen for reading, with the search that found them."""

    found: _Candidates
    papers: tuple[Paper, ...]
    works: LookedUp


class _BatchRead(NamedTuple):
    passages: list[ReadPassage]
    subjects: dict[PaperId, Subject]
    """Relation of each paper that was read to the plan's subject."""


async def choose_papers(context: EvaluationContext[ReviewOptions], panel: Panel, fit: FitLevel) -> ChosenPapers:
    """Search for literature on the points, and choose by title which papers to read. If the search fails, the points
    have no literature, and the report says so. Raises errors that would affect every other request too."""
    search_results, works = await gather_pair(
        _try_search(context, panel.queries, fit), look_up_works(context, panel.prior_work)
    )
    papers = await _shortlist_papers(context, panel, search_results.papers, [*works.records.values()])
    return ChosenPapers(search_results, tuple(papers), works)


async def read_literature(
    context: EvaluationContext[ReviewOptions], panel: Panel, chosen_papers: ChosenPapers
) -> LiteratureRead:
    """Read the chosen papers for passages relevant to any point. Raises errors that would affect every other request
    too."""
    search_results, papers, works = chosen_papers.found, chosen_papers.papers, chosen_papers.works
    texts = await context.library.full_texts(papers) if papers else {}
    options, run = context.options, context.run
    evidence = build_evidence(
        papers, run, options.evidence_chars, search_results.nearness, passages=search_results.passages, full_texts=texts
    )
    batches = batch_evidence(evidence, options.reading_batch)

    async def read_batch(batch: tuple[Evidence, ...]) -> _BatchRead:
        question = PassageQuestion(opening=panel.opening, points=panel.searched, evidence=batch)
        answer = await context.ask(tasks.READING_BRIEF if options.brief else tasks.READING, question)
        return _keep_verified(context, batch, answer)

    outcomes = await gather_settled(batches, read_batch)
    successes = run.keep_successes(outcomes, "paper read for the points", [len(batch) for batch in batches])
    order = [item.label for item in panel.searched]
    noted_passages = [passage for batch in successes for passage in batch.passages]
    passages = select_passages(noted_passages, order, options.notes)
    run.journal.record_dropped("passage", "ranked below those shown to the editor", len(noted_passages) - len(passages))
    subjects = {paper: subject for batch in successes for paper, subject in batch.subjects.items()}
    for paper in (paper for paper, subject in subjects.items() if subject == "off"):
        run.journal.near_remote_papers.pop(paper, None)
    on_subject = sum(subject == "same" for subject in subjects.values())
    return LiteratureRead(
        passages=passages,
        papers={paper.id: paper for paper in (*papers, *works.records.values())},
        fit=_lower_fit_by_subject(search_results.fit, on_subject) if subjects else search_results.fit,
        records={work: paper.id for work, paper in works.records.items()},
        unanswered=works.unanswered,
        read=len(subjects),
        on_subject=on_subject,
    )


def label_recalled_works(panel: Panel, literature: LiteratureRead) -> tuple[RecalledWork, ...]:
    """Return the works that the referees named from memory and of which no passage was read, labelled `N1`, `N2` …"""
    papers_shown = {passage.paper for passage in literature.passages}
    unread_works = [work for work in panel.prior_work if literature.records.get(work) not in papers_shown]
    return tuple(
        RecalledWork(
            label=f"N{number}",
            title=work.title,
            author=work.first_author,
            year=work.year,
            role=work.role,
            why=work.why,
            record=literature.records.get(work),
            looked_up=work not in literature.unanswered,
        )
        for number, work in enumerate(unread_works, start=1)
    )


def _lower_fit_by_subject(fit: FitLevel, on_subject: int) -> FitLevel:
    """Lower the coverage if few of the papers that were read are on the plan's subject."""
    if fit == "poor" or on_subject < _MIN_ON_SUBJECT:
        return "poor"
    return "partial" if on_subject < FEW_ON_SUBJECT else fit


async def _try_search(context: EvaluationContext[ReviewOptions], queries: Sequence[str], fit: FitLevel) -> _Candidates:
    """Search for candidates. If the search fails, there are none, and the journal records the failure."""
    outcome = await catch_failure(_search_literature(context, queries, fit))
    if isinstance(outcome, Failed):
        context.run.journal.record_failure("search for the panel's points", outcome.error)
        return _Candidates((), {}, {}, fit)
    return outcome


async def _search_literature(
    context: EvaluationContext[ReviewOptions], queries: Sequence[str], fit: FitLevel
) -> _Candidates:
    """Search papers and passages. Candidates alternate between queries: the best result for each query, then the second
    best, and so on."""
    library, options, journal = context.library, context.options, context.run.journal
    if not queries:
        return _Candidates((), {}, {}, fit)
    hits, snippets = await gather_pair(
        library.search(queries, options.hits), library.snippets(queries, options.snippets)
    )
    by_id: dict[PaperId, Paper] = {}
    rankings = []
    for query, query_hits, query_passages in zip(queries, hits, snippets, strict=True):
        by_id |= {item.paper.id: item.paper for item in query_passages} | {
            item.paper.id: item.paper for item in query_hits
        }
        fused_order = fuse_rankings(
            [[item.paper.id for item in query_hits], [item.paper.id for item in query_passages]]
        )
        rankings.append(
            await rerank_papers(context.backends.reranker, query, [by_id[item] for item in fused_order], journal)
        )
    found_passages = [passage for query_passages in snippets for passage in query_passages]
    fit = rate_field_coverage(
        fit, list_ids_beyond_corpus([*(hit for query_hits in hits for hit in query_hits), *found_passages])
    )
    nearness = await library.similarity(context.text, list(by_id))
    near_papers = set(keep_near_papers(by_id, nearness, fit, options.least_similarity_in_poor_corpus))
    journal.record_dropped(
        "paper",
        "not similar enough to the idea, and the corpus does not cover the field",
        len(by_id) - len(near_papers),
    )
    order = interleave_rankings(
        [[item for item in ranking if item in near_papers] for ranking in rankings], options.looked_at
    )
    journal.record_dropped("paper", "ranked below the titles that were screened", len(near_papers) - len(order))
    return _Candidates(tuple(by_id[item] for item in order), group_passages_by_paper(found_passages), nearness, fit)


async def _shortlist_papers(
    context: EvaluationContext[ReviewOptions], panel: Panel, papers: Sequence[Paper], named_papers: Sequence[Paper]
) -> list[Paper]:
    """Choose the papers to read: papers that a referee named, then papers with a promising title. If the screening
    request fails, the papers are taken in order, since there is no reason to exclude any."""
    journal = context.run.journal
    named_papers = keep_one_paper_per_work(named_papers)[: context.options.opened]
    limit = max(context.options.opened - len(named_papers), 0)
    works = keep_one_paper_per_work([*named_papers, *papers])
    journal.record_dropped(
        "paper", "another record of the same work", len({paper.id for paper in (*named_papers, *papers)}) - len(works)
    )
    papers = works[len(named_papers) :]
    for paper in works:
        journal.record_if_suspicious(paper)
    if not papers or limit == 0:
        return named_papers
    if context.options.looked_at <= context.options.opened:
        return [*named_papers, *papers[:limit]]
    papers_by_label = {f"P{number}": paper for number, paper in enumerate(papers, start=1)}
    shown_titles = tuple(build_shown_title(label, paper) for label, paper in papers_by_label.items())
    question = LookQuestion(opening=panel.opening, points=panel.searched, shown=shown_titles, most=limit)
    answer = await context.try_to_ask(tasks.LOOK, question, "look at titles")
    if isinstance(answer, Failed):
        return [*named_papers, *papers[:limit]]
    chosen_papers = [papers_by_label[label] for label in dict.fromkeys(answer.labels)][:limit]
    journal.record_dropped("paper", "its title is not relevant to any point", len(papers) - len(chosen_papers))
    return [*named_papers, *chosen_papers]


def _keep_verified(
    context: EvaluationContext[ReviewOptions], batch: Sequence[Evidence], answer: ReadingAnswer
) -> _BatchRead:
    """Keep the reader's notes that have a quote found in the paper's stored text. Papers on other subjects are left
    out."""
    evidence_by_label = {item.label: item for item in batch}
    passages = []
    papers_on_subject = [paper for paper in answer.papers if paper.subject != "off"]
    for paper in papers_on_subject:
        item = evidence_by_label[paper.label]
        for note in paper.notes:
            quotes = [check_quote(words, item) for words in (note.quote_done, note.quote_found, note.quote_under)]
            verified_quotes = [quote for quote in quotes if quote is not None and quote.state == "verified"]
            if verified_quotes:
                passages.append(read_passage(item, note, verified_quotes))
    note_count = sum(len(paper.notes) for paper in papers_on_subject)
    journal = context.run.journal
    journal.record_dropped("passage", "none of its quotes was found in the paper's text", note_count - len(passages))
    journal.record_dropped("paper read", "not on the plan's subject", len(answer.papers) - len(papers_on_subject))
    journal.record_dropped(
        "paper read", "not relevant to any point", sum(not paper.notes for paper in papers_on_subject)
    )
    return _BatchRead(passages, {evidence_by_label[paper.label].paper_id: paper.subject for paper in answer.papers})
