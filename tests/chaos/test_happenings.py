"""Times at which the database goes away and the service is upgraded during a chaos run."""

from benchmarks.chaos.incidents import Incident, plan_incidents
from benchmarks.chaos.simulated_users import plan_submissions


def test_both_kinds_of_outage_are_scheduled_around_the_upgrade() -> None:
    assert plan_incidents(100.0, outages=2, with_upgrade=True) == [
        Incident("database away", 25.0),
        Incident("upgrade", 50.0),
        Incident("database silent", 75.0),
    ]


def test_nothing_is_scheduled_without_outages_or_upgrade() -> None:
    assert plan_incidents(100.0, outages=0, with_upgrade=False) == []


def test_submissions_include_erasures_and_documents_but_never_cancel_and_erase_together() -> None:
    texts = [f"Idea {number}" for number in range(400)]
    seen = plan_submissions(1, texts, tenants=3, seconds=60.0, erased_share=0.2, document_share=0.1)
    assert 40 < sum(item.erased_after is not None for item in seen) < 120
    assert 20 < sum(item.as_document for item in seen) < 70
    assert not [item for item in seen if item.cancelled_after is not None and item.erased_after is not None]
