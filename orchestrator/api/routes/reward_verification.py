"""`/v1/rewards/verify` and `/v1/rewards/compare`: one rollout, one reward, in the shapes of NeMo Gym.

Where they differ: a judge that failed gives `null`, never 0 (NeMo Gym's own failsafe writes 0 beside
`_ng_failure_class`, which is told here as well); a group is durable and named by its sender, where NeMo Gym buffers it
in one process by its prompt; and a reward relative to the group is the difference from its mean, undivided, as
unbiased GRPO takes it.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from pydantic import ConfigDict, Field

from assayer.models import Absent
from orchestrator.api.authentication import Submitter
from orchestrator.api.backpressure import StreamLimit
from orchestrator.api.common_schemas import ProblemError, Resource
from orchestrator.api.content_negotiation import json_only
from orchestrator.api.event_streams import wait_for_group, wait_for_verdict
from orchestrator.api.idempotency import IdempotencyKey
from orchestrator.api.item_routes import counted
from orchestrator.api.job_routes import accept_job, job_in, no_result_problem, traceparent_of
from orchestrator.api.openapi import problem_responses
from orchestrator.api.problems import HttpProblem
from orchestrator.api.request_log import request_record
from orchestrator.api.reward_bodies import (
    CompareBody,
    RolloutListBody,
    RolloutsToCompare,
    VerifyBody,
    item_of_rollout,
    items_of_list,
    member_of_group,
)
from orchestrator.api.routes.rewards import AcceptedRewards, rewards_links
from orchestrator.api.services import Services, ServicesDependency, StreamLimitDependency
from orchestrator.jobs.api_keys import AuthenticatedCaller
from orchestrator.jobs.models import TERMINAL, Job, JobId, TenantId
from orchestrator.jobs.requests import NamedRewardItem, RewardsRequest
from orchestrator.jobs.results import RewardOutcome
from orchestrator.jobs.submissions import NewJob
from orchestrator.store.reward_groups import GroupConflict, GroupPlan, RewardGroup

__all__ = ["ComparedRollouts", "VerifiedRollout", "router"]

_MOST_TOLD = 50


class VerifiedRollout(Resource):
    """The rollout as it came, with its reward. Other fields of the request are echoed as well."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    responses_create_params: dict[str, Any]
    response: dict[str, Any]
    reward: float | None
    """Of `/verify` 0 or 1; of `/compare` the difference from the group's mean; null: the judge failed."""
    reward_components: dict[str, float]
    """`match`: 0 or 1; of a group also `group_mean` and `group_judged`, how many of its members have a reward."""
    outcome: RewardOutcome
    """With the reason, the transcript and the cost."""
    failure_class: str | None = Field(default=None, serialization_alias="_ng_failure_class")
    """`judge_failed` where there is no reward: keep the rollout out of the metrics."""
    job: str


class ComparedRollouts(Resource):
    """A whole group, in the shape in which NeMo Gym's `genrm_compare` answers; `outcomes` and `job` are added."""

    rewards: tuple[float | None, ...]
    """In the order of `response_objs`: the difference from the group's mean; null: the judge failed."""
    comparison_results: None = None
    """No two are compared: each is held against the reference."""
    metrics: dict[str, float]
    """`group_mean` of those judged, `group_judged` and `group_failed`."""
    outcomes: tuple[RewardOutcome, ...]
    """With reasons, transcripts and costs."""
    job: str


router = APIRouter(prefix="/v1/rewards", tags=["rewards"])
_ROUTE: Mapping[str, Any] = {
    "response_model": VerifiedRollout,
    "responses": problem_responses(400, 409, 413, 415, 422),
    "dependencies": [Depends(json_only)],
}


@router.post("/verify", **_ROUTE)
async def verify(
    body: VerifyBody,
    request: Request,
    caller: Submitter,
    services: ServicesDependency,
    streams: StreamLimitDependency,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Judges one rollout and answers with its reward. 503 where the judge takes too long: the same request with the
    same key then waits on."""
    work = _work(services, item_of_rollout(body), body)
    ended = await _judged(work, JobId(services.new_id("rw")), request, caller, services, streams, idempotency_key)
    outcome = await _outcome(services, ended)
    return _answered(body, outcome, _own(outcome), {}, ended.id)


@router.post("/compare", **{**_ROUTE, "response_model": VerifiedRollout | ComparedRollouts})
async def compare(
    body: RolloutsToCompare,
    request: Request,
    caller: Submitter,
    services: ServicesDependency,
    streams: StreamLimitDependency,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Judges one member of a group and answers, once all members are there and judged, with its reward relative to
    the group. A member sent again is not judged again. 409 names the members that are missing when the group's time is
    over; when they come later, the members that were sent before are sent again for their rewards. A whole group, in
    `response_objs`, is judged and answered at once."""
    if isinstance(body, RolloutListBody):
        return await _compare_all(body, request, caller, services, streams, idempotency_key)
    member = member_of_group(body)
    work = _work(services, item_of_rollout(body), body)
    _check_room(streams, caller)
    job = await _join(request, caller.tenant, services, body, member, work)
    with streams.hold(caller.tenant, request.scope):
        seconds = services.settings.max_wait_seconds
        group = await wait_for_group(seconds, services, caller.tenant, body.group)
    if group is None or (not group.has_ended and not _is_over(group)):
        raise _too_slow(services)
    if group.missing:
        raise _incomplete(body.group, group)
    ended = await services.jobs.get(caller.tenant, job)
    if ended is None:
        raise _too_slow(services)
    outcome = await _outcome(services, ended)
    rewards = [own for one in group.members.values() if one.outcome and (own := _own(one.outcome)) is not None]
    mean = sum(rewards) / len(rewards) if rewards else 0.0
    own = _own(outcome)
    relative = None if own is None else own - mean
    return _answered(body, outcome, relative, {"group_mean": mean, "group_judged": len(rewards)}, job)


async def _compare_all(
    body: RolloutListBody,
    request: Request,
    caller: AuthenticatedCaller,
    services: Services,
    streams: StreamLimit,
    key: str | None,
) -> Response:
    judge = services.judges.checked(body.judge)
    work = RewardsRequest(items=items_of_list(body), judge=judge, limits=body.limits)
    job = JobId(services.new_id("rw"))
    ended = await _judged(work, job, request, caller, services, streams, key)
    outcomes = await services.rewards.outcomes(ended.id)
    if len(outcomes) < len(work.items):
        raise no_result_problem(ended)
    own = [_own(one) for one in outcomes]
    judged = [one for one in own if one is not None]
    mean = sum(judged) / len(judged) if judged else 0.0
    made = ComparedRollouts(
        rewards=tuple(None if one is None else one - mean for one in own),
        metrics={"group_mean": mean, "group_judged": len(judged), "group_failed": len(own) - len(judged)},
        outcomes=outcomes,
        job=ended.id,
    )
    return Response(made.model_dump_json(), media_type="application/json")


async def _judged(
    work: RewardsRequest,
    job: JobId,
    request: Request,
    caller: AuthenticatedCaller,
    services: Services,
    streams: StreamLimit,
    key: str | None,
) -> Job:
    """Once it has ended. Raises HttpProblem."""
    links, asked = rewards_links(job), len(work.items)
    accepted = AcceptedRewards(id=job, asked=asked, judge=work.judge or "", links=links)
    new = NewJob(id=job, request=work, subject=counted(asked, "item"), priority="interactive")
    _check_room(streams, caller)
    answer = await accept_job(request, caller, services, new, links.rewards, accepted, key)
    with streams.hold(caller.tenant, request.scope):
        seconds = services.settings.max_wait_seconds
        ended = await wait_for_verdict(seconds, services, caller.tenant, job_in(answer))
    if ended is None:
        raise _too_slow(services)
    return ended


async def _join(
    request: Request,
    tenant: TenantId,
    services: Services,
    body: CompareBody,
    member: int,
    work: RewardsRequest,
) -> JobId:
    """The member's job, which began when it was first sent. Raises HttpProblem."""
    plan = GroupPlan(body.group, body.size, work.judge or "")
    digest = hashlib.sha256(f"{work.judge} {work.items[0].item.model_dump_json()}".encode()).digest()
    seconds = services.group_seconds
    try:
        job = await services.groups.begin(tenant, plan, member, digest, seconds)
    except GroupConflict as error:
        said = ProblemError(detail=error.message, pointer=f"/{error.field}")
        raise HttpProblem("conflict", str(error), errors=[said]) from None
    subject = f"{body.group}, member {member}"
    new = NewJob(id=job, request=work, subject=subject, priority="interactive", traceparent=traceparent_of(request))
    await services.jobs.add(tenant, [new])
    await services.groups.join(tenant, body.group, member, digest, job, seconds)
    request_record(request.scope).jobs.append(job)
    return job


def _work(services: Services, item: NamedRewardItem, body: VerifyBody) -> RewardsRequest:
    return RewardsRequest(items=(item,), judge=services.judges.checked(body.judge), limits=body.limits)


def _check_room(streams: StreamLimit, caller: AuthenticatedCaller) -> None:
    """Before anything is paid for an answer that nobody could wait for. Raises HttpProblem."""
    if not streams.has_room(caller.tenant):
        with streams.hold(caller.tenant, {}):
            return


async def _outcome(services: Services, job: Job) -> RewardOutcome:
    """Raises HttpProblem for a job that ended without one."""
    outcomes = await services.rewards.outcomes(job.id)
    if job.state in TERMINAL and outcomes:
        return outcomes[0]
    raise no_result_problem(job)


def _own(outcome: RewardOutcome) -> float | None:
    value = None if outcome.reward is None else outcome.reward.value
    return None if value is None or isinstance(value, Absent) else float(value)


def _answered(
    body: VerifyBody, outcome: RewardOutcome, reward: float | None, components: Mapping[str, float], job: JobId
) -> Response:
    own = _own(outcome)
    match = {} if own is None else {"match": own}
    made = VerifiedRollout.model_validate(
        {
            **body.model_dump(mode="json", exclude={"limits"}, exclude_none=True),
            "reward": reward,
            "reward_components": {**match, **components},
            "outcome": outcome,
            "failure_class": None if reward is not None else "judge_failed",
            "job": job,
        }
    )
    return Response(made.model_dump_json(by_alias=True), media_type="application/json")


def _is_over(group: RewardGroup) -> bool:
    return bool(group.missing) and group.seconds_left <= 0


def _too_slow(services: Services) -> HttpProblem:
    seconds = services.settings.max_wait_seconds
    detail = f"There is no reward after {seconds:g} s. It is judged on: the same request again waits on."
    return HttpProblem("busy", detail, retry_after=services.settings.retry_seconds)


def _incomplete(name: str, group: RewardGroup) -> HttpProblem:
    missing = group.missing
    told = ", ".join(map(str, missing[:_MOST_TOLD])) + (", …" if len(missing) > _MOST_TOLD else "")
    detail = (
        f"The group {name!r} has {len(group.members)} of its {group.size} members, and its time is over. Missing: "
        f"{told}. Send these, and the others again: what was judged is not judged again."
    )
    return HttpProblem("group-incomplete", detail, missing=missing)
