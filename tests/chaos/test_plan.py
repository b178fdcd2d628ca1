"""The same seed brings the same kills, weather and submissions."""

from collections import Counter
from itertools import islice

from benchmarks.chaos.plan import plan_faults, plan_kills
from benchmarks.chaos.simulated_users import plan_submissions
from simulator.settings import Settings


def test_kills_are_spread_evenly_over_kinds_in_seeded_order() -> None:
    kinds = ("evaluator", "llm", "postgres")
    first = list(islice(plan_kills(1, kinds, 5.0), 12))
    assert first == list(islice(plan_kills(1, kinds, 5.0), 12))
    assert first != list(islice(plan_kills(2, kinds, 5.0), 12))
    assert Counter(kill.kind for kill in first) == dict.fromkeys(kinds, 4)


def test_weather_alternates_calm_and_storms_with_valid_simulator_settings() -> None:
    seen = list(islice(plan_faults(1, 10.0), 20))
    assert [item.name for item in seen[::2]] == ["calm"] * 10
    assert {item.name for item in seen[1::2]} == {"429", "5xx", "cut connections", "all of these", "down"}
    for item in seen:
        Settings.model_validate(item.knobs)


def test_same_seed_gives_same_submissions_within_the_duration() -> None:
    texts = [f"Idea {number}" for number in range(100)]
    those = plan_submissions(3, texts, 4, 60.0)
    assert those == plan_submissions(3, texts, 4, 60.0)
    assert {item.tenant for item in those} == {0, 1, 2, 3}
    assert all(0 <= item.at < 60 for item in those)
    assert any(item.is_sent_twice for item in those)
    assert any(item.cancelled_after is not None for item in those)
