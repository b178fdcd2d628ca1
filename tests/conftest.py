"""What holds for every test."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.loopback import loopback_only

# The same examples on every machine and every run: a rare one is found while developing (--hypothesis-profile=default
# draws anew), not by whoever comes to land something else.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def nothing_leaves_loopback() -> Iterator[None]:
    """Refused before a socket opens, and a failure of the test; a test that provokes it watches for itself."""
    with loopback_only() as outbound:
        yield
    assert outbound.attempts == []
