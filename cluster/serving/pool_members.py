"""Processes of each pool, as last reported to this process.

This module is separate from the router that receives the reports, because Serve sends the router's whole module by
value, so that state in that module would not be visible to other code in the process."""

_MEMBERS: dict[str, tuple[str, ...]] = {}


def note_pool_members(pool: str, names: list[str]) -> None:
    _MEMBERS[pool] = tuple(sorted(names))


def pool_members(pool: str) -> tuple[str, ...]:
    """Return the names of the pool's processes, in order; empty until this process has called the pool."""
    return _MEMBERS.get(pool, ())
