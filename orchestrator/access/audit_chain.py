"""Audit log of people's acts as a chain of hashes, which reveals changed, removed and cut-off entries.

Each entry's hash covers the hash of the entry before it. The content of an entry is hashed together with a random salt,
and only that hash is in the chain: content and salt can be erased together without breaking the chain, and the erased
content cannot be guessed from its hash. A later entry states which contents were erased. The newest number and hash
(the tip) are published, so that a recorded tip reveals a log whose end was cut off.
"""

import datetime as dt
import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, get_args

from assayer.models import Frozen
from assayer_client.audit_log import AuditedAct, AuditEntry, AuditTip
from orchestrator.access.roles import Role
from orchestrator.jobs.models import BatchId, TenantId

ACTS_IN_THE_LOG: tuple[AuditedAct, ...] = get_args(AuditedAct)

ACTS_OF_JUDGEMENT: frozenset[AuditedAct] = frozenset(
    {"blind opinion given", "opinion revised", "point judged", "score overridden", "remark added", "signed off"}
)
"""Acts whose content states people's judgements; machines cannot read it."""

FIRST = "0" * 64
"""Value of `previous` in a tenant's first entry."""


class Actor(NamedTuple):
    """Person or key that acts, as named in the audit log."""

    id: str
    """Id of a member or a key."""
    name: str
    """Name shown in the entry's content, removed when the person is erased."""
    role: Role


class ActBy(NamedTuple):
    """Actor and time of an act."""

    actor: Actor
    at: dt.datetime
    call: BatchId | None = None
    """Call whose proposals a ranking orders."""


class AuditExport(Frozen):
    """First line of an exported audit log, which states for whom it was exported. Judgement texts are withheld only
    from a machine."""

    tenant: TenantId
    reader: Role
    at: dt.datetime


class AuditFault(NamedTuple):
    """Inconsistency in an audit log."""

    number: int
    detail: str


def canonical(content: dict[str, Any]) -> str:
    """Return JSON with sorted keys and no spaces, so that equal content always has the same hash."""
    return json.dumps(content, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def content_hash(salt: str, content: str) -> str:
    """Return the salted hash of `content`, which must be in canonical form."""
    return hashlib.sha256(f"{salt}.{content}".encode()).hexdigest()


def entry_hash(entry: AuditEntry) -> str:
    at = entry.at.astimezone(dt.UTC).isoformat(timespec="microseconds")
    parts = [entry.previous, entry.tenant, entry.number, at, entry.actor, entry.role, entry.act, entry.about]
    text = json.dumps([*parts, entry.content_hash], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def without_judgements(entry: AuditEntry) -> AuditEntry:
    """Return the entry as a machine is allowed to read it. The salt is removed too, because otherwise the hash would
    reveal which of a few possible words was recorded."""
    if entry.content is None or entry.act not in ACTS_OF_JUDGEMENT:
        return entry
    return entry.model_copy(update={"content": None, "salt": None, "withheld": True})


def audit_faults(
    entries: Iterable[AuditEntry], tip: AuditTip | None = None, reader: Role | None = None
) -> Iterator[AuditFault]:
    """Yield all faults of a complete log, from its first entry, in order. `tip` is a tip recorded earlier or published
    now; `reader` is the role for which the log says it was exported, None if it does not say. Content is allowed to be
    withheld only in a log for a machine, where all judgements are withheld."""
    previous, number = FIRST, 0
    silent: set[int] = set()
    tenant = tip.tenant if tip else None
    for entry in entries:
        tenant = tenant or entry.tenant
        number += 1
        if entry.number != number:
            yield AuditFault(entry.number, f"comes after entry {number - 1}: {_gap(number, entry.number)}")
            number = entry.number
        elif entry.previous != previous:
            yield AuditFault(number, "does not continue the entry before it, which is another one than it was")
        if entry.tenant != tenant:
            yield AuditFault(number, f"belongs to another tenant, {entry.tenant}")
        if entry_hash(entry) != entry.hash:
            yield AuditFault(number, "was changed: its hash is not that of what it says")
        yield from _faults_of_content(entry, silent, reader)
        if tip is not None and entry.number == tip.number and entry.hash != tip.hash:
            yield AuditFault(number, "is another one than the tip that was published")
        previous = entry.hash
    for unexplained in sorted(silent):
        yield AuditFault(unexplained, "has no content, and no later entry says that it was erased")
    if tip is not None and number < tip.number:
        yield AuditFault(number + 1, f"the end is cut off: {tip.number} entries were published, {number} are here")


def _gap(expected: int, place: int) -> str:
    if place < expected:
        return "out of order"
    if place == expected + 1:
        return f"entry {expected} is missing"
    return f"entries {expected} to {place - 1} are missing"


def _faults_of_content(entry: AuditEntry, silent: set[int], reader: Role | None) -> Iterator[AuditFault]:
    judges = entry.act in ACTS_OF_JUDGEMENT
    if entry.withheld and reader != "machine":
        whose = f"was saved for the role {reader}" if reader else "does not say for whom it was saved"
        yield AuditFault(entry.number, f"says that its words are withheld, as from a machine; but the log {whose}")
    if entry.content is None or entry.salt is None:
        if not (entry.withheld and judges):
            silent.add(entry.number)
        return
    if entry.withheld or (judges and reader == "machine"):
        yield AuditFault(entry.number, "has words that no machine is shown; but the log was saved for one")
    if content_hash(entry.salt, canonical(entry.content)) != entry.content_hash:
        yield AuditFault(entry.number, "was changed: its words are not those that were hashed")
    elif entry.act == "erased":
        silent.difference_update(entry.content.get("entries", ()))
