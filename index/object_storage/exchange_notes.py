"""Record, in the corpus directory, which versions were downloaded from or published to a bucket.

Entries never expire and do not depend on what the bucket still lists. A recorded version can safely be replaced by
downloading another one."""

import os
from pathlib import Path

_FILE = "exchanged"


class ExchangeNotes:
    def __init__(self, directory: Path, address: str) -> None:
        """Create the record for the bucket at `address`."""
        self._path = directory / _FILE
        self._address = address.rstrip("/")

    def __contains__(self, version: str) -> bool:
        try:
            return self._format_line(version) in self._path.read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return False

    def add(self, version: str) -> None:
        """Record that a version was downloaded or published. Raises OSError if the record cannot be written."""
        if version in self:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as file:
            # Begin a new line, because a killed process may have left the previous one incomplete.
            file.write(f"\n{self._format_line(version)}\n".encode())
            file.flush()
            os.fsync(file.fileno())

    def _format_line(self, version: str) -> str:
        return f"{version} {self._address}"
