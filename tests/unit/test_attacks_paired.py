"""Clean and attacked copies of an idea: which orders are flagged."""

from assayer.models.idea import suspicious_kinds
from benchmarks.hostile.attacks.paired import build_pairs
from benchmarks.hostile.hidden_text.orders import ORDERS

IDEA = "\n\n".join(
    f"{place} we plant young corals on tiles in three bays and measure their growth every second month, with two "
    "partner groups and a fixed budget."
    for place in ("First", "Then", "Later", "At last")
)


def test_injected_instruction_is_flagged_in_every_position_and_language() -> None:
    attack_pairs = build_pairs([IDEA])
    assert [item.way for item in attack_pairs if not item.is_flagged] == []
    assert {item.language for item in attack_pairs} == set(ORDERS)


def test_harmless_sentence_is_flagged_only_in_suspicious_wrappers() -> None:
    flagged = {
        pair.way for pair in build_pairs([IDEA]) if "suspected_injection" in suspicious_kinds(pair.control.flags)
    }
    assert flagged <= {"a message of the system", "a tag that ends the idea", "a note of the editor"}
