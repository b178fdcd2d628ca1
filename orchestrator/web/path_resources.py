"""Dependencies that provide the call or evaluation named in a request's path. A route declares them after its context,
which authenticates the caller and checks their permissions."""

from typing import Annotated

from fastapi import Depends, Request

from orchestrator.jobs.models import Job
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.services.job_lookup import find_batch, find_job
from orchestrator.web.path_parameters import PathId
from orchestrator.web.services import ServicesDependency


async def _get_call(id: PathId, request: Request, services: ServicesDependency) -> BatchStatus:
    return await find_batch(services.jobs, request.scope["assayer.caller"].tenant, id)


async def _get_evaluation(id: PathId, request: Request, services: ServicesDependency) -> Job:
    return await find_job(services.jobs, request.scope["assayer.caller"].tenant, id, "evaluation")


CallInPath = Annotated[BatchStatus, Depends(_get_call)]
EvaluationInPath = Annotated[Job, Depends(_get_evaluation)]
