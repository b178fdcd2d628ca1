"""`/v1/methods`: how ideas can be evaluated here."""

from fastapi import APIRouter

from orchestrator.api.authentication import Reader
from orchestrator.api.common_schemas import Page, Resource
from orchestrator.api.openapi import problem_responses
from orchestrator.api.services import ServicesDependency

__all__ = ["Method", "router"]


class Method(Resource):
    name: str
    summary: str


router = APIRouter(prefix="/v1/methods", tags=["methods"])


@router.get("", responses=problem_responses())
async def listed(_: Reader, services: ServicesDependency) -> Page[Method]:
    """Every method, by name."""
    known = sorted(services.methods.items())
    return Page(items=tuple(Method(name=name, summary=summary) for name, summary in known), next=None)
