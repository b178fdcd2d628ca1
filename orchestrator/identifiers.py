"""Generation of identifiers that cannot be guessed and whose order is that of their creation."""

import secrets
from collections.abc import Callable

from assayer.ports import Clock

IdGenerator = Callable[[str], str]
"""Function that returns a new id with the given prefix, such as `ev_01k7zq9v3xj4t0c5m2h8r6w1ye` for `ev`."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Alphabet of Crockford's base 32, which omits letters that can be confused with digits."""
_RANDOM_BITS = 80
_CHARACTERS = 26


def id_generator(clock: Clock) -> IdGenerator:
    """Return a generator of ids, which consist of the time in milliseconds (48 bits) followed by 80 random bits."""

    def draw(prefix: str) -> str:
        number = int(clock.now().timestamp() * 1000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
        digits = (_ALPHABET[number >> 5 * place & 31] for place in reversed(range(_CHARACTERS)))
        return f"{prefix}_{''.join(digits)}"

    return draw
