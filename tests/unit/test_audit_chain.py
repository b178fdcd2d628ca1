"""Every later change to an audit log is detected."""

import datetime as dt
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.access.audit_chain import (
    FIRST_PREVIOUS_HASH,
    AuditEntry,
    AuditHead,
    compute_content_hash,
    compute_entry_hash,
    find_audit_faults,
    to_canonical_json,
    withhold_judgements,
)
from orchestrator.access.roles import Role
from orchestrator.jobs.models import TenantId

ACME = TenantId("acme")
ENTRY_TIME = dt.datetime(2026, 11, 23, 12, tzinfo=dt.UTC)


def make_chain(*contents: dict[str, Any], erased_at: Sequence[int] = ()) -> list[AuditEntry]:
    """Return a chain with one entry per content and, if entries were erased, a last entry that lists them."""
    entries: list[AuditEntry] = []
    for content in (*contents, *([{"by": "Ada", "entries": list(erased_at)}] if erased_at else [])):
        number = len(entries) + 1
        salt = f"{number:032x}"
        last = erased_at and number > len(contents)
        entry = AuditEntry(
            tenant=ACME,
            number=number,
            recorded_at=ENTRY_TIME + dt.timedelta(microseconds=number),
            actor="mb_1",
            role="officer",
            action="erased" if last else "score overridden",
            subject=f"ev_{number}",
            content=content,
            salt=salt,
            content_hash=compute_content_hash(salt, to_canonical_json(content)),
            previous_hash=entries[-1].hash if entries else FIRST_PREVIOUS_HASH,
            hash="",
        )
        entries.append(entry.model_copy(update={"hash": compute_entry_hash(entry)}))
    return [erase_entry(item) if item.number in erased_at else item for item in entries]


def erase_entry(entry: AuditEntry) -> AuditEntry:
    return entry.model_copy(update={"content": None, "salt": None})


FIVE_ENTRIES = make_chain(*({"by": "Ada", "score": float(number), "reason": "läuft “so”"} for number in range(5)))
HEAD = AuditHead(tenant=ACME, number=5, hash=FIVE_ENTRIES[-1].hash)


def test_log_with_withheld_judgements_verifies_and_tampering_is_detected() -> None:
    withheld_entries = [withhold_judgements(item) for item in FIVE_ENTRIES]
    assert all(item.withheld and item.content is None and item.salt is None for item in withheld_entries)
    assert list(find_audit_faults(withheld_entries, HEAD, "machine")) == []
    for damaged in (
        [*withheld_entries[:2], *withheld_entries[3:]],
        [withheld_entries[0].model_copy(update={"content_hash": "0" * 64}), *withheld_entries[1:]],
        withheld_entries[:-1],
        [*withheld_entries[:4], withheld_entries[4].model_copy(update={"withheld": False})],
        [*withheld_entries[:4], withheld_entries[4].model_copy(update={"action": "exported"})],
    ):
        assert list(find_audit_faults(damaged, HEAD, "machine")) != []


@pytest.mark.parametrize("reader", [None, "owner", "auditor"])
def test_withheld_content_is_a_fault_for_human_readers(reader: Role | None) -> None:
    blanked = [*FIVE_ENTRIES[:2], withhold_judgements(FIVE_ENTRIES[2]), *FIVE_ENTRIES[3:]]
    (fault,) = find_audit_faults(blanked, HEAD, reader)
    assert fault.number == 3
    assert "withheld" in fault.detail


def test_inconsistently_withheld_entries_are_faults_for_every_reader() -> None:
    """No reader gets a log in which only some judgements are withheld."""
    mixed = [*(withhold_judgements(item) for item in FIVE_ENTRIES[:4]), FIVE_ENTRIES[4]]
    assert [audit_fault.number for audit_fault in find_audit_faults(mixed, HEAD, "machine")] == [5]
    marked_entries = [*FIVE_ENTRIES[:4], FIVE_ENTRIES[4].model_copy(update={"withheld": True})]
    assert {audit_fault.number for audit_fault in find_audit_faults(marked_entries, HEAD)} == {5}


@given(
    st.integers(0, 4),
    st.sampled_from(
        [
            {"actor": "mb_2"},
            {"role": "owner"},
            {"action": "signed off"},
            {"subject": "ev_9"},
            {"recorded_at": ENTRY_TIME},
            {"content": {"by": "Ada", "score": 9.0, "reason": "läuft “so”"}},
            {"salt": "0" * 32},
            {"content_hash": "1" * 64},
            {"previous_hash": "2" * 64},
            {"hash": "3" * 64},
            {"tenant": "other"},
            {"number": 7},
            {"content": None},
            {"content": None, "salt": None},
        ]
    ),
)
def test_any_change_of_an_entry_is_found(place: int, change: dict[str, Any]) -> None:
    changed = [*FIVE_ENTRIES]
    changed[place] = changed[place].model_copy(update=change)
    assert list(find_audit_faults(changed, HEAD))


@given(st.integers(0, 4))
def test_changed_entry_with_recomputed_hashes_is_detected(place: int) -> None:
    changed = [*FIVE_ENTRIES]
    content = {"by": "Ada", "score": 10.0}
    rehashed_entry = changed[place].model_copy(
        update={
            "content": content,
            "content_hash": compute_content_hash(changed[place].salt or "", to_canonical_json(content)),
        }
    )
    changed[place] = rehashed_entry.model_copy(update={"hash": compute_entry_hash(rehashed_entry)})
    assert list(find_audit_faults(changed, HEAD))


@given(st.integers(0, 3), st.integers(1, 4))
def test_missing_entries_are_detected(start: int, size: int) -> None:
    assert list(find_audit_faults(FIVE_ENTRIES[:start] + FIVE_ENTRIES[start + size :], HEAD))


@given(st.permutations(range(5)).filter(lambda order: list(order) != sorted(order)))
def test_reordered_entries_are_detected(order: list[int]) -> None:
    assert list(find_audit_faults([FIVE_ENTRIES[place] for place in order]))


@given(st.integers(0, 4))
def test_truncated_log_is_detected_only_with_a_tip(entry_count: int) -> None:
    assert list(find_audit_faults(FIVE_ENTRIES[:entry_count])) == []
    (fault,) = find_audit_faults(FIVE_ENTRIES[:entry_count], HEAD)
    assert fault.detail.endswith(
        f"{len(FIVE_ENTRIES)} entries were published, but the log ends with entry {entry_count}"
    )


def test_older_tip_is_valid_for_extended_log() -> None:
    assert list(find_audit_faults(FIVE_ENTRIES, HEAD)) == []
    assert list(find_audit_faults(FIVE_ENTRIES, AuditHead(tenant=ACME, number=2, hash=FIVE_ENTRIES[1].hash))) == []
    assert list(find_audit_faults(FIVE_ENTRIES, AuditHead(tenant=ACME, number=2, hash=FIVE_ENTRIES[2].hash)))


def test_erased_content_is_valid_only_with_matching_erasure_entry() -> None:
    log = make_chain({"by": "Ada"}, {"by": "Ada"}, erased_at=[1])
    assert list(find_audit_faults(log)) == []
    assert list(find_audit_faults([erase_entry(log[0]), erase_entry(log[1]), log[2]]))


def test_erased_words_cannot_be_guessed() -> None:
    """The hash of few possible words tells nothing without the salt."""
    log = make_chain({"by": "Ada", "score": 3}, erased_at=[1])
    guesses = [compute_content_hash("", to_canonical_json({"by": "Ada", "score": score})) for score in range(6)]
    assert log[0].content_hash not in guesses
    assert log[0].salt is None


@pytest.mark.parametrize("content", [{"b": 1, "a": "é"}, {"a": "é", "b": 1}])
def test_canonical_json_is_independent_of_key_order(content: dict[str, Any]) -> None:
    assert to_canonical_json(content) == '{"a":"é","b":1}'
    assert json.loads(to_canonical_json(content)) == content
