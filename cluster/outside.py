"""The web and hosts of code as evaluations ask them, composed from the settings."""

import datetime as dt
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from assayer.models import Codebase, Page
from assayer.ports import Clock, Code, Web
from assayer.run import Run
from cluster.settings import Settings
from workers.code.cloning import Cloner
from workers.code.run_code import RunCode
from workers.fetching.downloads import Downloader
from workers.full_texts.storage import Storage
from workers.keeping import Keeper
from workers.remote.call import Ask, Remote
from workers.remote.journalled import Journalled
from workers.web.reading import PageReader
from workers.web.run_web import RunWeb
from workers.web.search import WebSearch

__all__ = ["Outside", "open_outside"]


@dataclass(frozen=True)
class Outside:
    """Beyond the literature. Made once; every evaluation gets its own view."""

    web: Callable[[Run], Web] | None = None
    code: Callable[[Run], Code] | None = None

    @property
    def version(self) -> list[str]:
        """What may be asked, for the request that a report answers."""
        return [name for name, one in (("web", self.web), ("code", self.code)) if one is not None]


async def open_outside(settings: Settings, courier: Remote, clock: Clock, stack: AsyncExitStack) -> Outside:
    """Raises ConfigurationError where something is configured that the installation lacks."""
    storage = Storage(settings.full_texts.store or str(settings.home / "documents"))
    return Outside(
        web=await _web(settings, courier, storage, clock, stack) if settings.web.on else None,
        code=_code(settings, courier, storage, clock) if settings.github.on else None,
    )


async def _web(
    settings: Settings, courier: Remote, storage: Storage, clock: Clock, stack: AsyncExitStack
) -> Callable[[Run], Web]:
    downloader = await stack.enter_async_context(Downloader(settings.fetching, clock))
    reader = PageReader(downloader, settings.pages, clock)
    kept = Keeper(storage, "pages", Page, clock, settings.pages.keep, settings.pages.retry)
    return lambda run: RunWeb(WebSearch(Journalled(courier, run.journal)), reader, kept, _ask(settings, run))


def _code(settings: Settings, courier: Remote, storage: Storage, clock: Clock) -> Callable[[Run], Code]:
    cloner = Cloner(settings.code) if settings.code.clone_url else None
    kept = Keeper(storage, "code", Codebase, clock, dt.timedelta.max, settings.code.retry)
    return lambda run: RunCode(Journalled(courier, run.journal), cloner, kept, settings.code, _ask(settings, run))


def _ask(settings: Settings, run: Run) -> Ask:
    return Ask(run.id, settings.literature.patience_seconds)
