"""Measurements are stored per item, found again, and never repeated; the cost of a run is stated first."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from assayer.errors import ConfigurationError, LlmUnavailable, MalformedAnswer
from benchmarks.quality.kept import Kept, Outcome, Spent, do_the_rest, reasons
from benchmarks.quality.spending import KNOWN, agreed, expected
from workers.llm import LlmSettings

_MADE = {"models": ["m"]}
_SPENT = Spent(calls=2, prompt_tokens=1_000, completion_tokens=100, usd=None)


def _failed(name: str, seed: int, why: str) -> Outcome:
    return Outcome(item=name, seed=seed, failure=why)


async def _do(path: Path, names: str, work: Callable[[str], None] = lambda _: None) -> list[str]:
    """Which items were worked on."""
    done: list[str] = []

    async def one(name: str, seed: int) -> Outcome:
        work(name)
        done.append(name)
        return Outcome(item=name, seed=seed, spent=_SPENT)

    await do_the_rest([(name, name, 0) for name in names], Kept(path, Outcome, _MADE), one, _failed)
    return done


async def test_a_second_start_does_only_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    assert await _do(path, "ab") == ["a", "b"]
    assert await _do(path, "abc") == ["c"]
    assert [outcome.item for outcome in Kept(path, Outcome, _MADE).outcomes] == ["a", "b", "c"]


async def test_a_line_that_was_cut_in_the_middle_is_done_again(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    await _do(path, "ab")
    path.write_text(path.read_text("utf-8")[:-5], "utf-8")
    assert await _do(path, "ab") == ["b"]
    assert await _do(path, "ab") == []


async def test_what_was_made_in_another_way_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    await _do(path, "a")
    with pytest.raises(ConfigurationError, match="another way"):
        Kept(path, Outcome, {"models": ["other"]})


@pytest.mark.parametrize("text", ["nonsense\n", '{"made_with": {"models": ["m"]}}\n{"item": 3}\n', "[]\n"])
def test_a_file_that_is_none_of_ours_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kept.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigurationError):
        Kept(path, Outcome, _MADE)


async def test_an_item_that_fails_is_kept_with_its_reason_and_tried_again_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"

    def fail(name: str) -> None:
        raise MalformedAnswer(f"no answer to {name}")

    await _do(path, "a", fail)
    kept = Kept(path, Outcome, _MADE)
    assert [outcome.failure for outcome in kept.outcomes] == ["no answer to a"]
    kept.forget_failures()
    assert ("a", 0) not in kept
    kept.add(Outcome(item="a", seed=0))
    assert [outcome.failure for outcome in Kept(path, Outcome, _MADE).outcomes] == [""]


async def test_an_endpoint_that_is_gone_ends_the_run_and_keeps_what_was_done(tmp_path: Path) -> None:
    path = tmp_path / "kept.jsonl"
    await _do(path, "a")

    def gone(name: str) -> None:
        raise LlmUnavailable("gone")

    with pytest.raises(LlmUnavailable):
        await _do(path, "ab", gone)
    assert [outcome.item for outcome in Kept(path, Outcome, _MADE).outcomes] == ["a"]


def test_reasons_are_counted_the_most_frequent_first() -> None:
    outcomes = [_failed("a", 0, "x"), _failed("b", 0, "y"), _failed("c", 0, "y"), Outcome(item="d", seed=0)]
    assert list(reasons(outcomes)) == ["2 × without: y (b, c)", "1 × without: x (a)"]


def _llm(**prices: tuple[float, float]) -> LlmSettings:
    return LlmSettings.model_validate({"base_url": "http://127.0.0.1:1/v1", "model": "m", "prices": prices})


def test_cost_is_expected_from_the_items_that_are_done() -> None:
    cost = expected(KNOWN["pairs"], 10, [Outcome(item="a", seed=0, spent=_SPENT)], _llm(m=(3.0, 15.0)))
    assert (cost.calls, cost.prompt_tokens, cost.completion_tokens) == (20, 10_000, 1_000)
    assert cost.usd == pytest.approx(0.045)
    assert "1 item(s) of this run" in str(cost)


def test_without_a_price_the_cost_is_unknown_and_not_nothing() -> None:
    cost = expected(KNOWN["pairs"], 10, [], _llm())
    assert cost.usd is None
    assert "unknown" in str(cost)


@pytest.mark.parametrize(
    ("price", "limit", "yes", "starts"),
    [(1.0, 100.0, False, True), (1.0, 0.001, False, False), (1.0, 0.001, True, True), (None, 100.0, False, False)],
)
def test_a_run_above_its_limit_or_of_unknown_cost_starts_only_when_somebody_agrees(
    price: float | None, limit: float, yes: bool, starts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    cost = expected(KNOWN["pairs"], 1_000, [], _llm(**({"m": (price, price)} if price else {})))
    assert agreed(cost, limit, yes) is starts
