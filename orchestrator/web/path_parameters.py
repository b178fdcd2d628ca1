"""Parameters in request paths, and dependencies that provide the call or evaluation that a path names. A route declares
such a dependency after its context, which authenticates the caller and checks their permissions."""

from typing import Annotated

from fastapi import Depends, Path, Request

from orchestrator.jobs.models import Job
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.services.job_lookup import find_batch, find_job
from orchestrator.web.services import ServicesDependency

PathId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
"""A resource's id in a request path."""
EntryNumber = Annotated[int, Path(ge=1, le=2**53)]
LlmRequestNumber = Annotated[int, Path(ge=1, le=1_000_000)]


async def _get_call(id: PathId, request: Request, services: ServicesDependency) -> BatchStatus:
    return await find_batch(services.jobs, request.scope["assayer.caller"].tenant, id)


async def _get_evaluation(id: PathId, request: Request, services: ServicesDependency) -> Job:
    return await find_job(services.jobs, request.scope["assayer.caller"].tenant, id, "evaluation")


CallInPath = Annotated[BatchStatus, Depends(_get_call)]
EvaluationInPath = Annotated[Job, Depends(_get_evaluation)]
