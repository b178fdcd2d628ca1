"""Proofs of erasures: the audit log entry, and a fresh check that the data is gone."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence

from assayer.reports.brief import BriefLine
from assayer.reports.erasure_page import ErasurePage
from assayer.reports.wording import count, moment
from assayer_client.erasures import ErasureProof
from orchestrator.jobs.models import TenantId
from orchestrator.problems import HttpProblem
from orchestrator.store.audit_log import PgAuditLog
from orchestrator.store.erasure import PgErasures

_THINGS = {
    "ev": ("evaluation", "evaluations"),
    "cp": ("comparison", "comparisons"),
    "rk": ("ranking", "rankings"),
    "ci": ("request for candidate ideas", "requests for candidate ideas"),
    "sc": ("set of scores", "sets of scores"),
    "rw": ("set of rewards", "sets of rewards"),
    "cu": ("curation", "curations"),
    "bt": ("call", "calls"),
}


async def proof_of(
    audit_log: PgAuditLog, erasures: PgErasures, tenant: TenantId, number: int, now: dt.datetime
) -> ErasureProof:
    """Return the proof of the erasure that has this number in the audit log. Checks again whether any of the erased
    data is still stored. Raises HttpProblem if there is no such erasure."""
    entries = await audit_log.entries(tenant, after=number - 1, limit=1)
    entry = entries[0] if entries and entries[0].number == number else None
    if entry is None or entry.act != "erased" or entry.content is None:
        raise HttpProblem("not-found", f"The audit log contains no erasure with the number {number:,}.")
    deleted_ids = tuple(str(item) for item in entry.content.get("things", ()))
    rankings = tuple(str(item) for item in entry.content.get("taken_out_of", ()))
    tip = await audit_log.tip(tenant)
    return ErasureProof(
        number=number,
        at=entry.at,
        by=entry.actor,
        by_name=str(entry.content.get("by", "")),
        role=entry.role,
        about=entry.about,
        things=deleted_ids,
        taken_out_of=rankings,
        words_erased=len(entry.content.get("entries", ())),
        hash=entry.hash,
        still_stored=tuple(await erasures.still_stored(tenant, deleted_ids, rankings, number)),
        checked_at=now,
        tip=f"{tip.number}:{tip.hash}",
    )


def proof_page(proof: ErasureProof) -> ErasurePage:
    checked_at = moment(proof.checked_at)
    lead = f"None of the erased data is still stored, as checked on {checked_at}."
    if proof.still_stored:
        lead = f"Some data was not deleted. On {checked_at}, this was still stored: {', '.join(proof.still_stored)}."
    words = count(proof.words_erased, "earlier entry about it", "earlier entries about it")
    text_erased = f"The text of {words} was erased too; the log still shows when each entry was made"
    lines = (
        ("Erased on", moment(proof.at)),
        ("Erased by", f"{proof.by_name or proof.by}, {proof.role}"),
        ("What", _about(proof.about)),
        ("Deleted", counted_things(proof.things)),
        *((("Removed from", _rankings_that_stay(proof.taken_out_of)),) if proof.taken_out_of else ()),
        ("In the audit log", text_erased if proof.words_erased else "The log contained no text about it"),
    )
    entry = f"{proof.number}:{proof.hash}"
    technical = [("Entry for this erasure", entry)]
    if proof.tip != entry:
        technical.append(("Newest entry when checked", proof.tip))
    if proof.taken_out_of:
        technical.append(("Rankings from which it was removed", ", ".join(proof.taken_out_of)))
    return ErasurePage(
        lead=lead,
        lines=tuple(BriefLine(name=name, text=text) for name, text in lines),
        technical=tuple(BriefLine(name=name, text=text) for name, text in technical),
        things=proof.things,
        number=proof.number,
        day=proof.at.date(),
    )


def _about(about: str) -> str:
    if about == "an applicant":
        return "All data of one applicant, who is not named here"
    return f"The call {about} with everything in it" if about.startswith("bt_") else f"All data of {about}"


def _rankings_that_stay(ids: Sequence[str]) -> str:
    verb = "stays" if len(ids) == 1 else "stay"
    return f"{count(len(ids), 'ranking', 'rankings')}, which {verb}; all other proposals keep their ranks"


def counted_things(ids: Sequence[str]) -> str:
    """Count resources by kind, according to the prefixes of their ids, such as `2 evaluations, 1 ranking`."""
    counts = Counter(_THINGS.get(item.partition("_")[0], ("other resource", "other resources")) for item in ids)
    return ", ".join(count(number, *named) for named, number in counts.items()) or "nothing"
