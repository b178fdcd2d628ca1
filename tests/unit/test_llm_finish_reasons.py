"""Finish reasons in the words of many providers."""

import pytest

from workers.llm.finish_reasons import read_finish


@pytest.mark.parametrize(
    ("reason", "stated"),
    [
        ("stop", ["stop", "STOP", None, "", "eos", "eos_token", "end_turn", "stop_sequence", "COMPLETE", "tool_calls"]),
        ("stop", ["function_call", "FINISH_REASON_UNSPECIFIED", "OTHER", 7, {"type": "stop", "matched": 2}]),
        (
            "length",
            ["length", "MAX_TOKENS", "FinishReason.MAX_TOKENS", "max_output_tokens", "model_length", "maxTokens"],
        ),
        ("length", ["model_context_window_exceeded", "token_limit", "ERROR_LIMIT", {"type": "length", "length": 9}]),
        ("content_filter", ["content_filter", "content_filter: SPII", "SAFETY", "RECITATION", "PROHIBITED_CONTENT"]),
        ("content_filter", ["contentFiltered", "guardrail_intervened", "sensitive", "ERROR_TOXIC", "BLOCKLIST"]),
        ("refusal", ["refusal", "declined"]),
        ("failure", ["error", "abort", "cancelled", "insufficient_system_resource", "MALFORMED_FUNCTION_CALL"]),
        ("failure", ["network_error", "timeout", "rate_limit", {"type": "abort"}]),
    ],
)
def test_finish_reason_has_its_meaning_in_all_words_for_it(reason: str, stated: list[object]) -> None:
    assert [read_finish(word).reason for word in stated] == [reason] * len(stated)


def test_words_of_other_providers_are_kept_for_messages() -> None:
    assert [read_finish(word).stated for word in ("stop", "length", "SAFETY")] == ["", "", "SAFETY"]
    assert read_finish({"type": "abort", "message": "Full.", "status_code": 503}).error == {
        "message": "Full.",
        "code": 503,
    }
