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
from orchestrator.api.item_routes import item_links
from orchestrator.api.job_routes import Posting, PostingDependency, traceparent_of
from orchestrator.api.reward_bodies import RolloutsToCompare, item_of_rollout, items_of_list, member_of_group
from orchestrator.jobs.models import TERMINAL, Job, JobId
from orchestrator.jobs.requests import NamedRewardItem, RewardsRequest
from orchestrator.jobs.submissions import NewJob
from orchestrator.problems import HttpProblem, ProblemError
from orchestrator.services.job_lookup import no_result_problem
from orchestrator.store.reward_groups import GroupConflict, GroupPlan, RewardGroup
from orchestrator.web.request_log import request_record
from orchestrator.web.services import Services

_MAX_LISTED = 50


router = APIRouter(prefix="/v1/rewards", tags=["rewards"])


@router.post("/verify", response_model=VerifiedRollout)
async def verify_rollout(body: VerifyBody, posting: PostingDependency) -> Response:
    """Judge a rollout and return its reward. If the judge takes too long, the status is 503; repeat the request with
    the same idempotency key to keep waiting."""
    ended_job = await _judge(_work(posting.services, item_of_rollout(body), body), posting)
    outcome = await _outcome(posting.services, ended_job)
    return _response_of(body, outcome, outcome.value, {}, ended_job.id)


@router.post("/compare", response_model=VerifiedRollout | ComparedRollouts)
async def compare_rollouts(body: RolloutsToCompare, posting: PostingDependency) -> Response:
    """Judge one member of a group, and return its reward relative to the group once all members have been received and
    judged. A repeated member is not judged again. If the group's timeout expires, the status is 409 and the problem
    lists the missing members. Send those, then send the earlier members again to get their rewards. To judge an entire
    group in one request, send it in `response_objs`."""
    if isinstance(body, RolloutListBody):
        return await _compare_all(body, posting)
    services, tenant = posting.services, posting.context.tenant
    member = member_of_group(body)
    work = _work(services, item_of_rollout(body), body)
    posting.streams.check_room(tenant)  # checked before paying for a judgement that no request could wait for
    job = await _join(posting, body, member, work)
    with posting.streams.hold(tenant, posting.request.scope):
        group = await wait_for_group(services.settings.max_wait_seconds, services, tenant, body.group)
    if group is None or (not group.has_ended and not _is_over(group)):
        raise _too_slow(services)
    if group.missing:
        raise _incomplete(body.group, group)
    ended_job = await services.jobs.get(tenant, job)
    if ended_job is None:
        raise _too_slow(services)
    outcome = await _outcome(services, ended_job)
    metrics = _group_metrics([item.outcome.value for item in group.members.values() if item.outcome])
    return _response_of(body, outcome, _relative(outcome.value, metrics), metrics, job)


async def _compare_all(body: RolloutListBody, posting: Posting) -> Response:
    services = posting.services
    judge = services.judges.resolve(body.judge)
    work = RewardsRequest(items=items_of_list(body), judge=judge, limits=body.limits)
    ended_job = await _judge(work, posting)
    outcomes = await services.rewards.outcomes(ended_job.id)
    if len(outcomes) < len(work.items):
        raise no_result_problem(ended_job)
    values = [outcome.value for outcome in outcomes]
    metrics = _group_metrics(values)
    compared = ComparedRollouts(
        rewards=tuple(_relative(item, metrics) for item in values),
        metrics={**metrics, "group_failed": values.count(None)},
        outcomes=outcomes,
        job=ended_job.id,
    )
    return Response(compared.model_dump_json(), media_type="application/json")


async def _judge(work: RewardsRequest, posting: Posting) -> Job:
    """Submit the work as a job, and return the job once it has ended. Raises HttpProblem if it does not end in time."""
    job = posting.new_id("rw")
    links, item_count = item_links("rewards", job), len(work.items)
    answer_body = AcceptedRewards(id=job, item_count=item_count, judge=work.judge or "", links=links)
    new = NewJob(id=job, request=work, subject=format_count(item_count, "item"), priority="interactive")
    posting.streams.check_room(
        posting.context.tenant
    )  # checked before paying for judgements that no request could wait for
    answer = await posting.accept(new, links.job, answer_body)
    ended_job = await posting.ended(answer, posting.services.settings.max_wait_seconds)
    if ended_job is None:
        raise _too_slow(posting.services)
    return ended_job


async def _join(posting: Posting, body: CompareBody, member: int, work: RewardsRequest) -> JobId:
    """Return the id of the member's job, starting the job if the member is new. Raises HttpProblem if an earlier
    request described the group or the member differently."""
    services, tenant, request = posting.services, posting.context.tenant, posting.request
    plan = GroupPlan(body.group, body.size, work.judge or "")
    digest = hashlib.sha256(f"{work.judge} {work.items[0].item.model_dump_json()}".encode()).digest()
    seconds = services.group_seconds
    try:
        job = await services.reward_groups.begin(tenant, plan, member, digest, seconds)
    except GroupConflict as error:
        fault = ProblemError(detail=error.message, pointer=f"/{error.field}")
        raise HttpProblem("conflict", str(error), errors=[fault]) from None
    subject = f"{body.group}, member {member}"
    new = NewJob(id=job, request=work, subject=subject, priority="interactive", traceparent=traceparent_of(request))
    await services.jobs.add(tenant, [new])
    await services.reward_groups.join(tenant, body.group, member, digest, job, seconds)
    request_record(request.scope).jobs.append(job)
    return job


def _work(services: Services, item: NamedRewardItem, body: VerifyBody) -> RewardsRequest:
    return RewardsRequest(items=(item,), judge=services.judges.resolve(body.judge), limits=body.limits)


def _group_metrics(rewards: Sequence[float | None]) -> dict[str, float]:
    """Return the mean of the known rewards (0 if there are none) and their number."""
    known_rewards = [reward for reward in rewards if reward is not None]
    return {
        "group_mean": sum(known_rewards) / len(known_rewards) if known_rewards else 0.0,
        "group_judged": len(known_rewards),
    }


def _relative(reward: float | None, metrics: Mapping[str, float]) -> float | None:
    return None if reward is None else reward - metrics["group_mean"]


async def _outcome(services: Services, job: Job) -> RewardOutcome:
    """Return a job's outcome. Raises HttpProblem if there is none."""
    outcomes = await services.rewards.outcomes(job.id)
    if job.state in TERMINAL and outcomes:
        return outcomes[0]
    raise no_result_problem(job)


def _response_of(
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


def _is_over(group: RewardGroup) -> bool:
    return bool(group.missing) and group.seconds_left <= 0


def _too_slow(services: Services) -> HttpProblem:
    seconds = services.settings.max_wait_seconds
    detail = (
        f"The reward was not ready within {seconds:g} s. Judging continues. Repeat the same request to keep waiting."
    )
    return HttpProblem("busy", detail)


def _incomplete(name: str, group: RewardGroup) -> HttpProblem:
    missing = group.missing
    missing_text = ", ".join(map(str, missing[:_MAX_LISTED])) + (", …" if len(missing) > _MAX_LISTED else "")
    detail = (
        f"The group {name!r} timed out with {len(group.members)} of its {group.size} members. "
        f"Missing: {missing_text}. "
        "Send the missing members, then repeat the other requests; those members are not judged again."
    )
    return HttpProblem("group-incomplete", detail, missing=missing)
