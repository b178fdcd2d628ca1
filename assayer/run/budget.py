"""An evaluation's budget across all its attempts. It holds even with hundreds of LLM requests in flight."""

import asyncio
from collections import deque
from dataclasses import dataclass, field

from assayer.errors import BudgetExhausted


@dataclass(frozen=True)
class Reservation:
    """Budget reserved for one attempt at an LLM request: its estimated cost."""

    usd: float
    prompt_tokens: int


@dataclass
class Budget:
    """An evaluation's spending limits, which also cover its earlier attempts; None means unlimited. Cached answers are
    free.

    Each LLM request reserves its estimated cost, then settles its actual cost. So the limits can be exceeded only by
    the amount by which requests in flight cost more than estimated."""

    max_usd: float | None = None
    max_prompt_tokens: int | None = None
    earlier_usd: float = 0.0
    """Cost of earlier attempts at this evaluation in US dollars. It counts towards the limit, but not as spent by this
    attempt."""
    earlier_prompt_tokens: int = 0
    spent_usd: float = 0.0
    spent_prompt_tokens: int = 0
    has_unknown_cost: bool = False
    """Whether a request with an unknown price was charged; `spent_usd` does not include it."""
    _reserved_calls: int = field(default=0, init=False)
    """Number of reservations that are not yet settled."""
    _held_usd: float = field(default=0.0, init=False)
    _held_prompt_tokens: int = field(default=0, init=False)
    _queue: deque[tuple[Reservation, asyncio.Future[None]]] = field(default_factory=deque, init=False)

    def require_budget_left(self) -> None:
        """Raise BudgetExhausted if no further request is allowed."""
        if self.max_usd is not None and self.earlier_usd + self.spent_usd >= self.max_usd:
            raise BudgetExhausted(f"The budget of ${self.max_usd:.2f} for this evaluation is spent.")
        tokens = self.earlier_prompt_tokens + self.spent_prompt_tokens
        if self.max_prompt_tokens is not None and tokens >= self.max_prompt_tokens:
            raise BudgetExhausted(f"The budget of {self.max_prompt_tokens} prompt tokens is spent.")

    def charge(self, usd: float | None, prompt_tokens: int) -> None:
        self.spent_usd += usd or 0.0
        self.has_unknown_cost |= usd is None
        self.spent_prompt_tokens += prompt_tokens

    def try_reserve(self, reservation: Reservation) -> bool:
        """Reserve budget if enough is available now, and return whether it was. Raises BudgetExhausted if too little
        would remain even if every request in flight turned out to be free."""
        self.require_budget_left()
        spent_usd = self.earlier_usd + self.spent_usd
        spent_tokens = self.earlier_prompt_tokens + self.spent_prompt_tokens
        usd, tokens = spent_usd + reservation.usd, spent_tokens + reservation.prompt_tokens
        if self.max_usd is not None and usd > self.max_usd:
            raise BudgetExhausted(
                f"The next LLM request may cost ${reservation.usd:.4f}, but only ${self.max_usd - spent_usd:.4f} "
                f"of the ${self.max_usd:.2f} budget is left."
            )
        if self.max_prompt_tokens is not None and tokens > self.max_prompt_tokens:
            raise BudgetExhausted(
                f"The next LLM request has about {reservation.prompt_tokens} prompt tokens, but only "
                f"{self.max_prompt_tokens - spent_tokens} of the budgeted {self.max_prompt_tokens} are left."
            )
        if self.max_usd is not None and usd + self._held_usd > self.max_usd:
            return False
        if self.max_prompt_tokens is not None and tokens + self._held_prompt_tokens > self.max_prompt_tokens:
            return False
        self._reserved_calls += 1
        self._held_usd += reservation.usd
        self._held_prompt_tokens += reservation.prompt_tokens
        return True

    async def reserve(self, usd: float, prompt_tokens: int) -> Reservation:
        """Reserve budget, waiting if necessary until requests in flight release enough. Waiting callers are served in
        order of arrival. Raises BudgetExhausted if there can never be enough."""
        reservation = Reservation(usd, prompt_tokens)
        if not self._queue and self.try_reserve(reservation):
            return reservation
        turn = asyncio.get_running_loop().create_future()
        self._queue.append((reservation, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._serve_queue()
            elif turn.exception() is None:
                self.settle(reservation)
            raise
        return reservation

    def settle(self, reservation: Reservation, usd: float | None = 0.0, prompt_tokens: int = 0) -> None:
        """Release a reservation and charge the actual cost, by default zero."""
        self._reserved_calls -= 1
        self._held_prompt_tokens -= reservation.prompt_tokens
        # Reset to zero when no reservation is held, so that rounding errors do not accumulate.
        self._held_usd = self._held_usd - reservation.usd if self._reserved_calls else 0.0
        self.charge(usd, prompt_tokens)
        self._serve_queue()

    def _serve_queue(self) -> None:
        while self._queue:
            reservation, turn = self._queue[0]
            if not turn.done():
                try:
                    if not self.try_reserve(reservation):
                        return
                    turn.set_result(None)
                except BudgetExhausted as error:
                    turn.set_exception(error)
            self._queue.popleft()
