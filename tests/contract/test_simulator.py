"""The simulator over real HTTP: what an OpenAI client sees, and the command that starts it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from simulator.process import Simulator
from tests.contract.simulated import QUESTION, Judgements, ask, ask_for_text, open_client, send_raw

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def client(simulator: Simulator) -> Iterator[openai.OpenAI]:
    with open_client(simulator) as opened_client:
        yield opened_client


def test_models_are_listed_and_found(client: openai.OpenAI, simulator: Simulator) -> None:
    simulator.configure(models=["big", "small"])
    assert [model.id for model in client.models.list()] == ["big", "small"]
    assert client.models.retrieve("small").id == "small"
    with pytest.raises(openai.NotFoundError, match="does not exist"):
        client.models.retrieve("huge")


def test_structured_answer_follows_the_schema_and_the_prompt(client: openai.OpenAI) -> None:
    completion = ask(client)
    choice = completion.choices[0]
    assert [judgement.label for judgement in Judgements.model_validate_json(choice.message.content).judgements] == [
        "P1",
        "P2",
    ]
    assert (choice.finish_reason, choice.message.role, choice.message.refusal) == ("stop", "assistant", None)
    assert (completion.object, completion.model) == ("chat.completion", "simulated")
    assert completion.usage.prompt_tokens == -(-(len(QUESTION) + len("Answer in JSON.")) // 4)
    assert completion.usage.completion_tokens == -(-len(choice.message.content) // 4)
    assert completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens


def test_plain_json_mode_follows_a_schema_in_the_prompt(client: openai.OpenAI) -> None:
    question = f"{QUESTION}\nAnswer with JSON of this schema: {json.dumps(Judgements.model_json_schema())}"
    for form in ({"type": "json_object"}, {"type": "text"}):
        Judgements.model_validate_json(ask_for_text(client, question, response_format=form))


def test_sampled_answers_differ_and_are_not_counted_as_repeats(client: openai.OpenAI, simulator: Simulator) -> None:
    contents = [ask(client, temperature=0.8).choices[0].message.content for _ in range(3)]
    assert len(set(contents)) == 3
    assert simulator.read_stats().repeated_prompts == 0
    again = [ask(client, temperature=0).choices[0].message.content for _ in range(2)]
    assert len(set(again)) == 1
    assert simulator.read_stats().repeated_prompts == 2


def test_answer_longer_than_max_tokens_is_cut(client: openai.OpenAI, simulator: Simulator) -> None:
    complete_text = ask_for_text(client)
    truncated = ask(client, max_tokens=20)
    assert truncated.choices[0].finish_reason == "length"
    assert truncated.choices[0].message.content == complete_text[:80]
    assert truncated.usage.completion_tokens == 20
    assert simulator.read_stats().cut_by_max_tokens == 1


def test_wrong_key_is_refused_and_not_echoed(client: openai.OpenAI, simulator: Simulator) -> None:
    simulator.configure(api_key="sk-right-key")
    wrong = client.with_options(api_key="sk-wrong-key-0123")
    with pytest.raises(openai.AuthenticationError, match="Incorrect API key provided") as caught:
        ask(wrong)
    assert caught.value.code == "invalid_api_key"
    assert "wrong-key" not in str(caught.value)
    with pytest.raises(openai.AuthenticationError):
        wrong.models.list()
    ask_for_text(client.with_options(api_key="sk-right-key"))


def test_unknown_model_is_not_found(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        ask(client, model="gpt-unheard-of")
    assert caught.value.code == "model_not_found"
    assert "`gpt-unheard-of` does not exist" in caught.value.message


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"temperature": 3}, "Invalid 'temperature'"),
        ({"max_tokens": 0}, "Invalid 'max_tokens'"),
        ({"n": 2}, "n must be 1"),
        ({"response_format": {"type": "yaml"}}, "Supported values are: 'text', 'json_object', and 'json_schema'"),
        ({"response_format": {"type": "json_schema"}}, "Missing required parameter"),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "a.b", "schema": {}}}}, "name"),
    ],
)
def test_bad_parameter_is_refused_with_its_name(client: openai.OpenAI, options: Any, complaint: str) -> None:
    with pytest.raises(openai.BadRequestError, match=complaint) as caught:
        ask(client, **options)
    assert caught.value.type == "invalid_request_error"


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ({"type": "object", "properties": {}}, "'additionalProperties' is required"),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": [], "additionalProperties": False},
            "Missing 'a'",
        ),
        ({"type": "array", "items": {"type": "unheard-of"}}, "'unheard-of' is not supported"),
    ],
)
def test_schema_invalid_in_strict_mode_is_rejected(client: openai.OpenAI, schema: Any, complaint: str) -> None:
    form = {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": schema}}
    with pytest.raises(openai.BadRequestError, match=complaint):
        ask(client, response_format=form)


def test_plain_json_mode_requires_the_word_json(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="must contain the word 'json'"):
        client.chat.completions.create(
            model="simulated", messages=[{"role": "user", "content": "Hi"}], response_format={"type": "json_object"}
        )


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("{", "could not parse the JSON body"),
        ("[]", "expected an object"),
        ("{}", "provide a model"),
        ('{"model": "simulated"}', "Invalid 'messages'"),
        ('{"model": "simulated", "messages": [{"role": "owl", "content": "hoo"}]}', "Invalid value: 'owl'"),
        ('{"model": "simulated", "messages": [{"role": "user", "content": 1}]}', "content"),
    ],
)
def test_malformed_request_is_refused(simulator: Simulator, body: str, complaint: str) -> None:
    status, answer = send_raw(simulator, "POST", "/v1/chat/completions", body)
    assert status == 400
    assert complaint in answer["error"]["message"]
    assert set(answer["error"]) == {"message", "type", "param", "code"}


# The command


def _start(*flags: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "simulator", "--port", "0", *flags]
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--host", "0.0.0.0"], "'0.0.0.0' is not a loopback address"),
        (["--latency-mean", "-1"], "latency_mean"),
    ],
)
def test_unusable_flags_end_with_a_message(flags: list[str], complaint: str) -> None:
    with _start(*flags) as process:
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert complaint in errors
