"""`assayer batch watch`: show the progress of evaluations, batches, rankings and rewards until they end."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import typer
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn

from assayer.reports.escaping import shorten
from cluster.cli.batch.job_wording import describe_counts, describe_score, describe_standing
from cluster.cli.batch.service_client import KINDS, get_job_operations, identify_kind, open_service_client
from cluster.cli.options import JobIds, WithJson
from cluster.cli.terminal import create_progress_bars, print_json, print_remark
from orchestrator.jobs.outcome_wording import describe_poor_coverage

if TYPE_CHECKING:
    from assayer_client import Client
    from assayer_client.batches import BatchResource, BatchSummary
    from assayer_client.resources import Event, JobResource, JobState

_REPORTED_EVENTS = {"queued": "queued", "started": "running"}
_STATES_WITHOUT_RESULT: "tuple[JobState, ...]" = ("failed", "cancelled")
_MAX_NAMED_ROWS = 20
"""Maximum number of rows named for each state after a batch has ended."""
_MAX_TITLE_CHARS = 60


def watch(ids: JobIds, as_json: WithJson = False) -> None:
    """Follow progress until everything has finished; reconnects automatically. Exit code 1: some have no result."""
    with open_service_client() as client:
        complete = watch_all(client, ids)
        if as_json:
            print_json([_get_ended_job(client, identifier) for identifier in ids])
    if not complete:
        raise typer.Exit(1)


def _get_ended_job(client: "Client", item: str) -> "BatchResource | JobResource":
    kind = identify_kind(item, *KINDS)
    return client.batches.get(item) if kind == "batch" else get_job_operations(client, kind).get(item)


def watch_all(client: "Client", ids: Sequence[str]) -> bool:
    """Watch the jobs one after another; return whether all of them have a result."""
    for identifier in ids:
        identify_kind(identifier, *KINDS)
    ended = [_watch(client, identifier) for identifier in ids]
    return all(ended)


def _watch(client: "Client", text: str) -> bool:
    kind = identify_kind(text, *KINDS)
    if kind == "batch":
        return _watch_batch(client, text)
    jobs = get_job_operations(client, kind)
    succeeded = _watch_job(text, lambda: jobs.get(text), jobs.events(text))
    if kind == "evaluation" and (scores := client.evaluations.get(text).scores) is not None:
        reason = f": {scores.reason}" if scores.score is None and scores.reason else "."
        print_remark(f"Score: {describe_score(scores)}{reason}")
    return succeeded


def _watch_job(identifier: str, get_job: "Callable[[], JobResource]", events: Iterable["Event"]) -> bool:
    """Show a job's progress until it ends; return whether it succeeded. The last event is always the outcome, even if
    the job had ended before watching began."""
    title = shorten(get_job().title, _MAX_TITLE_CHARS)
    with create_progress_bars(SpinnerColumn(), TextColumn("{task.description}")) as progress:
        main_bar = progress.add_task(escape(title), total=None)
        stages: dict[str, TaskID] = {}
        for event in events:
            if progress.disable and event.kind in _REPORTED_EVENTS:
                print_remark(f"{identifier} ({title}) is {_REPORTED_EVENTS[event.kind]}")
            _show(progress, main_bar, title, stages, event)
    ended_job = get_job()
    reason = f": {ended_job.problem.title}. {ended_job.problem.detail}" if ended_job.problem else ""
    print_remark(f"{identifier} ({ended_job.title}) {describe_standing(ended_job.state)}{reason}")
    if ended_job.flags:
        print_remark(f"Check its text: {', '.join(ended_job.flags).replace('_', ' ')}.")
    return ended_job.state == "succeeded"


def _show(progress: Progress, main_bar: TaskID, title: str, stages: dict[str, TaskID], event: "Event") -> None:
    if event.kind != "progress":
        progress.update(main_bar, description=f"{escape(title)} [dim]{event.kind}[/]")
        return
    for stage in event.data.get("stages", ()):
        name = str(stage["stage"])
        if name not in stages:
            stages[name] = progress.add_task(f"  {escape(name)}", total=None)
        progress.update(stages[name], completed=stage["done"], total=stage["total"])


def _watch_batch(client: "Client", batch: str) -> bool:
    shown_tenth, reported_reason = -1, ""
    with create_progress_bars(SpinnerColumn(), TextColumn("{task.description}")) as progress:
        bar = progress.add_task(batch, total=None)
        for summary in client.batches.events(batch):
            accepted_rows = summary.rows - summary.rejected
            progress.update(
                bar, description=escape(_describe_batch(summary)), completed=_count_ended(summary), total=accepted_rows
            )
            if (reason := _explain_waiting(client, summary)) and reason != reported_reason:
                reported_reason = reason
                print_remark(f"{batch}: nothing is running yet. Next: {reported_reason}")
            if (
                progress.disable
                and (tenth := 10 * _count_ended(summary) // max(accepted_rows, 1)) > shown_tenth
                and tenth < 10
            ):
                shown_tenth = tenth
                print_remark(f"{batch}: {_describe_batch(summary)}")
    ended_batch = client.batches.get(batch)
    print_remark(f"{batch}: {_describe_batch(ended_batch)}.")
    _show_outcomes(ended_batch)
    _name_those_without_result(client, ended_batch)
    return ended_batch.rejected == 0 and ended_batch.states.get("succeeded", 0) == ended_batch.rows


def _show_outcomes(batch: "BatchResource") -> None:
    """Print the outcomes of a finished batch. Even a finished evaluation may have no score."""
    scored = {
        "full": "scored in full",
        "part": "scored in part",
        "unscored": "evaluated without a score, which is not a low score",
    }
    counts = batch.outcomes or {}
    phrases = [f"{counts[outcome]:,} {words}" for outcome, words in scored.items() if outcome in counts]
    if phrases:
        print_remark(f"{batch.id}: {', '.join(phrases)}.")
    if batch.poorly_covered:
        lacking = describe_poor_coverage(batch.poorly_covered)
        print_remark(f"{lacking}. `assayer batch list {batch.id}` shows every score, and why there is none.")


def _name_those_without_result(client: "Client", batch: "BatchResource") -> None:
    for state in _STATES_WITHOUT_RESULT:
        count = batch.states.get(state, 0)
        evaluations = (
            client.each(client.evaluations.list, state=state, batch=batch.id, limit=_MAX_NAMED_ROWS)
            if count
            else iter(())
        )
        for job in sorted(islice(evaluations, _MAX_NAMED_ROWS), key=lambda item: item.row or 0):
            reason = f": {job.problem.title}" if job.problem else ""
            print_remark(
                f"Row {job.row} ({shorten(job.title, _MAX_TITLE_CHARS)}, {job.id}) {describe_standing(state)}{reason}"
            )
        if count > _MAX_NAMED_ROWS:
            remainder_text = f"{count - _MAX_NAMED_ROWS:,} more are {state}"
            print_remark(f"{remainder_text}: `assayer batch fetch {batch.id} --format csv` lists all.")


def _explain_waiting(client: "Client", summary: "BatchSummary") -> str | None:
    """Return why no job in the batch is running; None if there is no reason."""
    if "queued" not in summary.states or "running" in summary.states:
        return None
    return client.batches.get(summary.id).waiting_reason


def _count_ended(summary: "BatchSummary") -> int:
    from orchestrator.jobs.submissions import count_ended

    return count_ended(summary.states)


def _describe_batch(summary: "BatchSummary") -> str:
    refused_text = [f"{summary.rejected:,} refused"] if summary.rejected else []
    phrases = [summary.name or f"{summary.rows:,} rows", *describe_counts(summary.states.items()), *refused_text]
    if summary.finish_expected_at and summary.ideas_per_hour:
        phrases.append(
            f"{summary.ideas_per_hour:,.0f} an hour, end expected {summary.finish_expected_at:%Y-%m-%d %H:%M} UTC"
        )
    return ", ".join(phrases)
