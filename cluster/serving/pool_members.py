"""Which processes a pool has, as this process last heard of them.

Kept apart from the router that is told of them: Serve sends that one's whole module by value, so that what it keeps in
its own module is seen by nobody else in the process.
"""

_MEMBERS: dict[str, tuple[str, ...]] = {}


def note_pool_members(pool: str, names: list[str]) -> None:
    _MEMBERS[pool] = tuple(sorted(names))


def pool_members(pool: str) -> tuple[str, ...]:
    """Return the names of the pool's processes, in order; empty until this process has called the pool."""
    return _MEMBERS.get(pool, ())
