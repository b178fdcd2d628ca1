"""Route `/v1/methods`: the available evaluation methods."""

from fastapi import APIRouter

from assayer.methods.innoeval.options import METHOD as INNOEVAL
from assayer_client.evaluations import Method
from assayer_client.resources import Page
from orchestrator.web.authentication import Reader

router = APIRouter(prefix="/v1/methods", tags=["methods"])


@router.get("")
async def list_methods(context: Reader) -> Page[Method]:
    """List the methods available in this service, by name."""
    offered_methods = sorted(context.services.options.available_methods.items())
    models = {INNOEVAL: context.services.options.board_models}
    methods = (
        Method(name=name, summary=summary, board_models=models.get(name, ())) for name, summary in offered_methods
    )
    return Page(items=tuple(methods), next=None)
