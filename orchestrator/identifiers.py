"""Generation of identifiers that cannot be guessed and that sort by creation time."""

import secrets
from collections.abc import Callable

from assayer.ports import Clock

IdGenerator = Callable[[str], str]
"""A function that returns a new id with a prefix, such as `ev_01k7zq9v3xj4t0c5m2h8r6w1ye` for `ev`."""

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32 alphabet, which omits letters that can be confused with digits."""
_RANDOM_BITS = 80
_ID_CHARACTERS = 26


def create_id_generator(clock: Clock) -> IdGenerator:
    """Return a function that generates ids. They consist of the time in milliseconds (48 bits) followed by 80 random
    bits."""

    def generate_id(prefix: str) -> str:
        number = int(clock.now().timestamp() * 1000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
        digits = (_ALPHABET[number >> 5 * digit & 31] for digit in reversed(range(_ID_CHARACTERS)))
        return f"{prefix}_{''.join(digits)}"

    return generate_id
