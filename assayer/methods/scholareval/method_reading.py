"""Papers for the methods of an idea: searched method by method, looked at by title, each read once for all methods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from assayer.citing.evidence import Evidence, Quoted, check_quote, evidence_batches
from assayer.errors import AssayerError
from assayer.literature.library import Library, field_coverage, near_beyond_corpus
from assayer.llm import Llm, ask
from assayer.methods.scholareval import tasks
from assayer.methods.scholareval.candidate_order import fused, in_turn, reranked
from assayer.methods.scholareval.first_look import FirstLooker
from assayer.methods.scholareval.options import ScholarEvalOptions
from assayer.methods.scholareval.paper_evidence import ABSTRACT_CHARS, evidence_from_papers
from assayer.methods.scholareval.schemas import LabelledText, MethodNote, ProposedMethod, ReadingQuestion
from assayer.models import FitLevel, Paper, PaperId, Passage
from assayer.ports import Reranker
from assayer.run.run import Run
from assayer.run.structured_concurrency import Failed, each

__all__ = ["MethodCandidates", "MethodNotes", "MethodReader", "RelevantPaper", "method_parts"]


@dataclass(frozen=True)
class RelevantPaper:
    """What one paper says of one method, and whether the quote was found in the text that was shown."""

    paper: PaperId
    title: str
    year: int | None
    similarity: float | None
    note: MethodNote | None
    """None where it was not read for the method."""
    abstract: str
    """Its beginning."""
    quoted: Quoted | None
    numbers: frozenset[Decimal]
    """Of what was shown of the paper."""
    shown: Evidence


class MethodCandidates(NamedTuple):
    """What the search for one method found."""

    order: list[PaperId]
    """The likeliest first."""
    passages: Sequence[Passage]
    nearness: Mapping[PaperId, float]
    """Cosine with the method's description."""
    fit: FitLevel
    """How well the field is covered, by this search alone: what others have found by now depends on which was first."""


class MethodNotes(NamedTuple):
    """What came of reading: notes by the methods' labels, and what went wrong on the way."""

    notes: Mapping[str, list[RelevantPaper]]
    errors: list[AssayerError]


class MethodReader:
    """Of one evaluation."""

    def __init__(
        self,
        llm: Llm,
        library: Library,
        run: Run,
        options: ScholarEvalOptions,
        idea: str,
        fit: FitLevel,
        reranker: Reranker | None,
    ) -> None:
        self._llm, self._library, self._run, self._options = llm, library, run, options
        self._idea, self._corpus_fit, self._reranker = idea, fit, reranker
        self.papers: dict[PaperId, Paper] = {}
        self.numbers: dict[PaperId, frozenset[Decimal]] = {}
        """Of what was shown of each paper."""
        self.shown: dict[PaperId, Evidence] = {}

    async def search(self, method: ProposedMethod) -> MethodCandidates:
        """The papers of the best passages for each query, and the papers those passages cite."""
        queries = [query for query in method.queries if query.strip()]
        by_query = await self._library.snippets(queries, self._options.snippets) if queries else []
        passages = [passage for found in by_query for passage in found]
        fit = field_coverage(self._corpus_fit, near_beyond_corpus(passages))
        found = {passage.paper.id: passage.paper for passage in passages}
        cited = dict.fromkeys(one for passage in passages for one in passage.cites if one not in found)
        found |= {paper.id: paper for paper in await self._library.papers(list(cited))}
        nearness = await self._library.similarity(f"{method.name}. {method.description}", list(found))
        least = getattr(self._options.admission, fit)
        near = [paper for paper in found if nearness.get(paper, 0.0) >= least]
        self._run.journal.record_dropped(
            "paper for a method",
            "too far from the method, in a corpus that does not cover the field",
            len(found) - len(near),
        )
        by_nearness = sorted(near, key=lambda paper: (-nearness.get(paper, 0.0), paper))
        admitted = set(near)
        rankings = [[one.paper.id for one in ranked if one.paper.id in admitted] for ranked in by_query]
        likely = [found[one] for one in fused([by_nearness, *rankings])]
        ranked = await reranked(self._reranker, f"{method.name}. {method.description}", likely)
        order = ranked[: self._options.papers_per_method]
        self._run.journal.record_dropped(
            "paper for a method", "ranked below the candidates of a method", len(near) - len(order)
        )
        self.papers |= {paper: found[paper] for paper in order}
        return MethodCandidates(order, passages, nearness, fit)

    async def read(self, parts: tuple[LabelledText, ...], found: Mapping[str, MethodCandidates]) -> MethodNotes:
        """Each paper that a first look lets pass is read once, for all methods."""
        nearness: dict[PaperId, float] = {}
        passages: dict[PaperId, list[Passage]] = {}
        for one in found.values():
            for paper in one.order:
                nearness[paper] = max(nearness.get(paper, -1.0), one.nearness.get(paper, 0.0))
            for passage in one.passages:
                if passage not in (known := passages.setdefault(passage.paper.id, [])):
                    known.append(passage)
        papers = await self._opened(parts, [one.order for one in found.values()], nearness)
        texts = await self._library.full_texts(papers) if papers else {}
        evidence = evidence_from_papers(papers, self._run, self._options.evidence_chars, nearness, passages, texts)
        if "reading" in self._options.without:
            return self._unread(found, evidence)
        batched = evidence_batches(evidence, self._options.reading_batch, self._options.reading_batch_chars)
        outcomes = await each(batched, lambda batch: self._read_papers(parts, batch))
        sizes = [len(batch) for batch in batched]
        notes: dict[str, list[RelevantPaper]] = {part.label: [] for part in parts}
        for batch in self._run.keep_successes(outcomes, "paper read for the methods", sizes):
            for label, note in batch:
                notes[label].append(note)
        return MethodNotes(notes, [one.error for one in outcomes if isinstance(one, Failed)])

    def _unread(self, found: Mapping[str, MethodCandidates], evidence: Sequence[Evidence]) -> MethodNotes:
        """What was opened, for each method whose own search had found it."""
        for item in evidence:
            self._keep(item)
        notes = {
            label: [_relevant(item, None) for item in evidence if item.paper_id in set(one.order)]
            for label, one in found.items()
        }
        return MethodNotes(notes, [])

    async def _opened(
        self, parts: tuple[LabelledText, ...], orders: Sequence[Sequence[PaperId]], nearness: Mapping[PaperId, float]
    ) -> list[Paper]:
        options = self._options
        everything = {paper for order in orders for paper in order}
        candidates = in_turn(orders, options.looked_at or len(everything))
        self._run.journal.record_dropped(
            "paper for the methods", "ranked below the titles looked at", len(everything) - len(candidates)
        )
        papers = [self.papers[one] for one in candidates]
        if not options.looked_at:
            return papers
        looker = FirstLooker(self._llm, self._run, self._idea, "soundness", "paper for the methods")
        return await looker.worth_opening(parts, papers, nearness, options.opened)

    async def _read_papers(
        self, parts: tuple[LabelledText, ...], batch: tuple[Evidence, ...]
    ) -> list[tuple[str, RelevantPaper]]:
        question = ReadingQuestion(idea=self._idea, parts=parts, evidence=batch)
        answer = await ask(self._llm, tasks.READING, question, self._run)
        shown = {item.label: item for item in batch}
        self._run.journal.record_dropped(
            "paper reading", "the paper bears on no method", sum(not reading.notes for reading in answer.readings)
        )
        for item in batch:
            self._keep(item)
        return [
            (note.method, _relevant(shown[reading.label], note))
            for reading in answer.readings
            for note in reading.notes
        ]

    def _keep(self, item: Evidence) -> None:
        self.numbers[item.paper_id] = item.numbers
        self.shown[item.paper_id] = item


def method_parts(methods: Sequence[ProposedMethod]) -> tuple[LabelledText, ...]:
    """As prompts show them, under `M1` …"""
    return tuple(
        LabelledText(label=f"M{number}", text=f"{one.name} ({one.kind})\n{one.description}")
        for number, one in enumerate(methods, start=1)
    )


def _relevant(item: Evidence, note: MethodNote | None) -> RelevantPaper:
    return RelevantPaper(
        paper=item.paper_id,
        title=item.title,
        year=item.year,
        similarity=item.similarity,
        note=note,
        abstract=item.text[:ABSTRACT_CHARS],
        quoted=check_quote(note.quote, item) if note else None,
        numbers=item.numbers,
        shown=item,
    )
