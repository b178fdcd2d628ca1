"""`assayer bias-test`: measure how an idea's scores change when its authors or wording are varied."""

import datetime as dt
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.markup import escape

from assayer.bias_test.record import BiasTestPlan, EvaluatedVariant, build_bias_test_report
from assayer.bias_test.variants import (
    ATTRIBUTES,
    PERSUASION,
    Variant,
    build_persuasive_variant,
    build_variants,
    repeat_reference,
)
from assayer.errors import AssayerError, InputError, NoFallback
from assayer.models import Absent, BiasTestAttribute, BiasTestReport, Idea, Report
from assayer.reports.bias_test_page import (
    ATTRIBUTE_TITLES,
    BiasTestPage,
    render_bias_test_html,
    render_bias_test_markdown,
)
from assayer.reports.json_and_csv import render_json
from assayer_client.resources import DEFAULT_METHOD
from cluster.cli.idea_inputs import read_idea_inputs
from cluster.cli.options import (
    IdeaPaths,
    WithCutoff,
    WithFormats,
    WithJson,
    WithLocalModel,
    WithModel,
    WithProfile,
    parse_day_option,
)
from cluster.cli.output import PageFormat, make_folder, write_formats
from cluster.cli.terminal import EvaluationProgress, print_error, print_json, print_markup, run_resumable, show_table
from cluster.local_model import start_chosen_model
from cluster.settings import Settings
from cluster.side_by_side import run_side_by_side

if TYPE_CHECKING:
    from cluster.engine import Engine

_RENDER: dict[PageFormat, Callable[[BiasTestReport], str]] = {
    PageFormat.html: render_bias_test_html,
    PageFormat.md: render_bias_test_markdown,
    PageFormat.json: render_json,
}
_NOT_REACHED_REASON = "not evaluated, because the bias test was stopped."


class _BiasTestOutcome(NamedTuple):
    bias_test: BiasTestReport | None
    problems: list[str]
    """Messages about ideas that could not be read and variants that have no report."""
    stopped: AssayerError | None = None


def bias_test(
    paths: IdeaPaths,
    method: Annotated[str, typer.Option(help="The evaluation method to test.")] = DEFAULT_METHOD,
    attributes: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute",
            metavar="|".join(ATTRIBUTES),
            help="What to vary; repeat for several. All by default: 17 evaluations per idea.",
        ),
    ] = None,
    persuasive: Annotated[
        bool,
        typer.Option(
            "--persuasive",
            help="Vary the wording: a language model rewrites the idea to persuade, and a second request checks "
            "that the content is unchanged. Nothing else is varied unless --attribute is given.",
        ),
    ] = False,
    blind: Annotated[
        bool, typer.Option("--blind/--no-blind", help="Mask names, affiliations and similar details, as for batches.")
    ] = True,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=20,
            help="Number of evaluations of the unchanged idea, to tell differences from chance. By default 2 with a "
            "language model, each with its own answers, and 1 without, because the same text then always gets the "
            "same scores.",
            show_default=False,
        ),
    ] = None,
    cutoff: WithCutoff = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("out"),
    formats: WithFormats = None,
    profile: WithProfile = "laptop",
    model: WithModel = None,
    local_model: WithLocalModel = None,
    as_json: WithJson = False,
) -> None:
    """Vary institution, seniority, names and English of the same ideas, and show how scores change."""
    with start_chosen_model(profile, model, local_model) as chosen:
        plan = BiasTestPlan(
            method=method,
            blind=blind,
            cutoff=parse_day_option(cutoff, "cutoff"),
            attributes=_parse_attributes(attributes or (), persuasive),
            started_at=dt.datetime.now(dt.UTC),
            repeats=repeats or (1 if chosen.settings.llm is None else 2),
        )
        outcome = run_resumable(_run_bias_test(paths, plan, chosen.settings, out))
    for problem in outcome.problems:
        print_error("Not tested:", problem)
    if outcome.stopped:
        if outcome.bias_test is None:
            raise outcome.stopped
        print_error("Stopped before all variants were evaluated.", str(outcome.stopped))
    if outcome.bias_test is None:
        raise typer.Exit(2)
    files = write_formats(out / "bias-test", outcome.bias_test, _RENDER, formats)
    if as_json:
        print_json({"bias_test": outcome.bias_test, "files": files})
    else:
        _show(outcome.bias_test, files)
    if outcome.problems or outcome.stopped:
        raise typer.Exit(1)


def _parse_attributes(names: Sequence[str], persuasive: bool) -> tuple[BiasTestAttribute, ...]:
    """Return the chosen attributes in canonical order; by default, all that need no language model."""
    for name in names:
        if name not in ATTRIBUTES:
            raise InputError(f"Unknown attribute {name!r}.", f"Attributes: {', '.join(ATTRIBUTES)}.")
    named = tuple(attribute for attribute in ATTRIBUTES if attribute in names or not (names or persuasive))
    return (*named, PERSUASION) if persuasive else named


async def _run_bias_test(paths: Sequence[Path], plan: BiasTestPlan, settings: Settings, out: Path) -> _BiasTestOutcome:
    from cluster.database import open_database
    from cluster.engine import check_request, open_engine
    from cluster.methods import METHODS
    from cluster.repetitions import answer_anew

    if settings.llm is None and plan.method in METHODS and not METHODS[plan.method].scores_without_llm:
        raise NoFallback(
            "The bias test compares scores, but this method gives none without a language model.",
            "Pass --model PROVIDER/NAME, or use --method grapheval.",
        )
    if settings.llm is None and PERSUASION in plan.attributes:
        raise NoFallback(
            "Only a language model can write the persuasive wording.",
            "Pass --model PROVIDER/NAME, or omit --persuasive.",
        )
    today = plan.started_at.date()
    check_request(plan.method, plan.cutoff, today)
    ideas, rejected = await read_idea_inputs(paths, settings, today)
    problems = [
        rejection.message if rejection.source in rejection.message else f"{rejection.source}: {rejection.message}"
        for rejection in rejected
    ]
    if not ideas:
        return _BiasTestOutcome(None, problems)
    make_folder(out, "The bias test")
    distinct = list({idea.id: idea for idea in ideas}.values())
    evaluated: list[EvaluatedVariant] = []
    stopped: AssayerError | None = None
    async with open_database(settings) as database, open_engine(settings, (plan.method,), database) as engine:
        work = [
            (idea, variant) for number, idea in enumerate(distinct) for variant in _create_variants(idea, number, plan)
        ]
        if PERSUASION in plan.attributes:
            with EvaluationProgress(len(distinct)) as progress:
                persuasive_variants, failures = await _write_persuasive_variants(engine, distinct, progress)
            work, problems = [*work, *persuasive_variants], [*problems, *failures]
        with EvaluationProgress(len(work)) as progress:
            for repetition in range(1, plan.repeats + 1):
                chosen = [pair for pair in work if pair[1].repetition == repetition]
                if stopped is None:
                    async with answer_anew(engine, database, repetition) as fresh_engine:
                        variants_done, stopped = await _evaluate_variants(fresh_engine, chosen, plan, progress)
                else:
                    variants_done = [EvaluatedVariant(*pair, None, _NOT_REACHED_REASON) for pair in chosen]
                evaluated += variants_done
    problems += [
        f"{evaluated_variant.idea.source}, {evaluated_variant.variant.name}: {evaluated_variant.failure}"
        for evaluated_variant in evaluated
        if evaluated_variant.failure not in ("", _NOT_REACHED_REASON)
    ]
    if all(evaluated_variant.report is None for evaluated_variant in evaluated):
        return _BiasTestOutcome(None, problems, stopped)
    return _BiasTestOutcome(build_bias_test_report(plan, evaluated), problems, stopped)


def _create_variants(idea: Idea, number: int, plan: BiasTestPlan) -> list[Variant]:
    variants = list(build_variants(idea, number, plan.attributes))
    return [*variants, *repeat_reference(variants[0], plan.repeats)]


async def _write_persuasive_variants(
    engine: "Engine", ideas: Sequence[Idea], progress: EvaluationProgress
) -> tuple[list[tuple[Idea, Variant]], list[str]]:
    """Return the persuasive variants, and a message for each idea that has none."""
    from assayer.bias_test.persuasive import reword_persuasively
    from assayer.models import EvaluationId
    from assayer.run.concurrency import Failed, catch_failure, gather_all
    from assayer.run.run import Run
    from cluster.run_request import LOCAL_REQUEST

    async def write_variant(number: int, idea: Idea) -> Variant:
        budget = LOCAL_REQUEST.create_budget(engine.settings.evaluation)
        run = Run(EvaluationId(f"bt_{idea.id}"), None, engine.clock, progress, budget)
        copy = await reword_persuasively(idea.text, engine.backends.llm, run)
        progress.finish_idea()
        if copy.objection:
            raise InputError(f"The persuasive wording changed the content: {copy.objection}.")
        return build_persuasive_variant(idea, number, copy.text)

    variants = await gather_all(catch_failure(write_variant(number, idea)) for number, idea in enumerate(ideas))
    pairs = list(zip(ideas, variants, strict=True))
    failures = [f"{idea.source}, persuasion: {answer.error}" for idea, answer in pairs if isinstance(answer, Failed)]
    return [(idea, answer) for idea, answer in pairs if not isinstance(answer, Failed)], failures


async def _evaluate_variants(
    engine: "Engine", work: Sequence[tuple[Idea, Variant]], plan: BiasTestPlan, progress: EvaluationProgress
) -> tuple[list[EvaluatedVariant], AssayerError | None]:
    """Return the evaluated variants, and the error that ended the work, if any. If a variant fails, only the
    comparisons that involve it are missing."""
    from cluster.run_request import RunRequest

    async def evaluate_variant(variant: Variant) -> Report:
        try:
            run_request = RunRequest(blind=plan.blind)
            return (await engine.evaluate(variant.idea, plan.method, plan.cutoff, progress, run_request)).report
        finally:
            progress.finish_idea()

    ended, stopped = await run_side_by_side(
        [partial(evaluate_variant, variant) for _, variant in work], engine.check_llm_reachable
    )
    return [_build_outcome(pair, ended.get(number)) for number, pair in enumerate(work)], stopped


def _build_outcome(pair: tuple[Idea, Variant], result: Report | AssayerError | None) -> EvaluatedVariant:
    if isinstance(result, Report):
        return EvaluatedVariant(*pair, result)
    return EvaluatedVariant(*pair, None, _NOT_REACHED_REASON if result is None else str(result))


def _show(bias_test: BiasTestReport, files: Sequence[Path]) -> None:
    page, surviving = BiasTestPage(bias_test), bias_test.inserted_words
    print_markup(f"Differences in points of 10, blind mode {'on' if bias_test.blind else 'off'}:")
    rows = [
        (
            ATTRIBUTE_TITLES[difference.attribute],
            difference.comparison,
            page.format_score_name(difference.score),
            page.format_points(None if isinstance(difference.mean, Absent) else difference.mean),
            "–" if isinstance(difference.interval, Absent) else page.format_interval(difference.interval),
            page.format_size(difference.largest),
        )
        for difference in bias_test.differences
    ]
    show_table(("", "Compared", "Score", "Mean", "95 % interval", "Largest"), rows)
    print_markup(escape(page.finding.text))
    print_markup(f"{surviving.unmasked:,} of {surviving.inserted:,} planted words remained when ideas were judged.")
    for file in files:
        print_markup(escape(str(file)))
