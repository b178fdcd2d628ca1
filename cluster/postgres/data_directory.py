"""PostgreSQL data directory: create it, and start and stop its server.

All functions here block. Callers must ensure that only one process at a time uses them on the same directory."""

import hashlib
import os
import shlex
import shutil
import socket
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlencode

from tenacity import RetryError, Retrying, retry_if_result, stop_after_delay, wait_fixed

from assayer.errors import ConfigurationError, StorageError
from cluster.postgres import postmaster
from cluster.postgres.programs import OWN_SERVER_HINT, PostgresPrograms

_PORT = 5432
"""Port number in the Unix socket's name; no network port is opened."""
_SOCKET = f".s.PGSQL.{_PORT}"
_MAX_SOCKET_BYTES = 103
"""Maximum length of a socket path in bytes that is valid on every system (macOS allows 103, Linux 107)."""


class PostgresDataDirectory:
    def __init__(self, home: Path, programs: PostgresPrograms, seconds: float, durable: bool) -> None:
        """Use the cluster in `home`/pgdata; `seconds` limits every wait."""
        self._home = home
        self._cluster = home / "pgdata"
        self._programs = programs
        self._seconds = seconds
        self._durable = durable

    def serve(self) -> str:
        """Start the server if needed, and return its URL. Raises ConfigurationError if the directory or its path is
        unsuitable, StorageError if the server does not start, and OSError."""
        self._check_directory()
        sockets = self._choose_socket_dir()
        if not self._cluster.exists():
            self._create()
        server = postmaster.find(self._cluster)
        if server is not None and server.ready and not _accepts_connections(sockets / _SOCKET):
            self.stop()  # it is shutting down, or its socket was deleted
            server = None
        if server is None:
            self._start(sockets)
        self._await_ready()
        return f"postgresql://postgres@/postgres?{urlencode({'host': str(sockets), 'port': _PORT})}"

    def stop(self) -> None:
        if postmaster.find(self._cluster) is None:
            return
        for mode in ("fast", "immediate"):
            code, _ = self._run_pg_ctl("stop", "-m", mode)
            if not code:
                break
        if (sockets := self._choose_socket_dir()) != self._cluster:
            with suppress(OSError):
                sockets.rmdir()

    def _check_directory(self) -> None:
        if (self._home / "PG_VERSION").exists():
            raise ConfigurationError(
                f"{self._home} is a PostgreSQL data directory that assayer did not create.",
                f"Set ASSAYER_HOME to another directory. {OWN_SERVER_HINT}",
            )
        if not self._cluster.exists():
            return
        try:
            found_version = (self._cluster / "PG_VERSION").read_text().strip()
        except FileNotFoundError:
            raise ConfigurationError(
                f"{self._cluster} is not a PostgreSQL data directory: it has no PG_VERSION.",
                f"Move it away to start with an empty database. {OWN_SERVER_HINT}",
            ) from None
        if found_version != str(self._programs.version):
            raise ConfigurationError(
                f"The database in {self._home} was created by PostgreSQL {found_version}, but "
                f"this installation has version {self._programs.version}.",
                f"To start with an empty database, rename that directory. {OWN_SERVER_HINT}",
            )

    def _create(self) -> None:
        """Create the database in a temporary directory and rename that, so that no partial database remains if the
        process is killed."""
        for leftover in self._home.glob("new-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        new_directory = Path(tempfile.mkdtemp(prefix="new-", dir=self._home))
        self._programs.give_ownership(new_directory)
        self._programs.allow_access(new_directory)
        options = ["--auth=trust", "--encoding=UTF8", "--no-locale", "--username=postgres", "-D", "."]
        if not self._durable:
            options.append("--no-sync")
        code, output = self._programs.call("initdb", *options, cwd=new_directory, seconds=self._seconds)
        if code:
            raise StorageError(
                f"Cannot create a database in {self._home}: {_extract_errors(output) or output[-500:]}", OWN_SERVER_HINT
            )
        new_directory.rename(self._cluster)

    def _start(self, sockets: Path) -> None:
        self._programs.allow_access(self._cluster)
        if sockets != self._cluster:
            self._make_private(sockets)
        postmaster.clear_remains(self._cluster, sockets, self._seconds)
        # 200 connections suffice for about twenty processes. Logging checkpoints every five minutes would only fill the
        # log.
        options = f"-h '' -p {_PORT} -k {shlex.quote(str(sockets))} -c max_connections=200 -c log_checkpoints=off"
        if not self._durable:
            options += " -c fsync=off"
        code, output = self._run_pg_ctl("start", "-l", "log", "-o", options)
        # Even if starting fails, a server may be running: one that another process was starting when it was killed.
        if code and postmaster.find(self._cluster) is None:
            raise self._build_server_error(f"did not start: {self._read_log_end() or output[-500:]}")

    def _await_ready(self) -> None:
        """Wait until the server is ready. It may have been started by another process that has since been killed."""
        waiting = Retrying(
            retry=retry_if_result(lambda server: server is not None and not server.ready),
            wait=wait_fixed(0.02),
            stop=stop_after_delay(self._seconds),
        )
        try:
            server = waiting(postmaster.find, self._cluster)
        except RetryError:
            raise self._build_server_error(f"was not ready within {self._seconds:g} s.") from None
        if server is None:
            raise self._build_server_error(f"exited during start-up: {self._read_log_end()}")

    def _choose_socket_dir(self) -> Path:
        """Return the directory for the socket: the cluster directory, which other users cannot enter, or a temporary
        directory if that path is too long."""
        digest = hashlib.sha256(os.fsencode(self._cluster)).hexdigest()[:12]
        temporary_directory = Path(tempfile.gettempdir()) / f"assayer-{digest}"
        for candidate in (self._cluster, temporary_directory):
            if len(os.fsencode(candidate / _SOCKET)) <= _MAX_SOCKET_BYTES:
                return candidate
        raise ConfigurationError(
            f"Socket paths are limited to {_MAX_SOCKET_BYTES} bytes; "
            f"{self._cluster} and {temporary_directory} are too long.",
            f"Set ASSAYER_HOME or TMPDIR to a shorter path. {OWN_SERVER_HINT}",
        )

    def _make_private(self, sockets: Path) -> None:
        """Create a private directory for the sockets. Its parent is world-writable, so this raises ConfigurationError
        if another user has created the directory or can access it."""
        with suppress(FileExistsError):
            sockets.mkdir(mode=0o700)
            self._programs.give_ownership(sockets)
        status = sockets.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != self._programs.uid or status.st_mode & 0o077:
            raise ConfigurationError(
                f"{sockets} belongs to or is accessible to other users, so it is not safe for the database's socket.",
                f"Set ASSAYER_HOME to a shorter path. {OWN_SERVER_HINT}",
            )

    def _run_pg_ctl(self, action: str, *arguments: str) -> tuple[int, str]:
        # Relative paths, because pg_ctl passes them to a shell.
        common = ("-w", "-t", str(round(self._seconds)), "-D", ".")
        return self._programs.call("pg_ctl", action, *common, *arguments, cwd=self._cluster, seconds=self._seconds + 5)

    def _read_log_end(self) -> str:
        try:
            return _extract_errors((self._cluster / "log").read_text(errors="replace"))
        except FileNotFoundError:
            return ""

    def _build_server_error(self, problem: str) -> StorageError:
        return StorageError(
            f"The embedded PostgreSQL in {self._home} {problem}",
            f"Its log is {self._cluster / 'log'}. {OWN_SERVER_HINT}",
        )


def _extract_errors(output: str) -> str:
    """Return the last lines of the output that report an error."""
    lines = (line.strip() for line in output.splitlines()[-20:])
    return " / ".join(line for line in lines if any(keyword in line for keyword in ("error:", "FATAL", "PANIC")))[-500:]


def _accepts_connections(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except (TimeoutError, BlockingIOError):
            return True  # busy, but running
        return True
