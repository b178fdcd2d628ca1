"""Typed calls to a pool, with a timeout, retries if a process dies, and the called method's original errors."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from ray.exceptions import RayError, RayTaskError
from ray.serve.exceptions import BackPressureError, RayServeException
from ray.serve.handle import DeploymentHandle, DeploymentResponse
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_random_exponential

from assayer.errors import ComponentUnavailable
from assayer.run.context_variables import is_urgent
from cluster.serving.replica import Replica

T = TypeVar("T")
P = ParamSpec("P")
R = TypeVar("R")

_FIRST_PAUSE, _MAX_PAUSE_SECONDS = 0.2, 5.0


class ReplicaLost(ComponentUnavailable):
    """Error for a call whose process died, hung or was stopped. The work may or may not have been done."""


class PoolFull(ComponentUnavailable):
    """Error for a call that was not made because the pool's queue is full."""


@dataclass(frozen=True)
class PoolClient(Generic[T]):
    """Client for the methods of the deployed class `T`: `await client.ask(T.method, argument, …)`."""

    handle: DeploymentHandle[T]
    seconds: float
    """Deadline for one call, in seconds."""
    patience: float
    """Seconds for which a call is retried while the pool has no process to run it."""
    _methods: dict[str, DeploymentHandle[T]] = field(default_factory=dict, init=False)
    """Handles for the methods, keyed by name and created once."""

    def __post_init__(self) -> None:
        """Create the handle for urgent calls now, while Ray's head node is reachable. Creating it queries the head
        node, and would block the event loop for 40 s if that were unreachable."""
        self._get_method(Replica.urgently.__name__)

    async def ask(self, method: Callable[Concatenate[T, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        """Call an idempotent method, with retries. Raises the method's errors, or ComponentUnavailable if all attempts
        fail."""
        retrying = AsyncRetrying(
            retry=retry_if_exception_type((ReplicaLost, PoolFull)),
            wait=wait_random_exponential(multiplier=_FIRST_PAUSE, max=_MAX_PAUSE_SECONDS),
            stop=stop_after_delay(self.patience),
            reraise=True,
        )
        return await retrying(self.call_once, method, *args, **kwargs)

    async def call_once(
        self, method: Callable[Concatenate[T, P], Awaitable[R]], *args: P.args, **kwargs: P.kwargs
    ) -> R:
        """Call a method without retries. Raises the method's errors, ReplicaLost if its process died or did not answer,
        or PoolFull. Cancelling the caller cancels the call."""
        try:
            async with asyncio.timeout(self.seconds):
                response: Any = self._send(method.__name__, *args, **kwargs)
                answer: R = await _answer(response)
                return answer
        except TimeoutError:
            raise ReplicaLost(f"The {self._name} did not answer within {self.seconds:g} s.") from None
        except RayTaskError as error:
            raise _extract_original_error(error) from None
        except BackPressureError:
            raise PoolFull(f"The queue of the {self._name} pool is full.") from None
        except (RayError, RayServeException) as error:  # also if the answer was lost with its node
            raise ReplicaLost(f"A process in the {self._name} pool died ({type(error).__name__}).") from None

    def _send(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if is_urgent():
            return self._get_method(Replica.urgently.__name__).remote(name, *args, **kwargs)
        return self._get_method(name).remote(*args, **kwargs)

    def _get_method(self, name: str) -> DeploymentHandle[T]:
        if name not in self._methods:
            self._methods[name] = self.handle.options(method_name=name)
        return self._methods[name]

    @property
    def _name(self) -> str:
        return f"pool {self.handle.deployment_name!r}"


async def _answer(response: DeploymentResponse[Any]) -> Any:
    """Await a response. If the caller is cancelled, also cancel the remote call, because Serve does not. Raises
    RayServeException if the remote process is stopping."""
    try:
        return await response
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            response.cancel()  # type: ignore[no-untyped-call]
            raise
        # This task was not cancelled, so the remote process cancelled the call, because it is stopping.
        raise RayServeException("the call was cancelled because its process is stopping") from None


def _extract_original_error(error: RayTaskError) -> Exception:
    """Return the error raised in the remote process, with its original type and full message."""
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, Exception) else error
