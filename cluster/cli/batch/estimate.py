"""Output of `assayer batch submit --estimate`: a submission's cost and duration, and the remaining budget."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from cluster.cli.terminal import print_remark

if TYPE_CHECKING:
    from assayer_client import Client
    from assayer_client.batches import BatchEstimate, Duplicate

_MAX_PRINTED_DUPLICATES = 20
"""Maximum number of duplicates printed one by one."""


def estimate_bundles(
    client: "Client", bundles: Iterable[Sequence[Path]], fields: Mapping[str, object]
) -> "list[BatchEstimate]":
    """Return an estimate for each request that a submission would make."""
    from assayer_client import BatchQuery, Upload

    options = BatchQuery.model_validate({key: value for key, value in fields.items() if value is not None})
    return [
        client.batches.estimate(files=[Upload(file.name, file) for file in bundle], options=options)
        for bundle in bundles
    ]


def show_estimate(parts: "Sequence[BatchEstimate]") -> None:
    """Print the estimates of all parts combined. A total is unknown if any part lacks its value."""
    first_part = parts[0]
    for part in parts:
        for row in part.rejected:
            print_remark(f"Refused: {row.detail if row.source in row.detail else f'{row.source}: {row.detail}'}")
        for notice in part.notices:
            print_remark(notice)
        for duplicate in part.duplicates[:_MAX_PRINTED_DUPLICATES]:
            print_remark(f"{describe_duplicate(duplicate)}.")
    ideas = sum(part.ideas for part in parts)
    rejected_count = sum(len(part.rejected) for part in parts)
    duplicate_count = sum(len(part.duplicates) for part in parts)
    exclusions = [f"{rejected_count:,} refused"] * bool(rejected_count) + [
        f"{duplicate_count:,} with the same text as another"
    ] * bool(duplicate_count)
    typer.echo(
        f"Ideas:   {ideas:,} by {first_part.method}"
        + (f" (not counting {', '.join(exclusions)})" if exclusions else "")
    )
    typer.echo(f"Cost:    {_describe_cost(parts)}")
    typer.echo(f"Calls:   {_describe_calls(parts)}")
    if gpu_text := _describe_gpu_hours(parts):
        typer.echo(f"GPUs:    {gpu_text}")
    typer.echo(f"Time:    {_describe_time(parts)}")
    typer.echo(f"Budget:  {_describe_budget(parts)}")
    typer.echo(f"Basis:   {_describe_basis(first_part)}")
    typer.echo(f"Corpus:  {_describe_corpus_fit(parts)}")
    typer.echo("Nothing was submitted.")


def describe_duplicate(duplicate: "Duplicate") -> str:
    """Describe a duplicate: `call.csv:9 (A-9) has the same text as A-2.pdf`."""
    row, first = (
        duplicate.source or f"Row {duplicate.row}",
        duplicate.duplicate_of_source or f"row {duplicate.duplicate_of}",
    )
    return f"{row} has the same text as {first}"


def _describe_cost(parts: "Sequence[BatchEstimate]") -> str:
    usd, high = _add_known(part.cost_usd for part in parts), _add_known(part.high_cost_usd for part in parts)
    if usd is None or high is None:
        return f"not known. {next((part.cost_absent for part in parts if part.cost_absent), '')}".rstrip()
    if not high:
        return "nothing, because no language model is configured"
    return f"about ${usd:,.2f}; ${high:,.2f} if every idea costs as much as the most expensive tenth"


def _describe_calls(parts: "Sequence[BatchEstimate]") -> str:
    calls, prompt = _add_known(part.llm_requests for part in parts), _add_known(part.prompt_tokens for part in parts)
    completion = _add_known(part.completion_tokens for part in parts)
    if calls is None or prompt is None or completion is None:
        return "not known"
    cached = _add_known(part.cached_prompt_tokens for part in parts)
    from_cache = f" ({cached / prompt:.0%} of them cached)" if cached and prompt else ""
    return f"{calls:,.0f}, with {prompt:,.0f} prompt tokens{from_cache} and {completion:,.0f} answer tokens"


def _describe_gpu_hours(parts: "Sequence[BatchEstimate]") -> str | None:
    hours, high = _add_known(part.gpu_hours for part in parts), _add_known(part.high_gpu_hours for part in parts)
    if hours is None or high is None:
        return None
    hours_text, high_text = (f"{value:,.0f}" if value >= 10 else f"{value:.2g}" for value in (hours, high))
    return f"about {hours_text} hours; {high_text} if every idea takes as long as the slowest tenth"


def _describe_time(parts: "Sequence[BatchEstimate]") -> str:
    first_part = parts[0]
    if first_part.hours_to_finish is None:
        return f"not known. {first_part.hours_absent or ''}".rstrip()
    # The time of each part includes the jobs that are already queued.
    hours = (
        first_part.hours_to_finish
        * (first_part.evaluations_ahead + sum(part.ideas for part in parts))
        / (first_part.evaluations_ahead + first_part.ideas)
    )
    return f"about {hours:,.1f} hours" if hours >= 1 else f"about {max(hours * 60, 1):.0f} minutes"


def _describe_budget(parts: "Sequence[BatchEstimate]") -> str:
    budget_left, high = parts[0].remaining_this_month_usd, _add_known(part.high_cost_usd for part in parts)
    if budget_left is None:
        return "no monthly limit"
    sentence = f"${budget_left:,.2f} left this month"
    if high is None:
        return sentence
    return f"{sentence}: that may not be enough" if high > budget_left else f"{sentence}: enough"


def _describe_corpus_fit(parts: "Sequence[BatchEstimate]") -> str:
    fits = [part.corpus_fit for part in parts if part.corpus_fit is not None]
    if not fits:
        return f"not checked. {parts[0].corpus_fit_absent or ''}".rstrip()
    checked_count, poorly_covered = sum(fit.checked_proposals for fit in fits), sum(fit.poorly_covered for fit in fits)
    well_covered, partly_covered = sum(fit.well_covered for fit in fits), sum(fit.partly_covered for fit in fits)
    sentence = (
        f"of {checked_count:,} proposals checked, the corpus covers the field of {well_covered:,} well, "
        f"of {partly_covered:,} in part"
    )
    if not poorly_covered:
        return sentence
    return f"{sentence}, and of {poorly_covered:,} poorly: expect no score or only a partial one for those"


def _describe_basis(part: "BatchEstimate") -> str:
    match part.basis:
        case "own":
            return f"your last {part.evaluations:,} evaluations by {part.method}"
        case "typical":
            return "typical figures at the service's prices; yours may differ considerably"
        case None:
            return "none"


def _add_known(values: Iterable[float | None]) -> float | None:
    numbers = list(values)
    return None if any(value is None for value in numbers) else sum(value for value in numbers if value is not None)
