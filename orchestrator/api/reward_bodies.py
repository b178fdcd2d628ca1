"""Request bodies for rewards, in the service's own format and in NeMo Gym's.

The names `responses_create_params`, `response`, `reward` and `reward_components` come from NeMo Gym
(`nemo_gym/base_resources_server.py`, Apache-2.0): a rollout in the form of the Responses API, sent to `/verify` and
returned with its reward. `_ng_rollout_index` is a rollout's number within its task. `verifier_metadata` holds data from
NeMo Gym's data sets that only the verifier uses. Other fields in a row are echoed unchanged."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Discriminator, Tag, ValidationError

from assayer.methods.debate.composition import Composition
from assayer_client import rewards as wire
from assayer_client.rewards import CompareBody, RewardItemBody, RolloutListBody, VerifyBody
from orchestrator.jobs.requests import NamedRewardItem
from orchestrator.problems import HttpProblem
from orchestrator.validation_wording import describe_validation_error
from orchestrator.web.validation_errors import BODY_SHAPES, build_json_pointer

_ROLLOUT_INDEX = "_ng_rollout_index"
_POINTERS = {"idea": "/response/output", "question": "/question", "abstract": "/abstract"}


MEMBER, LIST = BODY_SHAPES


def _get_body_shape(body: Any) -> str:
    is_list = "response_objs" in body if isinstance(body, dict) else isinstance(body, RolloutListBody)
    return LIST if is_list else MEMBER


RolloutsToCompare = Annotated[
    Annotated[CompareBody, Tag(MEMBER)] | Annotated[RolloutListBody, Tag(LIST)], Discriminator(_get_body_shape)
]
"""Rollouts to compare: all members of a group if the body has `response_objs`, otherwise a single member."""


def parse_composition(body: wire.Composition) -> Composition:
    """Convert a debate's composition. Raises HttpProblem if it is invalid, for example if no member decides."""
    try:
        return Composition.model_validate(body.model_dump())
    except ValidationError as error:
        first_error = error.errors(include_url=False)[0]
        raise HttpProblem.invalid(
            describe_validation_error(first_error), "/composition" + build_json_pointer(first_error["loc"])
        ) from None


def build_named_item(body: RewardItemBody) -> NamedRewardItem:
    return NamedRewardItem(**body.model_dump())


def extract_item(body: VerifyBody) -> NamedRewardItem:
    """Extract the item to judge from a rollout. Raises HttpProblem, with a pointer to the value, if a value is missing
    or too long."""
    metadata = body.verifier_metadata or {}
    item = {
        "question": body.question
        or _get_text(metadata.get("question"))
        or _extract_last_question(body.responses_create_params),
        "idea": _extract_last_message(body.response, _POINTERS["idea"]),
        "abstract": body.abstract or _get_text(metadata.get("abstract")),
    }
    return _validate_item(item, _POINTERS)


def _validate_item(fields: Mapping[str, str], pointers: Mapping[str, str]) -> NamedRewardItem:
    try:
        return build_named_item(RewardItemBody.model_validate(fields))
    except ValidationError as error:
        first_error = error.errors(include_url=False)[0]
        field = str(first_error["loc"][0])
        raise HttpProblem.invalid(f"{field}: {describe_validation_error(first_error)}", pointers[field]) from None


def extract_items(body: RolloutListBody) -> tuple[NamedRewardItem, ...]:
    """Extract the items to judge from a list of responses. Raises HttpProblem, with a pointer to the response, if a
    response is invalid."""
    question = body.question or _extract_last_question({"input": list(body.conversation_history)})
    abstract = body.abstract or body.principle or ""
    items = list[NamedRewardItem]()
    for position, response in enumerate(body.response_objs):
        pointer = f"/response_objs/{position}/output"
        item = {"question": question, "idea": _extract_last_message(response, pointer), "abstract": abstract}
        items.append(_validate_item(item, {**_POINTERS, "idea": pointer}))
    return tuple(items)


def get_member_number(body: CompareBody) -> int:
    """Return the member's number within its group. Raises HttpProblem if it is missing or out of range."""
    number = body.member
    if number is None:
        index = (body.model_extra or {}).get(_ROLLOUT_INDEX)
        number = index if isinstance(index, int) and not isinstance(index, bool) else None
    if number is None or not 0 <= number < body.size:
        detail = f"It must be a whole number from 0 to {body.size - 1}. If omitted, `{_ROLLOUT_INDEX}` is used."
        raise HttpProblem.invalid(detail, "/member")
    return number


def _extract_last_message(response: Mapping[str, Any], pointer: str) -> str:
    """Return the text of a response's last message, without earlier reasoning or tool calls; empty if there is no
    message. Raises HttpProblem if the output is not a list."""
    output = response.get("output")
    if not isinstance(output, list):
        raise HttpProblem.invalid("It must be a list of output items, as in the Responses API.", pointer)
    messages = [item for item in output if isinstance(item, dict) and item.get("type", "message") == "message"]
    return "".join(_extract_texts(messages[-1].get("content"))) if messages else ""


def _extract_last_question(params: Mapping[str, Any]) -> str:
    content = params.get("input")
    if isinstance(content, str):
        return content
    messages = content if isinstance(content, list) else []
    user_messages = [message for message in messages if isinstance(message, dict) and message.get("role") == "user"]
    return "".join(_extract_texts(user_messages[-1].get("content"))) if user_messages else ""


def _extract_texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        yield from (_get_text(part.get("text")) for part in content if isinstance(part, dict))


def _get_text(value: object) -> str:
    return value if isinstance(value, str) else ""
