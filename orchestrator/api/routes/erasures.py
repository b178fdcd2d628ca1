"""Routes `/v1/erasures`: immediate deletion of everything stored about an applicant or a batch, and its proof."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from assayer_client.erasures import Erasure, ErasureBody, ErasureProof
from orchestrator.api.routes.printed import PDF, DocumentQuery, pdf_of
from orchestrator.services.erasure_proofs import proof_of, proof_page
from orchestrator.services.erasures import erase_found, erasure_of
from orchestrator.web.authentication import Manager
from orchestrator.web.path_parameters import EntryNumber
from orchestrator.web.services import ServicesDependency

router = APIRouter(prefix="/v1/erasures", tags=["erasures"])


@router.post("")
async def create_erasure(body: ErasureBody, caller: Manager, services: ServicesDependency) -> Erasure:
    """Delete everything stored about an idea or a batch: ideas, reports, answers, events, and every comparison that
    includes them. A finished ranking stays without the idea; the others keep their ranks. Deletion is irreversible:
    use `dry_run` first."""
    erasure = await erasure_of(services.erasures, services.jobs, caller.tenant, body.source, body.batch)
    if body.dry_run:
        return erasure
    return await erase_found(services.erasures, caller.tenant, body.source, erasure, services.by(caller))


@router.get("/{number}", response_model=ErasureProof, responses=PDF)
async def get_erasure_proof(
    number: EntryNumber, query: Annotated[DocumentQuery, Query()], caller: Manager, services: ServicesDependency
) -> Response:
    """Return the proof of an erasure: the audit log entry, and what of the erased data is still stored now, which
    should be nothing. It names no applicant."""
    proof = await proof_of(services.audit_log, services.erasures, caller.tenant, number, services.clock.now())
    if query.format == "json":
        return Response(proof.model_dump_json(), 200, {"Cache-Control": "no-store"}, "application/json")
    return await pdf_of(services, "erasure.typ", proof_page(proof), f"erasure-{number}.pdf")
