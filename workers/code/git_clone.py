"""Fetch one commit of a repository with git, without a working tree.

Links, hooks, filters, submodules and LFS pointers therefore have no effect. git connects only to the operator's host,
over one protocol, follows no redirects, has no credentials and runs under resource limits."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import which
from typing import IO
from urllib.parse import urlsplit

from assayer.errors import ConfigurationError, DownloadFailed, DownloadRefused
from workers.code.checkout import Commit, TreeEntry, checked_repository_name
from workers.code.settings import CodeSettings
from workers.sandbox.runner import Refused, run_sandboxed

_DEFAULT_OUTPUT_BYTES = 100_000
"""Maximum bytes of output from git, beyond the expected content."""
_SAFE_CONFIG = {
    "core.hooksPath": os.devnull,
    "core.symlinks": "false",
    "core.fsmonitor": "false",
    "core.attributesFile": os.devnull,
    "credential.helper": "",
    "fetch.recurseSubmodules": "false",
    "fetch.unpackLimit": "1",
    "gc.auto": "0",
    "http.followRedirects": "false",
    "maintenance.auto": "false",
    "pack.threads": "1",
    "protocol.allow": "never",
}


class GitCloner:
    def __init__(self, settings: CodeSettings) -> None:
        """Create the cloner. Raises ConfigurationError if `clone_url` is not set or git is not installed."""
        if settings.clone_url is None:
            raise ConfigurationError("No host is configured for cloning.", "Set ASSAYER_CODE__CLONE_URL.")
        if which("git") is None:
            raise ConfigurationError("Repositories cannot be fetched: git is not installed.", "Install git.")
        self._url = settings.clone_url
        self._settings = settings
        self._slots = asyncio.Semaphore(settings.clones_at_once)

    @asynccontextmanager
    async def clone(self, name: str, commit: Commit) -> AsyncIterator["_Clone"]:
        """Clone a single commit, and delete the clone on exit. Raises DownloadFailed or DownloadRefused."""
        url = f"{self._url}/{checked_repository_name(name)}.git"
        async with self._slots:
            folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="assayer-git-")
            try:
                git = _Git(Path(folder.name), urlsplit(url).scheme, name, self._settings)
                await git.run("init", "--quiet", "--bare", "--template=", str(git.folder))
                await git.run(
                    "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head",
                    "--", url, commit.sha,
                )  # fmt: skip
                yield _Clone(git, commit)
            finally:
                await asyncio.to_thread(folder.cleanup)


class _Git:
    def __init__(self, root: Path, protocol: str, name: str, settings: CodeSettings) -> None:
        self.folder = root / "bare.git"
        self.name = name
        self.settings = settings
        config = {**_SAFE_CONFIG, f"protocol.{protocol}.allow": "always"}
        self._options = [part for key, value in config.items() for part in ("-c", f"{key}={value}")]
        self._environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(root),
            "GIT_ALLOW_PROTOCOL": protocol,
            "GIT_ASKPASS": "true",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_DIR": str(self.folder),
            "GIT_LFS_SKIP_SMUDGE": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_TERMINAL_PROMPT": "0",
        }

    async def run(
        self, *arguments: str, stdin: IO[bytes] | None = None, most_bytes: int = _DEFAULT_OUTPUT_BYTES
    ) -> bytes:
        limits = self.settings
        numbers = (limits.memory_bytes, limits.cpu_seconds, limits.clone_bytes)
        launch = ("-m", "workers.sandbox.limits", *map(str, numbers))
        command = (*launch, "git", *self._options, *arguments)
        try:
            return await run_sandboxed(command, stdin, limits.clone_seconds, most_bytes, self._environment)
        except Refused as killed:
            raise self._failure(killed) from None

    def _failure(self, killed: Refused) -> DownloadFailed | DownloadRefused:
        limits = self.settings
        match killed.cause:
            case "too_much_text":
                return DownloadRefused(f"{self.name} has too many or too large files.")
            case "time":
                return DownloadRefused(f"git takes more than {limits.clone_seconds:g} s to fetch {self.name}.")
            case "computing_time":
                return DownloadRefused(f"git needs more than {limits.cpu_seconds} s of CPU time for {self.name}.")
            case _:
                size = f"{limits.clone_bytes / 1e6:g} MB"
                return DownloadFailed(f"git could not fetch {self.name}, or the repository has more than {size}.")


class _Clone:
    """Checkout in a bare clone."""

    def __init__(self, git: _Git, commit: Commit) -> None:
        self._git = git
        self._commit = commit
        self._name = git.name
        self._listing_bytes = git.settings.listing_bytes

    async def entries(self) -> list[TreeEntry]:
        listed = await self._git.run(
            "ls-tree", "-r", "-z", "--long", "--end-of-options", self._commit.sha, most_bytes=self._listing_bytes
        )
        return [_entry(line) for line in listed.decode("utf-8", "replace").split("\0") if line]

    async def contents(self, entries: Sequence[TreeEntry]) -> Mapping[str, bytes]:
        with tempfile.TemporaryFile() as asked:
            asked.write("".join(f"{entry.sha}\n" for entry in entries).encode())
            asked.seek(0)
            most = sum(entry.size for entry in entries) + 200 * len(entries) + _DEFAULT_OUTPUT_BYTES
            answer = await self._git.run("cat-file", "--batch", stdin=asked, most_bytes=most)
        try:
            return dict(zip((entry.path for entry in entries), _contents(answer, len(entries)), strict=True))
        except ValueError:
            raise DownloadFailed(f"A file in the tree of {self._name} is missing.") from None


def _contents(answer: bytes, count: int) -> Iterator[bytes]:
    """Yield the contents of `count` blobs from the output of `git cat-file --batch`: a line `<sha> blob <size>`,
    then the content and a line feed. Raises ValueError for anything else, such as `<sha> missing`."""
    start = 0
    for _ in range(count):
        header_end = answer.index(b"\n", start)
        _, kind, size = answer[start:header_end].split(b" ")
        if kind != b"blob":
            raise ValueError(kind)
        end = header_end + 1 + int(size)
        yield answer[header_end + 1 : end]
        start = end + 1


def _entry(line: str) -> TreeEntry:
    """Parse a line of `git ls-tree --long`: mode, type, SHA, size, a tab and the path. The size of a submodule is
    `-`."""
    facts, path = line.split("\t", 1)
    mode, _, sha, size = facts.split()
    return TreeEntry(path, mode, sha, int(size) if size.isdecimal() else 0)
