"""Publishes or pulls corpora in processes that kill themselves with SIGKILL, each at its own step.

    python -m tests.contract.bucket_killer publish|pull [DIRECTORY[:STEP] ADDRESS]...

A step is a change of the file system below Python, or a call of the store. Prints a line for each: how many steps were
done, and by which signal it ended (0: by none).
"""

import datetime as dt
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from index.object_storage.following import BucketOrigin, FollowedBucket
from index.object_storage.publishing import CorpusPublisher
from index.object_storage.storage import ObjectStorage
from index.versions.verification_cache import VerificationCache
from tests.contract.corpus_killer import Steps

_CALLS = ("read", "read_range", "create", "write", "upload", "remove")


def publish(directory: Path, address: str) -> None:
    CorpusPublisher(address, lambda: dt.datetime.now(dt.UTC)).publish(directory, VerificationCache())


def pull(directory: Path, address: str) -> None:
    """Fetch the current version as a starting process does."""
    verified = VerificationCache(directory / "verified")
    BucketOrigin(FollowedBucket(address, look_seconds=3600), directory, verified, keep=1).fetch("")


def _count_steps(steps: Steps) -> None:
    """Count steps in the threads of a pool too. When one dies, the work of the others stays unfinished."""
    for name in _CALLS:
        before = getattr(ObjectStorage, name)

        def call(self: ObjectStorage, *args: Any, _before: Any = before) -> Any:
            steps.step()
            done = _before(self, *args)
            steps.step()
            return done

        setattr(ObjectStorage, name, call)
    sys.addaudithook(steps.audit)


def _run_forked(action: str, place: str, address: str) -> None:
    """Libraries are imported already; nothing was asked of a store yet, as its threads would not be forked along."""
    directory, _, last = place.partition(":")
    steps, reading = Steps(int(last) if last else None), os.pipe()
    child = os.fork()
    if not child:
        code = 1
        try:
            _count_steps(steps)
            (publish if action == "publish" else pull)(Path(directory), address)
            step_count = steps.done
            os.write(reading[1], str(step_count).encode())
            code = 0
        except BaseException:  # noqa: BLE001 - told, and then the process ends
            traceback.print_exc()
        finally:
            os._exit(code)
    os.close(reading[1])
    with os.fdopen(reading[0]) as pipe:
        count = pipe.read()
    _, status = os.waitpid(child, 0)
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    print(count or last, code, flush=True)


if __name__ == "__main__":
    given = sys.argv[2:]
    if any(argument.startswith("s3:") for argument in given):
        import s3fs  # noqa: F401 - once for all children
    for number in range(0, len(given), 2):
        _run_forked(sys.argv[1], given[number], given[number + 1])
