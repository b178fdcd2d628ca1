"""`/v1/methods`: how ideas can be evaluated here."""

from fastapi import APIRouter

from assayer.methods.innoeval.options import METHOD as INNOEVAL
from orchestrator.api.authentication import Reader
from orchestrator.api.common_schemas import Page, Resource
from orchestrator.api.openapi import problem_responses
from orchestrator.api.services import ServicesDependency

__all__ = ["Method", "router"]


class Method(Resource):
    name: str
    summary: str
    board_models: tuple[str, ...] = ()
    """Of innoeval: models that a request may name for its boards; none: those of the service's settings sit there."""


router = APIRouter(prefix="/v1/methods", tags=["methods"])


@router.get("", responses=problem_responses())
async def listed(_: Reader, services: ServicesDependency) -> Page[Method]:
    """Every method that can run here, by name."""
    known = sorted(services.offered.items())
    models = {INNOEVAL: services.board_models}
    listed = (Method(name=name, summary=summary, board_models=models.get(name, ())) for name, summary in known)
    return Page(items=tuple(listed), next=None)
