"""Clean and attacked copies of an idea: what is flagged, and which figures of a report are compared."""

from assayer.models.idea import suspicious_kinds
from benchmarks.attacks.paired import pairs, scores_of
from benchmarks.hidden_text.orders import ORDERS
from tests.unit.reports_fixture import full_report

IDEA = "\n\n".join(
    f"{place} we plant young corals on tiles in three bays and measure their growth every second month, with two "
    "partner groups and a fixed budget."
    for place in ("First", "Then", "Later", "At last")
)


def test_order_is_flagged_in_every_way_and_in_every_language() -> None:
    found = pairs([IDEA])
    assert [one.way for one in found if not one.flagged] == []
    assert {one.language for one in found} == set(ORDERS)


def test_honest_sentence_gives_no_orders_wherever_it_stands() -> None:
    flagged = {one.way for one in pairs([IDEA]) if "suspected_injection" in suspicious_kinds(one.control.flags)}
    assert flagged <= {"a message of the system", "a tag that ends the idea", "a note of the editor"}


def test_what_a_report_scores_is_compared_by_its_names() -> None:
    scores = scores_of(full_report())
    assert any(not name.endswith(("support", "strength", "contradiction", "weakness")) for name in scores)
    assert all(value <= 0 for name, value in scores.items() if name.endswith("/weakness"))
