"""Probes of the judges of rewards, from making them to the lines that are printed."""

import argparse
import asyncio
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from assayer.errors import ConfigurationError
from assayer.methods.debate.composition import COMPOSITIONS
from assayer.methods.debate.options import DEFAULT_COMPOSITION
from assayer.models.reward import DebateRole
from assayer.ports import Embedder
from benchmarks.quality import runs
from benchmarks.quality.given import Given
from benchmarks.quality.kept import reasons
from benchmarks.quality.rewards import tables
from benchmarks.quality.rewards.debates import noisy_debates
from benchmarks.quality.rewards.noise import GULLIBLE, ORACLE, SeatErrors, noises
from benchmarks.quality.rewards.passing import passed_before_viewpoints, passed_by_rules, passed_over_http, write_csv
from benchmarks.quality.rewards.probes import Probe, by_kind, made_probes
from benchmarks.quality.rewards.references import references, reworded, summarised
from benchmarks.quality.rewards.with_model import scripted_debates
from workers.embedding.hashing_embedder import HashingEmbedder

__all__ = ["add_rewards_options", "rewards"]

_REFERENCES = 400
_BEFORE_VIEWPOINTS = 40
"""Probes of a kind: each takes some 20 embeddings."""


def add_rewards_options(part: argparse.ArgumentParser) -> None:
    part.add_argument(
        "--compositions",
        nargs="+",
        choices=COMPOSITIONS,
        help=f"over HTTP: all before scripts, {DEFAULT_COMPOSITION} before a model if not given",
    )
    part.add_argument("--each", type=int, default=8, help="probes of a kind that seats are asked about over HTTP")
    part.add_argument("--debates", type=int, default=40_000, help="by rules alone: of a composition, noise and truth")
    part.add_argument(
        "--errors",
        nargs="+",
        type=_errors,
        default=[],
        metavar="ROLE=YES/NO",
        help="chances of a wrong yes and a wrong no of a role's seats, e.g. analyst=0.1/0.2",
    )
    part.add_argument("--shared", type=float, default=0.7, help="how often seats follow a belief they have in common")
    part.add_argument(
        "--hashed",
        action="store_true",
        help="hashed words in place of the embedding model: the judge without a language model then gives no reward",
    )


def _errors(text: str) -> tuple[DebateRole, SeatErrors]:
    roles: Mapping[str, DebateRole] = {"analyst": "analyst", "critic": "critic", "evaluator": "evaluator"}
    role, _, rates = text.partition("=")
    yes, _, no = rates.partition("/")
    if role not in roles:
        raise argparse.ArgumentTypeError(f"{role!r} has no vote: one of {', '.join(roles)}")
    try:
        return roles[role], SeatErrors(false_yes=float(yes), false_no=float(no))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no ROLE=YES/NO with chances from 0 to 1") from error


def rewards(given: Given) -> Iterator[str]:
    seed = given.asked.seeds[0]
    count = given.asked.first or _REFERENCES
    probes = [*made_probes(references(count, seed), reworded(count), summarised(count), seed)]
    yield from tables.guard_table(by_kind(probes))
    reached = [one for kind in by_kind(probes).values() for one in _reaching(kind)[: given.options.each]]
    if given.asked.judge in ("endpoint", "simulator"):
        yield from given.warning()
        yield from _before_a_model(given, reached)
    elif given.asked.judge is None:
        yield from _before_scripts(given, probes, reached)
        yield from _before_viewpoints(given, probes)
    else:
        raise ConfigurationError(
            f"The script {given.asked.judge!r} compares ideas, and has no seat in a debate.",
            "Leave --judge away: debates between scripted seats are held without being asked for.",
        )


def _reaching(probes: Sequence[Probe]) -> list[Probe]:
    return [one for one in probes if one.stop is None]


def _before_a_model(given: Given, probes: Sequence[Probe]) -> Iterator[str]:
    for name in given.options.compositions or (DEFAULT_COMPOSITION,):
        outcomes = asyncio.run(runs.rewards(given.asked, given.settings, COMPOSITIONS[name], probes))
        yield f"\n## {name}, seats of {given.asked.judge}\n"
        yield from tables.model_table(outcomes, by_kind(probes))
        yield from reasons(outcomes)


def _before_scripts(given: Given, probes: Sequence[Probe], reached: Sequence[Probe]) -> Iterator[str]:
    yield "\nSeats are scripts from here on: they err at invented rates and read nothing. This says what the rules make"
    yield "of such errors, and nothing about any model.\n"
    every = noises(given.options.shared, dict(given.options.errors) or None)
    judges = (GULLIBLE, ORACLE, *every[-2:])
    passed = passed_by_rules(probes, judges)
    path = given.asked.out / "reward-probes.csv"
    write_csv(passed, path)
    yield from tables.kind_table(passed, DEFAULT_COMPOSITION)
    yield from tables.composition_table([one for one in passed if one.noise not in (GULLIBLE.name, ORACLE.name)])
    yield f"\nEvery kind before every composition of every judge: {path}\n"
    chosen = [COMPOSITIONS[name] for name in given.options.compositions or COMPOSITIONS]
    debates = asyncio.run(scripted_debates(judges, chosen, reached, given.asked.out / "scripted"))
    path = given.asked.out / "reward-probes-over-http.csv"
    write_csv(passed_over_http(debates), path)
    yield from tables.http_table(debates)
    yield f"\nEvery kind before every composition: {path}"
    dice = np.random.default_rng(given.asked.seeds[0])
    counted = [
        noisy_debates(composition, noise, given.options.debates, dice)
        for noise in every
        for composition in COMPOSITIONS.values()
    ]
    yield from tables.noise_tables(counted)
    yield from tables.calls_table(counted)


def _before_viewpoints(given: Given, probes: Sequence[Probe]) -> Iterator[str]:
    judge = given.settings.debate.viewpoints
    some = [one for kind in by_kind(probes).values() for one in kind[:_BEFORE_VIEWPOINTS]]
    embedder: Embedder = HashingEmbedder() if given.options.hashed else given.embedder
    yield from tables.viewpoints_table(passed_before_viewpoints(some, embedder, judge), judge)
