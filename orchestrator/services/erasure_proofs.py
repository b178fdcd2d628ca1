"""Proofs of erasures: the audit log entry, and a fresh check that the data is gone."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence

from assayer.reports.brief import BriefLine
from assayer.reports.erasure_page import ErasurePage
from assayer.reports.wording import format_count, format_moment
from assayer_client.erasures import ErasureProof
from orchestrator.jobs.models import TenantId
from orchestrator.problems import HttpProblem
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.erasure import PgErasures

_RESOURCE_NAMES = {
    "ev": ("evaluation", "evaluations"),
    "cp": ("comparison", "comparisons"),
    "rk": ("ranking", "rankings"),
    "ci": ("request for candidate ideas", "requests for candidate ideas"),
    "sc": ("set of scores", "sets of scores"),
    "rw": ("set of rewards", "sets of rewards"),
    "cu": ("curation", "curations"),
    "bt": ("call", "calls"),
}


async def get_proof(
    audit_log: PgAuditLog, erasures: PgErasures, tenant: TenantId, number: int, now: dt.datetime
) -> ErasureProof:
    """Return the proof of the erasure that has this number in the audit log. Checks again whether any of the erased
    data is still stored. Raises HttpProblem if there is no such erasure."""
    entries = await audit_log.list_entries(tenant, after=number - 1, limit=1)
    entry = entries[0] if entries and entries[0].number == number else None
    if entry is None or entry.action != "erased" or entry.content is None:
        raise HttpProblem("not-found", f"The audit log contains no erasure with the number {number:,}.")
    deleted_ids = tuple(str(id) for id in entry.content.get("erased_ids", ()))
    rankings = tuple(str(id) for id in entry.content.get("redacted_rankings", ()))
    head = await audit_log.get_head(tenant)
    return ErasureProof(
        number=number,
        erased_at=entry.recorded_at,
        erased_by_id=entry.actor,
        erased_by=str(entry.content.get("by", "")),
        role=entry.role,
        subject=entry.subject,
        erased_ids=deleted_ids,
        redacted_rankings=rankings,
        erased_audit_entries=len(entry.content.get("entries", ())),
        hash=entry.hash,
        still_stored=tuple(await erasures.find_remaining(tenant, deleted_ids, rankings, number)),
        checked_at=now,
        audit_head=f"{head.number}:{head.hash}",
    )


def build_proof_page(proof: ErasureProof) -> ErasurePage:
    checked_at = format_moment(proof.checked_at)
    lead = f"None of the erased data is still stored, as checked on {checked_at}."
    if proof.still_stored:
        lead = f"Some data was not deleted. On {checked_at}, this was still stored: {', '.join(proof.still_stored)}."
    words = format_count(proof.erased_audit_entries, "earlier entry about it", "earlier entries about it")
    text_erased = f"The text of {words} was erased too; the log still shows when each entry was made"
    lines = (
        ("Erased on", format_moment(proof.erased_at)),
        ("Erased by", f"{proof.erased_by or proof.erased_by_id}, {proof.role}"),
        ("What", _describe_subject(proof.subject)),
        ("Deleted", count_resources(proof.erased_ids)),
        *((("Removed from", _describe_kept_rankings(proof.redacted_rankings)),) if proof.redacted_rankings else ()),
        ("In the audit log", text_erased if proof.erased_audit_entries else "The log contained no text about it"),
    )
    entry = f"{proof.number}:{proof.hash}"
    technical = [("Entry for this erasure", entry)]
    if proof.audit_head != entry:
        technical.append(("Newest entry when checked", proof.audit_head))
    if proof.redacted_rankings:
        technical.append(("Rankings from which it was removed", ", ".join(proof.redacted_rankings)))
    return ErasurePage(
        lead=lead,
        lines=tuple(BriefLine(name=name, text=text) for name, text in lines),
        technical=tuple(BriefLine(name=name, text=text) for name, text in technical),
        things=proof.erased_ids,
        number=proof.number,
        day=proof.erased_at.date(),
    )


def _describe_subject(subject: str) -> str:
    if subject == "an applicant":
        return "All data of one applicant, who is not named here"
    return f"The call {subject} with everything in it" if subject.startswith("bt_") else f"All data of {subject}"


def _describe_kept_rankings(ids: Sequence[str]) -> str:
    verb = "stays" if len(ids) == 1 else "stay"
    return f"{format_count(len(ids), 'ranking', 'rankings')}, which {verb}; all other proposals keep their ranks"


def count_resources(ids: Sequence[str]) -> str:
    """Count resources by kind, according to the prefixes of their ids, such as `2 evaluations, 1 ranking`."""
    counts = Counter(_RESOURCE_NAMES.get(id.partition("_")[0], ("other resource", "other resources")) for id in ids)
    return ", ".join(format_count(number, *names) for names, number in counts.items()) or "nothing"
