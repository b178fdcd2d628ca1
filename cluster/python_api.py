"""Evaluate and rank proposals from Python, in this process and without a service: `assayer.evaluate`, `assayer.check`
and `assayer.rank`.

They run the same code as the command line. Their names and parameters are stable under semantic versioning."""

import asyncio
import datetime as dt
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from assayer.errors import AssayerError, InputError
from assayer.methods.check import METHOD as CHECK
from assayer.models import Idea, is_judged_blind
from assayer.ports import Progress, ProgressEvent
from assayer.reports.python_ranking import ProposalRanking
from assayer.reports.python_report import EvaluationReport
from assayer_client.resources import DEFAULT_METHOD
from cluster.cli.idea_inputs import read_idea_inputs
from cluster.cli.options import parse_day_option
from cluster.cli.output import make_folder, make_safe_name
from cluster.cli.rank import write_ranking
from cluster.cli.written_report import write_report
from cluster.engine import Engine
from cluster.evaluation_processes import evaluate_in_processes
from cluster.language_model import require_llm
from cluster.ranker import RankingInputs, open_ranker
from cluster.read_proposals import read_proposals
from cluster.run_request import RunRequest
from cluster.settings import Profile, Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from workers.documents.idea_reader import RejectedInput

OnProgress = Callable[[str, int, int], object]
"""Progress callback, called with a stage's name, the number of its finished steps, and its total number of steps so
far."""
_TEXT = "text"
"""Source of a proposal that was passed as text."""
_REFUSALS_SHOWN = 5

P = ParamSpec("P")
T = TypeVar("T")


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
    """Evaluate one proposal and return its report, as `assayer evaluate` does.

    `proposal` is a path, an arXiv id, a DOI, a URL, or the text itself. `model` is `PROVIDER/NAME`; `corpus` is the
    folder of a built corpus. If either is omitted, the settings apply (`ASSAYER_…` variables, `assayer.toml`,
    `profile`). Literature after `cutoff` (a date, or YYYY-MM-DD) is ignored. With `out`, the report is also written to
    that folder.

    Raises `assayer.errors.AssayerError`, whose text says what to do. `evaluate` also works in a notebook.
    `evaluate_async` does not block the event loop, and can be cancelled."""
    settings = load_settings(profile, model)
    return await _evaluate(proposal, settings, method, corpus, cutoff, out, progress, blind)


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
    """Collect evidence about a proposal without a language model, as `assayer check` does. Parameters and errors are
    those of `evaluate`."""
    settings = load_settings(profile).model_copy(update={"llm": None})
    return await _evaluate(proposal, settings, CHECK, corpus, cutoff, out, progress, blind)


async def rank_async(
    proposals: str | Path | Iterable[str | Path],
    *,
    shortlist_size: int | None = None,
    model: str | None = None,
    out: str | Path | None = None,
    progress: OnProgress | None = None,
    blind: bool | None = None,
    profile: Profile = "laptop",
) -> ProposalRanking:
    """Rank proposals with pairwise comparisons by a language model, with uncertainty intervals, as `assayer rank` does.

    `proposals` is a folder, or a list of paths, ids, URLs and texts. `shortlist_size` is the number of proposals to
    select. The other parameters are those of `evaluate`.

    Raises `assayer.errors.AssayerError`, also if any of the proposals cannot be read."""
    settings = load_settings(profile, model)
    require_llm(settings, "A ranking")
    ideas = await _read_several([proposals] if isinstance(proposals, str | Path) else proposals, settings)
    if out is not None:
        make_folder(Path(out), "The ranking", "out")
    run_request = RunRequest(blind=is_judged_blind(blind, settings.evaluation.blind, several=True))
    async with open_ranker(settings) as ranker:
        completed_ranking = await ranker.rank(RankingInputs(ideas, shortlist_size), _Reported(progress), run_request)
    files = write_ranking(completed_ranking, Path(out)) if out is not None else []
    return ProposalRanking(completed_ranking.ranking, tuple(completed_ranking.comparisons), tuple(files))


def _make_blocking(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Return a blocking function with the same parameters and docstring. It returns when the work is done."""

    @wraps(function)
    def run(*args: P.args, **named: P.kwargs) -> T:
        return _run(function(*args, **named))

    run.__name__ = run.__qualname__ = function.__name__.removesuffix("_async")
    return run


evaluate = _make_blocking(evaluate_async)
check = _make_blocking(check_async)
rank = _make_blocking(rank_async)


@dataclass(frozen=True)
class _Evaluate:
    """Work item for an engine that returns the report."""

    idea: Idea
    method: str
    cutoff: dt.date | None
    run_request: RunRequest

    async def __call__(self, engine: Engine, progress: Progress) -> Any:
        return (await engine.evaluate(self.idea, self.method, self.cutoff, progress, self.run_request)).report


@dataclass(frozen=True)
class _Reported:
    """Passes progress events to the caller's callback. Implements the Progress port."""

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
    last_day = parse_day_option(cutoff, "cutoff") if isinstance(cutoff, str) else cutoff
    idea, run_request = await _read(proposal, settings, method, last_day, blind)
    if out is not None:
        make_folder(Path(out), "Reports", "out")
    work = _Evaluate(idea, method, last_day, run_request)
    done = await evaluate_in_processes(settings, (method,), (work,), _Reported(progress), lambda: None)
    outcome = done.stopped or done.ended[0]
    if isinstance(outcome, AssayerError):
        raise outcome
    name = make_safe_name(Path(idea.source.partition(":")[0]).stem) or "proposal"
    return EvaluationReport(outcome, tuple(write_report(Path(out) / name, outcome)) if out is not None else ())


async def _read(
    proposal: str | Path, settings: Settings, method: str, cutoff: dt.date | None, blind: bool | None
) -> tuple[Idea, RunRequest]:
    """Read a single proposal. Raises InputError if there is not exactly one."""
    with _write_files([proposal]) as (paths, texts):
        ideas, rejected, run_request = await read_proposals(paths, settings, method, cutoff, blind)
    _refuse(rejected, texts)
    if len(ideas) != 1:
        raise InputError(f"{proposal} contains {len(ideas)} proposals.", "Evaluate one at a time.")
    return _restore_source(ideas[0], texts), run_request


async def _read_several(proposals: Iterable[str | Path], settings: Settings) -> list[Idea]:
    """Read all proposals. Raises InputError if any cannot be read."""
    with _write_files(proposals) as (paths, texts):
        ideas, rejected = await read_idea_inputs(paths, settings)
    _refuse(rejected, texts)
    return [_restore_source(idea, texts) for idea in ideas]


@contextmanager
def _write_files(proposals: Iterable[str | Path]) -> Iterator[tuple[list[Path], dict[str, str]]]:
    """Yield a path for each proposal. A text is written to a temporary file; the second value maps the paths of such
    files to names for the texts."""
    with TemporaryDirectory() as folder:
        paths, texts = list[Path](), dict[str, str]()
        for proposal in proposals:
            if isinstance(proposal, str) and _is_text(proposal):
                path = Path(folder) / f"{_TEXT}{f'-{len(texts) + 1}' if texts else ''}.md"
                path.write_text(proposal, "utf-8")
                texts[str(path)] = path.stem
            else:
                path = Path(proposal)
            paths.append(path)
        yield paths, texts


def _restore_source(idea: Idea, texts: Mapping[str, str]) -> Idea:
    return idea.model_copy(update={"source": texts[idea.source]}) if idea.source in texts else idea


def _refuse(rejected: "Sequence[RejectedInput]", texts: Mapping[str, str]) -> None:
    """Raise InputError if any inputs could not be read."""
    if not rejected:
        return
    message = " ".join(rejection.message for rejection in rejected[:_REFUSALS_SHOWN])
    for path, name in texts.items():
        message = message.replace(path, f"The {name}")
    remaining_count = len(rejected) - _REFUSALS_SHOWN
    raise InputError(f"{message} (And {remaining_count:,} more.)" if remaining_count > 0 else message)


def _is_text(proposal: str) -> bool:
    """Return whether a string is a proposal's text rather than its path, id or URL: it contains spaces, and no file has
    this name."""
    if not any(character.isspace() for character in proposal.strip()):
        return False
    try:
        return not Path(proposal).exists()
    except OSError:  # longer than a file name can be
        return True


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run the work until it is done, in a new thread if this thread already runs an event loop, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()
