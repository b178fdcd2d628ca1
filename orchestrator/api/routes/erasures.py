"""Routes `/v1/erasures`: immediate deletion of all data stored about an applicant or a batch, and proof of the
deletion."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from assayer_client.erasures import Erasure, ErasureBody, ErasureProof
from orchestrator.api.routes.printed import PDF_RESPONSES, DocumentQuery, render_pdf_response
from orchestrator.services.erasure_proofs import build_proof_page, get_proof
from orchestrator.services.erasures import carry_out_erasure, preview_erasure
from orchestrator.web.authentication import Manager
from orchestrator.web.path_parameters import EntryNumber

router = APIRouter(prefix="/v1/erasures", tags=["erasures"])


@router.post("")
async def create_erasure(body: ErasureBody, context: Manager) -> Erasure:
    """Delete all data stored about an idea or a batch: ideas, reports, model responses, events, and every comparison
    that includes them. A finished ranking is kept without the erased idea; other ideas keep their ranks. Deletion is
    irreversible, so use `dry_run` first."""
    erasure = await preview_erasure(
        context.services.erasures, context.services.jobs, context.tenant, body.source, body.batch
    )
    if body.dry_run:
        return erasure
    return await carry_out_erasure(context.services.erasures, context.tenant, body.source, erasure, context.by)


@router.get("/{number}", response_model=ErasureProof, responses=PDF_RESPONSES)
async def get_erasure_proof(
    number: EntryNumber, query: Annotated[DocumentQuery, Query()], context: Manager
) -> Response:
    """Return the proof of an erasure: its audit log entry, and the result of a new search for the erased data, which
    should find nothing. The proof does not name the applicant."""
    proof = await get_proof(context.services.audit_log, context.services.erasures, context.tenant, number, context.now)
    if query.format == "json":
        return Response(proof.model_dump_json(), 200, {"Cache-Control": "no-store"}, "application/json")
    return await render_pdf_response(context.services, "erasure.typ", build_proof_page(proof), f"erasure-{number}.pdf")
