"""`python -m benchmarks.hostile.attacks service --url http://127.0.0.1:8765 --key ak_…`: attacks on a running service.

It attacks only your own service on this machine and needs a key with the scope `admin`. It creates two tenants, an
honest one and an attacker, and deletes both at the end. No evaluations are started. Without --url, it starts a service.

First it sends single requests that should be refused or answered in time. Then it sends 300 slow bodies, 512 streams,
tables of 40,000 columns and requests with 60 keys of one tenant at once, and compares the latency of the other tenant's
requests with that before the attack.
"""

import asyncio
import multiprocessing
import os
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import httpx2

from benchmarks.hostile.attacks.crowds import CROWDS, run_crowd
from benchmarks.hostile.attacks.honest import HonestAnswers, ask_honestly
from benchmarks.hostile.attacks.single import AttackResult, attack_one, single_attacks
from benchmarks.hostile.attacks.target import Target, prepare_target
from benchmarks.measuring import command_line
from benchmarks.service import Service, serving

_MOST_TIMES_SLOWER = 3.0
"""Maximum ratio of the p95 of honest requests under attack to the p95 without."""
_CEILINGS = ("ASSAYER_API__", "ASSAYER_KEYS__", "ASSAYER_BATCHES__")
"""Prefixes of environment variables that are passed to the service started here."""
_BAD = ("500", "502", "no answer", "held on")
"""Prefixes of responses that show that an attack did harm."""


class CrowdedService(NamedTuple):
    came_back: Mapping[str, Counter[str]]
    """Responses by attack."""
    alone: HonestAnswers
    under_attack: HonestAnswers

    @property
    def times_slower(self) -> float:
        return self.under_attack.p95 / self.alone.p95


def main(arguments: list[str]) -> None:
    parser = command_line("hostile.attacks service", __doc__)
    parser.add_argument("--url", default="", help="service to attack (default: start one without a language model)")
    parser.add_argument("--key", default=os.environ.get("ASSAYER_API_KEY", ""), help="API key with the scope admin")
    parser.add_argument("--seconds", type=float, default=30.0, help="duration of the crowd attacks in seconds")
    parser.add_argument("--only", choices=("single", "crowds"), default=None)
    parser.add_argument("--crowd", action="append", choices=tuple(CROWDS), help="crowd attack to run (default: all)")
    options = parser.parse_args(arguments)
    sys.exit(asyncio.run(_run(options.url, options.key, options.seconds, options.only, options.crowd or tuple(CROWDS))))


async def _run(url: str, key: str, seconds: float, only_part: str | None, crowds: Sequence[str]) -> int:
    async with _service(url, key) as (address, admin), prepare_target(address, admin) as target:
        load = os.getloadavg()[0]
        outcomes = [] if only_part == "crowds" else [outcome async for outcome in _singles(target)]
        crowded_service = None if only_part == "single" else await _crowds(target, seconds, crowds)
    print(f"{os.cpu_count()} cores, load {load:.1f} before.\n")
    print(_table(outcomes, crowded_service))
    return 0 if _all_held(outcomes, crowded_service) else 1


@asynccontextmanager
async def _service(url: str, key: str) -> AsyncIterator[tuple[str, str]]:
    if url:
        yield url.rstrip("/"), key
        return
    with tempfile.TemporaryDirectory(prefix="assayer-attacks-") as folder:
        home = Path(folder)
        environment = {name: value for name, value in os.environ.items() if _is_kept(name)} | {
            "HOME": folder,
            "ASSAYER_HOME": folder,
        }
        async with serving(Service(home, (), environment)) as service:
            yield service.address, service.key


def _is_kept(name: str) -> bool:
    return name.startswith(_CEILINGS) or not name.startswith(("ASSAYER_", "OPENAI_"))


async def _singles(target: Target) -> AsyncIterator[AttackResult]:
    async with httpx2.AsyncClient(base_url=target.url, timeout=60) as client:
        for attack in single_attacks(target):
            yield await attack_one(client, target, attack)


async def _crowds(target: Target, seconds: float, crowds: Sequence[str]) -> CrowdedService:
    await ask_honestly(target, min(2.0, seconds))  # warm-up
    answers_alone = await ask_honestly(target, seconds)
    with ProcessPoolExecutor(len(crowds), multiprocessing.get_context("spawn")) as processes:
        attacks = {name: asyncio.wrap_future(processes.submit(run_crowd, name, target, seconds)) for name in crowds}
        under_attack = await ask_honestly(target, seconds)
        responses = {name: await attack for name, attack in attacks.items()}
    return CrowdedService(responses, answers_alone, under_attack)


def _all_held(outcomes: Sequence[AttackResult], crowded_service: CrowdedService | None) -> bool:
    if not all(item.holds for item in outcomes):
        return False
    if crowded_service is None:
        return True
    is_harmed = any(_is_harmful(response) for responses in crowded_service.came_back.values() for response in responses)
    return (
        not is_harmed
        and not crowded_service.under_attack.refusals
        and crowded_service.times_slower < _MOST_TIMES_SLOWER
    )


def _is_harmful(response: str) -> bool:
    return response.startswith(_BAD)


def _table(outcomes: Sequence[AttackResult], crowded_service: CrowdedService | None) -> str:
    lines = ["| attack | tried | held | what came back |", "|:--|--:|--:|:--|"]
    for kind in dict.fromkeys(item.kind for item in outcomes):
        outcomes_of_kind = [item for item in outcomes if item.kind == kind]
        slowest = max(item.seconds for item in outcomes_of_kind)
        response_text = _list_counts(Counter(item.came_back for item in outcomes_of_kind))
        lines.append(
            f"| {kind} | {len(outcomes_of_kind)} | {sum(item.holds for item in outcomes_of_kind)} | {response_text}; "
            f"the slowest in {slowest:.1f} s |"
        )
    if crowded_service is not None:
        for name, responses in crowded_service.came_back.items():
            harmful_count = sum(count for response_text, count in responses.items() if _is_harmful(response_text))
            lines.append(
                f"| {name} | {responses.total():,} | {responses.total() - harmful_count:,} | "
                f"{_list_counts(responses)} |"
            )
        lines += ["", *_latencies(crowded_service)]
    return "\n".join(lines)


def _latencies(crowded_service: CrowdedService) -> list[str]:
    rows = {"alone": crowded_service.alone, "under attack": crowded_service.under_attack}
    return [
        "| honest requests of another tenant | asked | refused | median | p95 |",
        "|:--|--:|--:|--:|--:|",
        *(
            f"| {name} | {len(row.seconds):,} | {row.refusals.total():,} | {1_000 * row.median:,.0f} ms "
            f"| {1_000 * row.p95:,.0f} ms |"
            for name, row in rows.items()
        ),
        "",
        f"p95 is {crowded_service.times_slower:.1f} times as long; the limit is {_MOST_TIMES_SLOWER:g}.",
    ]


def _list_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{response} × {count:,}" for response, count in counts.most_common())
