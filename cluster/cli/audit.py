"""`assayer audit`: the same ideas from different people, and what that does to their scores."""

import asyncio
import datetime as dt
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from assayer.audit.record import AuditPlan, EvaluatedVariant, audit_report
from assayer.audit.variants import ATTRIBUTES, Variant, variants_of
from assayer.errors import AssayerError, ConfigurationError, InputError, LlmRejected, LlmUnavailable
from assayer.models import AuditAttribute, AuditReport, Idea
from assayer.reports.audit_page import ATTRIBUTE_TITLES, AuditPage, as_audit_html, as_audit_json, as_audit_markdown
from assayer.run.structured_concurrency import together
from cluster.cli.options import WithProfile, day
from cluster.cli.terminal import EvaluationProgress, print_error
from cluster.settings import PROFILES, Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from cluster.engine import Engine

__all__ = ["audit"]


class AuditFormat(StrEnum):
    """In the order in which a person would open them."""

    html = "html"
    md = "md"
    json = "json"


_RENDER: dict[AuditFormat, Callable[[AuditReport], str]] = {
    AuditFormat.html: as_audit_html,
    AuditFormat.md: as_audit_markdown,
    AuditFormat.json: as_audit_json,
}
_WIDEST = 10_000
_FATAL = (LlmRejected, LlmUnavailable, ConfigurationError)


class Attribute(StrEnum):
    institution = "institution"
    seniority = "seniority"
    gender = "gender"
    origin = "origin"
    language = "language"


class _AuditOutcome(NamedTuple):
    audit: AuditReport | None
    problems: list[str]
    """Ideas that were not read, and variants without a report."""


def audit(
    paths: Annotated[
        list[Path], typer.Argument(help="Ideas: .txt, .md, .json, .jsonl or .pdf files, or folders of them.")
    ],
    method: Annotated[str, typer.Option(help="The evaluation method to be audited.")] = "scholareval",
    attributes: Annotated[
        list[Attribute] | None,
        typer.Option("--attribute", help="What to vary; repeat for several. All by default: 17 evaluations an idea."),
    ] = None,
    blind: Annotated[
        bool, typer.Option("--blind/--no-blind", help="Mask names, affiliations and the like, as for batches.")
    ] = True,
    cutoff: Annotated[str | None, typer.Option(help="YYYY-MM-DD: ignore literature published later.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the audit.")] = Path("out"),
    formats: Annotated[
        list[AuditFormat] | None, typer.Option("--format", help="Repeat for several. All three by default.")
    ] = None,
    profile: WithProfile = PROFILES[0],
) -> None:
    """Evaluate the same ideas with institution, seniority, names and English varied; show what scores do."""
    settings = load_settings(profile)
    plan = AuditPlan(
        method=method,
        blind=blind,
        cutoff=day(cutoff, "cutoff"),
        attributes=_chosen(attributes),
        started_at=dt.datetime.now(dt.UTC),
    )
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDEST)
    try:
        outcome = asyncio.run(_audit(paths, plan, settings, console))
    except KeyboardInterrupt:
        print_error("Interrupted.", "Answers so far are saved: run the same command to continue.")
        raise
    for problem in outcome.problems:
        print_error("Not audited:", problem)
    if outcome.audit is None:
        raise typer.Exit(2)
    _show(console, outcome.audit, _write(outcome.audit, out, formats or list(_RENDER)))
    if outcome.problems:
        raise typer.Exit(1)


def _chosen(attributes: Sequence[Attribute] | None) -> tuple[AuditAttribute, ...]:
    said = {one.value for one in attributes or ()}
    return tuple(one for one in ATTRIBUTES if not said or one in said)


async def _audit(paths: Sequence[Path], plan: AuditPlan, settings: Settings, console: Console) -> _AuditOutcome:
    from cluster.engine import check_request, open_engine
    from workers.documents.idea_reader import read_ideas

    today = plan.started_at.date()
    check_request(plan.method, plan.cutoff, today)
    ideas, rejected = await read_ideas(paths, latest_cutoff=today)
    problems = [one.message if one.source in one.message else f"{one.source}: {one.message}" for one in rejected]
    if not ideas:
        return _AuditOutcome(None, problems)
    distinct = list({idea.id: idea for idea in ideas}.values())
    work = [(idea, one) for number, idea in enumerate(distinct) for one in variants_of(idea, number, plan.attributes)]
    with EvaluationProgress(console, len(work)) as progress:
        async with open_engine(settings, (plan.method,)) as engine:
            evaluated = await together(_evaluated(engine, idea, one, plan, progress) for idea, one in work)
    problems += [f"{one.idea.source}, {one.variant.name}: {one.failure}" for one in evaluated if one.failure]
    if all(one.report is None for one in evaluated):
        return _AuditOutcome(None, problems)
    return _AuditOutcome(audit_report(plan, evaluated), problems)


async def _evaluated(
    engine: "Engine", idea: Idea, variant: Variant, plan: AuditPlan, progress: EvaluationProgress
) -> EvaluatedVariant:
    """A variant that fails costs only what is compared with it."""
    from cluster.run_request import RunRequest

    try:
        result = await engine.evaluate(variant.idea, plan.method, plan.cutoff, progress, RunRequest(blind=plan.blind))
        return EvaluatedVariant(idea, variant, result.report)
    except _FATAL:
        raise
    except AssayerError as error:
        return EvaluatedVariant(idea, variant, None, str(error))
    finally:
        progress.idea_done()


def _write(audit: AuditReport, out: Path, formats: Sequence[AuditFormat]) -> list[Path]:
    files = []
    try:
        out.mkdir(parents=True, exist_ok=True)
        for kind in [one for one in AuditFormat if one in formats]:
            path = out / f"audit.{kind}"
            path.write_text(_RENDER[kind](audit), encoding="utf-8")
            files.append(path)
    except OSError as error:
        raise InputError(f"The audit cannot be written to {out}: {error.strerror}.", "Choose another folder.") from None
    return files


def _show(console: Console, audit: AuditReport, files: Sequence[Path]) -> None:
    page = AuditPage(audit)
    table = Table(title=f"Differences in points of 10, blind mode {'on' if audit.blind else 'off'}")
    for column in ("", "Compared", "Score", "Mean", "95 % interval", "Largest"):
        table.add_column(column)
    for one in audit.differences:
        interval = "–" if one.low is None else f"{page.points(one.low)} to {page.points(one.high)}"
        mean, largest = page.points(page.mean(one)), page.points(one.largest).lstrip("+")
        score = page.score_title(one.score)
        table.add_row(ATTRIBUTE_TITLES[one.attribute], one.compared, score, mean, interval, largest)
    console.print(table)
    console.print(
        f"{audit.surviving.survived:,} of {audit.surviving.planted:,} planted words were there when ideas were judged."
    )
    for file in files:
        console.print(str(file), soft_wrap=True)
