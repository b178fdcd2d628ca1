"""A corpus in a bucket: how long publishing and pulling take, what verifying costs a machine and would cost every
process, and what a night that changes one paper in a hundred uploads and pulls.

The store is a folder, or speaks S3's protocol over HTTP in a process of its own on this machine: a simulator in Python,
slower than any real store.
"""

import argparse
import asyncio
import datetime as dt
import multiprocessing as mp
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.index.machine import machine
from benchmarks.index.traffic import edition
from index import BuildOptions, Delta, build_corpus, update_corpus
from index.object_storage.following import BucketOrigin, FollowedBucket
from index.object_storage.inventory import take_inventory
from index.object_storage.local_copy import verify_version
from index.object_storage.publishing import CorpusPublisher
from index.records.parquet_records import RecordWriter
from index.versions.verification_cache import VerificationCache
from workers.embedding.hashing_embedder import HashingEmbedder

_EMBEDDER = HashingEmbedder(384)
_MIB = 2**20
_TURNS = 5


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.index bucket", description=__doc__)
    parser.add_argument("--papers", type=int, default=20_000)
    parser.add_argument("--store", choices=("folder", "s3", "both"), default="both")
    options = parser.parse_args()
    console = Console(highlight=False)
    console.print(f"{machine()}; load {os.getloadavg()[0]:.1f}", soft_wrap=True)
    for store in ("folder", "s3") if options.store == "both" else (options.store,):
        with tempfile.TemporaryDirectory() as folder, _address(store, Path(folder)) as address:
            for line in asyncio.run(_measured(options.papers, Path(folder), address)):
                console.print(f"{store:>6}  {line}", soft_wrap=True)
    console.print(f"load at the end {os.getloadavg()[0]:.1f}")


async def _measured(papers: int, folder: Path, address: str) -> list[str]:
    built, copy = folder / "built", folder / "copy"
    source = folder / "papers.parquet"
    records = edition(0, papers)
    with RecordWriter(source) as file:
        for one in records:
            file.write(one)
    await build_corpus([source], built, _EMBEDDER)
    publisher = CorpusPublisher(address, lambda: dt.datetime.now(dt.UTC))
    notes = VerificationCache(folder / "verified")
    first, seconds = _timed(lambda: publisher.publish(built, VerificationCache()))
    told = [
        f"publish {papers:,} papers: {first.uploaded} files, {first.uploaded_bytes / _MIB:,.1f} MiB, {seconds:.1f} s"
    ]
    pulled, seconds = _timed(lambda: _origin(address, copy, notes).pull(first.version))
    told.append(f"pull: {pulled.files} files, {pulled.bytes / _MIB:,.1f} MiB, {seconds:.1f} s")
    by_note = _quickest(copy, first.version, VerificationCache(folder / "verified"))
    by_reading = _quickest(copy, first.version, VerificationCache())
    told.append(
        f"verify in a process, best of {_TURNS}: {by_note * 1000:,.1f} ms by notes, {by_reading * 1000:,.1f} ms read"
    )
    changed = [one.model_copy(update={"title": f"Changed: {one.title}"}) for one in records[: papers // 100]]
    await update_corpus(Delta(changed), built, _EMBEDDER, options=BuildOptions())
    night, seconds = _timed(lambda: publisher.publish(built, VerificationCache()))
    told.append(
        f"a night of {len(changed):,} changed papers uploads {night.uploaded} of {night.files} files, "
        f"{night.uploaded_bytes / _MIB:,.1f} of {_size(built) / _MIB:,.1f} MiB, {seconds:.1f} s"
    )
    again, seconds = _timed(lambda: _origin(address, copy, notes).pull(night.version))
    told.append(f"and is pulled in {seconds:.1f} s: {again.files} files, {again.bytes / _MIB:,.1f} MiB")
    return told


def _quickest(directory: Path, version: str, notes: VerificationCache) -> float:
    """Seconds of a verification."""
    return min(_timed(lambda: verify_version(directory, version, notes))[1] for _ in range(_TURNS))


def _origin(address: str, copy: Path, notes: VerificationCache) -> BucketOrigin:
    return BucketOrigin(FollowedBucket(address, look_seconds=3600), copy, notes)


def _size(directory: Path) -> int:
    """Of the current version's files."""
    return take_inventory(directory).bytes_of()


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.perf_counter()
    done = work()
    return done, time.perf_counter() - began


@contextmanager
def _address(store: str, folder: Path) -> Iterator[str]:
    if store == "folder":
        yield (folder / "bucket").as_uri()
        return
    context = mp.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        port, bucket = ours.recv()
        os.environ |= {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": "benchmark",
            "AWS_SECRET_ACCESS_KEY": "benchmark",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        yield f"{bucket}/corpus"
    finally:
        process.kill()
        process.join()


def _serve(told: Any) -> None:
    """Until it is killed."""
    from tests.object_store import ObjectStore  # moto, which no installation but ours has

    store = ObjectStore()
    store.start()
    told.send((store.port, store.new_bucket()))
    time.sleep(86_400)


if __name__ == "__main__":
    main()
