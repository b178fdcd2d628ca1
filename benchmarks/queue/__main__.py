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

from benchmarks.measuring import build_parser, format_heading
from benchmarks.queue import census, crowd, traffic
from cluster.postgres import EmbeddedPostgres, postmaster
from orchestrator.store import Database, DatabaseSettings

_MOST_SECONDS = 540


def main() -> None:
    options = _options()
    print(f"{format_heading()}\n", flush=True)
    asyncio.run(_measure(options))


def _options() -> argparse.Namespace:
    parser = build_parser("queue", __doc__)
    parser.add_argument("--not-durable", action="store_true", help="do not wait for the disk on commit")
    kinds = parser.add_subparsers(dest="what", required=True)
    crowd_parser = kinds.add_parser("crowd", help=crowd.__doc__)
    crowd_parser.add_argument("--jobs", type=int, default=10_000)
    crowd_parser.add_argument("--weights", type=float, nargs="+", default=[5, 3, 2, 1, 1])
    crowd_parser.add_argument("--workers", type=int, default=3, help="processes")
    crowd_parser.add_argument("--places", type=int, default=64, help="places of one worker")
    crowd_parser.add_argument("--work", type=float, default=0.05, help="mean seconds per job")
    crowd_parser.add_argument("--beat", type=float, default=0.1, help="seconds between heartbeats; 10 in the service")
    crowd_parser.add_argument("--rows", type=int, default=500, help="rows per submission")
    crowd_parser.add_argument("--singles", type=int, default=1_000, help="jobs submitted one by one, by 8 clients")
    census_parser = kinds.add_parser("census", help=census.__doc__)
    census_parser.add_argument("--jobs", type=int, default=100_000)
    traffic_parser = kinds.add_parser("traffic", help=traffic.__doc__)
    traffic_parser.add_argument("report", type=Path, help="a JSON report as written by `assayer evaluate`")
    traffic_parser.add_argument("--evaluators", type=int, default=40)
    traffic_parser.add_argument("--processes", type=int, default=4, help="processes that share the evaluators")
    traffic_parser.add_argument("--places", type=int, default=1, help="places of one evaluator")
    traffic_parser.add_argument("--calls", type=int, default=68, help="model calls per job")
    traffic_parser.add_argument("--answer-seconds", type=float, default=2.0, help="mean time of an answer in seconds")
    traffic_parser.add_argument("--answer-chars", type=int, default=1_500)
    traffic_parser.add_argument("--warm", type=float, default=30.0, help="seconds of warm-up before measuring")
    traffic_parser.add_argument("--seconds", type=float, default=90.0)
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
                results = await crowd.measure(database, url, _plan(options))
                _show(options, results, _server_cpu(home) - before)


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


def _show(options: argparse.Namespace, results: crowd.Seen, server_cpu: float) -> None:
    print(
        f"{'tenant':<12}{'weight':>8}{'due':>9}{'had':>9}{'off':>9}   of the first {sum(results.half.values()):,} begun"
    )
    for (tenant, first_half), weight in zip(results.half.items(), options.weights, strict=True):
        due, share = weight / sum(options.weights), first_half / sum(results.half.values())
        print(f"{tenant:<12}{weight:>8g}{due:>9.2%}{share:>9.2%}{share / due - 1:>+9.2%}")
    efforts = results.efforts
    leased, beaten, finished = (
        sum(getattr(effort, name) for effort in efforts) for name in ("leased", "beaten", "finished")
    )
    calls = sum(effort.lease_calls for effort in efforts)
    lease_seconds = [seconds for effort in efforts for seconds in effort.lease_seconds]
    ends = [seconds for effort in efforts for seconds in effort.finish_seconds]
    wall = results.drain_seconds
    durable = "commits do not wait for the disk" if options.not_durable else "commits wait for the disk"
    print(f"\n{results.enqueued:,} jobs, {len(efforts)} workers of {options.places} places; {durable}")
    print(f"enqueued, {options.rows} at once    {results.enqueued / results.enqueue_seconds:>8,.0f} jobs/s")
    print(f"enqueued one by one       {results.singles / results.single_seconds:>8,.0f} jobs/s, 8 clients")
    print(f"leased                    {leased / wall:>8,.0f} jobs/s in {calls:,} calls")
    print(f"beaten                    {beaten / wall:>8,.0f} leases/s")
    print(f"finished                  {finished / wall:>8,.0f} jobs/s, a transaction each")
    print(f"together                  {(leased + beaten + finished) / wall:>8,.0f} operations/s over {wall:.1f} s")
    print(f"a call of lease           {_spread(lease_seconds)}")
    print(f"a call of finish          {_spread(ends)}")
    print(f"CPU of the workers        {sum(effort.cpu_seconds for effort in efforts):>8.1f} s")
    print(f"CPU of PostgreSQL         {server_cpu:>8.1f} s, all phases")
    lost_count = results.enqueued - results.done
    print(f"done {results.done:,}, lost {lost_count}, done twice {finished - results.done}, events {results.events:,}")


def _show_traffic(load: traffic.Load, results: traffic.Carried) -> None:
    hour, day = 3_600 / results.seconds, 86_400 / results.seconds
    waits = [seconds for item in results.wrote for seconds in item.waits]
    cpu = sum(item.cpu_seconds for item in results.wrote)
    print(
        f"{load.evaluators} evaluators of {load.places} places in {load.processes} processes, {results.seconds:.0f} s"
    )
    print(f"ideas an hour             {results.jobs * hour:>10,.0f}   done {results.jobs:,}, {load.calls} calls each")
    print(f"rows of the ledger        {results.calls / results.seconds:>10,.0f} a second")
    print(f"events                    {results.events / results.seconds:>10,.1f} a second")
    print(f"transactions              {results.commits / results.seconds:>10,.0f} a second")
    print(f"connections               {results.connections:>10,}")
    print(f"an answer found and kept  {_spread(waits)}")
    print(f"CPU of PostgreSQL         {results.server_cpu / results.seconds:>10.2f} cores")
    print(f"CPU of the evaluators     {cpu / (load.warm_seconds + load.seconds + 10):>10.2f} cores, start included")
    if results.jobs:
        for label, size in (("database", results.bytes), ("write-ahead log", results.wal)):
            print(
                f"{label:<26}{size / results.jobs / 1e3:>10,.0f} kB an idea, {size * day / 1e9:,.1f} GB a day at this "
                "rate"
            )


def _spread(seconds: list[float]) -> str:
    cuts = statistics.quantiles(seconds, n=20)
    return f"{1e3 * cuts[9]:>8.1f} ms median, {1e3 * cuts[18]:.1f} ms for 1 of 20"


if __name__ == "__main__":
    main()
