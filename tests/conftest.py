"""What holds for every test."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.loopback import loopback_only

# The same examples on every machine and every run: a rare one is found while developing (--hypothesis-profile=default
# draws anew), not by whoever comes to land something else.
# Nor is anything said about how long an example takes: machines are shared.
settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def nothing_leaves_loopback() -> Iterator[None]:
    """Refused before a socket opens, and a failure of the test; a test that provokes it watches for itself."""
    with loopback_only() as outbound:
        yield
    assert outbound.attempts == []
