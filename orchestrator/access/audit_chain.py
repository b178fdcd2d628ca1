"""Audit log of people's acts as a chain of hashes, which reveals changed and removed entries.

Each entry's hash covers the hash of the entry before it. The content of an entry is hashed together with a random salt,
and only this hash is part of the chain. Content and salt can therefore be erased together without breaking the chain,
and the erased content cannot be guessed from its hash. A later entry states which contents were erased. The number and
the hash of the newest entry (the head) are published; comparing a log with a head recorded earlier reveals whether the
end of the log was cut off.
"""

import datetime as dt
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, get_args

from assayer.models import Frozen
from assayer_client.audit_log import AuditedAct, AuditEntry, AuditHead
from orchestrator.access.roles import Role
from orchestrator.jobs.models import BatchId, TenantId

LOGGED_ACTS: tuple[AuditedAct, ...] = get_args(AuditedAct)

JUDGEMENT_ACTS: frozenset[AuditedAct] = frozenset(
    {
        *("blind opinion given", "opinion revised", "point judged", "score overridden", "remark added", "signed off"),
        *("decision made", "comments released", "letters sent", "objection recorded", "objection answered"),
    }
)
"""Acts whose content states people's judgements. Machines are not allowed to read this content."""

_HEAD_PATTERN = re.compile(r"(\d{1,15}):([0-9a-f]{64})")
FIRST_PREVIOUS_HASH = "0" * 64
"""Value of `previous_hash` in a tenant's first entry."""


class Actor(NamedTuple):
    """Person or key that performed an act, as named in the audit log."""

    id: str
    """Id of a member or a key."""
    name: str
    """Name stated in the entry's content; it is removed when the person is erased."""
    role: Role


class ActBy(NamedTuple):
    """Actor and time of an act, and the call that it concerns."""

    actor: Actor
    at: dt.datetime
    call: BatchId | None = None
    """Call whose proposals are ranked, for an act on a ranking."""


class AuditExport(Frozen):
    """First line of an exported audit log. It states for which role the log was exported; the content of judgements is
    withheld only from machines."""

    tenant: TenantId
    reader: Role
    exported_at: dt.datetime


class AuditFault(NamedTuple):
    """Inconsistency in an audit log."""

    number: int
    detail: str


def to_canonical_json(content: dict[str, Any]) -> str:
    """Return the content as JSON with sorted keys and no spaces, so that equal content always has the same hash."""
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def compute_content_hash(salt: str, content: str) -> str:
    """Return the salted hash of `content`, which must be in canonical form."""
    return hashlib.sha256(f"{salt}.{content}".encode()).hexdigest()


def compute_entry_hash(entry: AuditEntry) -> str:
    timestamp = entry.recorded_at.astimezone(dt.UTC).isoformat(timespec="microseconds")
    parts = [
        entry.previous_hash,
        entry.tenant,
        entry.number,
        timestamp,
        entry.actor,
        entry.role,
        entry.action,
        entry.subject,
    ]
    text = json.dumps([*parts, entry.content_hash], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def withhold_judgements(entry: AuditEntry) -> AuditEntry:
    """Return the entry in the form that a machine is allowed to read. The salt is also removed; with it, a machine
    could hash each possible judgement and find the recorded one."""
    if entry.content is None or entry.action not in JUDGEMENT_ACTS:
        return entry
    return entry.model_copy(update={"content": None, "salt": None, "withheld": True})


def parse_head(text: str, tenant: TenantId) -> AuditHead | None:
    """Return the head written as NUMBER:HASH; None if the text is not one."""
    match = _HEAD_PATTERN.fullmatch(text.strip())
    return None if match is None else AuditHead(tenant=tenant, number=int(match[1]), hash=match[2])


def find_audit_faults(
    entries: Iterable[AuditEntry], head: AuditHead | None = None, reader: Role | None = None
) -> Iterator[AuditFault]:
    """Yield all faults of a complete log, which starts with the first entry. `head` is a head recorded earlier or
    published now. `reader` is the role for which the log was exported according to the log itself; None if it states
    none. Only a log that was exported for a machine may withhold content, and it must withhold all judgements."""
    previous_hash, number = FIRST_PREVIOUS_HASH, 0
    unexplained_numbers: set[int] = set()
    tenant = head.tenant if head else None
    for entry in entries:
        tenant = tenant or entry.tenant
        number += 1
        if entry.number != number:
            yield AuditFault(entry.number, f"comes after entry {number - 1}: {_describe_gap(number, entry.number)}")
            number = entry.number
        elif entry.previous_hash != previous_hash:
            yield AuditFault(number, "does not contain the hash of the entry before it, which was replaced")
        if entry.tenant != tenant:
            yield AuditFault(number, f"belongs to a different tenant, {entry.tenant}")
        if compute_entry_hash(entry) != entry.hash:
            yield AuditFault(number, "was changed: its hash does not match its fields")
        yield from _find_content_faults(entry, unexplained_numbers, reader)
        if head is not None and entry.number == head.number and entry.hash != head.hash:
            yield AuditFault(number, "differs from the published head of the log")
        previous_hash = entry.hash
    for unexplained_number in sorted(unexplained_numbers):
        yield AuditFault(unexplained_number, "has no content, but no later entry records its erasure")
    if head is not None and number < head.number:
        yield AuditFault(
            number + 1, f"is missing: {head.number} entries were published, but the log ends with entry {number}"
        )


def _describe_gap(expected: int, actual: int) -> str:
    if actual < expected:
        return "out of order"
    if actual == expected + 1:
        return f"entry {expected} is missing"
    return f"entries {expected} to {actual - 1} are missing"


def _find_content_faults(entry: AuditEntry, unexplained_numbers: set[int], reader: Role | None) -> Iterator[AuditFault]:
    is_judgement = entry.action in JUDGEMENT_ACTS
    if entry.withheld and reader != "machine":
        reader_text = (
            f"was exported for the role {reader}" if reader else "does not state for which role it was exported"
        )
        yield AuditFault(
            entry.number,
            f"states that its content is withheld, which is done only for machines, but the log {reader_text}",
        )
    if entry.content is None or entry.salt is None:
        if not (entry.withheld and is_judgement):
            unexplained_numbers.add(entry.number)
        return
    if entry.withheld or (is_judgement and reader == "machine"):
        yield AuditFault(
            entry.number, "has content that is withheld from machines, but the log was exported for a machine"
        )
    if compute_content_hash(entry.salt, to_canonical_json(entry.content)) != entry.content_hash:
        yield AuditFault(entry.number, "was changed: its content does not match its hash")
    elif entry.action == "erased":
        unexplained_numbers.difference_update(entry.content.get("entries", ()))
