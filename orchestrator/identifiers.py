"""Generation of identifiers that cannot be guessed and sort by creation time."""

import secrets
from collections.abc import Callable

from assayer.ports import Clock

IdGenerator = Callable[[str], str]
"""Function that returns a new id with a prefix, such as `ev_01k7zq9v3xj4t0c5m2h8r6w1ye`."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32 alphabet, without letters that look like digits."""
_RANDOM_BITS = 80
_CHARACTERS = 26


def id_generator(clock: Clock) -> IdGenerator:
    """Return a generator of ids with 48 bits of milliseconds followed by 80 random bits that cannot be guessed."""

    def draw(prefix: str) -> str:
        number = int(clock.now().timestamp() * 1000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
        digits = (_ALPHABET[number >> 5 * place & 31] for place in reversed(range(_CHARACTERS)))
        return f"{prefix}_{''.join(digits)}"

    return draw
