"""Gets reviews and answers about plans from a live or simulated endpoint or from readers' files."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar, get_args

from pydantic import BaseModel, Field

from assayer.ideas.parsing import parse_idea
from assayer.llm import Llm, Task, ask
from assayer.models import Axis, EvaluationId, Frozen, Idea, Report, Score
from assayer.reports.json_and_csv import render_json
from assayer.reports.markdown import render_report_markdown
from assayer.reports.wording import format_named_work
from assayer.run.budget import Budget
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from benchmarks.quality.judged_sets.asking import PARAGRAPH, ReviewQuestion
from benchmarks.quality.outcome_file import Spending, get_usd, sum_spending
from benchmarks.quality.part_inputs import PartInputs
from benchmarks.quality.recorded import RecordedLlm
from benchmarks.quality.report_text import extract_judgement
from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.engine import Engine, open_engine
from cluster.repetitions import answer_anew
from orchestrator.store import Database

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)

PARAGRAPH_NAME = "paragraph"
"""Name of the contender that makes one request with a one-paragraph prompt, without any search."""
_MAX_CONCURRENT = 512
"""Concurrent evaluations while readers answer: each waits only for its own reader."""


class WrittenReview(Frozen):
    """One contender's review of a plan."""

    text: str
    papers: dict[str, str] = Field(default_factory=dict)
    """Titles by what the text cites: a label in brackets for papers, author and year for works named from memory."""
    scores: dict[Axis, float]
    """Scores out of 10; an axis without a score is absent."""
    spent: Spending

    @property
    def word_count(self) -> int:
        return len(self.text.split())

    def cut_words(self, max_words: int) -> str:
        """Return the text cut to whole lines of at most `max_words` words, and after it the titles of the papers cited
        there, which do not count."""
        text = cut_words(self.text, max_words)
        cited_papers = [f"{label} {title}" for label, title in self.papers.items() if label in text]
        return f"{text}\n\nPapers: {'; '.join(cited_papers)}" if cited_papers else text


@dataclass(frozen=True)
class ReviewSource:
    """Source of reviews and answers. Identical requests are made only once."""

    engine: Engine
    database: Database
    recorded: RecordedLlm | None
    budget: Budget
    words: int
    """Length requested by the one-paragraph prompt."""
    reports: Path
    stack: AsyncExitStack
    _engines: dict[int, Engine] = field(default_factory=dict)
    _reviews: dict[tuple[str, str, int], "asyncio.Task[WrittenReview]"] = field(default_factory=dict)
    _opening: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, task: Task[In, Out], question: In, plan: str, repetition: int = 1) -> tuple[Out, Spending]:
        """Ask the model about a plan. Raises what `assayer.llm.ask` raises."""
        run = self.create_run(plan)
        answer = await ask(await self.get_llm(plan, repetition), task, question, run)
        return answer, sum_spending(run.journal.calls)

    def create_run(self, plan: str) -> Run:
        """Return the run in whose journal requests about a plan are recorded."""
        return Run(EvaluationId(f"judge_{plan}"), None, SystemClock(), NoProgress(), self.budget)

    async def review(self, contender: str, idea: Idea, repetition: int = 1) -> WrittenReview:
        """Return a contender's review of a plan; each repetition gets its own answers. Raises AssayerError."""
        key = (contender, idea.id, repetition)
        if key not in self._reviews:
            is_paragraph = contender == PARAGRAPH_NAME
            review_coroutine = (
                self._write_paragraph(idea, repetition)
                if is_paragraph
                else self._write_report(contender, idea, repetition)
            )
            self._reviews[key] = asyncio.create_task(review_coroutine)
        return await asyncio.shield(self._reviews[key])

    async def aclose(self) -> None:
        """Cancel the reviews that are no longer needed."""
        for task in self._reviews.values():
            task.cancel()
        await asyncio.gather(*self._reviews.values(), return_exceptions=True)

    async def _write_paragraph(self, idea: Idea, repetition: int) -> WrittenReview:
        question = ReviewQuestion(text=idea.text, words=self.words)
        answer, spent = await self.ask(PARAGRAPH, question, idea.source, repetition)
        scores: dict[Axis, float] = {"soundness": answer.soundness, "contribution": answer.contribution}
        return WrittenReview(text=answer.review, scores=scores, spent=spent)

    async def _write_report(self, method: str, idea: Idea, repetition: int) -> WrittenReview:
        engine = await self._get_engine(repetition)
        backends = replace(engine.backends, llm=await self.get_llm(idea.source, repetition))
        report = (await replace(engine, backends=backends).evaluate(idea, method, idea.cutoff, NoProgress())).report
        for suffix, text in (("json", render_json(report)), ("md", render_report_markdown(report))):
            (self.reports / f"{idea.source}.{method}.{repetition}.{suffix}").write_text(text, "utf-8")
        provenance = report.provenance
        spent = Spending(
            calls=report.coverage.llm_requests,
            prompt_tokens=provenance.prompt_tokens,
            completion_tokens=provenance.completion_tokens,
            usd=get_usd(provenance.cost_usd),
        )
        scores = {
            axis: out_of_ten for axis in get_args(Axis) if (out_of_ten := _scale_to_ten(report, axis)) is not None
        }
        papers = {f"[{reference.label}]": reference.title for reference in report.references}
        review = report.panel_review
        papers |= {
            format_named_work(work.author, work.year): work.title
            for work in (review.works_from_memory if review else ())
        }
        return WrittenReview(text=extract_judgement(report), papers=papers, scores=scores, spent=spent)

    async def _get_engine(self, repetition: int) -> Engine:
        """Return an engine whose model answers afresh for each repetition."""
        async with self._opening:
            if repetition not in self._engines:
                engine = self.engine
                if self.recorded is None:
                    engine = await self.stack.enter_async_context(answer_anew(engine, self.database, repetition))
                self._engines[repetition] = engine
        return self._engines[repetition]

    async def get_llm(self, plan: str, repetition: int = 1) -> Llm:
        """Return a model whose answers about a plan are kept separately for each repetition."""
        if self.recorded is None:
            return (await self._get_engine(repetition)).backends.llm
        return self.recorded.use_label(plan if repetition == 1 else f"{plan}.run{repetition}")


@asynccontextmanager
async def open_review_source(inputs: PartInputs, methods: tuple[str, ...]) -> AsyncIterator[ReviewSource]:
    """Open the resources of the judge's tests, with these methods as contenders."""
    options, settings = inputs.options, inputs.settings
    recorded_llm = RecordedLlm(options.recorded, options.invented) if options.recorded else None
    if recorded_llm:
        evaluation = settings.evaluation.model_copy(update={"concurrency": _MAX_CONCURRENT})
        settings = settings.model_copy(update={"evaluation": evaluation})
    is_bounded = inputs.run_options.judge == "endpoint" and not inputs.run_options.yes
    reports = (options.recorded or inputs.run_options.out) / "reports"
    reports.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(open_database(settings))
        engine = await stack.enter_async_context(open_engine(settings, methods, database))
        answering = ReviewSource(
            engine=engine,
            database=database,
            recorded=recorded_llm,
            budget=Budget(max_usd=inputs.run_options.limit_usd if is_bounded else None),
            words=options.words,
            reports=reports,
            stack=stack,
        )
        stack.push_async_callback(answering.aclose)
        yield answering


def cut_words(text: str, max_words: int) -> str:
    """Return the first whole lines of a text with at most `max_words` words; if even the first line is longer, cut
    it."""
    kept_lines: list[str] = []
    words_left = max_words
    for line in text.split("\n"):
        words = len(line.split())
        if words > words_left:
            break
        kept_lines.append(line)
        words_left -= words
    return "\n".join(kept_lines).strip() or " ".join(text.split()[:max_words])


def make_neutral_copy(idea: Idea, text: str) -> Idea:
    """Return the idea with another text, under a name that does not reveal that it is a changed copy."""
    return parse_idea(text, f"{idea.source}-{hashlib.sha256(text.encode()).hexdigest()[:4]}", idea.title, idea.cutoff)


def _scale_to_ten(report: Report, axis: Axis) -> float | None:
    score = next((part.score for part in report.parts if part.name == axis), None)
    return 10 * score.value / score.scale_max if isinstance(score, Score) else None
