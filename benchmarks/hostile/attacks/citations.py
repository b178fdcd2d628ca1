"""Attack on every method with a model that cites works it was not given, through the real gateway up to the printed
report."""

import asyncio
import datetime as dt
import html
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from assayer.backends import Backends
from assayer.evaluation_context import EvaluationContext
from assayer.ideas.parsing import parse_idea
from assayer.methods.grapheval import GraphEvalOptions
from assayer.methods.grapheval.graph.records import GraphPlan, LabelledIdea, PreparedIdea
from assayer.methods.grapheval.judge import GraphJudge
from assayer.methods.grapheval.options import HOPS
from assayer.methods.grapheval.pipeline import evaluate as evaluate_by_graph
from assayer.methods.grapheval.scoring.label_propagation import LabelPropagation
from assayer.methods.grapheval.viewpoints.extraction import extract_viewpoints, name_extractor
from assayer.methods.innoeval.board.session import BoardSession
from assayer.methods.innoeval.options import InnoEvalOptions
from assayer.methods.innoeval.pipeline import evaluate as evaluate_by_board
from assayer.methods.scholareval import ScholarEvalOptions
from assayer.methods.scholareval.pipeline import evaluate as evaluate_by_review
from assayer.models import Absent, EvaluationId, FullText, Idea, IdeaId, Paper, PaperId, Report, Window
from assayer.ranking.options import RankingOptions
from assayer.ranking.pipeline import rank_ideas
from assayer.reports.html import render_html
from assayer.reports.markdown import render_report_markdown
from assayer.run.budget import Budget
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from assayer.text.sanitise import clean_answer
from benchmarks.hostile.attacks.citation_forms import CitationForm, generate_citation_forms
from benchmarks.hostile.attacks.citing_model import CitingModel, serve_model
from benchmarks.measuring import build_parser
from cluster.clock import SystemClock
from index.viewpoint_neighbours import FaissNeighbours
from tests.grapheval_graphs import make_graph_contents
from tests.memory_corpus import MemoryCorpus
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.llm.gateway import LlmGateway
from workers.llm.settings import LlmSettings
from workers.outbound.store import InMemoryAnswerStore

_TOPICS = ("quoted sentences", "annotated claims", "old maps", "flower strips", "soil moisture", "small readers")
_EMBEDDER = HashingEmbedder()


class _NoFullTexts:
    async def get(self, papers: Sequence[Paper], window: Window) -> Mapping[PaperId, FullText | Absent]:
        return {paper.id: Absent(reason="none here") for paper in papers}


def _generate_ideas(number: int) -> list[Idea]:
    return [
        parse_idea(
            f"# Plan {n}: {topic} read twice\n\n"
            f"## Problem\nNobody knows how {topic} change when they are read twice.\n\n"
            f"## Method\nWe train a reader on {n + 2} thousand examples of {topic} and compare what it finds with "
            f"what people find.\n\n"
            f"## Experiment\nWe measure accuracy on {n + 40} held-out {topic} beside three baselines. "
            f"A second group of readers sees the same {topic} in another order.",
            source=f"idea-{n}.md",
        )
        for n, topic in ((n, _TOPICS[n % len(_TOPICS)]) for n in range(number))
    ]


def _generate_papers() -> list[Paper]:
    return [
        Paper(
            id=PaperId(f"paper {n}"),
            title=f"What readers make of {topic}, study {n}",
            abstract=f"We train a reader for {topic} and compare it with three baselines. "
            f"Accuracy reaches {60 + n % 30}% but fails out of domain. People who read {topic} twice find more.",
            publication_date=dt.date(2020, 1, 1) + dt.timedelta(days=n),
            url=f"https://papers.invalid/{n}",
            source="corpus",
        )
        for n, topic in ((n, _TOPICS[n % len(_TOPICS)]) for n in range(60))
    ]


def _create_run(name: str) -> Run:
    return Run(id=EvaluationId(name), cutoff=None, clock=SystemClock(), progress=NoProgress(), budget=Budget())


PrintedTexts = list[str]
"""All texts that people and programs can read."""


def _render_report(report: Report) -> PrintedTexts:
    return [_strip_tags(render_html(report)), render_report_markdown(report), report.model_dump_json()]


def _strip_tags(page: str) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", page))


async def _run_review(gateway: LlmGateway, backends: Backends, number: int, run: Run) -> PrintedTexts:
    options = ScholarEvalOptions().model_copy(update={"candidates": 12, "hits": 12})
    return _render_report(
        (await evaluate_by_review(EvaluationContext.open(_generate_ideas(number)[-1], backends, run, options))).report
    )


async def _run_board(gateway: LlmGateway, backends: Backends, number: int, run: Run) -> PrintedTexts:
    options = InnoEvalOptions()
    board = BoardSession(gateway, run, options.board)
    return _render_report(
        (
            await evaluate_by_board(EvaluationContext.open(_generate_ideas(number)[-1], backends, run, options), board)
        ).report
    )


async def _run_graph(gateway: LlmGateway, backends: Backends, number: int, run: Run) -> PrintedTexts:
    plan = GraphPlan(
        name="default",
        embedder=_EMBEDDER.name,
        dimensions=_EMBEDDER.dimensions,
        maker=name_extractor(gateway),
        classes=("reject", "accept"),
        ordered=True,
    )
    prepared_ideas = []
    for idea_number, idea in enumerate(_generate_ideas(6)):
        labelled_idea = LabelledIdea(
            id=IdeaId(f"known-{idea_number}"),
            title=f"Known {idea_number}",
            text=idea.text,
            label=("reject", "accept")[idea_number % 2],
            date=None,
            url="",
        )
        viewpoints = await extract_viewpoints(idea.text, gateway, run, 20)
        vectors = await _EMBEDDER.embed([viewpoint.text for viewpoint in viewpoints.viewpoints], "passage")
        prepared_ideas.append(PreparedIdea(labelled_idea, viewpoints, vectors))
    contents = make_graph_contents(plan, prepared_ideas)
    neighbours = FaissNeighbours()
    neighbours.add(contents.arrays.vectors)
    options = GraphEvalOptions()
    judge = GraphJudge(contents, neighbours, LabelPropagation(), HOPS, Absent(reason="none here"))
    idea = _generate_ideas(7 + number)[-1]
    return _render_report((await evaluate_by_graph(EvaluationContext.open(idea, backends, run, options), judge)).report)


async def _run_ranking(gateway: LlmGateway, backends: Backends, number: int, run: Run) -> PrintedTexts:
    outcome = await rank_ideas(_generate_ideas(6 + number)[-6:], gateway, run, RankingOptions())
    return [outcome.ranking.model_dump_json(), *(comparison.model_dump_json() for comparison in outcome.comparisons)]


Method = Callable[[LlmGateway, Backends, int, Run], Awaitable[PrintedTexts]]
METHODS: Mapping[str, Method] = {
    "scholareval": _run_review,
    "innoeval": _run_board,
    "grapheval": _run_graph,
    "ranking": _run_ranking,
}


class AttackOutcome(NamedTuple):
    method: str
    is_stubborn: bool
    runs: int
    answers: int
    texts: int
    """Number of texts with a foreign citation, including rejected attempts."""
    forms: int
    """Number of different forms among them."""
    complaints: int
    redacted: int
    lost: int
    printed: tuple[str, ...]
    """Forms found in printed texts that do not contain them when the model cites nothing."""
    seconds: float


async def attack(method: str, is_stubborn: bool, max_runs: int, seconds: float) -> AttackOutcome:
    """Attack a method until every form was written at least once, or until the runs or the time are used up."""
    forms = list(generate_citation_forms())
    started = time.monotonic()
    model, tally, printed_forms = CitingModel(forms, is_stubborn), Counter[str](), set[str]()
    honest_model = CitingModel((), is_stubborn)
    async with serve_model(model) as address, serve_model(honest_model) as honest_address:
        for number in range(1, max_runs + 1):
            run, printed_texts = await _attack_once(method, address, number)
            tally.update(
                runs=1,
                answers=len(run.journal.calls),
                lost=len(run.journal.failed_calls),
                complaints=sum(
                    fault.occurrences for fault in run.journal.list_faults() if fault.kind == "failed_check"
                ),
                redacted=sum(call.redacted for call in run.journal.calls),
            )
            suspects = {form for form in forms if any(_is_printed(form, text) for text in printed_texts)}
            if suspects:
                _, honest_texts = await _attack_once(method, honest_address, number)
                printed_forms |= {
                    form.text for form in suspects if not any(_is_printed(form, text) for text in honest_texts)
                }
            if len(set(model.written_forms)) == len(forms) or time.monotonic() - started > seconds:
                break
    return AttackOutcome(
        method,
        is_stubborn,
        tally["runs"],
        tally["answers"],
        len(model.written_forms),
        len(set(model.written_forms)),
        tally["complaints"],
        tally["redacted"],
        tally["lost"],
        tuple(sorted(printed_forms)),
        time.monotonic() - started,
    )


async def _attack_once(method: str, address: str, number: int) -> tuple[Run, PrintedTexts]:
    settings = LlmSettings.model_validate({"base_url": address, "model": "simulated", "api_key": "none"})
    run = _create_run(f"{method}-{number}")
    async with LlmGateway(settings, InMemoryAnswerStore(), SystemClock()) as gateway:
        backends = Backends(gateway, MemoryCorpus(_generate_papers(), _EMBEDDER), _NoFullTexts(), _EMBEDDER)
        return run, await METHODS[method](gateway, backends, number, run)


def _is_printed(form: CitationForm, text: str) -> bool:
    """Return whether the citation is printed as written or with invisible characters removed."""
    spellings = {form.text, clean_answer(form.text)}
    return any(item in text or json.dumps(item, ensure_ascii=False)[1:-1] in text for item in spellings)


def format_table(outcomes: Iterable[AttackOutcome]) -> str:
    lines = [
        "| method | the model, asked again | runs | answers | texts with a citation | forms | sent back | redacted "
        "| lost | printed |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        second_answer = "repeats itself" if outcome.is_stubborn else "corrects its answer"
        lines.append(
            f"| {outcome.method} | {second_answer} | {outcome.runs} | {outcome.answers} | {outcome.texts} | "
            f"{outcome.forms} "
            f"| {outcome.complaints} "
            f"| {outcome.redacted} | {outcome.lost} | {len(outcome.printed)} |"
        )
    return "\n".join(lines)


async def _attack_methods(methods: Sequence[str], runs: int, seconds: float) -> list[AttackOutcome]:
    share = seconds / len(methods) / 2
    return [await attack(method, stubborn, runs, share) for method in methods for stubborn in (True, False)]


def main(arguments: Sequence[str]) -> None:
    """Print the table; exit with 1 if a foreign citation was printed, or if the checks complained about nothing."""
    parser = build_parser("hostile.attacks citations", __doc__)
    parser.add_argument("--method", action="append", choices=METHODS, help="method to attack (default: all)")
    parser.add_argument("--runs", type=int, default=8, help="maximum number of runs of each method and model")
    parser.add_argument("--seconds", type=float, default=60.0, help="seconds after which no run is started")
    options = parser.parse_args(arguments)
    outcomes = asyncio.run(_attack_methods(options.method or list(METHODS), options.runs, options.seconds))
    print(f"{len(list(generate_citation_forms()))} forms.\n\n{format_table(outcomes)}")
    for outcome in outcomes:
        for form in outcome.printed:
            print(f"{outcome.method} printed {form!r}")
    sys.exit(any(outcome.printed or not outcome.complaints for outcome in outcomes))
