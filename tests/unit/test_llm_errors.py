"""Meaning of LLM refusals."""

import pytest

from assayer.models import FaultKind
from workers.llm.dialect_fallback import create_initial_dialect
from workers.llm.error_body import ErrorBody, parse_error_body
from workers.llm.errors import (
    PermanentLlmFailure,
    TransientLlmFailure,
    build_failure,
    explain_rejection,
    extract_rejected_generation,
)
from workers.llm.refusal_reasons import RejectionReason


def classify(status: int, message: str = "", code: str = "") -> TransientLlmFailure | PermanentLlmFailure:
    return build_failure(status, ErrorBody(message, code, ""), None)


@pytest.mark.parametrize(
    ("status", "kind", "overloaded"),
    [
        (408, "timeout", True),
        (409, "server_error", False),
        (429, "rate_limited", True),
        (500, "server_error", False),
        (529, "server_error", True),
    ],
)
def test_temporary_error_status_is_transient(status: int, kind: FaultKind, overloaded: bool) -> None:
    failure = classify(status, "try later")
    assert isinstance(failure, TransientLlmFailure)
    assert failure.fault.kind == kind
    assert failure.is_overload is overloaded
    assert str(status) in failure.fault.detail


@pytest.mark.parametrize(
    ("status", "message", "code", "reason"),
    [
        (401, "bad key sk-123", "invalid_api_key", "wrong_key"),
        (403, "not yours", "", "forbidden"),
        (404, "The model `x` does not exist", "", "unknown_model"),
        (400, "no such deployment", "model_not_found", "unknown_model"),
        (404, "Not Found", "", "unknown_path"),
        (429, "You exceeded your current quota", "insufficient_quota", "quota"),
        (400, "This model's maximum context length is 8192 tokens", "", "too_long"),
        (413, "", "", "too_long"),
        (400, "request (9000 tokens) exceeds the available context size (8192 tokens)", "", "too_long"),
        (400, "The input token count (1200000) exceeds the maximum number of tokens allowed", "", "too_long"),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", "", "too_long"),
        (400, "filtered", "content_filter", "filtered"),
        (400, "Your prompt was flagged as potentially violating our usage policy.", "invalid_prompt", "filtered"),
        (400, "The response was filtered due to Azure OpenAI's content management policy.", "", "filtered"),
        (400, "max_tokens is too large: 99999", "", "bad_request"),
        (400, "bad", "", "bad_request"),
    ],
)
def test_permanent_rejection_is_explained_without_the_key(
    status: int, message: str, code: str, reason: RejectionReason
) -> None:
    failure = classify(status, message, code)
    assert isinstance(failure, PermanentLlmFailure)
    assert failure.reason == reason
    explained = explain_rejection(failure, "http://host/v1", "x")
    assert str(status) in explained.message
    assert "sk-123" not in explained.message


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (PermanentLlmFailure("bad_request", 400, ErrorBody("odd", "", "")), "bad_question"),
        (PermanentLlmFailure("bad_request", 422, ErrorBody("odd", "", "")), "bad_question"),
        (PermanentLlmFailure("bad_request", 405, ErrorBody("odd", "", "")), "bad_request"),
        (PermanentLlmFailure("unknown_model", 400, ErrorBody("odd", "", "")), "unknown_model"),
    ],
)
def test_only_unrecognised_bad_request_is_attributed_to_the_question(
    failure: PermanentLlmFailure, reason: RejectionReason
) -> None:
    question = failure.convert_to_question_failure()
    assert question.reason == reason
    assert str(question.status) in explain_rejection(question, "http://host/v1", "x").message


@pytest.mark.parametrize(
    ("body", "generation"),
    [
        ({"message": "m", "code": "json_validate_failed", "failed_generation": '{"a": '}, '{"a": '),
        ({"error": {"message": "m", "code": "json_validate_failed", "failed_generation": None}}, ""),
        ({"message": "m", "code": "invalid_prompt", "failed_generation": "x"}, None),
        ("json_validate_failed", None),
        (None, None),
    ],
)
def test_rejected_generation_is_read_from_the_error_body(body: object, generation: str | None) -> None:
    assert extract_rejected_generation(body) == generation


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "m", "code": 7, "param": None}}, "m"),
        ({"error": "m"}, "m"),
        ({"message": "m"}, "m"),
        ({"detail": [{"loc": ["body"], "msg": "m"}]}, "body: m"),
        ({"err": "no usual name", "aud": "x"}, "no usual name"),
        ({"errors": ["m", "n"]}, "m"),
        ({"error": {"message": '{"error": {"message": "m"}}'}}, "m"),
        ({"error": "Unauthorized", "message": "m"}, "Unauthorized: m"),
        ("m\nn", "m n"),
        (None, ""),
    ],
)
def test_error_bodies_of_every_shape_are_read(body: object, message: str) -> None:
    assert parse_error_body(body).message == message


def make_failure(message: str, param: str = "") -> PermanentLlmFailure:
    return PermanentLlmFailure("bad_request", 400, ErrorBody(message, "", param))


def test_structured_output_falls_back_to_json_mode_then_to_prompt() -> None:
    first = create_initial_dialect("auto")
    second = first.adapt(make_failure("json_schema is not supported", "response_format"))
    assert second is not None
    assert second.structured == "json_object"
    third = second.adapt(make_failure("'response_format.type' must be 'json_schema' or 'text'"))
    assert third is not None
    assert third.structured == "prompt"
    assert third.adapt(make_failure("response_format")) is None


def test_explicit_structured_output_setting_is_not_changed() -> None:
    assert create_initial_dialect("json_schema").adapt(make_failure("response_format unsupported")) is None
    assert create_initial_dialect("json_object").structured == "json_object"


def test_unsupported_model_parameters_are_renamed_or_dropped() -> None:
    first = create_initial_dialect("auto")
    renamed = first.adapt(
        make_failure("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens")
    )
    assert renamed is not None
    assert renamed.tokens_field == "max_completion_tokens"
    quiet = renamed.adapt(make_failure("Unsupported value: 'temperature' does not support 0", "temperature"))
    assert quiet is not None
    assert not quiet.temperature
    assert quiet.structured == "json_schema"


def test_unrecognised_rejection_does_not_change_the_dialect() -> None:
    assert create_initial_dialect("auto").adapt(make_failure("messages must alternate")) is None
    assert (
        create_initial_dialect("auto").adapt(PermanentLlmFailure("wrong_key", 401, ErrorBody("json_schema", "", "")))
        is None
    )
