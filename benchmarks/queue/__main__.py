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

_MAX_SECONDS = 540


def main() -> None:
    options = _parse_options()
    print(f"{format_heading()}\n", flush=True)
    asyncio.run(_measure(options))


def _parse_options() -> argparse.Namespace:
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
            asyncio.timeout(_MAX_SECONDS),
            EmbeddedPostgres(home, durable=not options.not_durable) as server,
        ):
            url = await server.ensure()
            settings = DatabaseSettings(url=SecretStr(url), command_seconds=300, patience_seconds=300)
            async with Database(settings) as database:
                await database.migrate()
                if options.what == "census":
                    await census.fill_queue(database, options.jobs)
                    for name, milliseconds in (await census.time_queries(database)).items():
                        print(f"{name:<32}{milliseconds:>8.1f} ms")
                    return
                if options.what == "traffic":
                    load = _build_load(options)
                    _print_traffic_results(
                        load, await traffic.measure(database, url, load, lambda: _measure_server_cpu(home))
                    )
                    return
                cpu_before = _measure_server_cpu(home)
                results = await crowd.measure(database, url, _build_plan(options))
                _print_crowd_results(options, results, _measure_server_cpu(home) - cpu_before)


def _build_plan(options: argparse.Namespace) -> crowd.Plan:
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


def _build_load(options: argparse.Namespace) -> traffic.Load:
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


def _measure_server_cpu(home: Path) -> float:
    """Return the CPU seconds of the server and all processes that it has started, including those that have ended."""
    server = postmaster.find(home / "pgdata")
    if server is None:
        return 0.0
    process = psutil.Process(server.pid)
    own_times = process.cpu_times()
    child_times = [child.cpu_times() for child in process.children(recursive=True)]
    return float(
        sum(times.user + times.system for times in (own_times, *child_times))
        + own_times.children_user
        + own_times.children_system
    )


def _print_crowd_results(options: argparse.Namespace, results: crowd.CrowdResult, server_cpu: float) -> None:
    started_count = sum(results.started_in_first_half.values())
    print(f"{'tenant':<12}{'weight':>8}{'due':>9}{'had':>9}{'off':>9}   of the first {started_count:,} begun")
    for (tenant, first_half), weight in zip(results.started_in_first_half.items(), options.weights, strict=True):
        due_share, share = weight / sum(options.weights), first_half / started_count
        print(f"{tenant:<12}{weight:>8g}{due_share:>9.2%}{share:>9.2%}{share / due_share - 1:>+9.2%}")
    worker_results = results.worker_results
    leased, renewed, finished = (
        sum(getattr(worker, name) for worker in worker_results) for name in ("leased", "renewed", "finished")
    )
    lease_calls = sum(worker.lease_calls for worker in worker_results)
    lease_seconds = [seconds for worker in worker_results for seconds in worker.lease_seconds]
    finish_seconds = [seconds for worker in worker_results for seconds in worker.finish_seconds]
    wall_seconds = results.drain_seconds
    durable = "commits do not wait for the disk" if options.not_durable else "commits wait for the disk"
    print(f"\n{results.enqueued:,} jobs, {len(worker_results)} workers of {options.places} places; {durable}")
    print(f"enqueued, {options.rows} at once    {results.enqueued / results.enqueue_seconds:>8,.0f} jobs/s")
    print(f"enqueued one by one       {results.singles / results.single_seconds:>8,.0f} jobs/s, 8 clients")
    print(f"leased                    {leased / wall_seconds:>8,.0f} jobs/s in {lease_calls:,} calls")
    print(f"beaten                    {renewed / wall_seconds:>8,.0f} leases/s")
    print(f"finished                  {finished / wall_seconds:>8,.0f} jobs/s, a transaction each")
    operations = leased + renewed + finished
    print(f"together                  {operations / wall_seconds:>8,.0f} operations/s over {wall_seconds:.1f} s")
    print(f"a call of lease           {_format_spread(lease_seconds)}")
    print(f"a call of finish          {_format_spread(finish_seconds)}")
    print(f"CPU of the workers        {sum(worker.cpu_seconds for worker in worker_results):>8.1f} s")
    print(f"CPU of PostgreSQL         {server_cpu:>8.1f} s, all phases")
    lost_count = results.enqueued - results.done
    print(f"done {results.done:,}, lost {lost_count}, done twice {finished - results.done}, events {results.events:,}")


def _print_traffic_results(load: traffic.Load, results: traffic.TrafficResult) -> None:
    per_hour, per_day = 3_600 / results.seconds, 86_400 / results.seconds
    waits = [seconds for evaluator_result in results.evaluator_results for seconds in evaluator_result.waits]
    cpu = sum(evaluator_result.cpu_seconds for evaluator_result in results.evaluator_results)
    print(
        f"{load.evaluators} evaluators of {load.places} places in {load.processes} processes, {results.seconds:.0f} s"
    )
    print(
        f"ideas an hour             {results.jobs * per_hour:>10,.0f}   done {results.jobs:,}, {load.calls} calls each"
    )
    print(f"rows of the ledger        {results.calls / results.seconds:>10,.0f} a second")
    print(f"events                    {results.events / results.seconds:>10,.1f} a second")
    print(f"transactions              {results.commits / results.seconds:>10,.0f} a second")
    print(f"connections               {results.connections:>10,}")
    print(f"an answer found and kept  {_format_spread(waits)}")
    print(f"CPU of PostgreSQL         {results.server_cpu / results.seconds:>10.2f} cores")
    print(f"CPU of the evaluators     {cpu / (load.warm_seconds + load.seconds + 10):>10.2f} cores, start included")
    if results.jobs:
        for label, size in (("database", results.bytes), ("write-ahead log", results.wal)):
            print(
                f"{label:<26}{size / results.jobs / 1e3:>10,.0f} kB an idea, "
                f"{size * per_day / 1e9:,.1f} GB a day at this rate"
            )


def _format_spread(seconds: list[float]) -> str:
    quantiles = statistics.quantiles(seconds, n=20)
    return f"{1e3 * quantiles[9]:>8.1f} ms median, {1e3 * quantiles[18]:.1f} ms for 1 of 20"


if __name__ == "__main__":
    main()
