"""Contents of a repair request: the question, the answer format, and the error of the last answer."""

import json
from dataclasses import replace

import pytest

from assayer.llm import AnswerBounds, LabelledList
from tests.contract.weighing import WEIGHING, Weighing, a_question, an_answer
from workers.llm import LlmSettings
from workers.llm.answer_parsing import parse_answer
from workers.llm.answer_schema import build_answer_schema, convert_to_sent_schema
from workers.llm.chat_completion import ChatRequest, load_prompt_template
from workers.llm.completion import Completion
from workers.llm.context_window import FittedQuestion
from workers.llm.dialect_fallback import create_initial_dialect
from workers.llm.retry_and_repair import build_first_request, build_repair_request

SETTINGS = LlmSettings(base_url="http://host/v1", model="m", seed=7, max_answer_tokens=800)
AUTO = create_initial_dialect("auto")


QUESTION = FittedQuestion(a_question(), WEIGHING.messages(a_question()), WEIGHING.max_tokens)


def make_first_request() -> ChatRequest:
    return build_first_request(WEIGHING, "m", QUESTION, SETTINGS)


def make_repair_request(request: ChatRequest, text: str, finish_reason: str = "stop") -> ChatRequest:
    completion = Completion(text, "", finish_reason, 1, 1)
    return build_repair_request(request, completion, parse_answer(completion, Weighing), SETTINGS, QUESTION)


@pytest.mark.parametrize(
    ("name", "fields"), [("schema", {"schema": "{}"}), ("repair", {"errors": "- $x {y}"}), ("shorter", {})]
)
def test_every_prompt_of_the_gateway_renders(name: str, fields: dict[str, str]) -> None:
    text = load_prompt_template(name).substitute(fields)
    assert all(value in text for value in fields.values())


def test_schema_is_sent_as_structured_output_where_supported() -> None:
    body = make_first_request().build_body(AUTO)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert (body["model"], body["temperature"], body["seed"], body["max_tokens"]) == ("m", 0.0, 7, 500)
    form = body["response_format"]["json_schema"]
    assert form == {
        "name": "tests_weighing",
        "strict": True,
        "schema": convert_to_sent_schema(build_answer_schema(Weighing).text).schema,
    }


def test_bounds_of_the_question_are_sent_only_if_answers_are_to_be_bounded() -> None:
    bounded_task = replace(
        WEIGHING, bounds=lambda question: AnswerBounds(lists={"weights": LabelledList(question.labels)})
    )
    usual = build_first_request(bounded_task, "m", QUESTION, SETTINGS)
    assert usual == make_first_request()
    bounded = build_first_request(bounded_task, "m", QUESTION, SETTINGS.model_copy(update={"bounded_answers": True}))
    schema = bounded.build_body(AUTO)["response_format"]["json_schema"]["schema"]
    assert [entry["properties"]["label"]["enum"] for entry in schema["properties"]["weights"]["prefixItems"]] == [
        ["P1"],
        ["P2"],
    ]
    assert "$comment" not in schema


@pytest.mark.parametrize("structured", ["json_object", "prompt"])
def test_schema_is_appended_to_the_question_without_structured_output(structured: str) -> None:
    body = make_first_request().build_body(AUTO._replace(structured=structured))  # type: ignore[arg-type]
    plain = make_first_request().build_body(AUTO)["messages"]
    assert body["messages"][0] == plain[0]
    user_message = body["messages"][1]["content"]
    assert user_message.startswith(plain[1]["content"])
    assert json.loads(user_message[user_message.rindex("\n") :]) == build_answer_schema(Weighing).schema
    form = {"type": "json_object"} if structured == "json_object" else None
    assert body.get("response_format") == form


def test_temperature_is_omitted_for_models_without_it() -> None:
    assert "temperature" not in make_first_request().build_body(AUTO._replace(temperature=False))


def test_repair_request_includes_only_last_answer_with_exact_errors() -> None:
    request = make_repair_request(make_repair_request(make_first_request(), "first"), an_answer(stance="maybe"))
    *_, assistant, user = messages = request.build_body(AUTO)["messages"]
    assert len(messages) == 4
    assert (assistant["role"], assistant["content"]) == ("assistant", an_answer(stance="maybe"))
    assert user["role"] == "user"
    assert "- weights.0.stance: Input should be 'for' or 'against'" in user["content"]
    assert request.max_tokens == 500


def test_empty_answer_is_replaced_by_placeholder_in_repair_request() -> None:
    request = make_repair_request(make_first_request(), "")
    assert request.build_body(AUTO)["messages"][2]["content"] == "(no answer)"


def test_repair_of_truncated_answer_allows_more_tokens_and_asks_for_brevity() -> None:
    request = make_repair_request(make_first_request(), an_answer()[:20], "length")
    assert request.max_tokens == 800
    assert "cut off" in request.build_body(AUTO)["messages"][-1]["content"]
    assert make_repair_request(request, an_answer()[:20], "length").max_tokens == 800


def test_usage_is_estimated_where_the_endpoint_reports_none() -> None:
    request = make_first_request()
    assert request.count_usage(Completion("x" * 40, "", "stop", 7, 3)) == (7, 3)
    assert request.count_usage(Completion("x" * 40, "", "stop", None, None)) == (
        request.prompt_tokens,
        13,
    )
    assert 100 < request.prompt_tokens < 400
