"""Quirks of providers in the form of their answers, and trouble that passes."""

import json
import re

from tests.contract.providers.imitation import GOOD, Reply, build_completion, build_error
from tests.contract.providers.quirks import Answered, reply_streamed

_THOUGHT = 'Maybe {"weights": []} or sets like {a, b} will do.'

ANSWER_QUIRKS = (
    # Contents
    Answered(
        "DeepSeek, QwQ: thought without an opening mark",
        lambda seen: build_completion(f"{_THOUGHT}\n</think>\n\n{GOOD}"),
    ),
    Answered("Qwen: thought between marks", lambda seen: build_completion(f"<think>{_THOUGHT}</think>{GOOD}")),
    Answered(
        "thought between <thinking> marks", lambda seen: build_completion(f"<thinking>{_THOUGHT}</thinking>\n{GOOD}")
    ),
    Answered(
        "Magistral: thought between [THINK] marks", lambda seen: build_completion(f"[THINK]{_THOUGHT}[/THINK]{GOOD}")
    ),
    Answered(
        "gpt-oss: channels",
        lambda seen: build_completion(
            f"<|channel|>analysis<|message|>{_THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{GOOD}"
        ),
    ),
    Answered(
        "Mistral: content as a list of parts",
        lambda seen: build_completion(
            [{"type": "thinking", "thinking": [{"type": "text", "text": _THOUGHT}]}, {"type": "text", "text": GOOD}]
        ),
    ),
    Answered("BOM before the answer", lambda seen: build_completion(f"\ufeff{GOOD}")),
    Answered(
        "code fence, then prose with braces",
        lambda seen: build_completion(f"```json\n{GOOD}\n```\nI hope {{this}} helps!"),
    ),
    Answered(
        "Qwen, Hermes: tool call as text",
        lambda seen: build_completion(f'<tool_call>\n{{"name": "weighing", "arguments": {GOOD}}}\n</tool_call>'),
    ),
    Answered(
        "tool call with an object for arguments",
        lambda seen: build_completion(
            None, "tool_calls", tool_calls=[{"function": {"name": "json", "arguments": json.loads(GOOD)}}]
        ),
    ),
    Answered("template's end mark left in the answer", lambda seen: build_completion(f"{GOOD}<|im_end|>")),
    Answered(
        "choices in capitals",
        lambda seen: build_completion(GOOD.replace('"for"', '"FOR"').replace("against", "Against")),
    ),
    Answered("numbers as strings", lambda seen: build_completion(re.sub(r": ?(\d+)", r': "\1"', GOOD))),
    Answered("trailing commas", lambda seen: build_completion(GOOD.replace("}]", "},]"))),
    Answered("older API: whole answer in `reasoning`", lambda seen: build_completion("", reasoning=GOOD)),
    Answered(
        "content parts without a type, empty ones among them",
        lambda seen: build_completion([{"text": ""}, {"type": "output_text", "text": GOOD}]),
    ),
    Answered(
        "empty content at the length limit, then an answer",
        lambda seen: build_completion("", "length") if seen.number == 1 else None,
        (2, 1),
    ),
    Answered(
        "NaN for a number, then an answer",
        lambda seen: build_completion(re.sub(r"\d+", "NaN", GOOD, count=0)) if seen.number == 1 else None,
        (2, 1),
    ),
    Answered(
        "a key twice in one object, then an answer",
        lambda seen: build_completion(GOOD[:-1] + ',"remark":"Another."}') if seen.number == 1 else None,
        (2, 1),
    ),
    Answered("vLLM: whole answer in reasoning_content", lambda seen: build_completion(None, reasoning_content=GOOD)),
    Answered(
        "proxy: answer as a tool call",
        lambda seen: build_completion(
            None, "tool_calls", tool_calls=[{"id": "1", "function": {"name": "json", "arguments": GOOD}}]
        ),
    ),
    Answered("proxy: stream to everyone", reply_streamed, prompt_tokens=9),
    Answered(
        "usage as fractions",
        lambda seen: build_completion(GOOD, usage={"prompt_tokens": 10.5, "completion_tokens": 3.2}),
        prompt_tokens=10,
    ),
    Answered(
        "usage as nulls", lambda seen: build_completion(GOOD, usage={"prompt_tokens": None, "completion_tokens": None})
    ),
    Answered(
        "usage as texts",
        lambda seen: build_completion(GOOD, usage={"prompt_tokens": "1234", "completion_tokens": "5"}),
        prompt_tokens=1234,
    ),
    Answered(
        "usage under Anthropic's names",
        lambda seen: build_completion(GOOD, usage={"input_tokens": 31, "output_tokens": 5}),
        prompt_tokens=31,
    ),
    Answered(
        "usage without an end",
        lambda seen: build_completion(GOOD, usage={"prompt_tokens": 1e999, "completion_tokens": -1}),
    ),
    # Finish reasons and forms
    Answered("Together: eos, whole answer in `reasoning`", lambda seen: build_completion("", "eos", reasoning=GOOD)),
    Answered("finish reason null", lambda seen: build_completion(GOOD, None)),
    Answered(
        "Anthropic through a gateway: end_turn", lambda seen: build_completion(None, "end_turn", reasoning_content=GOOD)
    ),
    Answered("OpenRouter: error after the whole answer", lambda seen: build_completion(GOOD, "error")),
    Answered("content as an object", lambda seen: build_completion(json.loads(GOOD))),
    Answered("older completions API", lambda seen: Reply(200, {"choices": [{"text": GOOD}]})),
    Answered(
        "Anthropic: Messages API",
        lambda seen: Reply(
            200,
            {
                "type": "message",
                "content": [{"type": "thinking", "thinking": "Hm {."}, {"type": "text", "text": GOOD}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 41, "output_tokens": 8},
            },
        ),
        prompt_tokens=41,
    ),
    Answered(
        "Gemini: native",
        lambda seen: Reply(
            200,
            {
                "candidates": [
                    {"content": {"parts": [{"text": "Hm.", "thought": True}, {"text": GOOD}]}, "finishReason": "STOP"}
                ],
                "usageMetadata": {"promptTokenCount": 43, "candidatesTokenCount": 9},
            },
        ),
        prompt_tokens=43,
    ),
    Answered(
        "OpenAI: Responses API",
        lambda seen: Reply(
            200,
            {
                "object": "response",
                "output": [{"type": "reasoning"}, {"content": [{"type": "output_text", "text": GOOD}]}],
                "usage": {"input_tokens": 47},
            },
        ),
        prompt_tokens=47,
    ),
    Answered(
        "Ollama: native",
        lambda seen: Reply(
            200,
            {
                "message": {"content": GOOD},
                "done": True,
                "done_reason": "stop",
                "prompt_eval_count": 53,
                "eval_count": 9,
            },
        ),
        prompt_tokens=53,
    ),
    Answered("answer in UTF-16", lambda seen: Reply(200, json.dumps(build_completion(GOOD).body).encode("utf-16"))),
    Answered(
        "answer with a byte order mark", lambda seen: Reply(200, "\ufeff" + json.dumps(build_completion(GOOD).body))
    ),
    Answered("answer labelled as a page", lambda seen: build_completion(GOOD)._replace(content_type="text/html")),
    # Trouble that passes
    Answered(
        "OpenRouter: rate limit inside a 200",
        lambda seen: (
            Reply(200, {"error": {"message": "Provider returned error", "code": 429}}) if seen.number == 1 else None
        ),
        (2, 1),
    ),
    Answered(
        "Vertex: out of capacity, with the status of a bad request",
        lambda seen: (
            Reply(400, [{"error": {"code": 400, "message": "The service is temporarily out of capacity."}}])
            if seen.number == 1
            else None
        ),
        (2, 1),
    ),
    Answered(
        "llama.cpp: 503 while loading",
        lambda seen: build_error(503, "Loading model", code=503) if seen.number == 1 else None,
        (2, 1),
    ),
    # Parameters, in other forms of refusals
    Answered(
        "list of texts: temperature",
        lambda seen: Reply(400, {"errors": ["temperature is not supported"]}) if "temperature" in seen.body else None,
        (2, 1),
        lacks=("temperature",),
    ),
    Answered(
        "error in a list: seed",
        lambda seen: Reply(422, {"error": [{"message": "Unknown field: seed"}]}) if "seed" in seen.body else None,
        (2, 1),
        lacks=("seed",),
        settings={"seed": 7},
    ),
    Answered(
        "Groq: limit of answer tokens, named beside the context window",
        lambda seen: (
            build_error(
                400, "`max_tokens` must be less than or equal to `4096`, which is less than the `context_window`"
            )
            if seen.max_output_tokens > 4096
            else None
        ),
        (2, 1),
    ),
)
