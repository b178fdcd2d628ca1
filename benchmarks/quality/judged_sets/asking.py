"""Asks a language model directly: with a one-paragraph prompt, or with a careful prompt but without search."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import Field

from assayer.citing.answer_texts import TextRole
from assayer.llm import Llm, Task, ask
from assayer.models import EvaluationId, Frozen
from assayer.prompts import Prompts
from assayer.run.budget import Budget
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from benchmarks.quality.judged_sets.judged import JudgedItem
from benchmarks.quality.judged_sets.queries import Query
from benchmarks.quality.outcome_file import Outcome, OutcomeFile, measure_missing, sum_spending
from benchmarks.quality.part_inputs import RunOptions
from benchmarks.quality.runs import measure_within_limits, open_outcome_file
from cluster.clock import SystemClock
from cluster.ranker import open_ranker
from cluster.settings import Settings

_PROMPTS = Prompts("benchmarks.quality.judged_sets")
_TEXT_CHARS = 30_000


class OpinionQuestion(Frozen):
    question: str
    text: str
    context: str


class Opinion(Frozen):
    reasons: Annotated[str, TextRole.PROSE]
    value: int = Field(ge=0, le=100, strict=True)


class ReviewQuestion(Frozen):
    text: str
    words: int | None = None
    """Length to ask for; None leaves it open."""


class PlainReview(Frozen):
    review: Annotated[str, TextRole.PROSE] = Field(min_length=1)


class ScoredReview(Frozen):
    review: Annotated[str, TextRole.COPIED] = Field(min_length=1)
    """Text that may cite from memory, as the prompt allows."""
    soundness: int = Field(ge=1, le=10, strict=True)
    contribution: int = Field(ge=1, le=10, strict=True)


class TitlesQuestion(Frozen):
    request: str
    until: str


class RememberedTitles(Frozen):
    titles: Annotated[list[str], TextRole.QUERY] = Field(max_length=20)


def _build_task(name: str, prompt: str, output: type[Frozen], max_tokens: int) -> Task[Any, Any]:
    return Task(f"quality.{name}", _PROMPTS, prompt, output, tier="strong", max_tokens=max_tokens)


OPINIONS: Mapping[str, Task[OpinionQuestion, Opinion]] = {
    "one-paragraph prompt": _build_task("opinion_paragraph", "opinion_paragraph.v1.md", Opinion, 1_000),
    "language model without search": _build_task("opinion_careful", "opinion_careful.v2.md", Opinion, 2_000),
}
PARAGRAPH: Task[ReviewQuestion, ScoredReview] = _build_task(
    "review_paragraph", "review_paragraph.v2.md", ScoredReview, 4_000
)
REVIEWS: Mapping[str, Task[ReviewQuestion, Any]] = {
    "one-paragraph prompt": PARAGRAPH,
    "language model without search": _build_task("review_careful", "review_careful.v3.md", PlainReview, 4_000),
}
TITLES: Task[TitlesQuestion, RememberedTitles] = _build_task("titles", "titles.v2.md", RememberedTitles, 1_500)


class OpinionOutcome(Outcome):
    value: int | None = None
    """0 to 100; None without an answer, and `failure` says why."""


class ReviewOutcome(Outcome):
    review: str = ""


class TitlesOutcome(Outcome):
    titles: tuple[str, ...] = ()


Kind = TypeVar("Kind", bound=Outcome)


async def ask_opinions(
    llm: Llm,
    question: str,
    items: Sequence[JudgedItem],
    task: Task[OpinionQuestion, Opinion],
    budget: Budget,
    outcome_file: OutcomeFile[OpinionOutcome],
) -> None:
    """Ask about the items that have not been asked about yet."""

    async def ask_item(item: JudgedItem, seed: int) -> OpinionOutcome:
        run = _create_run(item.id, budget)
        opinion_question = OpinionQuestion(
            question=question, text=item.text[:_TEXT_CHARS], context=item.context[:_TEXT_CHARS]
        )
        answer = await ask(llm, task, opinion_question, run)
        return OpinionOutcome(item=item.id, seed=seed, value=answer.value, spent=sum_spending(run.journal.calls))

    def build_failure(name: str, seed: int, reason: str) -> OpinionOutcome:
        return OpinionOutcome(item=name, seed=seed, failure=reason)

    await measure_missing(((item, item.id, 0) for item in items), outcome_file, ask_item, build_failure)


async def collect_opinions(
    run_options: RunOptions, settings: Settings, name: str, question: str, items: Sequence[JudgedItem], scorer: str
) -> dict[str, int] | None:
    """Return the values by item id, or None if the run stopped before the last item; items without a value are
    absent."""
    task = OPINIONS[scorer]
    parameters = {"question": question, "task": [task.name, task.version], "set": name}
    outcome_file = open_outcome_file(run_options, settings, "opinions", OpinionOutcome, parameters)

    async def ask_missing(llm: Llm, missing_ids: set[str], budget: Budget) -> None:
        await ask_opinions(
            llm, question, [item for item in items if item.id in missing_ids], task, budget, outcome_file
        )

    await _run_with_model(run_options, settings, "opinions", [item.id for item in items], outcome_file, ask_missing)
    if outcome_file.count_left(item.id for item in items):
        return None
    return {outcome.item: outcome.value for outcome in outcome_file.outcomes if outcome.value is not None}


async def collect_reviews(
    run_options: RunOptions, settings: Settings, ideas: Mapping[str, str], scorer: str
) -> dict[str, str] | None:
    """Return the reviews by idea, or None if the run stopped before the last idea; ideas without a review are
    absent."""
    task = REVIEWS[scorer]
    outcome_file = open_outcome_file(
        run_options, settings, "reviews", ReviewOutcome, {"task": [task.name, task.version]}
    )

    async def ask_missing(llm: Llm, missing_ids: set[str], budget: Budget) -> None:
        async def ask_item(name: str, seed: int) -> ReviewOutcome:
            run = _create_run(name, budget)
            answer = await ask(llm, task, ReviewQuestion(text=ideas[name][:_TEXT_CHARS]), run)
            return ReviewOutcome(item=name, seed=seed, review=answer.review, spent=sum_spending(run.journal.calls))

        def build_failure(name: str, seed: int, reason: str) -> ReviewOutcome:
            return ReviewOutcome(item=name, seed=seed, failure=reason)

        await measure_missing(
            ((name, name, 0) for name in ideas if name in missing_ids), outcome_file, ask_item, build_failure
        )

    await _run_with_model(run_options, settings, "reviews", [*ideas], outcome_file, ask_missing)
    if outcome_file.count_left(ideas):
        return None
    return {outcome.item: outcome.review for outcome in outcome_file.outcomes if outcome.review}


async def collect_titles(
    run_options: RunOptions, settings: Settings, queries: Sequence[Query]
) -> dict[str, tuple[str, ...]] | None:
    """Return the titles that a model remembers, by query, or None if the run stopped before the last query."""
    outcome_file = open_outcome_file(
        run_options, settings, "titles", TitlesOutcome, {"task": [TITLES.name, TITLES.version]}
    )

    async def ask_missing(llm: Llm, missing_ids: set[str], budget: Budget) -> None:
        async def ask_item(query: Query, seed: int) -> TitlesOutcome:
            run = _create_run(query.id, budget)
            question = TitlesQuestion(request=query.text, until=query.until.isoformat())
            answer = await ask(llm, TITLES, question, run)
            return TitlesOutcome(
                item=query.id, seed=seed, titles=tuple(answer.titles), spent=sum_spending(run.journal.calls)
            )

        def build_failure(name: str, seed: int, reason: str) -> TitlesOutcome:
            return TitlesOutcome(item=name, seed=seed, failure=reason)

        await measure_missing(
            ((query, query.id, 0) for query in queries if query.id in missing_ids),
            outcome_file,
            ask_item,
            build_failure,
        )

    await _run_with_model(run_options, settings, "titles", [query.id for query in queries], outcome_file, ask_missing)
    if outcome_file.count_left(query.id for query in queries):
        return None
    return {outcome.item: outcome.titles for outcome in outcome_file.outcomes}


async def _run_with_model(
    run_options: RunOptions,
    settings: Settings,
    part: str,
    names: Sequence[str],
    outcome_file: OutcomeFile[Kind],
    ask_missing: Callable[[Llm, set[str], Budget], Awaitable[None]],
) -> None:
    async def measure_items(items: Sequence[tuple[str, int]]) -> None:
        is_bounded = run_options.judge == "endpoint" and not run_options.yes
        async with open_ranker(settings) as ranker:
            budget = Budget(max_usd=run_options.limit_usd if is_bounded else None)
            await ask_missing(ranker.llm, {name for name, _ in items}, budget)

    await measure_within_limits(run_options, settings, part, [(name, 0) for name in names], outcome_file, measure_items)


def _create_run(name: str, budget: Budget) -> Run:
    return Run(EvaluationId(f"quality_{name}"), None, SystemClock(), NoProgress(), budget)
