"""Code shared by all pool processes: settings, log, long-lived contexts and background tasks."""

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
    """A replica's configuration. It must contain no secrets, because the cluster stores it and shows it in its
    dashboard."""

    profile: Profile = "laptop"
    serving: ServingSettings | None = None
    """Serving settings; None uses those in the loaded settings."""

    def load_settings(self) -> Settings:
        """Load the settings. Raises ConfigurationError if they are invalid."""
        settings = load_settings(self.profile)
        return settings if self.serving is None else settings.model_copy(update={"serving": self.serving})


T = TypeVar("T")


class BackgroundContext(Generic[T]):
    """Context that a background task enters and leaves, because task groups inside it must be left by the task that
    entered them."""

    def __init__(self, context: AbstractAsyncContextManager[T]) -> None:
        self._value_future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._stop = asyncio.Event()
        self._task = asyncio.create_task(self._keep_open(context))

    @classmethod
    async def open(cls, context: AbstractAsyncContextManager[T]) -> Self:
        """Enter the context. Raises its errors."""
        background = cls(context)
        futures: set[asyncio.Future[Any]] = {background._value_future, background._task}
        await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
        if not background._value_future.done():
            await background._task
        return background

    @property
    def value(self) -> T:
        return self._value_future.result()

    @property
    def task(self) -> "asyncio.Task[None]":
        """Task that runs as long as the context is open."""
        return self._task

    async def close(self) -> None:
        """Leave the context. Raises its errors."""
        self._stop.set()
        await self._task

    async def _keep_open(self, context: AbstractAsyncContextManager[T]) -> None:
        async with context as value:
            self._value_future.set_result(value)
            await self._stop.wait()


@asynccontextmanager
async def run_background_task(work: Coroutine[Any, Any, None]) -> AsyncIterator["asyncio.Task[None]"]:
    """Run work in a background task. The caller must check that it is still running. On exit, the task is cancelled and
    awaited."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def ensure_running(task: "asyncio.Task[None]", task_name: str) -> None:
    """Raise Defect, with the reason, if work that should keep running has ended."""
    if task.done():
        reason = "it was cancelled" if task.cancelled() else repr(task.exception())
        raise Defect(f"{task_name} has stopped: {reason}.")


class Replica:
    """Base class for the classes that Serve deploys in pools."""

    @staticmethod
    def begin(config: ReplicaConfig) -> Settings:
        """Return this process's settings, after starting its service log and metrics export. Raises ConfigurationError
        if the settings are invalid."""
        settings = config.load_settings()
        # Ray writes standard error to its own folder, which is deleted together with a private cluster.
        configure_log(settings.log, settings.home / "logs" / "service.jsonl" if settings.serving.one_machine else None)
        export_to_ray()
        return settings

    async def urgently(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Call a method as an urgent request, on behalf of an interactive caller."""
        with urgency(urgent=True):
            return await getattr(self, method)(*args, **kwargs)

    async def check_health(self) -> None:
        """Report health to Serve, which replaces a process that does not respond in time or raises an error here."""
