"""Rewards, which say whether an idea matches a reference's methodology."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from assayer_client.item_jobs import MAX_ITEMS, AcceptedItems, ItemCounts, ItemLinks, ItemOutcome, ItemsPage
from assayer_client.requests import ApiCall, build_path, make_text_parser
from assayer_client.resources import Absent, Body, Dollars, JobResource, Limits, LivePriority, PromptVersion, Resource


def _require_words(text: str) -> str:
    if not text.strip():
        raise ValueError("The text is empty")
    return text


Words = Annotated[str, AfterValidator(_require_words)]


DebateRole = Literal["moderator", "analyst", "critic", "evaluator"]
"""Role in a debate. The moderator keeps the debate on methodology, the analyst compares core elements, the critic looks
for contradictions, and the evaluator decides."""


class DebateQuote(Resource):
    """Words from the idea or the abstract on which a speaker relies."""

    source: Literal["idea", "abstract"]
    text: str
    """Quoted words as they appear in the source if they were found there, otherwise as the speaker quoted them."""
    found: bool


class DebateTurn(Resource):
    """Statement by one participant in one round."""

    round: int = Field(ge=1)
    role: DebateRole
    seat: int = Field(ge=1)
    """Number of the participant among those with the same role."""
    vote: Literal["match", "no_match"] | Absent
    """The participant's vote; absent if the role has no vote or there was no usable answer."""
    argument: str
    quotes: tuple[DebateQuote, ...] = ()


class Reward(Resource):
    """A judge's verdict on one item. If the judge failed, the value is absent, never 0."""

    value: Literal[0, 1] | Absent
    reason: str
    """Reason for the value in one or two sentences; for an absent value, the same text as its reason."""
    judge: str
    """Name of the composition, or `viewpoints` for the judge without a language model."""
    guard: str | None = None
    """Check that decided the item before any model call; None if no check did."""
    leakage: bool = False
    """Whether the idea repeats the reference's own words. Such a match earns nothing."""
    transcript: tuple[DebateTurn, ...] = ()
    decided_in_round: int | None = None
    similarity: float | None = None
    """Share of the reference's method viewpoints that the idea matches, from 0 to 1. Set only by the judge without a
    language model."""
    llm_requests: int = 0
    """Number of usable answers, including cached ones."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: Dollars | Absent = 0.0
    models: tuple[str, ...] = ()
    prompts: tuple[PromptVersion, ...] = ()


class RewardOutcome(ItemOutcome):
    """An item's outcome: a reward, or a problem that says why there is none."""

    result_field = "reward"
    reward: Reward | None = None
    """The item's reward. If the judge failed, its value is absent, with the reason."""

    @property
    def value(self) -> float | None:
        """Reward as 0 or 1; None if there is no reward, which is not the same as 0."""
        value = None if self.reward is None else self.reward.value
        return None if value is None or isinstance(value, Absent) else float(value)


class RewardsResult(ItemCounts):
    """Number of items by outcome; `absent` counts those whose judge failed."""

    kind: Literal["rewards"] = "rewards"
    judge: str
    match: int
    no_match: int
    decided_by_guard: int
    """Number of items decided by a check before any model call."""


class Composition(Body):
    """Participants in a debate, and its maximum length."""

    name: str = Field(pattern=r"^[a-z0-9]+(?:-[a-z0-9]+)*$", max_length=60)
    """Name made of lower-case words joined by hyphens."""
    moderators: int = Field(default=0, ge=0, le=1)
    analysts: int = Field(default=0, ge=0, le=5)
    critics: int = Field(default=0, ge=0, le=5)
    evaluators: int = Field(default=0, ge=0, le=3)
    rounds: int = Field(default=2, ge=1, le=5)
    temperature: float = Field(default=0.7, ge=0, le=2)
    """Temperature for roles with several participants, who would otherwise give identical answers."""


class RewardItemBody(Body):
    question: Words = Field(max_length=5_000)
    """Research question for which the idea was generated."""
    idea: str = Field(max_length=100_000)
    """Idea to judge. An empty idea, which a policy can generate, is valid: it earns 0 without any model call."""
    abstract: Words = Field(max_length=20_000)
    """Abstract of the reference, with whose methodology the idea is compared."""
    id: str = Field(default="", max_length=200)
    """The caller's name for the item, returned with its outcome."""
    reference: str = Field(default="", max_length=500)
    """Source of the abstract, such as a title or DOI. It does not affect the verdict."""


class RewardsBody(Body):
    items: tuple[RewardItemBody, ...] = Field(min_length=1, max_length=MAX_ITEMS)
    judge: str | None = Field(default=None, max_length=200)
    """Name of the judge; null: the service's default."""
    composition: Composition | None = None
    """Custom debate composition, used instead of a named judge."""
    limits: Limits = Limits()
    """Limits for all items together."""
    priority: LivePriority = "interactive"

    @model_validator(mode="after")
    def _has_one_judge(self) -> Self:
        if self.judge is not None and self.composition is not None:
            raise ValueError("Give either `judge` or `composition`")
        return self


class AcceptedRewards(AcceptedItems):
    """Accepted items. They are stored, and each will end in a reward or a problem."""

    judge: str


class RewardsResource(JobResource):
    item_count: int | None
    """Number of submitted items; null in lists."""
    items: tuple[RewardOutcome, ...] | None
    """Outcomes available so far, in item order; null in lists."""
    result: RewardsResult | None
    """Number of items by outcome; null until the state is succeeded, and in lists."""
    links: ItemLinks

    def values(self) -> list[float | None]:
        """Return a value for each submitted item, in order; None if an item has no reward."""
        values: list[float | None] = [None] * (self.item_count or 0)
        for outcome in self.items or ():
            values[outcome.item] = outcome.value
        return values


class RewardItems(ItemsPage[RewardOutcome]):
    """Reward outcomes in order of arrival."""


class VerifyBody(Body):
    """Rollout in the form that NeMo Gym sends, with the data needed to judge it."""

    model_config = ConfigDict(extra="allow")

    responses_create_params: dict[str, Any] = Field(default_factory=dict)
    """The policy's prompt. Its last user message is the question, unless `question` is set."""
    response: dict[str, Any]
    """The policy's answer. The text of its last message is the idea."""
    question: str | None = None
    abstract: str | None = None
    """Abstract of the reference; it may also be in `verifier_metadata`."""
    verifier_metadata: dict[str, Any] | None = None
    judge: str | None = Field(default=None, max_length=200)
    """Name of the judge, as in `POST /v1/rewards`."""
    limits: Limits = Limits()


class CompareBody(VerifyBody):
    """Rollout in a group with the same prompt."""

    group: str = Field(min_length=1, max_length=200)
    """Id of the group, chosen by the caller and different for every group."""
    size: int = Field(ge=2, le=MAX_ITEMS)
    """Number of rollouts in the group."""
    member: int | None = Field(default=None, ge=0, lt=MAX_ITEMS)
    """The rollout's number in the group, from 0; null: `_ng_rollout_index`."""


class RolloutListBody(Body):
    """Complete group of rollouts of the same prompt, in the form that NeMo Gym's `genrm_compare` clients send."""

    model_config = ConfigDict(extra="ignore")

    conversation_history: tuple[dict[str, Any], ...]
    """The policy's prompt. Its last user message is the question, unless `question` is set."""
    response_objs: tuple[dict[str, Any], ...] = Field(min_length=1, max_length=MAX_ITEMS)
    """The policy's answers, each an object in the Responses API. The text of its last message is the idea."""
    principle: str | None = None
    """Principle against which NeMo Gym checks responses. It is used as the abstract unless `abstract` is set."""
    question: str | None = None
    abstract: str | None = None
    """Abstract of the reference."""
    judge: str | None = Field(default=None, max_length=200)
    """Name of the judge, as in `POST /v1/rewards`."""
    limits: Limits = Limits()
    """Limits for all rollouts together."""


class ComparedRollouts(Resource):
    """A complete group's rewards, in the form of NeMo Gym's `genrm_compare` response, with `outcomes` and `job`
    added."""

    rewards: tuple[float | None, ...]
    """Rewards in the order of `response_objs`, each relative to the group's mean; null if the judge failed."""
    comparison_results: None = None
    """Always null, because rollouts are compared not in pairs but each with the reference."""
    metrics: dict[str, float]
    """The group's metrics: `group_mean` over the judged rollouts, `group_judged` and `group_failed`."""
    outcomes: tuple[RewardOutcome, ...]
    """Outcomes with reasons, transcripts and costs."""
    job: str


class VerifiedRollout(Resource):
    """Rollout as received, with its reward. Other fields in the request are returned too."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    responses_create_params: dict[str, Any]
    response: dict[str, Any]
    reward: float | None
    """Reward: 0 or 1 for `/verify`, relative to the group's mean for `/compare`; null if the judge failed."""
    reward_components: dict[str, float]
    """Components of the reward: `match` (0 or 1) and, for a group, `group_mean` and `group_judged`, which is the number
    of rollouts with a reward."""
    outcome: RewardOutcome
    """Outcome with the reason, the transcript and the cost."""
    failure_class: str | None = Field(
        default=None,
        serialization_alias="_ng_failure_class",
        description="`judge_failed` if there is no reward: keep the rollout out of the metrics.",
    )
    job: str


def get_debate_text(job: str, item: int, media_type: str = "text/markdown") -> ApiCall[str]:
    """Return the record of how an item was judged, as `text/markdown` or `text/html`; `item` is its position in the
    request, from 0. Raises ApiProblem (409), with the reason, if the item has no reward."""
    url_path = build_path("rewards", job, "items", str(item), "debate")
    return ApiCall("GET", url_path, make_text_parser(media_type), headers={"Accept": media_type})


HELD_SECONDS = 60.0
"""Seconds for which the service holds its response to a rollout."""
