"""`python -m benchmarks.documents.large`: seconds and memory to read a 300-page PDF, a 50 MB Word file and a table of
100,000 rows.

The files are made in a temporary folder and read as `assayer read` does, each in a process of its own; the table also
as the service reads the upload of a batch, row by row. The memory is the peak of that process and of the sandboxed
parsers that it starts.
"""

import asyncio
import csv
import datetime as dt
import random
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks.measuring import build_parser, format_heading
from orchestrator.batches.csv_rows import read_csv_rows
from orchestrator.batches.rows import AcceptedRow, LineCounter
from tests.contract.office_files import word
from tests.contract.pdf_files import pdf
from workers.documents.idea_reader import read_ideas
from workers.documents.limits import DocumentLimits

_WORDS = ("plans", "bees", "judge", "scores", "graph", "office", "reads", "model", "works", "field", "claim", "panel")
_PAGES, _ROWS, _MEGABYTES = 300, 100_000, 49
_LINES_PER_PAGE, _WORDS_PER_LINE = 18, 12


def main() -> None:
    parser = build_parser("documents.large", __doc__)
    parser.add_argument("--rows", type=int, default=_ROWS)
    parser.add_argument("--read", type=Path, help="read this file and print what it took; what the processes do")
    parser.add_argument("--upload", action="store_true", help="read it as the upload of a batch")
    options = parser.parse_args()
    if options.read:
        _measure(options.read, _read_upload if options.upload else _read)
        return
    print(
        format_heading(), "\n| file | MB | ideas | words | seconds | of processor | memory, reader | parser |", sep="\n"
    )
    print("|:--|--:|--:|--:|--:|--:|--:|--:|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, make_file in _FILES.items():
            path = Path(folder) / name
            make_file(path, options.rows)
            size = path.stat().st_size / 1e6
            for option, row_name in (("", name), ("--upload", f"{name}, uploaded")):
                if option and path.suffix != ".csv":
                    continue
                command = [sys.executable, "-m", __spec__.name, "--read", str(path), *filter(None, [option])]
                process = subprocess.run(command, capture_output=True, text=True, check=False)
                print(f"| {row_name} | {size:.1f} | {process.stdout.strip() or process.stderr[-400:]} |", flush=True)


class _Counts(NamedTuple):
    ideas: int
    words: int
    refusal: str = ""


def _read(path: Path) -> _Counts:
    reading = asyncio.run(read_ideas([path]))
    words = sum(len(idea.text.split()) for idea in reading.ideas)
    return _Counts(len(reading.ideas), words, next((item.message for item in reading.rejected), ""))


def _read_upload(path: Path) -> _Counts:
    """Read the rows as the service does; it writes each to the database before it reads the next."""
    max_bytes = DocumentLimits().text_bytes
    lines = LineCounter(2 * _ROWS, lambda: False)
    ideas = words = 0
    with path.open("rb") as file:
        for row in read_csv_rows(file, "", 1, max_bytes, dt.datetime.now(dt.UTC).date(), lines):
            if isinstance(row, AcceptedRow) and row.idea:
                ideas += 1
                words += len(row.idea.text.split())
    return _Counts(ideas, words)


def _measure(path: Path, read: Callable[[Path], _Counts]) -> None:
    start_time = time.monotonic()
    reading = read(path)
    seconds = time.monotonic() - start_time
    usages = [resource.getrusage(usage_kind) for usage_kind in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    memory = " | ".join(f"{usage.ru_maxrss / 1e3:,.0f} MB" for usage in usages)
    print(f"{reading.ideas:,} | {reading.words:,} | {seconds:.1f} | {cpu:.1f} | {memory} {reading.refusal}")


def _generate_lines(rng: random.Random, line_count: int) -> list[str]:
    return [" ".join(rng.choices(_WORDS, k=_WORDS_PER_LINE)).capitalize() + "." for _ in range(line_count)]


def _write_pdf(path: Path, _: int) -> None:
    rng = random.Random(1)
    pages = [[("F1", 10.0, line) for line in _generate_lines(rng, _LINES_PER_PAGE)] for _ in range(_PAGES)]
    path.write_bytes(pdf([("F2", 16.0, "Scoring plans at length"), *pages[0]], *pages[1:]))


def _write_word_file(path: Path, _: int) -> None:
    """Write a text of as many words as the PDF, with pictures that do not shrink."""
    rng = random.Random(2)
    lines = [
        "Scoring plans at length",
        *(" ".join(_generate_lines(rng, 5)) for _ in range(_PAGES * _LINES_PER_PAGE // 5 - 20)),
    ]
    body = "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in lines)
    path.write_bytes(word(body))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as package:
        for number in range(_MEGABYTES):
            package.writestr(f"word/media/image{number}.png", rng.randbytes(1_000_000))


def _write_word_text(path: Path, _: int) -> None:
    """Write a text that unpacks to nearly as much as the limit allows."""
    rng = random.Random(3)
    lines = " ".join(_generate_lines(rng, 2_000))
    path.write_bytes(word(f"<w:p><w:r><w:t>{lines}</w:t></w:r></w:p>" * 150))


def _write_table(path: Path, row_count: int) -> None:
    rng = random.Random(4)
    texts = [" ".join(_generate_lines(rng, 10)) for _ in range(500)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "title", "abstract"])
        writer.writerows(
            [f"A-{row}", f"Scoring plans {row}", f"{row}: {rng.choice(texts)}"] for row in range(row_count)
        )


_FILES: dict[str, Callable[[Path, int], None]] = {
    "300 pages.pdf": _write_pdf,
    "pictures.docx": _write_word_file,
    "text.docx": _write_word_text,
    "rows.csv": _write_table,
}

if __name__ == "__main__":
    main()
