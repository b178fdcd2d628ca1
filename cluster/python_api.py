"""Evaluations in a Python program, in its process and without a service: `assayer.evaluate` and `assayer.check`.

They run the code of the command line, and their names and parameters are a stable surface under semantic versioning."""

import asyncio
import datetime as dt
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from assayer.errors import AssayerError, InputError
from assayer.methods.check import METHOD as CHECK
from assayer.models import Idea
from assayer.ports import Progress, ProgressEvent
from assayer.reports.python_report import EvaluationReport
from assayer_client.resources import DEFAULT_METHOD
from cluster.cli.options import day
from cluster.cli.output import make_folder, safe_name
from cluster.cli.written_report import write_report
from cluster.engine import Engine
from cluster.evaluation_processes import evaluate_in_processes
from cluster.read_proposals import read_proposals
from cluster.run_request import RunRequest
from cluster.settings import Profile, Settings
from cluster.settings_loading import load_settings

OnProgress = Callable[[str, int, int], object]
"""Called with the name of a stage, the number of its finished steps, and the number of all its steps so far."""
_TEXT = "text"
"""Source of a proposal that was passed as a text."""


def evaluate(
    proposal: str | Path,
    *,
    method: str = DEFAULT_METHOD,
    model: str | None = None,
    corpus: str | Path | None = None,
    cutoff: str | dt.date | None = None,
    out: str | Path | None = None,
    progress: OnProgress | None = None,
    blind: bool | None = None,
    profile: Profile = "laptop",
) -> EvaluationReport:
    """Evaluate one proposal and return its report, as `assayer evaluate` does.

    `proposal` is a path, an arXiv id, a DOI, a web address, or the text itself. `model` is `PROVIDER/NAME`, `corpus`
    the folder of a built corpus; otherwise the settings apply (`ASSAYER_…` variables, `assayer.toml`, `profile`).
    Literature after `cutoff` (a date, or YYYY-MM-DD) is ignored. With `out`, the report is also written to that folder.

    Raises `assayer.errors.AssayerError`, whose text says what to do. It may be called in a notebook as well."""
    return _run(
        evaluate_async(
            proposal,
            method=method,
            model=model,
            corpus=corpus,
            cutoff=cutoff,
            out=out,
            progress=progress,
            blind=blind,
            profile=profile,
        )
    )


async def evaluate_async(
    proposal: str | Path,
    *,
    method: str = DEFAULT_METHOD,
    model: str | None = None,
    corpus: str | Path | None = None,
    cutoff: str | dt.date | None = None,
    out: str | Path | None = None,
    progress: OnProgress | None = None,
    blind: bool | None = None,
    profile: Profile = "laptop",
) -> EvaluationReport:
    """Evaluate one proposal as `evaluate` does, without blocking the event loop; cancel it to stop."""
    settings = load_settings(profile, model)
    return await _evaluate(proposal, settings, method, corpus, cutoff, out, progress, blind)


def check(
    proposal: str | Path,
    *,
    corpus: str | Path | None = None,
    cutoff: str | dt.date | None = None,
    out: str | Path | None = None,
    progress: OnProgress | None = None,
    blind: bool | None = None,
    profile: Profile = "laptop",
) -> EvaluationReport:
    """Collect evidence on a proposal without a language model, as `assayer check` does. Parameters and errors are those
    of `evaluate`."""
    return _run(
        check_async(proposal, corpus=corpus, cutoff=cutoff, out=out, progress=progress, blind=blind, profile=profile)
    )


async def check_async(
    proposal: str | Path,
    *,
    corpus: str | Path | None = None,
    cutoff: str | dt.date | None = None,
    out: str | Path | None = None,
    progress: OnProgress | None = None,
    blind: bool | None = None,
    profile: Profile = "laptop",
) -> EvaluationReport:
    """Collect evidence as `check` does, without blocking the event loop."""
    settings = load_settings(profile).model_copy(update={"llm": None})
    return await _evaluate(proposal, settings, CHECK, corpus, cutoff, out, progress, blind)


@dataclass(frozen=True)
class _Evaluate:
    """Work item for an engine. Returns the report."""

    idea: Idea
    method: str
    cutoff: dt.date | None
    run_request: RunRequest

    async def __call__(self, engine: Engine, progress: Progress) -> Any:
        return (await engine.evaluate(self.idea, self.method, self.cutoff, progress, self.run_request)).report


@dataclass(frozen=True)
class _Reported:
    """Implements the Progress port."""

    call: OnProgress | None

    def report(self, event: ProgressEvent) -> None:
        if self.call is not None:
            self.call(event.stage, event.done, event.total)


async def _evaluate(
    proposal: str | Path,
    settings: Settings,
    method: str,
    corpus: str | Path | None,
    cutoff: str | dt.date | None,
    out: str | Path | None,
    progress: OnProgress | None,
    blind: bool | None,
) -> EvaluationReport:
    if corpus is not None:
        settings = settings.model_copy(update={"corpus": settings.corpus.model_copy(update={"path": Path(corpus)})})
    last_day = day(cutoff, "cutoff") if isinstance(cutoff, str) else cutoff
    idea, run_request = await _read(proposal, settings, method, last_day, blind)
    if out is not None:
        make_folder(Path(out), "Reports", "out")
    work = _Evaluate(idea, method, last_day, run_request)
    done = await evaluate_in_processes(settings, (method,), (work,), _Reported(progress), lambda: None)
    outcome = done.stopped or done.ended[0]
    if isinstance(outcome, AssayerError):
        raise outcome
    name = safe_name(Path(idea.source.partition(":")[0]).stem) or "proposal"
    return EvaluationReport(outcome, tuple(write_report(Path(out) / name, outcome)) if out is not None else ())


async def _read(
    proposal: str | Path, settings: Settings, method: str, cutoff: dt.date | None, blind: bool | None
) -> tuple[Idea, RunRequest]:
    """Read the one proposal, or raise InputError. A text is read from a temporary file, like standard input."""
    with TemporaryDirectory() as folder:
        path, is_text = Path(proposal), isinstance(proposal, str) and _is_text(proposal)
        if is_text:
            path = Path(folder) / f"{_TEXT}.md"
            path.write_text(str(proposal), "utf-8")
        ideas, rejected, run_request = await read_proposals((path,), settings, method, cutoff, blind)
    if rejected:
        raise InputError(rejected[0].message.replace(str(path), f"The {_TEXT}") if is_text else rejected[0].message)
    if len(ideas) != 1:
        raise InputError(f"{proposal} holds {len(ideas)} proposals.", "Evaluate one at a time.")
    return (ideas[0].model_copy(update={"source": _TEXT}) if is_text else ideas[0]), run_request


def _is_text(proposal: str) -> bool:
    """Return whether a string is a proposal rather than its path, its id or its address: it has spaces, and no file has
    its name."""
    if not any(character.isspace() for character in proposal.strip()):
        return False
    try:
        return not Path(proposal).exists()
    except OSError:  # longer than names are
        return True


def _run(work: Coroutine[Any, Any, EvaluationReport]) -> EvaluationReport:
    """Run the work to its end: in a thread of its own if an event loop already runs in this one, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
