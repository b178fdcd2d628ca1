"""HTTP server: chat completions, models, files and batches under /v1, settings and counters under /_simulator."""

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from pydantic import ValidationError

from simulator import prompt
from simulator.answers import GeneratedAnswer, compose, count_tokens
from simulator.batch_jobs import LineAnswer
from simulator.batches import BatchRoutes
from simulator.counters import Counters, PromptHistory
from simulator.protocol import (
    ApiError,
    ChatCall,
    authorise,
    build_completion,
    build_rate_limit_error,
    build_server_error,
    parse_request,
)
from simulator.random_choices import RandomChoices, compute_prompt_key, draw_choices
from simulator.replies import build_error_response
from simulator.settings import HARMLESS, Settings

_MAX_REQUEST_BYTES = 32 * 2**20


@dataclass
class Endpoint:
    """Simulated endpoint with its settings, counters and routes."""

    settings: Settings
    counters: Counters = field(default_factory=Counters)

    def build_application(self) -> web.Application:
        app = web.Application(client_max_size=_MAX_REQUEST_BYTES)
        app.add_routes(
            [
                web.post("/v1/chat/completions", self.answer_chat),
                web.get("/v1/models", self.list_models),
                web.get("/v1/models/{model}", self.show_model),
                *BatchRoutes(self).list_routes(),
                web.get("/_simulator/stats", self.show_stats),
                web.post("/_simulator/reset", self.reset_counters),
                web.get("/_simulator/settings", self.read_settings),
                web.put("/_simulator/settings", self.change_settings),
                web.route("*", "/{path:.*}", self.refuse_unknown_path),
            ]
        )
        return app

    async def answer_chat(self, request: web.Request) -> web.StreamResponse:
        arrival = time.monotonic()
        self.counters.requests += 1
        try:
            authorise(request.headers.get("Authorization"), self.settings.api_key)
            call = parse_request(await request.read(), self.settings)
            return await self._answer_or_refuse(request, call, arrival)
        except ApiError as error:
            self.counters.by_status[error.status] += 1
            return build_error_response(error)
        except (asyncio.CancelledError, ConnectionError):
            self.counters.abandoned += 1
            raise

    async def _answer_or_refuse(self, request: web.Request, call: ChatCall, arrival: float) -> web.StreamResponse:
        key = compute_prompt_key(call.model, call.messages)
        history = self.counters.prompts.setdefault(key, PromptHistory())
        choices = draw_choices(self.settings, key, history.attempts)
        history.attempts += 1
        self._refuse_if_drawn(choices, call)
        self.counters.enter()
        try:
            name = f"chatcmpl-{key.hex()[:24]}{history.attempts:04d}"
            return await self._answer(request, call, choices, history, name, arrival)
        finally:
            self.counters.leave()

    def _refuse_if_drawn(self, choices: RandomChoices, call: ChatCall) -> None:
        if choices.outcome == "rate_limited":
            self.counters.injected["rate_limited"] += 1
            raise build_rate_limit_error(call.model, self.settings.retry_after)
        if choices.outcome == "server_error":
            self.counters.injected["server_error"] += 1
            raise build_server_error(choices.variation)

    async def _answer(
        self,
        request: web.Request,
        call: ChatCall,
        choices: RandomChoices,
        history: PromptHistory,
        name: str,
        arrival: float,
    ) -> web.StreamResponse:
        if call.is_sampled:
            choices = choices._replace(content_seed=choices.content_seed + history.attempts - 1)
        answer, is_cut = _limit_tokens(self.compose(call, choices), call.max_tokens)
        await asyncio.sleep(max(0.0, arrival + choices.latency - time.monotonic()))
        body = build_completion(call, answer, name, int(time.time()))
        if choices.outcome == "dropped":
            return await self._drop_connection(request, body, choices.variation)
        response = _complete_response(request, body, arrival)
        self._count(call, answer, choices, history, is_cut)
        return response

    def answer_line(self, body: dict[str, Any]) -> LineAnswer:
        """Answer one line of a batch. It is counted like a live request, but only answer faults are injected."""
        try:
            call = parse_request(json.dumps(body).encode(), self.settings)
        except ApiError as error:
            return LineAnswer(error.status, json.loads(error.body))
        key = compute_prompt_key(call.model, call.messages)
        history = self.counters.prompts.setdefault(key, PromptHistory())
        choices = draw_choices(self.settings, key, history.attempts)
        history.attempts += 1
        if call.is_sampled:
            choices = choices._replace(content_seed=choices.content_seed + history.attempts - 1)
        answer, is_cut = _limit_tokens(self.compose(call, choices), call.max_tokens)
        self._count(call, answer, choices._replace(is_slow=False), history, is_cut, by_batch=True)
        name = f"chatcmpl-{key.hex()[:24]}{history.attempts:04d}"
        return LineAnswer(200, json.loads(build_completion(call, answer, name, int(time.time()))))

    def compose(self, call: ChatCall, choices: RandomChoices) -> GeneratedAnswer:
        """Generate the model's answer."""
        return compose(
            call.node, prompt.parse_prompt(call.question), choices.content_seed, choices.faults, choices.variation
        )

    def _count(
        self,
        call: ChatCall,
        answer: GeneratedAnswer,
        choices: RandomChoices,
        history: PromptHistory,
        is_cut: bool,
        *,
        by_batch: bool = False,
    ) -> None:
        counters = self.counters
        counters.cut_by_max_tokens += is_cut
        counters.injected["slow"] += choices.is_slow
        if answer.fault is not None:
            counters.injected[answer.fault] += 1
        is_sound = not is_cut and (answer.fault is None or answer.fault in HARMLESS)
        counters.count_delivered(
            history, is_sound, call.prompt_tokens, count_tokens(len(answer.text)), call.is_sampled, by_batch
        )

    async def _drop_connection(self, request: web.Request, body: bytes, variation: float) -> web.StreamResponse:
        """Close the connection before the first byte or in the middle of the body."""
        self.counters.injected["dropped"] += 1
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        if variation >= 0.5:
            response.content_length = len(body)
            await response.prepare(request)
            await response.write(body[: len(body) // 2])
        if request.transport is not None:
            # close() sends what has been written before it ends the connection; abort() would discard it.
            request.transport.close()
        return response

    async def list_models(self, request: web.Request) -> web.Response:
        try:
            authorise(request.headers.get("Authorization"), self.settings.api_key)
        except ApiError as error:
            return build_error_response(error)
        return web.json_response(
            {"object": "list", "data": [self._describe_model(model) for model in self.settings.models]}
        )

    async def show_model(self, request: web.Request) -> web.Response:
        name = request.match_info["model"]
        try:
            authorise(request.headers.get("Authorization"), self.settings.api_key)
        except ApiError as error:
            return build_error_response(error)
        if name not in self.settings.models:
            message = f"The model '{name}' does not exist"
            return build_error_response(ApiError(404, message, param="model", code="model_not_found"))
        return web.json_response(self._describe_model(name))

    def _describe_model(self, name: str) -> dict[str, str | int]:
        context_window = {} if self.settings.context_tokens is None else {"max_model_len": self.settings.context_tokens}
        return {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "simulator", **context_window}

    async def show_stats(self, request: web.Request) -> web.Response:
        return web.json_response(text=self.counters.build_stats(self.settings.batch_price_share).model_dump_json())

    async def reset_counters(self, request: web.Request) -> web.Response:
        """Reset counters and forget prompts; respond with the previous counters."""
        last = self.counters.build_stats(self.settings.batch_price_share)
        self.counters.reset()
        return web.json_response(text=last.model_dump_json())

    async def read_settings(self, request: web.Request) -> web.Response:
        return web.json_response(text=self.settings.model_dump_json())

    async def change_settings(self, request: web.Request) -> web.Response:
        """Change the settings in the body and leave the others unchanged."""
        try:
            changes = json.loads(await request.read())
            self.settings = Settings.model_validate({**self.settings.model_dump(), **changes})
        except (ValidationError, ValueError, TypeError) as error:
            return build_error_response(ApiError(400, f"Invalid settings: {error}"))
        return await self.read_settings(request)

    async def refuse_unknown_path(self, request: web.Request) -> web.Response:
        return build_error_response(ApiError(404, f"Invalid URL ({request.method} {request.path})"))


def _complete_response(request: web.Request, body: bytes, arrival: float) -> web.Response:
    if request.transport is None or request.transport.is_closing():
        raise ConnectionResetError("the client disconnected before the answer")
    milliseconds = f"{1000 * (time.monotonic() - arrival):.0f}"
    headers = {"x-request-id": "req_simulator", "openai-processing-ms": milliseconds}
    return web.Response(body=body, content_type="application/json", headers=headers)


def _limit_tokens(answer: GeneratedAnswer, max_tokens: int | None) -> tuple[GeneratedAnswer, bool]:
    """Truncate the answer to `max_tokens`; return it and whether it was truncated."""
    if max_tokens is None or answer.content is None or count_tokens(len(answer.content)) <= max_tokens:
        return answer, False
    return answer._replace(content=answer.content[: 4 * max_tokens], finish_reason="length"), True
