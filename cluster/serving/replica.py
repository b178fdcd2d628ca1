"""What all processes of the pools have in common."""

__all__ = ["Replica"]


class Replica:
    """Holds a plain object and hands every call on to it."""

    async def check_health(self) -> None:
        """Serve replaces a process that does not come round to this in time, or in which it raises."""
