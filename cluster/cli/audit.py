"""`assayer audit`: the same ideas from different people, and what that does to their scores."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assayer.audit.record import AuditPlan, EvaluatedVariant, audit_report
from assayer.audit.variants import ATTRIBUTES, Variant, repeated, variants_of
from assayer.errors import AssayerError, InputError
from assayer.models import Absent, AuditAttribute, AuditReport, Idea, Report
from assayer.reports.audit_page import ATTRIBUTE_TITLES, AuditPage, as_audit_html, as_audit_markdown
from assayer.reports.json_and_csv import as_audit_json
from cluster.cli.options import WithProfile, day
from cluster.cli.output import PageFormat, make_folder, wide_console, write_formats
from cluster.cli.side_by_side import side_by_side
from cluster.cli.terminal import EvaluationProgress, print_error
from cluster.settings import PROFILES, Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from cluster.engine import Engine
    from orchestrator.store import Database

__all__ = ["audit"]

_RENDER: dict[PageFormat, Callable[[AuditReport], str]] = {
    PageFormat.html: as_audit_html,
    PageFormat.md: as_audit_markdown,
    PageFormat.json: as_audit_json,
}
_NOT_REACHED = "not evaluated: the audit had been stopped."


class _AuditOutcome(NamedTuple):
    audit: AuditReport | None
    problems: list[str]
    """Ideas that were not read, and variants without a report."""
    stopped: AssayerError | None = None


def audit(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Ideas (.txt .md .json .jsonl .pdf .docx .odt .xlsx), or folders of them."),
    ],
    method: Annotated[str, typer.Option(help="The evaluation method to be audited.")] = "scholareval",
    attributes: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute",
            metavar="|".join(ATTRIBUTES),
            help="What to vary; repeat for several. All by default: 17 evaluations an idea.",
        ),
    ] = None,
    blind: Annotated[
        bool, typer.Option("--blind/--no-blind", help="Mask names, affiliations and the like, as for batches.")
    ] = True,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=20,
            help="Evaluations of the reference, to tell a difference from chance. By default 2 with a language model, "
            "each with answers of its own, and 1 without, where the same text has the same scores.",
            show_default=False,
        ),
    ] = None,
    cutoff: Annotated[str | None, typer.Option(help="YYYY-MM-DD: ignore literature published later.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the audit.")] = Path("out"),
    formats: Annotated[
        list[PageFormat] | None, typer.Option("--format", help="Repeat for several. All three by default.")
    ] = None,
    profile: WithProfile = PROFILES[0],
) -> None:
    """Evaluate the same ideas with institution, seniority, names and English varied; show what scores do."""
    settings = load_settings(profile)
    plan = AuditPlan(
        method=method,
        blind=blind,
        cutoff=day(cutoff, "cutoff"),
        attributes=_chosen(attributes or ()),
        started_at=dt.datetime.now(dt.UTC),
        repeats=repeats or (1 if settings.llm is None else 2),
    )
    console = wide_console()
    try:
        outcome = asyncio.run(_audit(paths, plan, settings, out, console))
    except KeyboardInterrupt:
        print_error("Interrupted.", "Answers so far are saved: run the same command to continue.")
        raise
    for problem in outcome.problems:
        print_error("Not audited:", problem)
    if outcome.stopped:
        if outcome.audit is None:
            raise outcome.stopped
        print_error("Stopped before all variants were evaluated.", str(outcome.stopped))
    if outcome.audit is None:
        raise typer.Exit(2)
    _show(console, outcome.audit, write_formats(out / "audit", outcome.audit, _RENDER, formats))
    if outcome.problems or outcome.stopped:
        raise typer.Exit(1)


def _chosen(names: Sequence[str]) -> tuple[AuditAttribute, ...]:
    """In the order in which they are read; all where none is named."""
    for name in names:
        if name not in ATTRIBUTES:
            raise InputError(f"There is no attribute {name!r}.", f"Attributes: {', '.join(ATTRIBUTES)}.")
    return tuple(one for one in ATTRIBUTES if not names or one in names)


async def _audit(
    paths: Sequence[Path], plan: AuditPlan, settings: Settings, out: Path, console: Console
) -> _AuditOutcome:
    from cluster.database import open_database
    from cluster.engine import check_request, open_engine
    from workers.documents.idea_reader import read_ideas
    from workers.full_texts.bibliography import open_bibliography

    today = plan.started_at.date()
    check_request(plan.method, plan.cutoff, today)
    async with open_bibliography(settings.grobid) as bibliography:
        ideas, rejected = await read_ideas(paths, latest_cutoff=today, bibliography=bibliography)
    problems = [one.message if one.source in one.message else f"{one.source}: {one.message}" for one in rejected]
    if not ideas:
        return _AuditOutcome(None, problems)
    make_folder(out, "The audit")
    distinct = list({idea.id: idea for idea in ideas}.values())
    work = [(idea, one) for number, idea in enumerate(distinct) for one in _variants(idea, number, plan)]
    evaluated: list[EvaluatedVariant] = []
    stopped: AssayerError | None = None
    with EvaluationProgress(console, len(work)) as progress:
        async with open_database(settings) as database, open_engine(settings, (plan.method,), database) as engine:
            for repetition in range(1, plan.repeats + 1):
                chosen = [one for one in work if one[1].repetition == repetition]
                if stopped is None:
                    async with _answering_anew(engine, database, repetition) as asked:
                        done, stopped = await _evaluated(asked, chosen, plan, progress)
                else:
                    done = [EvaluatedVariant(*one, None, _NOT_REACHED) for one in chosen]
                evaluated += done
    problems += [
        f"{one.idea.source}, {one.variant.name}: {one.failure}"
        for one in evaluated
        if one.failure not in ("", _NOT_REACHED)
    ]
    if all(one.report is None for one in evaluated):
        return _AuditOutcome(None, problems, stopped)
    return _AuditOutcome(audit_report(plan, evaluated), problems, stopped)


def _variants(idea: Idea, number: int, plan: AuditPlan) -> list[Variant]:
    variants = list(variants_of(idea, number, plan.attributes))
    return [*variants, *repeated(variants[0], plan.repeats)]


@asynccontextmanager
async def _answering_anew(engine: "Engine", database: "Database", repetition: int) -> "AsyncIterator[Engine]":
    """The engine with a language model that is asked anew, once: its answers are kept apart from those of the
    repetitions before, so that an audit that is run again finds them. The engine itself without a model."""
    from cluster.language_model import open_llm

    llm = engine.settings.llm
    async with AsyncExitStack() as stack:
        if llm is not None and repetition > 1:
            apart = llm.model_copy(update={"endpoint_name": f"{llm.endpoint}, evaluation {repetition}"})
            settings = engine.settings.model_copy(update={"llm": apart})
            # An endpoint that has gone since stops the repetition, and costs nothing of what was evaluated before.
            answers = await open_llm(settings, database, engine.backends.embedder, stack, must_answer=False)
            engine = replace(engine, settings=settings, backends=replace(engine.backends, llm=answers))
        yield engine


async def _evaluated(
    engine: "Engine", work: Sequence[tuple[Idea, Variant]], plan: AuditPlan, progress: EvaluationProgress
) -> tuple[list[EvaluatedVariant], AssayerError | None]:
    """A variant that fails costs only what is compared with it."""
    from cluster.run_request import RunRequest

    async def one(variant: Variant) -> Report:
        try:
            asked = RunRequest(blind=plan.blind)
            return (await engine.evaluate(variant.idea, plan.method, plan.cutoff, progress, asked)).report
        finally:
            progress.idea_done()

    ended, stopped = await side_by_side([partial(one, variant) for _, variant in work], engine.reach)
    return [_outcome(pair, ended.get(number)) for number, pair in enumerate(work)], stopped


def _outcome(pair: tuple[Idea, Variant], found: Report | AssayerError | None) -> EvaluatedVariant:
    if isinstance(found, Report):
        return EvaluatedVariant(*pair, found)
    return EvaluatedVariant(*pair, None, _NOT_REACHED if found is None else str(found))


def _show(console: Console, audit: AuditReport, files: Sequence[Path]) -> None:
    page = AuditPage(audit)
    table = Table(title=f"Differences in points of 10, blind mode {'on' if audit.blind else 'off'}")
    for column in ("", "Compared", "Score", "Mean", "95 % interval", "Largest"):
        table.add_column(column)
    for one in audit.differences:
        interval = "–" if isinstance(one.interval, Absent) else page.interval(one.interval)
        mean, largest = page.points(page.mean(one)), page.size(one.largest)
        table.add_row(
            ATTRIBUTE_TITLES[one.attribute], one.compared, page.score_title(one.score), mean, interval, largest
        )
    console.print(table)
    console.print(escape(page.finding.text), soft_wrap=True)
    console.print(
        f"{audit.surviving.survived:,} of {audit.surviving.planted:,} planted words were there when ideas were judged."
    )
    for file in files:
        console.print(str(file), soft_wrap=True, markup=False)
