"""The same seed brings the same kills, weather and submissions."""

from collections import Counter
from itertools import islice

from benchmarks.chaos.crowd import submissions
from benchmarks.chaos.plan import kills, weather
from simulator.settings import Settings


def test_every_kind_is_killed_as_often_as_the_others_in_an_order_that_the_seed_decides() -> None:
    kinds = ("evaluator", "llm", "postgres")
    first = list(islice(kills(1, kinds, 5.0), 12))
    assert first == list(islice(kills(1, kinds, 5.0), 12))
    assert first != list(islice(kills(2, kinds, 5.0), 12))
    assert Counter(kill.kind for kill in first) == dict.fromkeys(kinds, 4)


def test_storms_come_and_go_with_knobs_that_the_simulator_has() -> None:
    seen = list(islice(weather(1, 10.0), 20))
    assert [item.name for item in seen[::2]] == ["calm"] * 10
    assert {item.name for item in seen[1::2]} == {"429", "5xx", "cut connections", "all of these", "down"}
    for item in seen:
        Settings.model_validate(item.knobs)


def test_submissions_of_a_seed_are_the_same_and_lie_within_the_time() -> None:
    texts = [f"Idea {number}" for number in range(100)]
    those = submissions(3, texts, 4, 60.0)
    assert those == submissions(3, texts, 4, 60.0)
    assert {item.tenant for item in those} == {0, 1, 2, 3}
    assert all(0 <= item.at < 60 for item in those)
    assert any(item.twice for item in those)
    assert any(item.cancelled_after is not None for item in those)
