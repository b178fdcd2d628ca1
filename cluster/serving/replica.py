"""What all processes of the pools have in common."""

from typing import Any

from assayer.urgency import waiting
from cluster.log import write_log
from cluster.serving.where import Where
from cluster.settings import Settings

__all__ = ["Replica"]


class Replica:
    """Holds a plain object and hands every call on to it."""

    @staticmethod
    def begin(where: Where) -> Settings:
        """The settings of this process, which writes the service's log from now on. Raises ConfigurationError."""
        settings = where.settings()
        # Standard error of a process of Ray ends up in Ray's own folder, which goes when a Ray of our own does.
        write_log(settings.log, settings.home / "logs" / "service.jsonl" if settings.serving.one_machine else None)
        return settings

    async def urgently(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """The method, for somebody who waits for it."""
        with waiting(somebody=True):
            return await getattr(self, method)(*args, **kwargs)

    async def check_health(self) -> None:
        """Serve replaces a process that does not come round to this in time, or in which it raises."""
