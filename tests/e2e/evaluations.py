"""The evaluations that tests look at, each made once for all tests that look at it."""

import datetime as dt
import os
import signal
from collections.abc import Mapping
from typing import NamedTuple

import pytest

from simulator.counters import Stats
from simulator.outside.counters import Stats as OutsideStats
from simulator.outside.process import OutsideWorld
from simulator.process import Simulator
from tests.e2e.program import (
    CORPUS,
    IDEAS,
    Ended,
    Homes,
    Program,
    build_full_text_settings,
    build_source_settings,
    run_simulator,
)
from tests.fork_server import Piped
from tests.polling import LONGEST_SECONDS, wait_until

OWN_REFERENCES = """[1] Ada Abara. Graph neural networks for protein folding. 2013.
[2] Ada Abara. Graph neural networks for protein folding. 1999.
[3] Ann Nobody. Sparse curriculum of molecule segmentation for road puzzles. NeurIPS, 2019.
"""
"""References of the first idea when sources are enabled: one as in a source, one with another year, one invented."""
BEYOND_THE_CORPUS = """# Sparse attention for protein folding

Progress in protein folding is held back by residue contacts. We study sparse attention, that is attention over a few
learned positions, beside graph neural networks, contrastive pretraining and diffusion models for protein folding. On 90
CASP targets we compare message passing over neighbours with attention over a few learned positions, most where residue
contacts are rare, and ask whether diffusion models for molecule design carry over. An ablation leaves contrastive
pretraining out.
"""
"""Idea whose literature the services know, but the corpus does not contain."""
SOUND_SEED = 2
"""A seed with which no answer of the simulator fails a check, so that calls and answers are equal in number."""
SCHOLAREVAL = ("--method", "scholareval")
"""Method with the most kinds of requests, so that losses, limits and kills affect it most."""
TWO_IDEAS = (IDEAS / "quote-then-abstain.md", IDEAS / "pairwise-idea-ranking.json")


class Evaluated(NamedTuple):
    ended: Ended
    program: Program
    stats: Stats
    """Counts of the simulator."""


class BareRun(NamedTuple):
    """Evaluations without a language model, with the default installation."""

    program: Program
    first: Ended
    again: Ended
    """Second run, with unusable files among the ideas; its reports are in `again`."""


class ToppedUpRuns(NamedTuple):
    """Runs with remote sources; the second run's reports are in `second`."""

    first: Ended
    second: Ended
    program: Program
    stats: Mapping[str, OutsideStats]
    """Counts of the services during the first run."""


class Kill(NamedTuple):
    at: dt.datetime
    answered: int
    """Answers that the simulator had given until then."""


class KilledRun(NamedTuple):
    """An evaluation killed alone, then together with its database; in the end its database is killed under it."""

    ended: Ended
    program: Program
    stats: Stats
    alone: Kill
    left_behind: int | None
    """Process id of the database server after the first kill."""
    with_database: Kill
    used: int | None
    """Process id of the database server at the second kill."""


class BoardedRuns(NamedTuple):
    """Two evaluations of an idea with InnoEval's board; `again` holds the second."""

    first: Ended
    again: Ended
    program: Program
    stats: Stats
    """Counters after the first run."""
    stats_again: Stats
    outside: Mapping[str, int]
    """Requests that hosts of pages and code were sent in the first."""
    outside_again: Mapping[str, int]
    """Requests in both runs together, by service."""


@pytest.fixture(scope="session")
def undisturbed_run(homes: Homes) -> Evaluated:
    """Evaluate two ideas with a model whose answers are all sound."""
    program = homes.create_home("undisturbed")
    with run_simulator(seed=SOUND_SEED, latency_mean=0.05) as simulated:
        result = program.with_simulator(simulated).run("evaluate", *TWO_IDEAS, *SCHOLAREVAL)
        return Evaluated(result, program, simulated.read_stats())


@pytest.fixture(scope="session")
def dated_run(homes: Homes) -> Evaluated:
    """The same up to a day."""
    program = homes.create_home("dated")
    with run_simulator(latency_mean=0.05) as simulated:
        result = program.with_simulator(simulated).run(
            "evaluate", *TWO_IDEAS, *SCHOLAREVAL, "--cutoff", "2022-12-31", "--format", "json"
        )
        return Evaluated(result, program, simulated.read_stats())


@pytest.fixture(scope="session")
def budgeted_run(homes: Homes) -> Evaluated:
    """Evaluation of an idea with a budget of half the tokens that it needs."""
    program = homes.create_home("budgeted").with_settings(EVALUATION__MAX_PROMPT_TOKENS=60_000)
    with run_simulator(latency_mean=0.05) as simulated:
        result = program.with_simulator(simulated).run("evaluate", TWO_IDEAS[0], *SCHOLAREVAL, "--format", "json")
        return Evaluated(result, program, simulated.read_stats())


@pytest.fixture(scope="session")
def faulty_run(homes: Homes) -> Evaluated:
    """Evaluation with faults in nearly half of the answers and only one repair each, so that some calls fail."""
    program = homes.create_home("faulty").with_settings(LLM__REPAIR_ATTEMPTS=1, LLM__BACKOFF_INITIAL_SECONDS=0.05)
    with run_simulator(
        seed=3,
        latency_mean=0.05,
        answer_fault_rate=0.45,
        rate_limit_rate=0.05,
        retry_after=0.1,
        server_error_rate=0.03,
        drop_rate=0.02,
    ) as simulated:
        result = program.with_simulator(simulated).run("evaluate", *TWO_IDEAS, *SCHOLAREVAL, "--format", "json")
        return Evaluated(result, program, simulated.read_stats())


@pytest.fixture(scope="session")
def bare_run(homes: Homes) -> BareRun:
    full_program = homes.create_home("bare")
    program = full_program.without_extras()
    (program.home / "empty.txt").touch()
    (program.home / "binary.md").write_bytes(bytes(range(256)) * 40)
    mixed_files = ("empty.txt", TWO_IDEAS[0], "binary.md", "nowhere.txt")
    return BareRun(
        program=program,
        first=program.run("evaluate", IDEAS),
        again=full_program.run("evaluate", *mixed_files, "--out", "again", "--format", "json"),
    )


@pytest.fixture(scope="session")
def revoked_run(homes: Homes) -> Evaluated:
    """The key stops working when one of two ideas has its report."""
    program = homes.create_home("revoked").with_settings(EVALUATION__CONCURRENCY=1)
    with run_simulator(latency_mean=0.1) as simulated:
        process = program.with_simulator(simulated).start("evaluate", *TWO_IDEAS, *SCHOLAREVAL, "--format", "json")
        wait_until(lambda: process.poll() is not None or any(program.out.glob("*.json")))
        simulated.configure(api_key="sk-another")
        with process:
            out, err = process.communicate(timeout=LONGEST_SECONDS)
        return Evaluated(Ended(process.wait(), out, err), program, simulated.read_stats())


@pytest.fixture(scope="session")
def topped_up_runs(homes: Homes) -> ToppedUpRuns:
    """Run with every remote source enabled; two are unavailable in the second run, which uses another idea."""
    program = homes.create_home("topped_up")
    with OutsideWorld(with_limits=False) as world, run_simulator(latency_mean=0.05) as simulated:
        short_spacings = {
            f"{source}__SPACING_SECONDS": 0.02 for source in ("S2", "ARXIV", "OPENALEX", "CROSSREF", "UNPAYWALL")
        }
        unavailable_sources = {"ARXIV__ATTEMPTS": 1, "OPENALEX__ATTEMPTS": 1}
        program = program.with_simulator(simulated).with_settings(
            **build_source_settings(world), **build_full_text_settings(world), **short_spacings, **unavailable_sources
        )
        idea_with_references = program.home / TWO_IDEAS[0].name
        idea_with_references.write_text(
            f"{TWO_IDEAS[0].read_text('utf-8')}\n\n## References\n\n{OWN_REFERENCES}", "utf-8"
        )
        other_field_idea = program.home / "protein-folding.md"
        other_field_idea.write_text(BEYOND_THE_CORPUS, "utf-8")
        first = program.run("evaluate", idea_with_references, TWO_IDEAS[1], other_field_idea, *SCHOLAREVAL)
        stats = {
            name: world.read_stats(name) for name in ("semantic_scholar", "arxiv", "openalex", "crossref", "files")
        }
        world.configure("arxiv", down=True)
        world.configure("openalex", malformed_rate=1.0)
        unread = IDEAS / "coral-acoustics.txt"
        second = program.run("evaluate", unread, *SCHOLAREVAL, "--format", "json", "--out", "second")
        return ToppedUpRuns(first, second, program, stats)


@pytest.fixture(scope="session")
def killed_run(homes: Homes) -> KilledRun:
    program = homes.create_home("killed")
    command = ("evaluate", *TWO_IDEAS, *SCHOLAREVAL, "--format", "json")
    with run_simulator(seed=SOUND_SEED, latency_mean=0.1) as simulated:
        configured_program = program.with_simulator(simulated)

        process = configured_program.start(*command)
        _await_answers(process, simulated, 10)
        answered_alone = _kill(process, simulated)
        left_behind = program.server

        process = configured_program.start(*command)
        _await_answers(process, simulated, answered_alone.answered + 10)
        database_used = program.server
        with_database = _kill(process, simulated, database_used)

        process = configured_program.start(*command)
        _await_answers(process, simulated, with_database.answered + 5)
        last = program.server
        assert last is not None
        os.kill(last, signal.SIGKILL)
        with process:
            out, err = process.communicate(timeout=LONGEST_SECONDS)
        result = Ended(process.wait(), out, err)
        return KilledRun(
            result, program, simulated.read_stats(), answered_alone, left_behind, with_database, database_used
        )


@pytest.fixture(scope="session")
def boarded_runs(homes: Homes) -> BoardedRuns:
    """Two evaluations of an idea with InnoEval and a cutoff, with papers, the web and code."""
    program = homes.create_home("boarded")
    command = ("evaluate", TWO_IDEAS[0], "--method", "innoeval", "--cutoff", "2022-06-30")
    with OutsideWorld(CORPUS, with_limits=False) as world, run_simulator(latency_mean=0.05) as simulated:
        source_addresses = {
            name: address
            for name, address in build_source_settings(world).items()
            if name.startswith(("WEB", "GITHUB"))
        }
        short_spacings = {
            "WEB__SPACING_SECONDS": 0,
            "GITHUB__SPACING_SECONDS": 0,
            "CODE__ARCHIVE_URL": world.url("github/archive"),
        }
        # What a page or a repository may take is no subject here: on a busy machine none may run out of time.
        patient_settings = {
            "PAGES__WALL_SECONDS": 120,
            "PAGES__CPU_SECONDS": 100,
            "PAGES__DOWNLOAD__SECONDS": 120,
            "PAGES__DOWNLOAD__ANSWER_SECONDS": 100,
            "PAGES__DOWNLOAD__PATIENCE": 100,
        }
        program = program.with_simulator(simulated).with_settings(
            **source_addresses, **short_spacings, **patient_settings, FETCHING__ALLOW="127.0.0.0/8"
        )
        first = program.run(*command)
        stats = simulated.read_stats()
        outside_first = {name: world.read_stats(name).requests for name in ("web", "github", "pages")}
        again = program.run(*command, "--format", "json", "--out", "again")
        outside_again = {name: world.read_stats(name).requests for name in outside_first}
        return BoardedRuns(first, again, program, stats, simulated.read_stats(), outside_first, outside_again)


def _await_answers(process: Piped, simulated: Simulator, answers: int) -> None:
    """Returns in the middle of an evaluation, with questions in flight."""

    def has_reached() -> bool:
        stats = simulated.read_stats()
        return process.poll() is not None or (stats.answered >= answers and stats.in_flight > 0)

    wait_until(has_reached)
    assert process.poll() is None, process.communicate()


def _kill(process: Piped, simulated: Simulator, database: int | None = None) -> Kill:
    for pid in filter(None, (database, process.pid)):
        os.kill(pid, signal.SIGKILL)
    killed_at = dt.datetime.now(dt.UTC)
    with process:
        process.communicate()
    wait_until(lambda: simulated.read_stats().in_flight == 0)
    return Kill(killed_at, simulated.read_stats().answered)
