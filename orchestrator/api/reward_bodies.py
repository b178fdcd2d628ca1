"""What rewards are asked for with, in the service's own shape and in NeMo Gym's.

Of NeMo Gym (`nemo_gym/base_resources_server.py`, Apache-2.0) are the names `responses_create_params`, `response`,
`reward` and `reward_components`: a rollout in the form of the Responses API, sent to `/verify` and answered with itself
and its reward. `_ng_rollout_index` is its number of a rollout among those of one task, `verifier_metadata` where its
data sets keep what only a verifier may see. Other fields of a row are echoed as they came.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, Tag, ValidationError, model_validator

from assayer.methods.debate.composition import Composition
from orchestrator.api.common_schemas import Body
from orchestrator.api.problems import HttpProblem
from orchestrator.api.validation_errors import BODY_SHAPES
from orchestrator.jobs.models import LivePriority
from orchestrator.jobs.requests import Limits, NamedRewardItem

__all__ = [
    "MOST_REWARD_ITEMS",
    "CompareBody",
    "RewardItemBody",
    "RewardsBody",
    "RolloutListBody",
    "RolloutsToCompare",
    "VerifyBody",
    "item_of_rollout",
    "items_of_list",
    "member_of_group",
]

MOST_REWARD_ITEMS = 1_000
_ROLLOUT_INDEX = "_ng_rollout_index"
_PLACES = {"idea": "/response/output", "question": "/question", "abstract": "/abstract"}


def _with_words(text: str) -> str:
    if not text.strip():
        raise ValueError("It is empty")
    return text


Words = Annotated[str, AfterValidator(_with_words)]


class RewardItemBody(Body):
    question: Words = Field(max_length=5_000)
    """The research question that the idea was generated for."""
    idea: str = Field(max_length=100_000)
    """An empty one is judged as well: it earns 0, before any call. A policy writes such."""
    abstract: Words = Field(max_length=20_000)
    """Of the reference, in which the methodology stands that the idea is held against."""
    id: str = Field(default="", max_length=200)
    """The caller's name for it; comes back with its outcome."""
    reference: str = Field(default="", max_length=500)
    """Where the abstract is from: a title, a DOI. Nothing is judged by it."""

    def named(self) -> NamedRewardItem:
        return NamedRewardItem(**self.model_dump())


class RewardsBody(Body):
    items: tuple[RewardItemBody, ...] = Field(min_length=1, max_length=MOST_REWARD_ITEMS)
    judge: str | None = Field(default=None, max_length=200)
    """By name; null: the service's."""
    composition: Composition | None = None
    """A debate of one's own, in place of a judge by name."""
    limits: Limits = Limits()
    """Of all items together."""
    priority: LivePriority = "interactive"

    @model_validator(mode="after")
    def _has_one_judge(self) -> Self:
        if self.judge is not None and self.composition is not None:
            raise ValueError("Give either `judge` or `composition`")
        return self


class VerifyBody(Body):
    """A rollout as NeMo Gym sends it, with what it is judged against."""

    model_config = ConfigDict(extra="allow")

    responses_create_params: dict[str, Any] = Field(default_factory=dict)
    """What the policy was asked: its last message of a user is the question, where `question` is not given."""
    response: dict[str, Any]
    """What it answered: the text of its last message is the idea."""
    question: str | None = None
    abstract: str | None = None
    """Of the reference; may also stand in `verifier_metadata`."""
    verifier_metadata: dict[str, Any] | None = None
    judge: str | None = Field(default=None, max_length=200)
    """As in `POST /v1/rewards`."""
    limits: Limits = Limits()


class CompareBody(VerifyBody):
    """One member of a group of rollouts of the same prompt."""

    group: str = Field(min_length=1, max_length=200)
    """Its id, the caller's own: new for every group."""
    size: int = Field(ge=2, le=MOST_REWARD_ITEMS)
    """How many members the group has."""
    member: int | None = Field(default=None, ge=0, lt=MOST_REWARD_ITEMS)
    """Its number in the group, from 0; null: `_ng_rollout_index`."""


class RolloutListBody(Body):
    """A whole group of rollouts of the same prompt, as NeMo Gym's clients of `genrm_compare` send it."""

    model_config = ConfigDict(extra="ignore")

    conversation_history: tuple[dict[str, Any], ...]
    """What the policy was asked: its last message of a user is the question, where `question` is not given."""
    response_objs: tuple[dict[str, Any], ...] = Field(min_length=1, max_length=MOST_REWARD_ITEMS)
    """What it answered, one object of the Responses API each: the text of its last message is the idea."""
    principle: str | None = None
    """What NeMo Gym holds responses against: the abstract, where `abstract` is not given."""
    question: str | None = None
    abstract: str | None = None
    """Of the reference."""
    judge: str | None = Field(default=None, max_length=200)
    """As in `POST /v1/rewards`."""
    limits: Limits = Limits()
    """Of all together."""


MEMBER, LIST = BODY_SHAPES


def _shape(body: Any) -> str:
    is_list = "response_objs" in body if isinstance(body, dict) else isinstance(body, RolloutListBody)
    return LIST if is_list else MEMBER


RolloutsToCompare = Annotated[
    Annotated[CompareBody, Tag(MEMBER)] | Annotated[RolloutListBody, Tag(LIST)], Discriminator(_shape)
]
"""One member, or, where there are `response_objs`, all of them."""


def item_of_rollout(body: VerifyBody) -> NamedRewardItem:
    """Raises HttpProblem, which says where in the rollout something is missing or too long."""
    hidden = body.verifier_metadata or {}
    given = {
        "question": body.question or _text(hidden.get("question")) or _last_question(body.responses_create_params),
        "idea": _last_message(body.response, _PLACES["idea"]),
        "abstract": body.abstract or _text(hidden.get("abstract")),
    }
    return _item(given, _PLACES)


def _item(given: Mapping[str, str], places: Mapping[str, str]) -> NamedRewardItem:
    try:
        return RewardItemBody.model_validate(given).named()
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = str(first["loc"][0])
        said = str(first["msg"]).removeprefix("Value error, ").replace("String should have", "It should have")
        raise HttpProblem.invalid(f"{field}: {said}.", places[field]) from None


def items_of_list(body: RolloutListBody) -> tuple[NamedRewardItem, ...]:
    """Raises HttpProblem, which names the response."""
    question = body.question or _last_question({"input": list(body.conversation_history)})
    abstract = body.abstract or body.principle or ""
    items = list[NamedRewardItem]()
    for place, response in enumerate(body.response_objs):
        output = f"/response_objs/{place}/output"
        given = {"question": question, "idea": _last_message(response, output), "abstract": abstract}
        items.append(_item(given, {**_PLACES, "idea": output}))
    return tuple(items)


def member_of_group(body: CompareBody) -> int:
    """Raises HttpProblem."""
    number = body.member
    if number is None:
        said = (body.model_extra or {}).get(_ROLLOUT_INDEX)
        number = said if isinstance(said, int) and not isinstance(said, bool) else None
    if number is None or not 0 <= number < body.size:
        detail = f"It should be a number from 0 to {body.size - 1}; without it, {_ROLLOUT_INDEX} is taken."
        raise HttpProblem.invalid(detail, "/member")
    return number


def _last_message(response: Mapping[str, Any], place: str) -> str:
    """Without what the policy thought, or called, on the way. A response without any message has written nothing."""
    output = response.get("output")
    if not isinstance(output, list):
        raise HttpProblem.invalid("It should be a list of items of the Responses API.", place)
    written = [one for one in output if isinstance(one, dict) and one.get("type", "message") == "message"]
    return "".join(_texts(written[-1].get("content"))) if written else ""


def _last_question(asked: Mapping[str, Any]) -> str:
    said = asked.get("input")
    if isinstance(said, str):
        return said
    messages = said if isinstance(said, list) else []
    users = [one for one in messages if isinstance(one, dict) and one.get("role") == "user"]
    return "".join(_texts(users[-1].get("content"))) if users else ""


def _texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        yield from (_text(part.get("text")) for part in content if isinstance(part, dict))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
