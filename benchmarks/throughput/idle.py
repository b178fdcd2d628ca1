"""`python -m benchmarks.throughput.idle`: what the service takes when nobody asks anything, and what Ray takes anyway.

One after another: `assayer serve` in one process, Ray alone, Ray with Serve and one deployment that does nothing, and
`assayer serve --ray`. Ray is started as the service starts it, and counted with the process that started it.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import psutil

from benchmarks.chaos.processes import database_server, end, family, free_port
from benchmarks.chaos.service import Service, serving
from benchmarks.simulator.process import Simulator
from benchmarks.throughput.machine import machine
from benchmarks.throughput.watching import Watch

__all__ = ["main"]

_SETTLE_SECONDS = 30.0
"""What was begun at the start ends, and what is loaded for the first time is loaded."""
_TITLE = 60
"""Characters of a process's title that tell what it is."""


class ProcessCost(NamedTuple):
    title: str
    share: float
    """Of a core."""
    bytes: int


class IdleCost(NamedTuple):
    name: str
    start_seconds: float
    """Until it answers, or until there is a cluster."""
    share: float
    """Of a core, all processes together."""
    bytes: int
    """The most meanwhile."""
    database_share: float | None
    each: Sequence[ProcessCost]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.throughput.idle", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="directory that `assayer corpus build` made")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long each is watched")
    parser.add_argument("--only", choices=tuple(_MEASURES), help="one of them")
    parser.add_argument("--hold", choices=("ray", "serve"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.hold:
        _hold(options.hold)
        return
    print(f"Machine: {machine()}; load {os.getloadavg()[0]:.1f} before", flush=True)
    costs = []
    for name, measure in _MEASURES.items():
        if options.only in (None, name):
            costs.append(measure(name, options))
            print(_each(costs[-1]), flush=True)
    print("\n" + _table(costs))
    print(f"\nLoad {os.getloadavg()[0]:.1f} afterwards")


def _measured_service(arguments: tuple[str, ...], name: str, options: argparse.Namespace) -> IdleCost:
    prefix = "assayer-idle-"
    with tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True) as folder, Simulator() as model:
        home = Path(folder)
        home.chmod(0o711)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
        environment = kept | {
            "HOME": folder,
            "ASSAYER_HOME": folder,
            "ASSAYER_CORPUS__PATH": str(options.corpus.absolute()),
            "ASSAYER_LLM__BASE_URL": model.base_url,
            "ASSAYER_LLM__MODEL": "simulated",
        }
        return asyncio.run(_watched_service(Service(home, arguments, environment), name, options.seconds))


async def _watched_service(service: Service, name: str, seconds: float) -> IdleCost:
    async with serving(service):
        pass  # makes the database, which is made once
    began = time.monotonic()
    async with serving(service):
        started = time.monotonic() - began

        def database() -> list[psutil.Process]:
            server = database_server(service.home)
            return family([server.pid]) if server else []

        return await asyncio.to_thread(_watched, name, started, seconds, lambda: family(service.roots), database)


def _measured_ray(hold: str, name: str, options: argparse.Namespace) -> IdleCost:
    began = time.monotonic()
    with _held(hold) as process:
        started = time.monotonic() - began
        return _watched(name, started, options.seconds, lambda: family([process.pid]), None)


@contextmanager
def _held(hold: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "benchmarks.throughput.idle", "--corpus", ".", "--hold", hold]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None  # noqa: S101 - it was opened as a pipe
        if not process.stdout.readline():
            raise RuntimeError(f"Ray ({hold}) has not started.")
        started = family([process.pid])
        try:
            yield process
        finally:
            process.communicate()
            end(one for one in started if one.pid != process.pid)


def _hold(what: str) -> None:
    """A Ray as the service has it, until standard input ends."""
    from cluster.ray_cluster import private_environment, service_cluster
    from cluster.serving.settings import ServingSettings

    with private_environment() as folder, service_cluster(folder, ServingSettings()):
        if what == "serve":
            from ray import serve

            from benchmarks.throughput.nothing import Nothing

            serve.start(
                proxy_location="HeadOnly",
                http_options={"host": "127.0.0.1", "port": free_port()},
                logging_config={"log_level": "WARNING", "enable_access_log": False},
            )
            serve.run(serve.deployment(ray_actor_options={"num_cpus": 0.1})(Nothing).bind(), route_prefix="/")
        print("there", flush=True)
        sys.stdin.read()


def _watched(
    name: str,
    started: float,
    seconds: float,
    processes: Callable[[], list[psutil.Process]],
    database: Callable[[], list[psutil.Process]] | None,
) -> IdleCost:
    time.sleep(_SETTLE_SECONDS)
    before = {one.pid: _cpu(one) for one in processes()}
    with Watch(processes) as watch, Watch(database or list) as watched_database:
        began = time.monotonic()
        time.sleep(seconds)
        wall = time.monotonic() - began
        each = [
            ProcessCost(_title(one), (_cpu(one) - before.get(one.pid, 0.0)) / wall, one.memory_full_info().pss)
            for one in processes()
        ]
    return IdleCost(
        name=name,
        start_seconds=started,
        share=watch.cpu_seconds / wall,
        bytes=max(sample.bytes for sample in watch.samples),
        database_share=watched_database.cpu_seconds / wall if database else None,
        each=sorted(each, key=lambda one: -one.share),
    )


def _cpu(process: psutil.Process) -> float:
    used = process.cpu_times()
    return float(used.user + used.system)


def _title(process: psutil.Process) -> str:
    """What tells it from the others: a module or a file, without the folders and what follows."""
    words = process.cmdline() or [process.name()]
    if words[0].startswith("ray::"):
        return " ".join(words).strip()[:_TITLE]
    scripts = [word for word in words if word.endswith((".py", "/assayer"))]
    return (Path(scripts[0]).name if scripts else process.name())[:_TITLE]


def _each(cost: IdleCost) -> str:
    lines = [f"{cost.name}:"]
    lines += [f"  {100 * one.share:5.2f} %  {one.bytes / 1e6:6.0f} MB  {one.title}" for one in cost.each]
    return "\n".join(lines)


def _table(costs: Sequence[IdleCost]) -> str:
    columns = [cost.name for cost in costs]
    rows = [
        ("", *columns),
        ("---", *("---:" for _ in columns)),
        ("seconds until it is there", *(f"{cost.start_seconds:.1f}" for cost in costs)),
        ("% of a core", *(f"{100 * cost.share:.1f}" for cost in costs)),
        ("  of the database besides", *(_percent(cost.database_share) for cost in costs)),
        ("memory, MB", *(f"{cost.bytes / 1e6:,.0f}" for cost in costs)),
        ("processes", *(f"{len(cost.each)}" for cost in costs)),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


_MEASURES: dict[str, Callable[[str, argparse.Namespace], IdleCost]] = {
    "one-process": partial(_measured_service, ()),
    "ray-alone": partial(_measured_ray, "ray"),
    "ray-with-serve": partial(_measured_ray, "serve"),
    "service-on-ray": partial(_measured_service, ("--ray",)),
}


if __name__ == "__main__":
    main()
