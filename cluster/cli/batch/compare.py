"""`assayer batch compare`: show finished evaluations side by side, and judge which of two ideas is better."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from assayer.errors import InputError
from assayer.reports.escaping import shorten
from cluster.cli.batch.service_client import identify_kind, open_service_client
from cluster.cli.options import WithJson
from cluster.cli.terminal import print_json, print_remark, show_table

if TYPE_CHECKING:
    from assayer_client import Client
    from assayer_client.comparisons import ComparisonResult
    from assayer_client.reports import Report

_MIN_EVALUATIONS, _MAX_EVALUATIONS = 2, 4
_MAX_CHARS = 30


def compare(
    evaluations: Annotated[list[str], typer.Argument(help="Ids of two to four finished evaluations: ev_….")],
    judge: Annotated[
        bool, typer.Option("--judge", help="Also ask the language model which of two ideas is better, in both orders.")
    ] = False,
    as_json: WithJson = False,
) -> None:
    """Show finished evaluations side by side; with --judge, say which of two ideas is better and why."""
    evaluation_ids = list(dict.fromkeys(evaluations))
    for evaluation_id in evaluation_ids:
        identify_kind(evaluation_id, "evaluation")
    if not _MIN_EVALUATIONS <= len(evaluation_ids) <= _MAX_EVALUATIONS:
        raise InputError(
            f"Only 2 to 4 different evaluations can be compared, not {len(evaluation_ids)}.",
            f"Pass {_MIN_EVALUATIONS} to {_MAX_EVALUATIONS}.",
        )
    if judge and len(evaluation_ids) != _MIN_EVALUATIONS:
        raise InputError(
            f"--judge compares two evaluations, not {len(evaluation_ids)}.", "Pass two evaluations, or omit --judge."
        )
    with open_service_client() as client:
        reports = [client.evaluations.report(evaluation_id) for evaluation_id in evaluation_ids]
        titles = [shorten(report.idea.title, _MAX_CHARS) for report in reports]
        rows = _build_rows(reports)
        result = _request_verdict(client, evaluation_ids) if judge else None
    if as_json:
        print_json(
            {
                "rows": {heading: dict(zip(evaluation_ids, cells, strict=True)) for heading, *cells in rows},
                "result": result,
            }
        )
        return
    show_table(("", *titles), rows)
    if result is not None:
        _show_verdict(result, titles)


def _build_rows(reports: "Sequence[Report]") -> list[tuple[str, ...]]:
    parts = {part.name: part.title for report in reports for part in report.parts}
    scores = [(title, *(_format_score(report, name) for report in reports)) for name, title in parts.items()]
    fit = ("Corpus fit", *(_format_fit(report) for report in reports))
    cited = ("Papers cited", *(f"{report.coverage.papers_cited:,}" for report in reports))
    return [*scores, fit, cited]


def _format_score(report: "Report", name: str) -> str:
    from assayer_client.resources import Absent

    part = next((part for part in report.parts if part.name == name), None)
    if part is None:
        return "–"
    if isinstance(part.score, Absent):
        return f"no score: {part.score.reason}"
    certainty = f", {part.score.certainty} certainty" if part.score.certainty else ""
    return f"{part.score.value:g} of {part.score.scale_max:g}{certainty}"


def _format_fit(report: "Report") -> str:
    from assayer_client.resources import Absent

    fit = report.coverage.corpus_fit
    return "not known" if isinstance(fit, Absent) else fit.level


def _request_verdict(client: "Client", evaluation_ids: Sequence[str]) -> "ComparisonResult":
    """Ask the service which of two ideas is better. Raises Exit if it gives no verdict."""
    from assayer_client import ComparisonBody

    accepted = client.comparisons.create(
        ComparisonBody(first_evaluation=evaluation_ids[0], second_evaluation=evaluation_ids[1])
    )
    comparison = client.comparisons.wait(accepted.id)
    if comparison.result is None:
        problem, state = comparison.problem, comparison.state
        reason = f"{problem.title}. {problem.detail}" if problem else f"Its state is {state}."
        print_remark(f"{accepted.id} has no verdict: {reason}")
        raise typer.Exit(1)
    return comparison.result


def _show_verdict(result: "ComparisonResult", titles: Sequence[str]) -> None:
    show_table(("Dimension", "Better", "In both orders"), _build_verdict_rows(result, titles))
    for answer in result.answers:
        for verdict in answer.verdicts:
            typer.echo(f"{verdict.dimension}: {verdict.reason}")


def _build_verdict_rows(result: "ComparisonResult", titles: Sequence[str]) -> list[tuple[str, str, str]]:
    names = {"first": titles[0], "second": titles[1], "tie": "neither"}
    orders = {True: "the same", False: "disagreed", None: "asked in one order only"}
    return [(outcome.dimension, names[outcome.winner], orders[outcome.orders_agree]) for outcome in result.outcomes]
