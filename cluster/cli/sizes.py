"""How the commands write a number of bytes."""

__all__ = ["size"]

_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def size(count: float) -> str:
    """With one digit behind the point: 1.2 GB; of less than a thousand, 12 B."""
    unit = next(((each, name) for each, name in _UNITS if count >= each), None)
    return f"{count / unit[0]:,.1f} {unit[1]}" if unit else f"{count:.0f} B"
