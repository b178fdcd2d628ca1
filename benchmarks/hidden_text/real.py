"""What is taken for hidden in real PDFs and web pages: `python -m benchmarks.hidden_text.real FILE|FOLDER …`.

Each file is read as the program reads it; told are the documents in which anything was left out that is worth a flag.
`--out` writes each text that was left out as a line of JSON, so that somebody can look at its place. Web pages are
opened in the Chromium of the PATH as well, which says whether it shows the text: a page does hide menus and stand-ins,
and what the browser does not show is rightly left out. A page's comments are not counted. `--printed FOLDER` keeps each
page as Chromium prints it, to be read as a PDF.
"""

import argparse
import asyncio
import datetime as dt
import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from playwright.async_api import Error, async_playwright

from assayer.errors import AssayerError
from workers.documents.limits import PdfLimits
from workers.documents.pdf_reader import pdf_text
from workers.sandbox.page_extraction import ExtractedPage, PageWithoutText, extract_article

__all__ = ["LeftOut", "RealDocument", "main"]

_TODAY = dt.date(2026, 1, 1)
_TELLS = 6
"""Letters: fewer stand somewhere else in the page as well."""
_SUFFIXES = (".pdf", ".html", ".htm")


class LeftOut(NamedTuple):
    where: str
    """A page of a PDF; empty in a web page."""
    why: str
    text: str
    shown: bool | None = None
    """What the browser says; None for a PDF."""


class RealDocument(NamedTuple):
    path: Path
    pages: int
    """0 for what cannot be read."""
    seconds: float
    left_out: tuple[LeftOut, ...] = ()
    refused: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+", metavar="FILE|FOLDER")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--printed", type=Path, default=None)
    asked = parser.parse_args()
    if asked.printed is not None:
        asked.printed.mkdir(parents=True, exist_ok=True)
    found = asyncio.run(_read(list(_files(asked.paths)), asked.printed))
    if asked.out is not None:
        asked.out.write_text("".join(_lines(found)), "utf-8")
    for kind, own in (
        ("PDFs", [one for one in found if one.path.suffix == ".pdf"]),
        ("web pages", [one for one in found if one.path.suffix != ".pdf"]),
    ):
        _tell(kind, own)


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(one for one in path.rglob("*") if one.suffix in _SUFFIXES) if path.is_dir() else (path,)


async def _read(paths: list[Path], printed: Path | None) -> list[RealDocument]:
    found = [await _pdf(path) for path in paths if path.suffix == ".pdf"]
    pages = [path for path in paths if path.suffix != ".pdf"]
    if not pages:
        return found
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=_chromium(), chromium_sandbox=os.geteuid() != 0)
        context = await browser.new_context(offline=True)
        for number, path in enumerate(pages):
            tab = await context.new_page()
            found.append(await _page(path, _article(path), tab))
            if printed is not None:
                await tab.pdf(path=printed / f"{number:03}-{path.stem}.pdf")
            await tab.close()
        await browser.close()
    return found


def _chromium() -> str:
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        sys.exit("Web pages are compared with what Chromium shows, and there is none on the PATH.")
    return found


async def _pdf(path: Path) -> RealDocument:
    began = time.monotonic()
    try:
        read = await pdf_text(await asyncio.to_thread(path.read_bytes), PdfLimits(), path.name)
    except AssayerError as error:
        return RealDocument(path, 0, time.monotonic() - began, refused=str(error))
    left_out = tuple(LeftOut(str(one.page), one.why, one.text) for one in read.hidden)
    return RealDocument(path, read.pages, time.monotonic() - began, left_out)


def _article(path: Path) -> tuple[ExtractedPage | None, float]:
    """None without text; and how long it took."""
    began = time.monotonic()
    try:
        return extract_article(path.read_bytes(), "", path.as_uri(), _TODAY), time.monotonic() - began
    except PageWithoutText:
        return None, time.monotonic() - began


async def _page(path: Path, article: tuple[ExtractedPage | None, float], tab: Any) -> RealDocument:
    read, seconds = article
    if read is None:
        return RealDocument(path, 0, seconds, refused=f"{path.name} has no text.")
    try:
        await tab.goto(path.as_uri())
        shown = _letters(await tab.evaluate("document.body.innerText"))
    except Error as error:
        return RealDocument(path, 0, seconds, refused=f"{path.name} leads elsewhere: {error.message.splitlines()[0]}")
    left_out = tuple(
        LeftOut("", one.why, one.text, len(found := _letters(one.text)) >= _TELLS and found in shown)
        for one in read.hidden
        if one.why != "a comment"
    )
    return RealDocument(path, 1, seconds, left_out)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _lines(found: Iterable[RealDocument]) -> Iterator[str]:
    for one in found:
        for text in one.left_out:
            yield json.dumps({"path": str(one.path), **text._asdict()}, ensure_ascii=False) + "\n"


def _tell(kind: str, found: list[RealDocument]) -> None:
    read = [one for one in found if one.pages]
    print(f"\n{kind}: {len(read)} read, {sum(one.pages for one in read)} pages, {len(found) - len(read)} refused; "
          f"{sum(one.seconds for one in found):.0f} s")  # fmt: skip
    for words, count in Counter(one.refused.split(maxsplit=1)[-1] for one in found if one.refused).items():
        print(f"  refused × {count}: {words}")
    for why in sorted({text.why for one in read for text in one.left_out}):
        own = [one for one in read if any(text.why == why for text in one.left_out)]
        texts = [text for one in own for text in one.left_out if text.why == why]
        shown = sum(text.shown is True for text in texts)
        browser = f", of which the browser shows {shown}" if kind != "PDFs" else ""
        print(f"  {why}: {len(texts)} texts in {len(own)} documents{browser}")
    print(f"  with anything left out: {sum(bool(one.left_out) for one in read)}")


if __name__ == "__main__":
    main()
