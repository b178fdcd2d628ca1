"""Common parts of all pool processes: settings, open context and background work."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Generic, Self, TypeVar

from assayer.errors import Defect
from assayer.models import Frozen
from assayer.run.context_variables import urgency
from cluster.log import configure_log
from cluster.serving.ray_metrics import export_to_ray
from cluster.serving.settings import ServingSettings
from cluster.settings import Profile, Settings
from cluster.settings_loading import load_settings


class ReplicaConfig(Frozen):
    """Configuration of a replica. It contains no secrets, because it is stored in the cluster and shown in its
    dashboard."""

    profile: Profile = "laptop"
    serving: ServingSettings | None = None
    """Serving settings; None uses those of the loaded settings."""

    def settings(self) -> Settings:
        """Load the settings. Raises ConfigurationError."""
        settings = load_settings(self.profile)
        return settings if self.serving is None else settings.model_copy(update={"serving": self.serving})


T = TypeVar("T")


class BackgroundContext(Generic[T]):
    """Context that is entered and left by the same task, as required by task groups inside it."""

    def __init__(self, context: AbstractAsyncContextManager[T]) -> None:
        self._opened: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._stop = asyncio.Event()
        self._task = asyncio.create_task(self._live(context))

    @classmethod
    async def open(cls, context: AbstractAsyncContextManager[T]) -> Self:
        """Enter the context. Raises the errors of entering it."""
        holding = cls(context)
        either: set[asyncio.Future[Any]] = {holding._opened, holding._task}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not holding._opened.done():
            await holding._task
        return holding

    @property
    def value(self) -> T:
        return self._opened.result()

    @property
    def task(self) -> "asyncio.Task[None]":
        """Task that runs as long as the context is open."""
        return self._task

    async def close(self) -> None:
        """Leave the context. Raises the errors of leaving it."""
        self._stop.set()
        await self._task

    async def _live(self, context: AbstractAsyncContextManager[T]) -> None:
        async with context as value:
            self._opened.set_result(value)
            await self._stop.wait()


@asynccontextmanager
async def background_task(work: Coroutine[Any, Any, None]) -> AsyncIterator["asyncio.Task[None]"]:
    """Run work in a background task. The caller must check that it is still running; on exit, the task is cancelled and
    awaited."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def ensure_running(task: "asyncio.Task[None]", what: str) -> None:
    """Raise Defect with the reason if work that should keep running has ended."""
    if task.done():
        why = "it was cancelled" if task.cancelled() else repr(task.exception())
        raise Defect(f"{what} has stopped: {why}.")


class Replica:
    """Base class of pool processes, which pass every call on to a plain object."""

    @staticmethod
    def begin(config: ReplicaConfig) -> Settings:
        """Return the settings of this process, and start its service log and metrics export. Raises
        ConfigurationError."""
        settings = config.settings()
        # Standard error of a process of Ray ends up in Ray's own folder, which goes when a Ray of our own does.
        configure_log(settings.log, settings.home / "logs" / "service.jsonl" if settings.serving.one_machine else None)
        export_to_ray()
        return settings

    async def urgently(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call the method with urgency, for a caller that is waiting for the answer."""
        with urgency(urgent=True):
            return await getattr(self, method)(*args, **kwargs)

    async def check_health(self) -> None:
        """Report health to Serve, which replaces a process that does not respond in time or raises an error here."""
