"""Record of which reports in a batch have been fetched into a folder, so that an interrupted fetch can resume."""

import json
from pathlib import Path

from assayer.errors import InputError
from cluster.cli.output import write_files


class FetchRecord:
    """Record of fetched files, with one JSON line per file, in `.fetched-BATCH.jsonl` beside the files. A line is
    written once its file is complete.

    A finished report never changes, so a file that is recorded here and still has the same size need not be fetched
    again."""

    def __init__(self, folder: Path, batch: str, *, anew: bool = False) -> None:
        """Open a folder's record; with `anew`, start with an empty record."""
        self._folder = folder
        self._path = folder / f".fetched-{batch}.jsonl"
        self._sizes: dict[tuple[str, str], int] = {} if anew else _read(self._path)
        if anew or not self._path.exists():
            write_files({self._path: ""})

    def has(self, evaluation: str, file: Path) -> bool:
        size = self._sizes.get((evaluation, file.name))
        return size is not None and file.is_file() and not file.is_symlink() and file.stat().st_size == size

    def add(self, evaluation: str, file: Path) -> None:
        """Record a fetched file. Raises InputError if the record cannot be written."""
        size = file.stat().st_size
        self._sizes[evaluation, file.name] = size
        try:
            with self._path.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"id": evaluation, "file": file.name, "bytes": size}) + "\n")
        except OSError as error:
            raise InputError(f"{self._path} cannot be written: {error.strerror}.") from None


def _read(path: Path) -> dict[tuple[str, str], int]:
    """Read the recorded file sizes. Truncated or unknown lines are ignored, so that their files are fetched again."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    sizes: dict[tuple[str, str], int] = {}
    for line in lines:
        try:
            entry = json.loads(line)
            sizes[str(entry["id"]), str(entry["file"])] = int(entry["bytes"])
        except (ValueError, KeyError, TypeError):
            continue
    return sizes
