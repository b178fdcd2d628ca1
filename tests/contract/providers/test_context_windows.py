"""Context windows: learnt from what a provider lists or refuses; questions are cut to fit, and the journal says so."""

import json
import re
from dataclasses import replace

import pytest

from assayer.errors import MalformedAnswer, RequestRefused
from assayer.llm import Cut, ask
from tests.contract.providers.imitation import (
    GOOD,
    ImitatedProvider,
    ProviderRequest,
    Quirk,
    Reply,
    build_completion,
    build_error,
    open_gateway,
)
from tests.contract.weighing import WEIGHING, Question, a_question, a_run

WINDOW = 8_192
OVERFLOWS = {
    "vLLM": "This model's maximum context length is 8192 tokens. However, you requested {total} tokens ({prompt} in "
    "the messages, {most} in the completion). Please reduce the length of the messages or completion.",
    "vLLM, newer": "'max_tokens' or 'max_completion_tokens' is too large: {most}. This model's maximum context length "
    "is 8192 tokens and your request has {prompt} input tokens ({most} > 8192 - {prompt}).",
    "vLLM, newest": "You passed {prompt} input tokens and requested {most} output tokens. However, the model's context "
    "length is only 8192 tokens, resulting in a maximum input length of 8092 tokens.",
    "OpenAI": "This model's maximum context length is 8192 tokens. However, your messages resulted in {total} tokens.",
    "OpenAI, Responses": "Input tokens exceed the configured limit of 8192 tokens. Your messages resulted in {total} "
    "tokens. Please reduce the length of the messages.",
    "Anthropic, prompt": "prompt is too long: {total} tokens > 8192 maximum",
    "Gemini, through Vertex": "Unable to submit request because the input token count is {total} but model only "
    "supports up to 8192. Reduce the input token count and try again.",
    "Cohere": "too many tokens: size limit exceeded by 808 tokens. total tokens: {total}; the limit is 8192 tokens.",
    "SGLang": "The input ({prompt} tokens) is longer than the model's context length (8192 tokens).",
    "SGLang, total": "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a "
    "total of {total} tokens: {prompt} tokens from the input messages and {most} tokens for the completion.",
    "LM Studio": "Trying to keep the first {prompt} tokens when context the overflows. However, the model is loaded "
    "with context length of only 8192 tokens, which is not enough.",
    "Groq": "Please reduce the length of the messages or completion. context_length_exceeded: limit 8192 tokens.",
    "llama.cpp": "request ({total} tokens) exceeds the available context size (8192 tokens), try increasing it",
    "Anthropic": "input length and `max_tokens` exceed context limit: {prompt} + {most} > 8192, decrease input length",
    "Mistral": "Prompt contains {total} tokens and 0 draft tokens, too large for model with 8192 maximum context",
    "Gemini": "The input token count ({total}) exceeds the maximum number of tokens allowed (8192).",
    "TGI": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: {prompt} `inputs`",
    "Qwen": "Range of input length should be [1, 8192]",
    "Qwen, with its code": "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 8192]",
    "xAI": "This model's maximum prompt length is 8192 but the request contains {total} tokens.",
    "Copilot": "prompt token count of {total} exceeds the limit of 8192",
    "Kimi": "Invalid request: Your request exceeded model token limit: 8192 (requested: {total})",
    "Cerebras": "Please reduce the length of the messages. Current length is {total} while limit is 8192",
    "llama-cpp-python": "Requested tokens ({total}) exceed context window of 8192",
    "LM Studio, newer": "The number of tokens to keep from the initial prompt is greater than the context length "
    "(n_keep: {total}>= n_ctx: 8192). Provide a shorter input.",
    "vLLM, decoder": "The decoder prompt (length {total}) is longer than the maximum model length of 8192. Make sure "
    "that `max_model_len` is no smaller.",
    "Bedrock": "Too many input tokens. Max input tokens: 8192, request input token count: {total}",
    "TensorRT-LLM": "The sum of prompt length ({total}.0), query length (0) should not exceed max_num_tokens (8192)",
    "Fireworks": "The prompt is too long: {total}, model maximum context length: 8192",
    "Cloudflare": "5021: The estimated number of tokens ({total}) exceeded this model context window limit (8192).",
    "words of no provider": "the prompt ({total} tokens) doesn't fit into the context of 8192 tokens",
}
LISTED = {
    "vLLM": {"data": [{"id": "m", "max_model_len": WINDOW}]},
    "OpenRouter": {"data": [{"id": "other", "context_length": 99_999}, {"id": "m", "context_length": WINDOW}]},
    "LM Studio": {"data": [{"id": "m", "max_context_length": 99_999, "loaded_context_length": WINDOW}]},
}
LONG = replace(WEIGHING, max_tokens=6_000)
CUT = replace(WEIGHING, max_tokens=600, cuts=(Cut("labels", "label shown"),))
MANY = Question(statement="Weights help.", labels=tuple(f"P{number}" for number in range(1, 8_001)))


def _limit_window(words: str, window: int = WINDOW, factor: float = 1.0) -> Quirk:
    """A provider that counts `factor` tokens for four characters."""

    def refuse(request: ProviderRequest) -> Reply | None:
        prompt = int(factor * request.tokens)
        if prompt + request.max_output_tokens > window:
            return build_error(
                400,
                words.format(total=prompt + request.max_output_tokens, prompt=prompt, most=request.max_output_tokens),
                code=400,
            )
        labels = re.findall(r"\bP\d+\b", request.text)
        weights = [{"label": label, "stance": "for", "weight": 3} for label in dict.fromkeys(labels)]
        return build_completion(json.dumps({"weights": weights, "remark": ""}))

    return refuse


@pytest.mark.parametrize("words", OVERFLOWS.values(), ids=OVERFLOWS)
async def test_answer_length_fits_the_window_named_in_a_refusal(words: str) -> None:
    async with ImitatedProvider(_limit_window(words)) as provider, open_gateway(provider) as gateway:
        await gateway.run(LONG, a_question("Weights help. " * 1_000), a_run())
        assert gateway.get_context_tokens("m") == WINDOW
        assert len(provider.requests) == 2
        await gateway.run(LONG, a_question("Weights of 2. " * 900), a_run())
        assert len(provider.requests) == 3
    assert LONG.max_tokens > provider.requests[-1].max_output_tokens > 1_000


@pytest.mark.parametrize("models_answer", LISTED.values(), ids=LISTED)
async def test_context_window_listed_by_the_server_avoids_a_refusal(models_answer: object) -> None:
    async with (
        ImitatedProvider(_limit_window("too long"), models_answer) as provider,
        open_gateway(provider) as gateway,
    ):
        await gateway.reach()
        await gateway.run(LONG, a_question("Weights help. " * 1_000), a_run())
        assert len(provider.requests) == 1


async def test_llama_cpp_window_is_read_from_server_properties() -> None:
    models_answer = {"data": [{"id": "file.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072}}]}
    props = {"default_generation_settings": {"n_ctx": WINDOW}, "total_slots": 2}
    async with ImitatedProvider(lambda _: None, models_answer, props) as provider, open_gateway(provider) as gateway:
        await gateway.reach()
        assert gateway.get_context_tokens("m") == WINDOW


async def test_configured_window_overrides_the_listed_window() -> None:
    async with (
        ImitatedProvider(lambda _: None, LISTED["vLLM"]) as provider,
        open_gateway(provider, context_tokens=4_096) as gateway,
    ):
        await gateway.reach()
        assert gateway.get_context_tokens("m") == 4_096


async def test_least_relevant_entries_are_left_out_and_counted() -> None:
    run = a_run()
    async with ImitatedProvider(_limit_window(OVERFLOWS["vLLM"])) as provider, open_gateway(provider) as gateway:
        answer = await ask(gateway, CUT, MANY, run)
        assert len(provider.requests) == 2
    labels = [weight.label for weight in answer.weights]
    assert 500 < len(labels) < 8_000
    assert tuple(labels) == MANY.labels[: len(labels)]
    (dropped,) = run.journal.list_dropped()
    assert (dropped.item_kind, dropped.count) == ("label shown", 8_000 - len(labels))
    assert "context window of 8,192 tokens" in dropped.reason
    assert run.journal.failed_calls == []


async def test_prompt_is_shortened_when_the_endpoint_counts_more_tokens() -> None:
    quirk = _limit_window(OVERFLOWS["vLLM"], factor=5.0)
    async with ImitatedProvider(quirk) as provider, open_gateway(provider) as gateway:
        answer = await gateway.run(CUT, MANY, a_run())
        assert answer.value.weights
        assert 3 <= len(provider.requests) <= 5


@pytest.mark.parametrize("status", [413, 429])
async def test_request_above_the_tokens_of_a_minute_is_shortened_not_repeated(status: int) -> None:
    words = (
        "Request too large for model `m` on tokens per minute (TPM): Limit 8192, Requested {total}, please reduce it."
    )
    refuse = _limit_window(words)

    def quirk(request: ProviderRequest) -> Reply | None:
        reply = refuse(request)
        return reply if reply is None or reply.status == 200 else reply._replace(status=status)

    async with ImitatedProvider(quirk) as provider, open_gateway(provider) as gateway:
        await gateway.run(LONG, a_question("Weights help. " * 1_000), a_run())
        assert (gateway.get_context_tokens("m"), len(provider.requests)) == (WINDOW, 2)


async def test_oversized_prompt_that_cannot_be_cut_is_rejected_with_provider_message() -> None:
    quirk = _limit_window(OVERFLOWS["vLLM"])
    async with ImitatedProvider(quirk) as provider, open_gateway(provider) as gateway:
        with pytest.raises(RequestRefused, match=r"longer than model 'm' accepts.*context length is 8192 tokens"):
            await gateway.run(WEIGHING, a_question("Weights help. " * 3_000), a_run())
        assert len(provider.requests) <= 5


async def test_repetitive_answer_is_retried_once_at_the_same_length() -> None:
    run_on = '{"weights": [' + '{"label": "P1", "stance": "for", "weight": 3}, ' * 200
    async with (
        ImitatedProvider(lambda _: build_completion(run_on, "length")) as provider,
        open_gateway(provider) as gateway,
    ):
        with pytest.raises(MalformedAnswer, match=r"in 2 tries.*cut off"):
            await gateway.run(WEIGHING, a_question(), a_run())
    assert [request.max_output_tokens for request in provider.requests] == [500, 500]
    assert len(provider.requests[1].body["messages"][2]["content"]) <= 500


async def test_reasoning_that_uses_all_tokens_is_retried_once_with_more() -> None:
    def think(request: ProviderRequest) -> Reply:
        return (
            build_completion(GOOD)
            if request.max_output_tokens > 500
            else build_completion(None, "length", reasoning_content="Weights, hm. " * 100)
        )

    async with ImitatedProvider(think) as provider, open_gateway(provider) as gateway:
        answer = await gateway.run(WEIGHING, a_question(), a_run())
    assert answer.record.attempts == 2
    assert [request.max_output_tokens for request in provider.requests] == [500, 1_000]
