"""Names of things: unguessable, and in the order in which they were drawn."""

import secrets
from collections.abc import Callable
from typing import Annotated

from fastapi import Path

from assayer.ports import Clock

__all__ = ["IdGenerator", "PathId", "id_generator"]

PathId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
"""Of a thing, in the path of a request."""

IdGenerator = Callable[[str], str]
"""A new id with this prefix: `ev_01k7zq9v3xj4t0c5m2h8r6w1ye`."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32, without letters that look like digits."""
_RANDOM_BITS = 80
_CHARACTERS = 26


def id_generator(clock: Clock) -> IdGenerator:
    """48 bits of milliseconds, then 80 that nobody can guess."""

    def draw(prefix: str) -> str:
        number = int(clock.now().timestamp() * 1000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
        digits = (_ALPHABET[number >> 5 * place & 31] for place in reversed(range(_CHARACTERS)))
        return f"{prefix}_{''.join(digits)}"

    return draw
