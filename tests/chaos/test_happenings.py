"""When the database goes away and the service is replaced, beside the kills."""

from benchmarks.chaos.crowd import submissions
from benchmarks.chaos.happenings import Happening, happenings


def test_outages_lie_on_both_sides_of_the_upgrade_and_are_of_both_kinds() -> None:
    assert happenings(100.0, outages=2, upgrade=True) == [
        Happening("database away", 25.0),
        Happening("upgrade", 50.0),
        Happening("database silent", 75.0),
    ]


def test_nothing_happens_unless_it_is_asked_for() -> None:
    assert happenings(100.0, outages=0, upgrade=False) == []


def test_some_are_erased_and_some_sent_as_files_and_none_both_cancelled_and_erased() -> None:
    texts = [f"Idea {number}" for number in range(400)]
    seen = submissions(1, texts, tenants=3, seconds=60.0, erased=0.2, documents=0.1)
    assert 40 < sum(item.erased_after is not None for item in seen) < 120
    assert 20 < sum(item.as_document for item in seen) < 70
    assert not [item for item in seen if item.cancelled_after is not None and item.erased_after is not None]
