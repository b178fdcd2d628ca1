"""Builds or updates corpora in processes that kill themselves with SIGKILL, each at its own step.

    python -m tests.contract.corpus_killer WHAT SOURCE REMOVED DIRECTORY[:STEP]...

WHAT is `build` or `update`. A step is a change of the file system below Python (a file opened for writing, a move, a
removal …), a call in index/segments/bm25_index.py, which writes by itself what it is given, or texts that are embedded.
Prints a line for each directory: the number of steps that were done, and by which signal it ended (0: by none).
"""

import asyncio
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any, Literal

from assayer.ports import Vectors
from index import BuildOptions, build_corpus, read_delta, update_corpus
from index.segments import bm25_index
from workers.embedding.hashing_embedder import HashingEmbedder

_CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.chmod", "shutil.rmtree"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
OPTIONS = BuildOptions(papers_per_segment=9, keep=1)


class Steps:
    def __init__(self, last: int | None) -> None:
        self.done = 0
        self._last = last

    def step(self) -> None:
        if self.done == self._last:
            os.kill(os.getpid(), signal.SIGKILL)
        self.done += 1

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _CHANGES or (event == "open" and (arguments[2] or 0) & _WRITING):
            self.step()

    def profile(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename == bm25_index.__file__:
            self.step()


class SteppingEmbedder(HashingEmbedder):
    def __init__(self, steps: Steps) -> None:
        super().__init__()
        self._steps = steps

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        self._steps.step()
        return await super().embed(texts, kind)


async def run_action(action: str, source: Path, deletions: Path, directory: Path, steps: Steps) -> None:
    embedder = SteppingEmbedder(steps)
    if action == "build":
        await build_corpus([source], directory, embedder, options=OPTIONS)
    else:
        await update_corpus(read_delta([source], deletions), directory, embedder, options=OPTIONS)


def _run_in_child(action: str, source: Path, deletions: Path, directory: Path, last: int | None, pipe: int) -> None:
    steps = Steps(last)
    sys.addaudithook(steps.audit)
    threading.setprofile(steps.profile)
    code = 1
    try:
        asyncio.run(run_action(action, source, deletions, directory, steps))
        os.write(pipe, str(steps.done).encode())
        code = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


def main(action: str, source: str, deletions: str, *directories: str) -> None:
    for directory in directories:
        path, _, last = directory.partition(":")
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            _run_in_child(action, Path(source), Path(deletions), Path(path), int(last) if last else None, writing)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            step_count = pipe.read() or last
        print(step_count or 0, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
