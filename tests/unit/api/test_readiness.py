"""Concurrent readiness checks, and those shortly afterwards, share one check."""

import asyncio

from orchestrator.problems import Check
from orchestrator.web.readiness import Readiness


class SlowChecks:
    def __init__(self) -> None:
        self.count = 0
        self.may_end = asyncio.Event()
        self.now = 100.0

    async def __call__(self) -> list[Check]:
        self.count += 1
        await self.may_end.wait()
        return [Check(name="look", ok=True, detail=str(self.count))]


async def test_readiness_result_is_cached_after_check_completes() -> None:
    checks = SlowChecks()
    readiness = Readiness(checks, 2.0, lambda: checks.now)
    requests = [asyncio.create_task(readiness.run_checks()) for _ in range(50)]
    await asyncio.sleep(0)
    checks.now += 10
    checks.may_end.set()
    assert {checks[0].detail for checks in await asyncio.gather(*requests)} == {"1"}
    checks.now += 1.9
    assert (await readiness.run_checks())[0].detail == "1"
    checks.now += 0.1
    assert (await readiness.run_checks())[0].detail == "2"
