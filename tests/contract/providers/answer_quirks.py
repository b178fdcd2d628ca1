"""Quirks of providers in the form of their answers, and trouble that passes."""

import json
import re

from tests.contract.providers.imitation import GOOD, Reply, error, said
from tests.contract.providers.quirks import Answered, streamed

_THOUGHT = 'Maybe {"weights": []} or sets like {a, b} will do.'

ANSWER_QUIRKS = (
    # Contents
    Answered("DeepSeek, QwQ: thought without an opening mark", lambda seen: said(f"{_THOUGHT}\n</think>\n\n{GOOD}")),
    Answered("Qwen: thought between marks", lambda seen: said(f"<think>{_THOUGHT}</think>{GOOD}")),
    Answered("thought between <thinking> marks", lambda seen: said(f"<thinking>{_THOUGHT}</thinking>\n{GOOD}")),
    Answered("Magistral: thought between [THINK] marks", lambda seen: said(f"[THINK]{_THOUGHT}[/THINK]{GOOD}")),
    Answered(
        "gpt-oss: channels",
        lambda seen: said(
            f"<|channel|>analysis<|message|>{_THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{GOOD}"
        ),
    ),
    Answered(
        "Mistral: content as a list of parts",
        lambda seen: said(
            [{"type": "thinking", "thinking": [{"type": "text", "text": _THOUGHT}]}, {"type": "text", "text": GOOD}]
        ),
    ),
    Answered("BOM before the answer", lambda seen: said(f"\ufeff{GOOD}")),
    Answered("code fence, then prose with braces", lambda seen: said(f"```json\n{GOOD}\n```\nI hope {{this}} helps!")),
    Answered(
        "Qwen, Hermes: tool call as text",
        lambda seen: said(f'<tool_call>\n{{"name": "weighing", "arguments": {GOOD}}}\n</tool_call>'),
    ),
    Answered(
        "tool call with an object for arguments",
        lambda seen: said(
            None, "tool_calls", tool_calls=[{"function": {"name": "json", "arguments": json.loads(GOOD)}}]
        ),
    ),
    Answered("template's end mark left in the answer", lambda seen: said(f"{GOOD}<|im_end|>")),
    Answered("choices in capitals", lambda seen: said(GOOD.replace('"for"', '"FOR"').replace("against", "Against"))),
    Answered("numbers as strings", lambda seen: said(re.sub(r": ?(\d+)", r': "\1"', GOOD))),
    Answered("trailing commas", lambda seen: said(GOOD.replace("}]", "},]"))),
    Answered("older API: whole answer in `reasoning`", lambda seen: said("", reasoning=GOOD)),
    Answered(
        "content parts without a type, empty ones among them",
        lambda seen: said([{"text": ""}, {"type": "output_text", "text": GOOD}]),
    ),
    Answered(
        "empty content at the length limit, then an answer",
        lambda seen: said("", "length") if seen.number == 1 else None,
        (2, 1),
    ),
    Answered(
        "NaN for a number, then an answer",
        lambda seen: said(re.sub(r"\d+", "NaN", GOOD, count=0)) if seen.number == 1 else None,
        (2, 1),
    ),
    Answered(
        "a key twice in one object, then an answer",
        lambda seen: said(GOOD[:-1] + ',"remark":"Another."}') if seen.number == 1 else None,
        (2, 1),
    ),
    Answered("vLLM: whole answer in reasoning_content", lambda seen: said(None, reasoning_content=GOOD)),
    Answered(
        "proxy: answer as a tool call",
        lambda seen: said(
            None, "tool_calls", tool_calls=[{"id": "1", "function": {"name": "json", "arguments": GOOD}}]
        ),
    ),
    Answered("proxy: stream to everyone", streamed, prompt_tokens=9),
    Answered(
        "usage as fractions",
        lambda seen: said(GOOD, usage={"prompt_tokens": 10.5, "completion_tokens": 3.2}),
        prompt_tokens=10,
    ),
    Answered("usage as nulls", lambda seen: said(GOOD, usage={"prompt_tokens": None, "completion_tokens": None})),
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
        lambda seen: error(503, "Loading model", code=503) if seen.number == 1 else None,
        (2, 1),
    ),
)
