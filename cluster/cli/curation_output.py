"""What `assayer curate`, `propose` and `score` have in common: lines of JSON, and what the work took."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from rich.console import Console
from rich.markup import escape

from assayer.models import Absent
from cluster.cli.output import write_files
from cluster.curator import CurationWork

__all__ = ["show_work", "write_lines"]


def write_lines(path: Path, values: Iterable[BaseModel]) -> None:
    write_files({path: "".join(f"{one.model_dump_json()}\n" for one in values)})


def show_work(console: Console, work: CurationWork[Any], path: Path) -> None:
    """What was lost, what the answers cost, who gave them, and where they are."""
    for one in work.dropped:
        console.print(f"[yellow]![/] {one.count:,} {escape(one.what)}: {escape(one.reason)}", soft_wrap=True)
    took = work.usage
    console.print(
        f"{took.llm_calls_paid:,} calls, {took.llm_calls_cached:,} more from the cache; {work.prompt_tokens:,} + "
        f"{work.completion_tokens:,} tokens; {escape(_cost(work.cost_usd, took.paid_usd))}.",
        soft_wrap=True,
    )
    if work.models:
        prompts = ", ".join(f"{one.task} v{one.version} ({one.digest})" for one in work.prompts)
        console.print(escape(f"Answered by {', '.join(work.models)}; prompts {prompts}."), soft_wrap=True)
    console.print(escape(f"Written: {path}"), soft_wrap=True)


def _cost(all_answers: float | Absent, now: float | Absent) -> str:
    if isinstance(all_answers, Absent):
        return f"cost unknown: {all_answers.reason.rstrip('.')}"
    paid = all_answers if isinstance(now, Absent) else now
    return f"cost ${all_answers:.4f}, of which ${paid:.4f} now"
