"""Attacks that a parser taken over by a hostile document would try; run in the sandboxed process."""

import os
import signal
import socket
from pathlib import Path


def read_file(path: bytes) -> int:
    return len(Path(path.decode()).read_bytes())


def write_file(path: bytes) -> int:
    return Path(path.decode()).write_bytes(b"")


def connect(port: bytes) -> int:
    socket.create_connection(("127.0.0.1", int(port)), timeout=5).close()
    return 0


def signal_parent(_: bytes) -> int:
    os.kill(os.getppid(), signal.SIGCONT)
    return 0
