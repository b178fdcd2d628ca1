"""Operation of one simulated service: limits, latency and faults around its handlers, and its counters."""

import asyncio
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from random import Random

from aiohttp import web

from simulator.outside.counters import Counters
from simulator.outside.knobs import Knobs
from simulator.outside.limits import Allowance, Refusal
from simulator.outside.simulated_service import DRAWS, SimulatedService

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

_SERVER_ERRORS = (500, 502, 503, 504)
_FAULTS = ("rate_limited", "server_error", "dropped", "malformed")


class Station:
    def __init__(self, service: SimulatedService) -> None:
        self.service = service
        self.counters = Counters()
        self._allowances: dict[str, Allowance] = {}
        self._attempts: Counter[bytes] = Counter()

    @property
    def knobs(self) -> Knobs:
        return self.service.knobs

    def configure(self, changes: dict[str, object]) -> None:
        """Change some knobs. Raises pydantic.ValidationError and leaves all knobs unchanged if any is invalid."""
        self.service.knobs = type(self.knobs).model_validate({**self.knobs.model_dump(), **changes})

    def reset(self) -> None:
        """Reset counters, budgets and random choices; requests in flight are still counted as such."""
        in_flight = self.counters.in_flight
        self.counters = Counters(in_flight=in_flight, peak_concurrency=in_flight)
        for allowance in self._allowances.values():
            allowance.spent, allowance.due = 0, -math.inf
        self._attempts.clear()

    async def answer(self, request: web.Request, handler: Handler, arrival: float) -> web.StreamResponse:
        caller = self.service.identify_caller(request)
        allowance = self._allowances.setdefault(caller, Allowance())
        self.counters.arrive(arrival, caller)
        refusal = allowance.take(self.service.get_limits(request), arrival, self.service.get_cost(request))
        self.counters.over_limit += refusal is not None
        allowance.in_flight += 1
        self.counters.enter()
        try:
            response = await self._admit(request, handler, arrival, refusal)
        except (asyncio.CancelledError, ConnectionError):
            self.counters.abandoned += 1
            raise
        else:
            if not response.prepared:
                response.headers.update(self.service.build_limit_headers(request, allowance.spent))
            return response
        finally:
            self.counters.leave()
            allowance.in_flight -= 1

    async def _admit(
        self, request: web.Request, handler: Handler, arrival: float, refusal: Refusal | None
    ) -> web.StreamResponse:
        is_known = request.match_info.http_exception is None
        self.counters.by_operation[getattr(handler, "__name__", "unknown") if is_known else "unknown"] += 1
        key = _compute_key(request, await request.read())
        if self.knobs.down:
            self.counters.injected["down"] += 1
            response: web.StreamResponse = self.service.build_server_error(503)
        elif refusal:
            response = self.service.refuse_over_limit(self._compute_retry_after(refusal.wait))
        else:
            response = self.service.refuse_caller(request, self.knobs) or await self._draw(
                request, handler, arrival, key
            )
        if request.transport is not None and not request.transport.is_closing():
            self.counters.count_response(response.status, key)
        return response

    async def _draw(self, request: web.Request, handler: Handler, arrival: float, key: bytes) -> web.StreamResponse:
        random = Random(key + b"%d/%d" % (self.knobs.seed, self._attempts[key]))
        self._attempts[key] += 1
        request[DRAWS] = random
        fault = _draw_fault(self.knobs, random.random())
        await _sleep_until(arrival + _draw_latency(self.knobs, random))
        if fault is not None:
            self.counters.injected[fault] += 1
        if fault == "rate_limited":
            return self.service.refuse_over_limit(self._compute_retry_after(0.0))
        if fault == "server_error":
            return self.service.build_server_error(random.choice(_SERVER_ERRORS))
        try:
            response = await handler(request)
        except web.HTTPException as error:
            response = self.service.build_error(error.status, error.text or error.reason)
        if fault is not None and isinstance(response, web.Response) and isinstance(response.body, bytes):
            return await self._spoil(request, response, fault, random)
        return response

    async def _spoil(
        self, request: web.Request, response: web.Response, fault: str, random: Random
    ) -> web.StreamResponse:
        body = response.body
        assert isinstance(body, bytes)  # noqa: S101 - checked by the caller
        if fault == "malformed":
            response.body = self.service.garble(body, random)
            return response
        cut_response = web.StreamResponse(headers={"Content-Type": response.content_type})
        if random.random() < 0.5:
            cut_response.content_length = len(body) + 1
            await cut_response.prepare(request)
            await cut_response.write(body[: len(body) // 2])
        if request.transport is not None:
            # close() sends what has been written before it ends the connection; abort() would discard it.
            request.transport.close()
        return cut_response

    def _compute_retry_after(self, wait: float) -> float | None:
        return None if self.knobs.retry_after is None else max(wait, self.knobs.retry_after)


def _compute_key(request: web.Request, body: bytes) -> bytes:
    """Return a hash that identifies the request."""
    return blake2b(b"\0".join((request.method.encode(), request.raw_path.encode(), body)), digest_size=16).digest()


def _draw_fault(knobs: Knobs, point: float) -> str | None:
    shares = (knobs.rate_limit_rate, knobs.server_error_rate, knobs.drop_rate, knobs.malformed_rate)
    for name, share in zip(_FAULTS, shares, strict=True):
        if point < share:
            return name
        point -= share
    return None


def _draw_latency(knobs: Knobs, random: Random) -> float:
    """Return a lognormal latency with the knobs' mean and coefficient of variation."""
    if knobs.latency_mean == 0 or knobs.latency_spread == 0:
        return knobs.latency_mean
    variance = math.log1p(knobs.latency_spread**2)
    return knobs.latency_mean * random.lognormvariate(-variance / 2, math.sqrt(variance))


async def _sleep_until(moment: float) -> None:
    seconds_left = moment - time.monotonic()
    if seconds_left > 0:
        await asyncio.sleep(seconds_left)
