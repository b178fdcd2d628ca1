"""Quirks of providers in the form of their answers, and trouble that passes."""

import json
import re

from tests.contract.providers.imitation import GOOD, Reply, build_completion, build_error
from tests.contract.providers.quirks import AnsweredQuirk, reply_streamed

_THOUGHT = 'Maybe {"weights": []} or sets like {a, b} will do.'

ANSWER_QUIRKS = (
    # Contents
    AnsweredQuirk(
        "DeepSeek, QwQ: thought without an opening mark",
        lambda seen: build_completion(f"{_THOUGHT}\n</think>\n\n{GOOD}"),
    ),
    AnsweredQuirk("Qwen: thought between marks", lambda seen: build_completion(f"<think>{_THOUGHT}</think>{GOOD}")),
    AnsweredQuirk(
        "thought between <thinking> marks", lambda seen: build_completion(f"<thinking>{_THOUGHT}</thinking>\n{GOOD}")
    ),
    AnsweredQuirk(
        "Magistral: thought between [THINK] marks", lambda seen: build_completion(f"[THINK]{_THOUGHT}[/THINK]{GOOD}")
    ),
    AnsweredQuirk(
        "gpt-oss: channels",
        lambda seen: build_completion(
            f"<|channel|>analysis<|message|>{_THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{GOOD}"
        ),
    ),
    AnsweredQuirk(
        "Mistral: content as a list of parts",
        lambda seen: build_completion(
            [{"type": "thinking", "thinking": [{"type": "text", "text": _THOUGHT}]}, {"type": "text", "text": GOOD}]
        ),
    ),
    AnsweredQuirk("BOM before the answer", lambda seen: build_completion(f"\ufeff{GOOD}")),
    AnsweredQuirk(
        "code fence, then prose with braces",
        lambda seen: build_completion(f"```json\n{GOOD}\n```\nI hope {{this}} helps!"),
    ),
    AnsweredQuirk(
        "Qwen, Hermes: tool call as text",
        lambda seen: build_completion(f'<tool_call>\n{{"name": "weighing", "arguments": {GOOD}}}\n</tool_call>'),
    ),
    AnsweredQuirk(
        "tool call with an object for arguments",
        lambda seen: build_completion(
            None, "tool_calls", tool_calls=[{"function": {"name": "json", "arguments": json.loads(GOOD)}}]
        ),
    ),
    AnsweredQuirk("template's end mark left in the answer", lambda seen: build_completion(f"{GOOD}<|im_end|>")),
    AnsweredQuirk(
        "choices in capitals",
        lambda seen: build_completion(GOOD.replace('"for"', '"FOR"').replace("against", "Against")),
    ),
    AnsweredQuirk("numbers as strings", lambda seen: build_completion(re.sub(r": ?(\d+)", r': "\1"', GOOD))),
    AnsweredQuirk("trailing commas", lambda seen: build_completion(GOOD.replace("}]", "},]"))),
    AnsweredQuirk("older API: whole answer in `reasoning`", lambda seen: build_completion("", reasoning=GOOD)),
    AnsweredQuirk(
        "content parts without a type, empty ones among them",
        lambda seen: build_completion([{"text": ""}, {"type": "output_text", "text": GOOD}]),
    ),
    AnsweredQuirk(
        "empty content at the length limit, then an answer",
        lambda seen: build_completion("", "length") if seen.number == 1 else None,
        (2, 1),
    ),
    AnsweredQuirk(
        "NaN for a number, then an answer",
        lambda seen: build_completion(re.sub(r"\d+", "NaN", GOOD, count=0)) if seen.number == 1 else None,
        (2, 1),
    ),
    AnsweredQuirk(
        "a key twice in one object, then an answer",
        lambda seen: build_completion(GOOD[:-1] + ',"remark":"Another."}') if seen.number == 1 else None,
        (2, 1),
    ),
    AnsweredQuirk(
        "vLLM: whole answer in reasoning_content", lambda seen: build_completion(None, reasoning_content=GOOD)
    ),
    AnsweredQuirk(
        "proxy: answer as a tool call",
        lambda seen: build_completion(
            None, "tool_calls", tool_calls=[{"id": "1", "function": {"name": "json", "arguments": GOOD}}]
        ),
    ),
    AnsweredQuirk("proxy: stream to everyone", reply_streamed, prompt_tokens=9),
    AnsweredQuirk(
        "usage as fractions",
        lambda seen: build_completion(GOOD, usage={"prompt_tokens": 10.5, "completion_tokens": 3.2}),
        prompt_tokens=10,
    ),
    AnsweredQuirk(
        "usage as nulls", lambda seen: build_completion(GOOD, usage={"prompt_tokens": None, "completion_tokens": None})
    ),
    AnsweredQuirk(
        "usage as texts",
        lambda seen: build_completion(GOOD, usage={"prompt_tokens": "1234", "completion_tokens": "5"}),
        prompt_tokens=1234,
    ),
    AnsweredQuirk(
        "usage under Anthropic's names",
        lambda seen: build_completion(GOOD, usage={"input_tokens": 31, "output_tokens": 5}),
        prompt_tokens=31,
    ),
    AnsweredQuirk(
        "usage without an end",
        lambda seen: build_completion(GOOD, usage={"prompt_tokens": 1e999, "completion_tokens": -1}),
    ),
    # Finish reasons and forms
    AnsweredQuirk(
        "Together: eos, whole answer in `reasoning`", lambda seen: build_completion("", "eos", reasoning=GOOD)
    ),
    AnsweredQuirk("finish reason null", lambda seen: build_completion(GOOD, None)),
    AnsweredQuirk(
        "Anthropic through a gateway: end_turn", lambda seen: build_completion(None, "end_turn", reasoning_content=GOOD)
    ),
    AnsweredQuirk("OpenRouter: error after the whole answer", lambda seen: build_completion(GOOD, "error")),
    AnsweredQuirk("content as an object", lambda seen: build_completion(json.loads(GOOD))),
    AnsweredQuirk("older completions API", lambda seen: Reply(200, {"choices": [{"text": GOOD}]})),
    AnsweredQuirk(
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
    AnsweredQuirk(
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
    AnsweredQuirk(
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
    AnsweredQuirk(
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
    AnsweredQuirk(
        "answer in UTF-16", lambda seen: Reply(200, json.dumps(build_completion(GOOD).body).encode("utf-16"))
    ),
    AnsweredQuirk(
        "answer with a byte order mark", lambda seen: Reply(200, "\ufeff" + json.dumps(build_completion(GOOD).body))
    ),
    AnsweredQuirk("answer labelled as a page", lambda seen: build_completion(GOOD)._replace(content_type="text/html")),
    # Trouble that passes
    AnsweredQuirk(
        "OpenRouter: rate limit inside a 200",
        lambda seen: (
            Reply(200, {"error": {"message": "Provider returned error", "code": 429}}) if seen.number == 1 else None
        ),
        (2, 1),
    ),
    AnsweredQuirk(
        "Vertex: out of capacity, with the status of a bad request",
        lambda seen: (
            Reply(400, [{"error": {"code": 400, "message": "The service is temporarily out of capacity."}}])
            if seen.number == 1
            else None
        ),
        (2, 1),
    ),
    AnsweredQuirk(
        "llama.cpp: 503 while loading",
        lambda seen: build_error(503, "Loading model", code=503) if seen.number == 1 else None,
        (2, 1),
    ),
    # Parameters, in other forms of refusals
    AnsweredQuirk(
        "list of texts: temperature",
        lambda seen: Reply(400, {"errors": ["temperature is not supported"]}) if "temperature" in seen.body else None,
        (2, 1),
        lacks=("temperature",),
    ),
    AnsweredQuirk(
        "error in a list: seed",
        lambda seen: Reply(422, {"error": [{"message": "Unknown field: seed"}]}) if "seed" in seen.body else None,
        (2, 1),
        lacks=("seed",),
        settings={"seed": 7},
    ),
    AnsweredQuirk(
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
