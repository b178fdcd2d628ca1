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
from benchmarks.hostile.attacks.single import AttackResult, generate_attacks, send_attack
from benchmarks.hostile.attacks.target import Target, prepare_target
from benchmarks.measuring import build_parser
from benchmarks.service import Service, run_service

_MAX_SLOWDOWN = 3.0
"""Maximum ratio of the p95 of honest requests under attack to the p95 without."""
_LIMIT_PREFIXES = ("ASSAYER_API__", "ASSAYER_KEYS__", "ASSAYER_BATCHES__")
"""Prefixes of environment variables that are passed to the service started here."""
_HARMFUL_RESPONSES = ("500", "502", "no answer", "held on")
"""Prefixes of responses that show that an attack did harm."""


class CrowdedService(NamedTuple):
    responses: Mapping[str, Counter[str]]
    """Responses by attack."""
    before_attack: HonestAnswers
    under_attack: HonestAnswers

    @property
    def slowdown(self) -> float:
        return self.under_attack.p95 / self.before_attack.p95


def main(arguments: list[str]) -> None:
    parser = build_parser("hostile.attacks service", __doc__)
    parser.add_argument("--url", default="", help="service to attack (default: start one without a language model)")
    parser.add_argument("--key", default=os.environ.get("ASSAYER_API_KEY", ""), help="API key with the scope admin")
    parser.add_argument("--seconds", type=float, default=30.0, help="duration of the crowd attacks in seconds")
    parser.add_argument("--only", choices=("single", "crowds"), default=None)
    parser.add_argument("--crowd", action="append", choices=tuple(CROWDS), help="crowd attack to run (default: all)")
    options = parser.parse_args(arguments)
    sys.exit(asyncio.run(_run(options.url, options.key, options.seconds, options.only, options.crowd or tuple(CROWDS))))


async def _run(url: str, key: str, seconds: float, part: str | None, crowd_names: Sequence[str]) -> int:
    async with _open_service(url, key) as (address, admin_key), prepare_target(address, admin_key) as target:
        load = os.getloadavg()[0]
        outcomes = [] if part == "crowds" else [outcome async for outcome in _run_single_attacks(target)]
        crowded_service = None if part == "single" else await _run_crowds(target, seconds, crowd_names)
    print(f"{os.cpu_count()} cores, load {load:.1f} before.\n")
    print(_format_table(outcomes, crowded_service))
    return 0 if _all_held(outcomes, crowded_service) else 1


@asynccontextmanager
async def _open_service(url: str, key: str) -> AsyncIterator[tuple[str, str]]:
    if url:
        yield url.rstrip("/"), key
        return
    with tempfile.TemporaryDirectory(prefix="assayer-attacks-") as folder:
        home = Path(folder)
        environment = {name: value for name, value in os.environ.items() if _is_inherited(name)} | {
            "HOME": folder,
            "ASSAYER_HOME": folder,
        }
        async with run_service(Service(home, (), environment)) as service:
            yield service.address, service.key


def _is_inherited(name: str) -> bool:
    return name.startswith(_LIMIT_PREFIXES) or not name.startswith(("ASSAYER_", "OPENAI_"))


async def _run_single_attacks(target: Target) -> AsyncIterator[AttackResult]:
    async with httpx2.AsyncClient(base_url=target.url, timeout=60) as client:
        for attack in generate_attacks(target):
            yield await send_attack(client, target, attack)


async def _run_crowds(target: Target, seconds: float, crowd_names: Sequence[str]) -> CrowdedService:
    await ask_honestly(target, min(2.0, seconds))  # warm-up
    answers_before = await ask_honestly(target, seconds)
    with ProcessPoolExecutor(len(crowd_names), multiprocessing.get_context("spawn")) as processes:
        attacks = {
            name: asyncio.wrap_future(processes.submit(run_crowd, name, target, seconds)) for name in crowd_names
        }
        under_attack = await ask_honestly(target, seconds)
        responses = {name: await attack for name, attack in attacks.items()}
    return CrowdedService(responses, answers_before, under_attack)


def _all_held(outcomes: Sequence[AttackResult], crowded_service: CrowdedService | None) -> bool:
    if not all(outcome.has_held for outcome in outcomes):
        return False
    if crowded_service is None:
        return True
    is_harmed = any(_is_harmful(response) for responses in crowded_service.responses.values() for response in responses)
    return not is_harmed and not crowded_service.under_attack.refusals and crowded_service.slowdown < _MAX_SLOWDOWN


def _is_harmful(response: str) -> bool:
    return response.startswith(_HARMFUL_RESPONSES)


def _format_table(outcomes: Sequence[AttackResult], crowded_service: CrowdedService | None) -> str:
    lines = ["| attack | tried | held | what came back |", "|:--|--:|--:|:--|"]
    for kind in dict.fromkeys(outcome.kind for outcome in outcomes):
        outcomes_of_kind = [outcome for outcome in outcomes if outcome.kind == kind]
        slowest = max(outcome.seconds for outcome in outcomes_of_kind)
        response_text = _list_counts(Counter(outcome.response for outcome in outcomes_of_kind))
        lines.append(
            f"| {kind} | {len(outcomes_of_kind)} | {sum(outcome.has_held for outcome in outcomes_of_kind)} "
            f"| {response_text}; the slowest in {slowest:.1f} s |"
        )
    if crowded_service is not None:
        for name, responses in crowded_service.responses.items():
            harmful_count = sum(count for response_text, count in responses.items() if _is_harmful(response_text))
            lines.append(
                f"| {name} | {responses.total():,} | {responses.total() - harmful_count:,} | "
                f"{_list_counts(responses)} |"
            )
        lines += ["", *_format_latencies(crowded_service)]
    return "\n".join(lines)


def _format_latencies(crowded_service: CrowdedService) -> list[str]:
    rows = {"alone": crowded_service.before_attack, "under attack": crowded_service.under_attack}
    return [
        "| honest requests of another tenant | asked | refused | median | p95 |",
        "|:--|--:|--:|--:|--:|",
        *(
            f"| {name} | {len(row.seconds):,} | {row.refusals.total():,} | {1_000 * row.median:,.0f} ms "
            f"| {1_000 * row.p95:,.0f} ms |"
            for name, row in rows.items()
        ),
        "",
        f"p95 is {crowded_service.slowdown:.1f} times as long; the limit is {_MAX_SLOWDOWN:g}.",
    ]


def _list_counts(counts: Counter[str]) -> str:
    return ", ".join(f"{response} × {count:,}" for response, count in counts.most_common())
