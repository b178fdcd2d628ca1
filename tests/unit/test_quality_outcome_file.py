"""Measurements are stored per item, found again, and never repeated; the cost of a run is stated first."""

import asyncio
import io
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from assayer.errors import ConfigurationError, LlmUnavailable, MalformedAnswer
from benchmarks.quality.outcome_file import Outcome, OutcomeFile, Spending, format_failures, measure_missing
from benchmarks.quality.part_inputs import RunOptions
from benchmarks.quality.runs import measure_within_limits
from benchmarks.quality.spending import KNOWN_COSTS, confirm_cost, estimate_cost
from cluster.settings import Settings
from workers.llm import LlmSettings

_CONDITIONS = {"models": ["m"]}
_SPENDING = Spending(calls=2, prompt_tokens=1_000, completion_tokens=100, usd=None)


def make_failure(name: str, seed: int, reason: str) -> Outcome:
    return Outcome(item=name, seed=seed, failure=reason)


async def _do(path: Path, names: str, work: Callable[[str], None] = lambda _: None) -> list[str]:
    """Run the remaining items and return those that were worked on."""
    done_items: list[str] = []

    async def do_item(name: str, seed: int) -> Outcome:
        work(name)
        done_items.append(name)
        return Outcome(item=name, seed=seed, spent=_SPENDING)

    await measure_missing(
        [(name, name, 0) for name in names], OutcomeFile(path, Outcome, _CONDITIONS), do_item, make_failure
    )
    return done_items


async def test_restarted_run_processes_only_missing_items(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    assert await _do(path, "ab") == ["a", "b"]
    assert await _do(path, "abc") == ["c"]
    assert [outcome.item for outcome in OutcomeFile(path, Outcome, _CONDITIONS).outcomes] == ["a", "b", "c"]


async def test_truncated_line_is_processed_again(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    await _do(path, "ab")
    path.write_text(path.read_text("utf-8")[:-5], "utf-8")
    assert await _do(path, "ab") == ["b"]
    assert await _do(path, "ab") == []


async def test_file_made_with_different_models_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    await _do(path, "a")
    with pytest.raises(ConfigurationError, match="other settings"):
        OutcomeFile(path, Outcome, {"models": ["other"]})


@pytest.mark.parametrize("text", ["nonsense\n", '{"made_with": {"models": ["m"]}}\n{"item": 3}\n', "[]\n"])
def test_file_with_invalid_contents_is_rejected(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kept.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigurationError):
        OutcomeFile(path, Outcome, _CONDITIONS)


async def test_failed_item_is_stored_with_reason_and_retried_on_request(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"

    def fail(name: str) -> None:
        raise MalformedAnswer(f"no answer to {name}")

    await _do(path, "a", fail)
    outcome_file = OutcomeFile(path, Outcome, _CONDITIONS)
    assert [outcome.failure for outcome in outcome_file.outcomes] == ["no answer to a"]
    outcome_file.forget_failures()
    assert ("a", 0) not in outcome_file
    outcome_file.add(Outcome(item="a", seed=0))
    assert [outcome.failure for outcome in OutcomeFile(path, Outcome, _CONDITIONS).outcomes] == [""]


async def test_unavailable_endpoint_aborts_run_and_keeps_finished_items(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    await _do(path, "a")

    def fail(name: str) -> None:
        raise LlmUnavailable("gone")

    with pytest.raises(LlmUnavailable):
        await _do(path, "ab", fail)
    assert [outcome.item for outcome in OutcomeFile(path, Outcome, _CONDITIONS).outcomes] == ["a"]


def test_failure_reasons_are_listed_by_frequency() -> None:
    outcomes = [
        make_failure("a", 0, "x"),
        make_failure("b", 0, "y"),
        make_failure("c", 0, "y"),
        Outcome(item="d", seed=0),
    ]
    assert list(format_failures(outcomes)) == ["2 × without: y (b, c)", "1 × without: x (a)"]


def make_llm_settings(**prices: tuple[float, float]) -> LlmSettings:
    return LlmSettings.model_validate({"base_url": "http://127.0.0.1:1/v1", "model": "m", "prices": prices})


def test_expected_cost_is_extrapolated_from_finished_items() -> None:
    cost = estimate_cost(
        KNOWN_COSTS["pairs"], 10, [Outcome(item="a", seed=0, spent=_SPENDING)], make_llm_settings(m=(3.0, 15.0))
    )
    assert (cost.calls, cost.prompt_tokens, cost.completion_tokens) == (20, 10_000, 1_000)
    assert cost.usd == pytest.approx(0.045)
    assert "1 item(s) of this run" in str(cost)


def test_cost_without_price_is_unknown_rather_than_zero() -> None:
    cost = estimate_cost(KNOWN_COSTS["pairs"], 10, [], make_llm_settings())
    assert cost.usd is None
    assert "unknown" in str(cost)


@pytest.mark.parametrize(
    ("price", "limit", "yes", "starts"),
    [(1.0, 100.0, False, True), (1.0, 0.001, False, False), (1.0, 0.001, True, True), (None, 100.0, False, False)],
)
def test_run_over_limit_or_with_unknown_cost_requires_consent(
    price: float | None, limit: float, yes: bool, starts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    cost = estimate_cost(KNOWN_COSTS["pairs"], 1_000, [], make_llm_settings(**({"m": (price, price)} if price else {})))
    assert confirm_cost(cost, limit, yes) is starts


async def test_items_beyond_the_limit_begin_only_when_others_have_ended(tmp_path: Path) -> None:
    running: list[int] = [0]
    running_counts: list[int] = []

    async def do_item(name: str, seed: int) -> Outcome:
        running[0] += 1
        running_counts.append(running[0])
        await asyncio.sleep(0)
        running[0] -= 1
        return Outcome(item=name, seed=seed)

    outcome_file = OutcomeFile(tmp_path / "kept.jsonl", Outcome, _CONDITIONS, max_concurrent=2)
    await measure_missing([(name, name, 0) for name in "abcde"], outcome_file, do_item, make_failure)
    assert max(running_counts) == 2
    assert outcome_file.count_left("abcdef") == 1


def make_options(tmp_path: Path, deadline: float | None) -> RunOptions:
    return RunOptions(
        "simulator", tmp_path, (0,), None, None, yes=True, limit_usd=1.0, retry_failed=False, deadline=deadline
    )


async def test_time_limit_keeps_finished_items_and_next_run_does_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, settings = tmp_path / "kept.jsonl", Settings(home=tmp_path, llm=None)
    items = [(name, 0) for name in "abc"]

    async def ask(options: RunOptions, last_one_ends: bool) -> list[str]:
        outcome_file = OutcomeFile(path, Outcome, _CONDITIONS)

        async def do_items(items: Sequence[tuple[str, int]]) -> None:
            for name, seed in items:
                if name == "c" and not last_one_ends:
                    await asyncio.Event().wait()
                outcome_file.add(Outcome(item=name, seed=seed))

        await measure_within_limits(options, settings, "pairs", items, outcome_file, do_items)
        return [outcome.item for outcome in OutcomeFile(path, Outcome, _CONDITIONS).outcomes]

    assert await ask(make_options(tmp_path, time.monotonic() + 0.2), last_one_ends=False) == ["a", "b"]
    assert "The time limit ended with 1 of 3 item(s) left." in capsys.readouterr().out
    assert await ask(make_options(tmp_path, time.monotonic()), last_one_ends=True) == ["a", "b"], (
        "nothing begins afterwards"
    )
    assert await ask(make_options(tmp_path, None), last_one_ends=True) == ["a", "b", "c"]
