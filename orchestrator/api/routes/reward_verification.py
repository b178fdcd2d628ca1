"""Routes `/v1/rewards/verify` and `/v1/rewards/compare`: rewards for individual rollouts, in NeMo Gym's formats.

Differences from NeMo Gym:

- If the judge fails, the reward is `null`, never 0. NeMo Gym's own failsafe writes 0 beside `_ng_failure_class`, which
  is also reported here.
- A group is durable and named by its sender; NeMo Gym buffers it in one process, by its prompt.
- A reward relative to the group is the difference from the group's mean, not divided by the standard deviation, as in
  unbiased GRPO."""

import hashlib
from collections.abc import Mapping, Sequence

from fastapi import APIRouter
from fastapi.responses import Response

from assayer.reports.wording import format_count
from assayer_client.rewards import (
    AcceptedRewards,
    CompareBody,
    ComparedRollouts,
    RewardOutcome,
    RolloutListBody,
    VerifiedRollout,
    VerifyBody,
)
from orchestrator.api.event_streams import wait_for_group
from orchestrator.api.item_routes import build_item_links
from orchestrator.api.job_routes import JobCreation, JobCreationDependency, read_traceparent
from orchestrator.api.reward_bodies import RolloutsToCompare, extract_item, extract_items, get_member_number
from orchestrator.jobs.models import TERMINAL, Job, JobId
from orchestrator.jobs.requests import NamedRewardItem, RewardsRequest
from orchestrator.jobs.submissions import NewJob
from orchestrator.problems import HttpProblem, ProblemError
from orchestrator.services.job_lookup import build_no_result_problem
from orchestrator.store.reward_groups import GroupConflict, GroupPlan, RewardGroup
from orchestrator.web.request_log import get_request_record
from orchestrator.web.services import Services

_MAX_LISTED_MEMBERS = 50


router = APIRouter(prefix="/v1/rewards", tags=["rewards"])


@router.post("/verify", response_model=VerifiedRollout)
async def verify_rollout(body: VerifyBody, creation: JobCreationDependency) -> Response:
    """Judge a rollout and return its reward. If the judge takes too long, the status is 503; repeat the request with
    the same idempotency key to keep waiting."""
    ended_job = await _judge_items(_build_request(creation.services, extract_item(body), body), creation)
    outcome = await _load_outcome(creation.services, ended_job)
    return _build_response(body, outcome, outcome.value, {}, ended_job.id)


@router.post("/compare", response_model=VerifiedRollout | ComparedRollouts)
async def compare_rollouts(body: RolloutsToCompare, creation: JobCreationDependency) -> Response:
    """Judge one member of a group, and return its reward relative to the group once all members have been received and
    judged. A repeated member is not judged again. If the group's timeout expires, the status is 409 and the problem
    lists the missing members. Send those, then send the earlier members again to get their rewards. To judge an entire
    group in one request, send it in `response_objs`."""
    if isinstance(body, RolloutListBody):
        return await _compare_all(body, creation)
    services, tenant = creation.services, creation.context.tenant
    member = get_member_number(body)
    rewards_request = _build_request(services, extract_item(body), body)
    # Checked before paying for a judgement that no request could wait for.
    creation.streams.check_room(tenant)
    job = await _join_group(creation, body, member, rewards_request)
    with creation.streams.hold(tenant, creation.request.scope):
        group = await wait_for_group(services.settings.max_wait_seconds, services, tenant, body.group)
    if group is None or (not group.has_ended and not _has_timed_out(group)):
        raise _build_timeout_problem(services)
    if group.missing:
        raise _build_incomplete_problem(body.group, group)
    ended_job = await services.jobs.get(tenant, job)
    if ended_job is None:
        raise _build_timeout_problem(services)
    outcome = await _load_outcome(services, ended_job)
    metrics = _compute_group_metrics(
        [group_member.outcome.value for group_member in group.members.values() if group_member.outcome]
    )
    return _build_response(body, outcome, _compute_relative_reward(outcome.value, metrics), metrics, job)


async def _compare_all(body: RolloutListBody, creation: JobCreation) -> Response:
    services = creation.services
    judge = services.judges.resolve(body.judge)
    rewards_request = RewardsRequest(items=extract_items(body), judge=judge, limits=body.limits)
    ended_job = await _judge_items(rewards_request, creation)
    outcomes = await services.rewards.list_outcomes(ended_job.id)
    if len(outcomes) < len(rewards_request.items):
        raise build_no_result_problem(ended_job)
    values = [outcome.value for outcome in outcomes]
    metrics = _compute_group_metrics(values)
    compared_rollouts = ComparedRollouts(
        rewards=tuple(_compute_relative_reward(value, metrics) for value in values),
        metrics={**metrics, "group_failed": values.count(None)},
        outcomes=outcomes,
        job=ended_job.id,
    )
    return Response(compared_rollouts.model_dump_json(), media_type="application/json")


async def _judge_items(rewards_request: RewardsRequest, creation: JobCreation) -> Job:
    """Submit the work as a job, and return the job once it has ended. Raises HttpProblem if it does not end in time."""
    job = creation.new_id("rw")
    links, item_count = build_item_links("rewards", job), len(rewards_request.items)
    receipt = AcceptedRewards(id=job, item_count=item_count, judge=rewards_request.judge or "", links=links)
    new_job = NewJob(id=job, request=rewards_request, subject=format_count(item_count, "item"), priority="interactive")
    # Checked before paying for judgements that no request could wait for.
    creation.streams.check_room(creation.context.tenant)
    response = await creation.accept(new_job, links.job, receipt)
    ended_job = await creation.wait_until_ended(response, creation.services.settings.max_wait_seconds)
    if ended_job is None:
        raise _build_timeout_problem(creation.services)
    return ended_job


async def _join_group(creation: JobCreation, body: CompareBody, member: int, rewards_request: RewardsRequest) -> JobId:
    """Return the id of the member's job, starting the job if the member is new. Raises HttpProblem if an earlier
    request described the group or the member differently."""
    services, tenant, request = creation.services, creation.context.tenant, creation.request
    plan = GroupPlan(body.group, body.size, rewards_request.judge or "")
    digest = hashlib.sha256(
        f"{rewards_request.judge} {rewards_request.items[0].item.model_dump_json()}".encode()
    ).digest()
    seconds = services.group_seconds
    try:
        job = await services.reward_groups.begin(tenant, plan, member, digest, seconds)
    except GroupConflict as error:
        problem_error = ProblemError(detail=error.message, pointer=f"/{error.field}")
        raise HttpProblem("conflict", str(error), errors=[problem_error]) from None
    subject = f"{body.group}, member {member}"
    new_job = NewJob(
        id=job, request=rewards_request, subject=subject, priority="interactive", traceparent=read_traceparent(request)
    )
    await services.jobs.add(tenant, [new_job])
    await services.reward_groups.join(tenant, body.group, member, digest, job, seconds)
    get_request_record(request.scope).jobs.append(job)
    return job


def _build_request(services: Services, item: NamedRewardItem, body: VerifyBody) -> RewardsRequest:
    return RewardsRequest(items=(item,), judge=services.judges.resolve(body.judge), limits=body.limits)


def _compute_group_metrics(rewards: Sequence[float | None]) -> dict[str, float]:
    """Return the mean of the known rewards (0 if there are none) and their number."""
    known_rewards = [reward for reward in rewards if reward is not None]
    return {
        "group_mean": sum(known_rewards) / len(known_rewards) if known_rewards else 0.0,
        "group_judged": len(known_rewards),
    }


def _compute_relative_reward(reward: float | None, metrics: Mapping[str, float]) -> float | None:
    return None if reward is None else reward - metrics["group_mean"]


async def _load_outcome(services: Services, job: Job) -> RewardOutcome:
    """Return a job's outcome. Raises HttpProblem if there is none."""
    outcomes = await services.rewards.list_outcomes(job.id)
    if job.state in TERMINAL and outcomes:
        return outcomes[0]
    raise build_no_result_problem(job)


def _build_response(
    body: VerifyBody, outcome: RewardOutcome, reward: float | None, components: Mapping[str, float], job: JobId
) -> Response:
    value = outcome.value
    match = {} if value is None else {"match": value}
    rollout = VerifiedRollout.model_validate(
        {
            **body.model_dump(mode="json", exclude={"limits"}, exclude_none=True),
            "reward": reward,
            "reward_components": {**match, **components},
            "outcome": outcome,
            "failure_class": None if reward is not None else "judge_failed",
            "job": job,
        }
    )
    return Response(rollout.model_dump_json(by_alias=True), media_type="application/json")


def _has_timed_out(group: RewardGroup) -> bool:
    return bool(group.missing) and group.seconds_left <= 0


def _build_timeout_problem(services: Services) -> HttpProblem:
    seconds = services.settings.max_wait_seconds
    detail = (
        f"The reward was not ready within {seconds:g} s. Judging continues. Repeat the same request to keep waiting."
    )
    return HttpProblem("busy", detail)


def _build_incomplete_problem(name: str, group: RewardGroup) -> HttpProblem:
    missing = group.missing
    missing_text = ", ".join(map(str, missing[:_MAX_LISTED_MEMBERS])) + (
        ", …" if len(missing) > _MAX_LISTED_MEMBERS else ""
    )
    detail = (
        f"The group {name!r} timed out with {len(group.members)} of its {group.size} members. "
        f"Missing: {missing_text}. "
        "Send the missing members, then repeat the other requests; those members are not judged again."
    )
    return HttpProblem("group-incomplete", detail, missing=missing)
