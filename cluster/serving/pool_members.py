"""Names of each pool's processes, as last reported to this process.

The state is kept here rather than in the router's module, which receives the reports. Serve pickles that module by
value, so other code in the process would not see its state."""

_MEMBERS: dict[str, tuple[str, ...]] = {}


def note_pool_members(pool: str, names: list[str]) -> None:
    _MEMBERS[pool] = tuple(sorted(names))


def pool_members(pool: str) -> tuple[str, ...]:
    """Return the names of a pool's processes, in order; empty until this process has called the pool."""
    return _MEMBERS.get(pool, ())
