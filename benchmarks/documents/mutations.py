"""`python -m benchmarks.documents.mutations FOLDER …`: find crashes and silent losses in damaged or converted
documents.

It makes variants of the documents in the folders: truncated, in another encoding, or with other line ends and line
lengths. Each variant is read as `assayer read` does; a crash of a parser in the sandbox is taken from its log. A loss
is silent if more than 2 % of the words are missing, although the document was not rejected and no part was reported as
left out.
"""

import asyncio
import io
import logging
import random
import re
import tempfile
import textwrap
import traceback
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from assayer.text.tex import looks_like_tex
from benchmarks.documents.words import count_file_words, count_reading_words, count_words
from benchmarks.measuring import build_parser, format_heading
from workers.documents.idea_reader import read_ideas

_TEXT_SUFFIXES = (".txt", ".md", ".tex", ".html", ".csv", ".tsv", ".json", ".jsonl")
_PLAIN_SUFFIXES = (".txt", ".md")
_PACKAGE_SUFFIXES = (".docx", ".odt", ".xlsx")
_ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-le", "cp1252", "latin-1", "gb18030", "shift_jis", "mac_roman", "cp1251")
_MAX_LOST_SHARE, _MIN_LOST_WORDS = 0.02, 5


class Variant(NamedTuple):
    change: str
    data: bytes
    words: Counter[str] | None
    """Words before the change, which must all be read; None if they are counted in the variant itself."""


def main() -> None:
    parser = build_parser("documents.mutations", __doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    paths = (path for folder in options.folders for path in sorted(folder.rglob("*")))
    suffixes = {*_TEXT_SUFFIXES, *_PACKAGE_SUFFIXES, ".pdf"}
    files = [path for path in paths if path.suffix.lower() in suffixes and path.stat().st_size < 1_500_000]
    print(format_heading())
    crashes = _CrashLog()
    logging.getLogger("workers.sandbox.runner").addHandler(crashes)
    counts: Counter[tuple[str, str]] = Counter()
    for number in range(options.count):
        file = files[number % len(files)]
        variant = _draw_variant(file, rng)
        outcome, detail = asyncio.run(_judge_variant(file, variant, crashes))
        counts[(file.suffix.lower(), outcome)] += 1
        if outcome in ("crash", "silent loss"):
            print(f"{number} {file.name} {variant.change}: {outcome}: {detail}", flush=True)
    print("\n| format | read | left out | rejected | crash | silent loss |\n|---|---|---|---|---|---|")
    outcomes = ("read", "loss told", "rejected", "crash", "silent loss")
    for suffix in sorted({suffix for suffix, _ in counts}):
        print(f"| {suffix} | {' | '.join(str(counts[(suffix, outcome)]) for outcome in outcomes)} |")
    print(
        f"| all | {' | '.join(str(sum(n for (_, o), n in counts.items() if o == outcome)) for outcome in outcomes)} |"
    )


class _CrashLog(logging.Handler):
    """Log handler that keeps the messages of the sandbox about parsers that failed."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


async def _judge_variant(file: Path, variant: Variant, crashes: _CrashLog) -> tuple[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / file.name
        path.write_bytes(variant.data)
        crashes.messages.clear()
        try:
            result = await read_ideas([path])
        except Exception:  # noqa: BLE001 - the purpose is to find crashes
            return "crash", traceback.format_exc(limit=-3).replace("\n", " / ")
        if crashes.messages:
            return "crash", " / ".join(crashes.messages)
        if not result.ideas:
            return "rejected", result.rejected[0].message
        expected_words = variant.words if variant.words is not None else count_file_words(path)
    found_words = Counter[str]()
    for idea in result.ideas:
        found_words += count_reading_words(idea)
    found_text = " ".join(found_words)
    lost_words = [
        word
        for word, count in expected_words.items()
        if found_words[word] == 0 and word not in found_text
        for _ in range(count)
    ]
    if len(lost_words) <= max(_MIN_LOST_WORDS, _MAX_LOST_SHARE * expected_words.total()):
        return "read", ""
    is_reported = bool(result.rejected) or any(idea.reading and idea.reading.unread_parts for idea in result.ideas)
    return (
        "loss told" if is_reported else "silent loss",
        f"{len(lost_words)} of {expected_words.total()}: {' '.join(lost_words[:12])}",
    )


def _draw_variant(file: Path, rng: random.Random) -> Variant:
    data, suffix = file.read_bytes(), file.suffix.lower()
    changes = list(_make_variants(data, suffix, rng))
    return changes[rng.randrange(len(changes))]


def _make_variants(data: bytes, suffix: str, rng: random.Random) -> Iterator[Variant]:
    """Yield a variant of each kind that the format allows."""
    cut = rng.randrange(1, len(data))
    if suffix in _TEXT_SUFFIXES:
        text = data.decode("utf-8", "replace")
        suffix = ".tex" if looks_like_tex(text) else suffix
        words = count_words(text) if suffix in _PLAIN_SUFFIXES else Counter[str]() if suffix == ".tex" else None
        short_text = text[: rng.randrange(len(text) // 4, len(text))]
        yield Variant("cut short", short_text.encode(), count_words(short_text) if suffix in _PLAIN_SUFFIXES else words)
        for encoding in rng.sample(_ENCODINGS, 2):
            encoded = text.encode(encoding, "ignore")
            encodable_text = encoded.decode(encoding)
            yield Variant(encoding, encoded, count_words(encodable_text) if suffix in _PLAIN_SUFFIXES else words)
        for change, changed_text in (("CRLF", text.replace("\n", "\r\n")), ("CR", text.replace("\n", "\r"))):
            yield Variant(change, changed_text.encode(), words)
        if suffix in _PLAIN_SUFFIXES:
            yield from (Variant(change, flowed_text.encode(), words) for change, flowed_text in _reflow(text))
    elif suffix in _PACKAGE_SUFFIXES:
        yield Variant("cut short", data[:cut], None)
        yield Variant("soft line breaks", _rewrite_package(data, _add_soft_breaks), None)
        yield Variant("split runs", _rewrite_package(data, _split_runs), None)
    else:
        yield Variant("cut short", data[:cut], None)
        yield Variant("bytes lost", data[:cut] + data[cut + rng.randrange(1, 400) :], None)
        yield Variant("text after the end", data + b"\n" * 2_000, None)


def _reflow(text: str) -> Iterator[tuple[str, str]]:
    paragraphs = text.split("\n\n")
    yield "72 columns", "\n\n".join(textwrap.fill(part, 72, break_long_words=False) for part in paragraphs)
    yield "one line a paragraph", "\n\n".join(" ".join(part.split()) for part in paragraphs)
    yield "no blank lines", re.sub(r"\n{2,}", "\n", text)
    yield "indented", textwrap.indent(text, "    ")
    yield "no-break spaces", text.replace(" ", "\u00a0")
    yield "form feeds", text.replace("\n\n", "\n\f\n")


def _rewrite_package(data: bytes, change: Any) -> bytes:
    """Return an office document with its text part changed by a function."""
    package = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(package, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            part = source.read(name)
            is_text = name in ("word/document.xml", "content.xml")
            target.writestr(name, change(part.decode()).encode() if is_text else part)
    return package.getvalue()


def _add_soft_breaks(xml: str) -> str:
    """Join each pair of paragraphs of a Word document with a line break."""
    return re.sub(r"</w:p>(<w:p(?: [^>]*)?>)(?!<w:pPr>)", r"<w:r><w:br/></w:r></w:p>\1", xml)


def _split_runs(xml: str) -> str:
    """Split the runs of a Word document after each comma."""
    return re.sub(r"(<w:t)([^>]*>[^<]*?),([^<]+</w:t>)", r"\1\2,</w:t><w:t xml:space='preserve'>\3", xml)


if __name__ == "__main__":
    main()
