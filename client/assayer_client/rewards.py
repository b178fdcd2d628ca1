"""Rewards: does each idea match the methodology of a reference?"""

import datetime as dt
from typing import Any, Literal

from pydantic import ConfigDict, Field

from assayer_client.item_jobs import ItemCalls, ItemsPage
from assayer_client.requests import ApiCall, path, reads, reads_text_of
from assayer_client.resources import (
    Absent,
    Body,
    JobState,
    Limits,
    LivePriority,
    Priority,
    Problem,
    PromptVersion,
    Resource,
)


class DebateQuote(Resource):
    """Words that a speaker relies on."""

    source: Literal["idea", "abstract"]
    text: str
    found: bool


class DebateTurn(Resource):
    """What one seat said in one round."""

    round: int
    role: Literal["moderator", "analyst", "critic", "evaluator"]
    seat: int
    vote: Literal["match", "no_match"] | Absent
    """Absent where the role has no vote, or its answer was lost."""
    argument: str
    quotes: tuple[DebateQuote, ...] = ()


class Reward(Resource):
    """A judge's verdict on one item. A judge that failed gives none: absent, never 0."""

    value: Literal[0, 1] | Absent
    reason: str
    judge: str
    guard: str | None = None
    """The check that decided before any call to a model; None where none did."""
    leakage: bool = False
    """The idea repeats the reference's own words: a match that earns nothing."""
    transcript: tuple[DebateTurn, ...] = ()
    decided_in_round: int | None = None
    similarity: float | None = None
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | Absent = 0.0
    models: tuple[str, ...] = ()
    prompts: tuple[PromptVersion, ...] = ()


class RewardOutcome(Resource):
    """What became of one item: a reward, or a problem that says why there is none."""

    item: int
    """Its place in the request, from 0."""
    id: str = ""
    """The caller's name for it."""
    reward: Reward | None = None
    problem: Problem | None = None
    same_as: int | None = None
    """An earlier item with the same words, with which it was judged: it cost nothing more."""
    seconds: float = 0.0

    @property
    def value(self) -> float | None:
        """0 or 1; None where there is no reward, which is never 0."""
        value = None if self.reward is None else self.reward.value
        return None if value is None or isinstance(value, Absent) else float(value)


class RewardsResult(Resource):
    """How many of the items ended how; each has its own outcome beside it."""

    kind: Literal["rewards"] = "rewards"
    judge: str
    items: int
    match: int
    no_match: int
    guard: int
    """Stopped before any call to a model."""
    absent: int
    """The judge failed: no reward."""
    problem: int
    repeated: int
    """Had the words of an earlier item."""
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | Absent


class Composition(Body):
    """Who sits in a debate, and for how long it may go on."""

    name: str
    """Lower-case words joined by hyphens."""
    moderators: int = 0
    analysts: int = 0
    critics: int = 0
    evaluators: int = 0
    rounds: int = 2
    temperature: float = 0.7
    """Of roles with several seats."""


class RewardItemBody(Body):
    question: str
    idea: str
    """An empty one is judged as well: it earns 0, before any call."""
    abstract: str
    id: str = ""
    """The caller's name for it; comes back with its outcome."""
    reference: str = ""
    """Where the abstract is from: a title, a DOI. Nothing is judged by it."""


class RewardsBody(Body):
    items: tuple[RewardItemBody, ...]
    """1 to 1,000; those with the same words are judged once."""
    judge: str | None = None
    """By name; None: the service's."""
    composition: Composition | None = None
    """A debate of one's own, in place of a judge by name."""
    limits: Limits = Limits()
    priority: LivePriority = "interactive"


class RewardsLinks(Resource):
    rewards: str
    items: str
    events: str


class AcceptedRewards(Resource):
    """The items are stored, and each will end in a reward or a problem."""

    id: str
    state: JobState = "queued"
    asked: int
    """How many items were sent in."""
    judge: str
    links: RewardsLinks


class RewardsResource(Resource):
    id: str
    state: JobState
    title: str
    flags: tuple[str, ...] = ()
    """What is suspicious in the texts, for people to look at."""
    priority: Priority
    attempt: int
    """How often it was begun."""
    problem: Problem | None
    """Why it ended before all items had: null unless the state is failed or dead."""
    cost_usd: float | None
    """Null while it is not known."""
    created_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None
    asked: int | None
    """How many items were sent in; null in lists."""
    items: tuple[RewardOutcome, ...] | None
    """The outcomes that are there so far, in the order of the items; null in lists."""
    result: RewardsResult | None
    """How many ended how; null until the state is done, and in lists."""
    links: RewardsLinks

    def values(self) -> list[float | None]:
        """One for each item that was asked for, in order; None where there is no reward."""
        values: list[float | None] = [None] * (self.asked or 0)
        for outcome in self.items or ():
            values[outcome.item] = outcome.value
        return values


class RewardItems(ItemsPage[RewardOutcome]):
    pass


class VerifyBody(Body):
    """A rollout as NeMo Gym sends it, with what it is judged against. Further fields are echoed."""

    model_config = ConfigDict(frozen=True, extra="allow")

    responses_create_params: dict[str, Any] = Field(default_factory=dict)
    response: dict[str, Any]
    """In the form of the Responses API: the text of its last message is the idea."""
    question: str | None = None
    """None: the last message of a user in `responses_create_params`."""
    abstract: str | None = None
    """Of the reference; may also stand in `verifier_metadata`."""
    verifier_metadata: dict[str, Any] | None = None
    judge: str | None = None
    limits: Limits = Limits()


class CompareBody(VerifyBody):
    """One member of a group of rollouts of the same prompt."""

    group: str
    """Its id, the caller's own: new for every group."""
    size: int
    """How many members the group has."""
    member: int | None = None
    """Its number in the group, from 0; None: `_ng_rollout_index`."""


class RolloutListBody(Body):
    """A whole group of rollouts of the same prompt, as NeMo Gym's clients of `genrm_compare` send it."""

    conversation_history: tuple[dict[str, Any], ...]
    response_objs: tuple[dict[str, Any], ...]
    """In the form of the Responses API: the text of its last message is the idea."""
    principle: str | None = None
    """The abstract, where `abstract` is not given."""
    question: str | None = None
    """None: the last message of a user in `conversation_history`."""
    abstract: str | None = None
    judge: str | None = None
    limits: Limits = Limits()


class ComparedRollouts(Resource):
    """A whole group, judged."""

    rewards: tuple[float | None, ...]
    """In the order of `response_objs`: the difference from the group's mean; None: the judge failed."""
    comparison_results: None = None
    metrics: dict[str, float]
    outcomes: tuple[RewardOutcome, ...]
    job: str


class VerifiedRollout(Resource):
    """The rollout as it came, with its reward."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    responses_create_params: dict[str, Any]
    response: dict[str, Any]
    reward: float | None
    """Of `verify` 0 or 1; of `compare` the difference from the group's mean; None: the judge failed."""
    reward_components: dict[str, float]
    outcome: RewardOutcome
    failure_class: str | None = Field(default=None, alias="_ng_failure_class")
    job: str


REWARDS = ItemCalls[RewardsBody, AcceptedRewards, RewardsResource, RewardOutcome](
    "rewards", AcceptedRewards, RewardsResource, RewardItems
)


def debate_text(job: str, item: int, media_type: str = "text/markdown") -> ApiCall[str]:
    """How one item was judged, as `text/markdown` or `text/html`; `item` is its place in the request, from 0. Raises
    ApiProblem (409) saying why where it has no reward."""
    where = path("rewards", job, "items", str(item), "debate")
    return ApiCall("GET", where, reads_text_of(media_type), headers={"Accept": media_type})


_HELD_SECONDS = 60.0
"""For which the service holds the answer to a rollout."""


def verify(body: VerifyBody, *, key: str | None = None) -> ApiCall[VerifiedRollout]:
    """Judges one rollout and waits for its reward."""
    return ApiCall("POST", path("rewards", "verify"), reads(VerifiedRollout), body=body, key=key, seconds=_HELD_SECONDS)


def compare(body: CompareBody) -> ApiCall[VerifiedRollout]:
    """Judges one member of a group and waits, until all of them are there, for its reward relative to the group."""
    return ApiCall("POST", path("rewards", "compare"), reads(VerifiedRollout), body=body, seconds=_HELD_SECONDS)


def compare_all(body: RolloutListBody, *, key: str | None = None) -> ApiCall[ComparedRollouts]:
    """Judges a whole group and waits for its rewards, each relative to the group."""
    where = path("rewards", "compare")
    return ApiCall("POST", where, reads(ComparedRollouts), body=body, key=key, seconds=_HELD_SECONDS)
