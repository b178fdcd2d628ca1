"""`/v1/erasures/{number}`: that something was erased, as JSON or on paper."""

import asyncio
import datetime as dt
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from assayer.reports.brief import BriefLine
from assayer.reports.erasure_page import ErasurePage
from assayer.reports.pdf import render_pdf
from assayer.reports.wording import count, moment
from orchestrator.api.authentication import Manager
from orchestrator.api.common_schemas import Body, Resource
from orchestrator.api.openapi import problem_responses
from orchestrator.api.problems import HttpProblem
from orchestrator.api.routes.printed import pdf_response
from orchestrator.api.services import Services, ServicesDependency
from orchestrator.jobs.models import TenantId

__all__ = ["EntryNumber", "ErasureProof", "ProofQuery", "counted_things", "proof_of", "proof_page", "router"]

router = APIRouter(prefix="/v1/erasures", tags=["erasures"])

EntryNumber = Annotated[int, Path(ge=1, le=2**53)]
_PDF: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/pdf": {"schema": {"type": "string", "format": "binary"}}}}
}
_THINGS = {
    "ev": ("evaluation", "evaluations"),
    "cp": ("comparison", "comparisons"),
    "rk": ("ranking", "rankings"),
    "pr": ("proposed idea", "proposed ideas"),
    "sc": ("set of scores", "sets of scores"),
    "rw": ("set of rewards", "sets of rewards"),
    "cu": ("curation", "curations"),
    "bt": ("call", "calls"),
}


class ErasureProof(Resource):
    """That something was erased, and that nothing of it is stored."""

    number: int
    """Of the entry of the audit log."""
    at: dt.datetime
    by: str
    """Id of the member or key that did it."""
    by_name: str
    """As it was called then."""
    role: str
    about: str
    """The batch, or `an applicant`, who is not named."""
    things: tuple[str, ...]
    """Ids of all that was deleted."""
    taken_out_of: tuple[str, ...] = ()
    """Ids of rankings that stay, without it."""
    words_erased: int
    """Entries of the audit log about them whose words went with them; their hashes stay in the chain."""
    hash: str
    """Of the entry. `assayer audit-log verify` checks it with the whole chain."""
    still_stored: tuple[str, ...]
    """Of these ids, those that are still there, and rankings in which something of it is left: none, where all went
    well."""
    checked_at: dt.datetime
    tip: str
    """`NUMBER:HASH` of the audit log's newest entry at that moment."""


class ProofQuery(Body):
    format: Literal["json", "pdf"] = "json"


@router.get("/{number}", response_model=ErasureProof, responses={**_PDF, **problem_responses(404, 422)})
async def erasure_proof(
    number: EntryNumber, query: Annotated[ProofQuery, Query()], caller: Manager, services: ServicesDependency
) -> Response:
    """That something was erased: the entry of the audit log that says so, and what of it is still stored at this
    moment, which should be nothing. It names no applicant."""
    proof = await proof_of(services, caller.tenant, number)
    if query.format == "json":
        return Response(proof.model_dump_json(), 200, {"Cache-Control": "no-store"}, "application/json")
    pdf = await asyncio.to_thread(render_pdf, "erasure.typ", proof_page(proof), services.settings.fonts)
    return pdf_response(pdf, f"erasure-{number}.pdf")


async def proof_of(services: Services, tenant: TenantId, number: int) -> ErasureProof:
    """Raises HttpProblem (404)."""
    entries = await services.audit_log.entries(tenant, after=number - 1, limit=1)
    entry = entries[0] if entries and entries[0].number == number else None
    if entry is None or entry.act != "erased" or entry.content is None:
        raise HttpProblem("not-found", f"The audit log has no erasure with the number {number:,}.")
    things = tuple(str(one) for one in entry.content.get("things", ()))
    rankings = tuple(str(one) for one in entry.content.get("taken_out_of", ()))
    tip = await services.audit_log.tip(tenant)
    return ErasureProof(
        number=number,
        at=entry.at,
        by=entry.actor,
        by_name=str(entry.content.get("by", "")),
        role=entry.role,
        about=entry.about,
        things=things,
        taken_out_of=rankings,
        words_erased=len(entry.content.get("entries", ())),
        hash=entry.hash,
        still_stored=tuple(await services.erasures.still_stored(tenant, things, rankings, number)),
        checked_at=services.clock.now(),
        tip=f"{tip.number}:{tip.hash}",
    )


def proof_page(proof: ErasureProof) -> ErasurePage:
    looked = moment(proof.checked_at)
    lead = f"Nothing of it is stored any more. That was looked up on {looked}."
    if proof.still_stored:
        lead = f"Not all of it is gone: {', '.join(proof.still_stored)} is still stored, as was looked up on {looked}."
    words = count(proof.words_erased, "earlier entry about it", "earlier entries about it")
    told = f"The text of {words} went too; that each was made, and when, still stands there"
    lines = (
        ("Erased on", moment(proof.at)),
        ("Erased by", f"{proof.by_name or proof.by}, {proof.role}"),
        ("What", _about(proof.about)),
        ("Deleted", counted_things(proof.things)),
        *((("Taken out of", _rankings_that_stay(proof.taken_out_of)),) if proof.taken_out_of else ()),
        ("In the audit log", told if proof.words_erased else "It held no text about it"),
    )
    entry = f"{proof.number}:{proof.hash}"
    technical = [("Entry of this erasure", entry)]
    if proof.tip != entry:
        technical.append(("Newest entry when looked up", proof.tip))
    if proof.taken_out_of:
        technical.append(("Rankings it was taken out of", ", ".join(proof.taken_out_of)))
    return ErasurePage(
        lead=lead,
        lines=tuple(BriefLine(name=name, text=text) for name, text in lines),
        technical=tuple(BriefLine(name=name, text=text) for name, text in technical),
        things=proof.things,
        number=proof.number,
        year=proof.at.year,
        month=proof.at.month,
        day=proof.at.day,
    )


def _about(about: str) -> str:
    if about == "an applicant":
        return "Everything of one applicant, who is not named here"
    return f"The call {about} with everything in it" if about.startswith("bt_") else f"Everything of {about}"


def _rankings_that_stay(ids: Sequence[str]) -> str:
    stay = "stays" if len(ids) == 1 else "stay"
    return f"{count(len(ids), 'ranking', 'rankings')}, which {stay}, with all others as they were"


def counted_things(ids: Sequence[str]) -> str:
    """`2 evaluations, 1 ranking`, by what their ids begin with."""
    found = Counter(_THINGS.get(one.partition("_")[0], ("other thing", "other things")) for one in ids)
    return ", ".join(count(number, *named) for named, number in found.items()) or "nothing"
