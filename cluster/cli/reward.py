"""`assayer reward`: reward ideas that match reference abstracts, judged on this machine without a service."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from pydantic import ValidationError
from rich.markup import escape

from assayer.errors import InputError
from assayer.models import Absent
from assayer.reports.escaping import shorten
from cluster.cli.options import WithJson, WithLocalModel, WithModel, WithProfile
from cluster.cli.output import make_folder, make_names_distinct, make_safe_name, prepare_file, write_files
from cluster.cli.standard_input import read_from_standard_input
from cluster.cli.terminal import StageProgress, print_json, print_markup, run_resumable, show_table
from cluster.local_model import start_chosen_model
from cluster.settings import Settings
from cluster.whole_files import read_whole

if TYPE_CHECKING:
    from assayer_client.rewards import RewardOutcome, RewardsResult
    from orchestrator.jobs.requests import NamedRewardItem

_MAX_SHOWN_ITEMS = 20
"""Maximum number of items shown in the terminal. The file contains all of them."""
_MAX_REASON_CHARS = 100
"""Maximum length of a reason shown in the terminal."""


class _Rewarded(NamedTuple):
    items: "Sequence[NamedRewardItem]"
    outcomes: "Sequence[RewardOutcome]"
    result: "RewardsResult"
    pages: "Mapping[int, Path]"
    """Paths of the HTML pages, keyed by item position. Items that ended in a problem have none."""

    def format_lines(self) -> Iterator[str]:
        """Yield one JSON object per item, including the path of its page, if any."""
        for outcome in self.outcomes:
            page = self.pages.get(outcome.item)
            page_field = {} if page is None else {"page": str(page)}
            yield json.dumps(outcome.model_dump(mode="json") | page_field, ensure_ascii=False, separators=(",", ":"))


def reward(
    file: Annotated[
        Path,
        typer.Argument(
            help="JSON Lines file with question, idea, abstract and optionally id and reference; - for standard input.",
            callback=read_from_standard_input,
        ),
    ],
    judge: Annotated[str | None, typer.Option(help="Judge; by default the configured one.")] = None,
    out: Annotated[Path, typer.Option(help="File for the rewards, one JSON line per item.")] = Path("rewards.jsonl"),
    pages: Annotated[
        Path | None,
        typer.Option(help="Folder for one HTML page per item that shows the debate vote by vote. By default no pages."),
    ] = None,
    profile: WithProfile = "laptop",
    model: WithModel = None,
    local_model: WithLocalModel = None,
    as_json: WithJson = False,
) -> None:
    """Reward ideas that match the methodology of a reference abstract, by debate. Exit code 1: some got no reward."""
    items = read_reward_items(file)
    prepare_file(out)
    if pages is not None:
        make_folder(pages, "The pages", "--pages")
    with start_chosen_model(profile, model, local_model) as chosen:
        rewarded = run_resumable(_judge(chosen.settings, items, judge))
    if pages is not None:
        rewarded = rewarded._replace(pages=_write_pages(pages, rewarded))
    write_files({out: "".join(f"{line}\n" for line in rewarded.format_lines())})
    if as_json:
        print_json({"result": rewarded.result, "items": rewarded.outcomes, "file": out, "pages": rewarded.pages})
    else:
        _show(rewarded, out)
    if rewarded.result.absent or rewarded.result.problem:
        raise typer.Exit(1)


def read_reward_items(file: Path) -> "list[NamedRewardItem]":
    """Read the reward items in a file, skipping blank lines. Raises InputError, which names the file and the line, if
    an item is invalid."""
    from assayer.text.decoding import decode_text

    text = decode_text(read_whole(file), str(file))
    items = [_parse_item(line, f"{file}:{number}") for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not items:
        raise InputError(
            f"{file} contains no items.", "Put one JSON object on each line, with question, idea and abstract."
        )
    return items


def _parse_item(line: str, place: str) -> "NamedRewardItem":
    from orchestrator.jobs.requests import NamedRewardItem

    try:
        item = NamedRewardItem.model_validate_json(line)
    except ValidationError as error:
        first_error = error.errors(include_url=False)[0]
        field = ".".join(map(str, first_error["loc"]))
        raise InputError(
            f"{place}: {f'{field}: ' if field else ''}{first_error['msg']}.",
            "Each line must be a JSON object with question, idea and abstract, and optionally id and reference.",
        ) from None
    if empty := [name for name in ("question", "abstract") if not getattr(item, name).strip()]:
        raise InputError(f"{place}: {empty[0]} is empty.", "Fill it in: the judge needs it.")
    return item


async def _judge(settings: Settings, items: "Sequence[NamedRewardItem]", judge: str | None) -> _Rewarded:
    from cluster.item_batch import do_items
    from cluster.reward_jobs import define_reward_work
    from cluster.reward_judge import find_usable_judge, open_reward_judge
    from cluster.telemetry import serve_metrics
    from orchestrator.jobs.item_outcomes import summarise_rewards

    outcomes: list[RewardOutcome] = []

    async def keep(new_outcomes: "Sequence[RewardOutcome]") -> None:
        outcomes.extend(new_outcomes)

    with serve_metrics(settings.metrics), StageProgress() as stages:
        async with open_reward_judge(settings, judge) as reward_judge:
            chosen = find_usable_judge(settings, judge)
            run = await reward_judge.start_run(items, chosen, stages)
            work = define_reward_work(reward_judge, chosen, chosen.name)
            await do_items(items, work, run, settings.rewards.concurrency, keep, {})
    outcomes.sort(key=lambda outcome: outcome.item)
    return _Rewarded(items, outcomes, summarise_rewards(chosen.name, outcomes), {})


def _write_pages(folder: Path, rewarded: _Rewarded) -> dict[int, Path]:
    """Write a page for each reward, named after the item's id or, if the id is unusable, its number. Return the paths,
    keyed by item position."""
    from assayer.reports.debate_page import render_debate_html

    names = make_names_distinct(make_safe_name(item.id) or str(number) for number, item in enumerate(rewarded.items, 1))
    pages = {}
    for outcome in rewarded.outcomes:
        if outcome.reward is not None:
            pages[outcome.item] = folder / f"{names[outcome.item]}.html"
            write_files({pages[outcome.item]: render_debate_html(rewarded.items[outcome.item].item, outcome.reward)})
    return pages


def _show(rewarded: _Rewarded, out: Path) -> None:
    headings = ("Item", "Reward", "Why", *(["Page"] if rewarded.pages else []))
    rows = [
        (
            outcome.id or str(outcome.item + 1),
            _format_value(outcome),
            _format_reason(outcome),
            str(rewarded.pages.get(outcome.item, "–")),
        )[: len(headings)]
        for outcome in rewarded.outcomes[:_MAX_SHOWN_ITEMS]
    ]
    show_table(headings, rows)
    if len(rewarded.outcomes) > _MAX_SHOWN_ITEMS:
        print_markup(f"… and {len(rewarded.outcomes) - _MAX_SHOWN_ITEMS:,} more.")
    result = rewarded.result
    cost = "cost unknown" if isinstance(result.cost_usd, Absent) else f"{result.cost_usd:,.4f} USD"
    print_markup(
        f"{result.judge}: {result.match:,} match, {result.no_match:,} do not, {result.decided_by_guard:,} stopped "
        f"before any LLM request, {result.absent + result.problem:,} without a reward; {result.repeated:,} had the "
        f"same text as an earlier item. {result.llm_requests:,} LLM requests, {cost}."
    )
    print_markup(escape(f"Written: {out}"))


def _format_value(outcome: "RewardOutcome") -> str:
    return "–" if outcome.reward is None or isinstance(outcome.reward.value, Absent) else str(outcome.reward.value)


def _format_reason(outcome: "RewardOutcome") -> str:
    text = outcome.problem.detail if outcome.reward is None and outcome.problem else ""
    text = outcome.reward.reason if outcome.reward is not None else text
    words = " ".join(text.split())
    return shorten(words, _MAX_REASON_CHARS)
