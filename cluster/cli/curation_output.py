"""JSON Lines output and cost summary, shared by `assayer curate`, `propose` and `score`."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import typer
from pydantic import BaseModel
from rich.markup import escape

from assayer.models import Absent
from cluster.cli.output import prepare_file, write_files
from cluster.cli.terminal import StepProgress, print_error, print_json, print_markup
from cluster.curator import CurationWork, Curator, open_curator
from cluster.settings import Settings
from cluster.telemetry import serve_metrics


@asynccontextmanager
async def open_curation(settings: Settings, out: Path, steps: str) -> AsyncIterator[tuple[Curator, StepProgress]]:
    """Check that `out` can be written, then open a curator and a progress bar for its steps."""
    prepare_file(out)
    with serve_metrics(settings.metrics), StepProgress(steps, stage=steps.lower()) as bar:
        async with open_curator(settings) as curator:
            yield curator, bar


def report_curation(
    curation: CurationWork[Any], path: Path, label: str, problems: Sequence[str], *, complete: bool, as_json: bool
) -> None:
    """Print the work's cost and problems. Raises Exit with code 1 if any item has no result."""
    if as_json:
        usage = {"prompt": curation.prompt_tokens, "completion": curation.completion_tokens}
        print_json(
            {
                "results": curation.results,
                "dropped": curation.dropped,
                "tokens": usage,
                "cost_usd": curation.cost_usd,
                "file": path,
            }
        )
    else:
        show_curation_summary(curation, path)
    for message in problems:
        print_error(label, message)
    if problems or not complete:
        raise typer.Exit(1)


def write_lines(path: Path, values: Iterable[BaseModel]) -> None:
    write_files({path: "".join(f"{value.model_dump_json()}\n" for value in values)})


def show_curation_summary(curation: CurationWork[Any], path: Path) -> None:
    """Print what was dropped, the cost, the models that answered, and the path of the output file."""
    for dropped_items in curation.dropped:
        print_markup(
            f"[yellow]![/] {dropped_items.count:,} {escape(dropped_items.item_kind)}: {escape(dropped_items.reason)}"
        )
    usage = curation.usage
    print_markup(
        f"{usage.llm_requests_paid:,} paid answers, {usage.llm_requests_cached:,} more cached; "
        f"{curation.prompt_tokens:,} prompt and {curation.completion_tokens:,} answer tokens; "
        f"{escape(_format_cost(curation.cost_usd, usage.paid_usd))}."
    )
    if curation.models:
        prompts = ", ".join(f"{prompt.task} v{prompt.version} ({prompt.digest})" for prompt in curation.prompts)
        print_markup(escape(f"Answered by {', '.join(curation.models)}; prompts {prompts}."))
    print_markup(escape(f"Written: {path}"))


def _format_cost(total_cost: float | Absent, cost_now: float | Absent) -> str:
    """Format the cost of the answers used, and the amount paid now, which includes unusable answers."""
    for cost in (total_cost, cost_now):
        if isinstance(cost, Absent):
            return f"cost unknown: {cost.reason.rstrip('.')}"
    return f"cost of these answers ${total_cost:.4f}; paid now ${cost_now:.4f}, unusable answers included"
