"""Names of the processes of each pool, as last reported to this process.

The state is not in the router's module, which receives the reports, because Serve pickles that module by value, and
other code in the process would not see its state."""

_MEMBERS: dict[str, tuple[str, ...]] = {}


def note_pool_members(pool: str, names: list[str]) -> None:
    _MEMBERS[pool] = tuple(sorted(names))


def pool_members(pool: str) -> tuple[str, ...]:
    """Return the names of the pool's processes, in order; empty until this process has called the pool."""
    return _MEMBERS.get(pool, ())
