"""Measures the job queue on a separate PostgreSQL.

python -m benchmarks.queue crowd python -m benchmarks.queue census python -m benchmarks.queue traffic REPORT
--evaluators 40
"""

import argparse
import asyncio
import statistics
import tempfile
from pathlib import Path

import psutil
from pydantic import SecretStr

from benchmarks.measuring import command_line, heading
from benchmarks.queue import census, crowd, traffic
from cluster.postgres import EmbeddedPostgres, postmaster
from orchestrator.store import Database, DatabaseSettings

_MOST_SECONDS = 540


def main() -> None:
    options = _options()
    print(f"{heading()}\n", flush=True)
    asyncio.run(_measure(options))


def _options() -> argparse.Namespace:
    parser = command_line("queue", __doc__)
    parser.add_argument("--not-durable", action="store_true", help="do not wait for the disk on commit")
    kinds = parser.add_subparsers(dest="what", required=True)
    many = kinds.add_parser("crowd", help=crowd.__doc__)
    many.add_argument("--jobs", type=int, default=10_000)
    many.add_argument("--weights", type=float, nargs="+", default=[5, 3, 2, 1, 1])
    many.add_argument("--workers", type=int, default=3, help="processes")
    many.add_argument("--places", type=int, default=64, help="places of one worker")
    many.add_argument("--work", type=float, default=0.05, help="mean seconds per job")
    many.add_argument("--beat", type=float, default=0.1, help="seconds between heartbeats; 10 in the service")
    many.add_argument("--rows", type=int, default=500, help="rows per submission")
    many.add_argument("--singles", type=int, default=1_000, help="jobs submitted one by one, by 8 clients")
    counted = kinds.add_parser("census", help=census.__doc__)
    counted.add_argument("--jobs", type=int, default=100_000)
    carried = kinds.add_parser("traffic", help=traffic.__doc__)
    carried.add_argument("report", type=Path, help="a JSON report as written by `assayer evaluate`")
    carried.add_argument("--evaluators", type=int, default=40)
    carried.add_argument("--processes", type=int, default=4, help="processes that share the evaluators")
    carried.add_argument("--places", type=int, default=1, help="places of one evaluator")
    carried.add_argument("--calls", type=int, default=68, help="model calls per job")
    carried.add_argument("--answer-seconds", type=float, default=2.0, help="mean time of an answer in seconds")
    carried.add_argument("--answer-chars", type=int, default=1_500)
    carried.add_argument("--warm", type=float, default=30.0, help="seconds of warm-up before measuring")
    carried.add_argument("--seconds", type=float, default=90.0)
    return parser.parse_args()


async def _measure(options: argparse.Namespace) -> None:
    # Not below the working directory: under root, the server runs as another user, who may not be able to traverse it.
    with tempfile.TemporaryDirectory(prefix="assayer-queue-") as folder:
        home = Path(folder) / "postgres"
        async with (
            asyncio.timeout(_MOST_SECONDS),
            EmbeddedPostgres(home, durable=not options.not_durable) as server,
        ):
            url = await server.ensure()
            settings = DatabaseSettings(url=SecretStr(url), command_seconds=300, patience_seconds=300)
            async with Database(settings) as database:
                await database.migrate()
                if options.what == "census":
                    await census.fill(database, options.jobs)
                    for name, milliseconds in (await census.timings(database)).items():
                        print(f"{name:<32}{milliseconds:>8.1f} ms")
                    return
                if options.what == "traffic":
                    load = _load(options)
                    _show_traffic(load, await traffic.measure(database, url, load, lambda: _server_cpu(home)))
                    return
                before = _server_cpu(home)
                seen = await crowd.measure(database, url, _plan(options))
                _show(options, seen, _server_cpu(home) - before)


def _plan(options: argparse.Namespace) -> crowd.Plan:
    return crowd.Plan(
        jobs=options.jobs,
        weights=options.weights,
        workers=options.workers,
        places=options.places,
        work_seconds=options.work,
        beat_seconds=options.beat,
        rows=options.rows,
        singles=options.singles,
    )


def _load(options: argparse.Namespace) -> traffic.Load:
    return traffic.Load(
        evaluators=options.evaluators,
        processes=options.processes,
        places=options.places,
        calls=options.calls,
        answer_seconds=options.answer_seconds,
        answer_chars=options.answer_chars,
        report=options.report.read_text("utf-8"),
        warm_seconds=options.warm,
        seconds=options.seconds,
    )


def _server_cpu(home: Path) -> float:
    """Return the CPU seconds of the server and all processes that it has started, including those that have ended."""
    server = postmaster.find(home / "pgdata")
    if server is None:
        return 0.0
    process = psutil.Process(server.pid)
    ended = process.cpu_times()
    alive = [child.cpu_times() for child in process.children(recursive=True)]
    return float(
        sum(times.user + times.system for times in (ended, *alive)) + ended.children_user + ended.children_system
    )


def _show(options: argparse.Namespace, seen: crowd.Seen, server_cpu: float) -> None:
    print(f"{'tenant':<12}{'weight':>8}{'due':>9}{'had':>9}{'off':>9}   of the first {sum(seen.half.values()):,} begun")
    for (tenant, had), weight in zip(seen.half.items(), options.weights, strict=True):
        due, share = weight / sum(options.weights), had / sum(seen.half.values())
        print(f"{tenant:<12}{weight:>8g}{due:>9.2%}{share:>9.2%}{share / due - 1:>+9.2%}")
    efforts = seen.efforts
    leased, beaten, finished = (
        sum(getattr(effort, name) for effort in efforts) for name in ("leased", "beaten", "finished")
    )
    calls = sum(effort.lease_calls for effort in efforts)
    each = [seconds for effort in efforts for seconds in effort.lease_seconds]
    ends = [seconds for effort in efforts for seconds in effort.finish_seconds]
    wall = seen.drain_seconds
    durable = "commits do not wait for the disk" if options.not_durable else "commits wait for the disk"
    print(f"\n{seen.enqueued:,} jobs, {len(efforts)} workers of {options.places} places; {durable}")
    print(f"enqueued, {options.rows} at once    {seen.enqueued / seen.enqueue_seconds:>8,.0f} jobs/s")
    print(f"enqueued one by one       {seen.singles / seen.single_seconds:>8,.0f} jobs/s, 8 clients")
    print(f"leased                    {leased / wall:>8,.0f} jobs/s in {calls:,} calls")
    print(f"beaten                    {beaten / wall:>8,.0f} leases/s")
    print(f"finished                  {finished / wall:>8,.0f} jobs/s, a transaction each")
    print(f"together                  {(leased + beaten + finished) / wall:>8,.0f} operations/s over {wall:.1f} s")
    print(f"a call of lease           {_spread(each)}")
    print(f"a call of finish          {_spread(ends)}")
    print(f"CPU of the workers        {sum(effort.cpu_seconds for effort in efforts):>8.1f} s")
    print(f"CPU of PostgreSQL         {server_cpu:>8.1f} s, all phases")
    lost = seen.enqueued - seen.done
    print(f"done {seen.done:,}, lost {lost}, done twice {finished - seen.done}, events {seen.events:,}")


def _show_traffic(load: traffic.Load, seen: traffic.Carried) -> None:
    hour, day = 3_600 / seen.seconds, 86_400 / seen.seconds
    waits = [seconds for item in seen.wrote for seconds in item.waits]
    cpu = sum(item.cpu_seconds for item in seen.wrote)
    print(f"{load.evaluators} evaluators of {load.places} places in {load.processes} processes, {seen.seconds:.0f} s")
    print(f"ideas an hour             {seen.jobs * hour:>10,.0f}   done {seen.jobs:,}, {load.calls} calls each")
    print(f"rows of the ledger        {seen.calls / seen.seconds:>10,.0f} a second")
    print(f"events                    {seen.events / seen.seconds:>10,.1f} a second")
    print(f"transactions              {seen.commits / seen.seconds:>10,.0f} a second")
    print(f"connections               {seen.connections:>10,}")
    print(f"an answer found and kept  {_spread(waits)}")
    print(f"CPU of PostgreSQL         {seen.server_cpu / seen.seconds:>10.2f} cores")
    print(f"CPU of the evaluators     {cpu / (load.warm_seconds + load.seconds + 10):>10.2f} cores, start included")
    if seen.jobs:
        for what, size in (("database", seen.bytes), ("write-ahead log", seen.wal)):
            print(
                f"{what:<26}{size / seen.jobs / 1e3:>10,.0f} kB an idea, {size * day / 1e9:,.1f} GB a day at this rate"
            )


def _spread(seconds: list[float]) -> str:
    cuts = statistics.quantiles(seconds, n=20)
    return f"{1e3 * cuts[9]:>8.1f} ms median, {1e3 * cuts[18]:.1f} ms for 1 of 20"


if __name__ == "__main__":
    main()
