"""`/v1/methods`: how ideas can be evaluated here."""

from fastapi import APIRouter

from orchestrator.api.documented import problems
from orchestrator.api.resources import Method, Page
from orchestrator.api.security import Reader
from orchestrator.api.services import Offered

__all__ = ["router"]

router = APIRouter(prefix="/v1/methods", tags=["methods"])


@router.get("", responses=problems())
async def listed(_: Reader, services: Offered) -> Page[Method]:
    """Every method, by name."""
    known = sorted(services.methods.items())
    return Page(items=tuple(Method(name=name, summary=summary) for name, summary in known), next=None)
