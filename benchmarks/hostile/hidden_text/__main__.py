"""Comparison of copies of honest ideas without and with a hidden order.

Every way of hiding text in PDFs, pages and office documents is applied to some ideas, with orders in nine languages in
turn (in PDFs, only languages with Latin letters). It prints by way how often the order was flagged, left out or missed,
how often the plan checklist differs between clean and attacked copies, and the false flags on honest ideas and honest
ways.
"""

import asyncio
from collections import Counter
from itertools import islice

from assayer.models import Absent
from assayer.plan_review.checklist import build_checklist
from benchmarks.hostile.hidden_text.html_ways import HONEST_HTML_WAYS, HTML_WAYS
from benchmarks.hostile.hidden_text.office_ways import HONEST_WORD_WAYS, ODT_WAYS, WORD_WAYS, build_odt, build_word
from benchmarks.hostile.hidden_text.orders import ORDERS
from benchmarks.hostile.hidden_text.pdf_pages import Page, build_pdf
from benchmarks.hostile.hidden_text.pdf_ways import HONEST_PDF_WAYS, PDF_WAYS
from benchmarks.hostile.hidden_text.sources import build_idea_pdf, build_page, draw_pages, read_honest_ideas
from benchmarks.measuring import build_parser
from benchmarks.records import DATA
from workers.documents.document_parsing import read_document
from workers.documents.limits import OfficeLimits, PdfLimits
from workers.documents.parsed_text import ParsedText
from workers.documents.pdf_reader import read_pdf_text
from workers.sandbox.page_extraction import extract_article

_LATIN_ORDERS = [text for text in ORDERS.values() if text.encode("cp1252", "ignore").decode("cp1252") == text]
_TODAY = "2026-01-01"


def _extract_letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


class _Tally:
    """Counts for one kind of document."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._counts: dict[str, Counter[str]] = {}
        self._shifts: list[int] = []

    def add(self, way: str, order: str, text: str, flagged_text: str, clean_text: str) -> None:
        """Count one attacked copy: its visible text, its flagged texts (`flagged_text`), and the text of the clean
        copy."""
        is_in_text, is_flagged = (
            _extract_letters(order) in _extract_letters(text),
            _extract_letters(order) in _extract_letters(flagged_text),
        )
        counts = self._counts.setdefault(way, Counter())
        counts["copies"] += 1
        counts["flagged"] += is_flagged
        counts["left out"] += not is_in_text
        counts["missed"] += is_in_text and not is_flagged
        self._shifts.append(_count_stated(text) - _count_stated(clean_text))

    def print_table(self) -> None:
        print(f"\n{self._kind} | copies | flagged | left out | missed")
        for way, counts in self._counts.items():
            print(f"{way} | {counts['copies']} | {counts['flagged']} | {counts['left out']} | {counts['missed']}")
        ways = len(self._counts)
        never_missed = sum(counts["missed"] == 0 for counts in self._counts.values())
        shifted_count = sum(shift != 0 for shift in self._shifts)
        print(f"{self._kind}: {never_missed} of {ways} ways never missed; checklist shifted in {shifted_count} of "
              f"{len(self._shifts)} attacked copies")  # fmt: skip


def _count_stated(text: str) -> int:
    """Return the number of checklist rows that a text states, as a score without a language model."""
    rows = build_checklist(text)
    return 0 if isinstance(rows, Absent) else sum(row.outcome == "stated" for row in rows)


async def _measure_pdfs(copies: int) -> None:
    tally = _Tally("PDF")
    false_flags = 0
    for number, idea in enumerate(islice(read_honest_ideas(), copies)):
        body = draw_pages(idea)[0]
        orders = {way: _LATIN_ORDERS[(number + position) % len(_LATIN_ORDERS)] for position, way in enumerate(PDF_WAYS)}
        pages = [PDF_WAYS[way](body, order) for way, order in orders.items()]
        clean_reading = await read_pdf_text(build_pdf([Page(body)]), PdfLimits(), "The PDF")
        for position, way in enumerate(orders):
            reading = await read_pdf_text(build_pdf([pages[position]]), PdfLimits(), "The PDF")
            tally.add(
                way,
                orders[way],
                reading.text,
                " ".join(hidden_text.text for hidden_text in reading.hidden),
                clean_reading.text,
            )
        honest_pages = [way(body, _LATIN_ORDERS[number % len(_LATIN_ORDERS)]) for way in HONEST_PDF_WAYS.values()]
        false_flags += len((await read_pdf_text(build_pdf(honest_pages), PdfLimits(), "The PDF")).hidden)
    tally.print_table()
    print(f"honest ways of PDFs: {false_flags} false flags on {copies * len(HONEST_PDF_WAYS)} pages")


def _measure_pages(copies: int) -> None:
    tally = _Tally("web page")
    orders = list(ORDERS.values())
    false_flags = 0
    for number, idea in enumerate(islice(read_honest_ideas(), copies)):
        clean_text = extract_article(build_page(idea), "utf-8", "", _TODAY).text
        for position, (way, markup) in enumerate(HTML_WAYS.items()):
            order = orders[(number + position) % len(orders)]
            reading = extract_article(build_page(idea, markup.format(text=order)), "utf-8", "", _TODAY)
            tally.add(
                way, order, reading.text, " ".join(hidden_text.text for hidden_text in reading.hidden), clean_text
            )
        for markup in HONEST_HTML_WAYS.values():
            page = build_page(idea, markup.format(text=orders[number % len(orders)]))
            false_flags += len(extract_article(page, "utf-8", "", _TODAY).hidden)
    tally.print_table()
    print(f"honest ways of pages: {false_flags} false flags on {copies * len(HONEST_HTML_WAYS)} pages")


async def _measure_office(copies: int) -> None:
    orders = list(ORDERS.values())
    false_flags = 0
    for kind, ways, make_file in (("Word document", WORD_WAYS, build_word), ("OpenDocument text", ODT_WAYS, build_odt)):
        tally = _Tally(kind)
        for number, idea in enumerate(islice(read_honest_ideas(), copies)):
            clean_text, _ = await _read_office_text(make_file(idea))
            for position, (name, way) in enumerate(ways.items()):
                order = orders[(number + position) % len(orders)]
                text, flagged_texts = await _read_office_text(make_file(idea, way, order))
                tally.add(name, order, text, " ".join(flagged_texts), clean_text)
        tally.print_table()
    for idea in islice(read_honest_ideas(), copies):
        for way in HONEST_WORD_WAYS.values():
            false_flags += len((await _read_office_text(build_word(idea, way, orders[0])))[1])
    print(f"honest ways of Word documents: {false_flags} false flags on {copies * len(HONEST_WORD_WAYS)} documents")


async def _read_office_text(document: bytes) -> tuple[str, list[str]]:
    """Return the document's visible text and its hidden texts."""
    document_text = await read_document(document, "office", "The document", OfficeLimits())
    if not isinstance(document_text, ParsedText):
        raise TypeError("The document was read as a table.")
    return "\n".join(text for _, text in document_text.paragraphs), [text for _, text in document_text.hidden]


async def _measure_honest(max_ideas: int) -> None:
    texts = read_honest_ideas()[:max_ideas]
    pdfs = [bool((await read_pdf_text(build_idea_pdf(idea), PdfLimits(), "The PDF")).hidden) for idea in texts]
    pages = [bool(extract_article(build_page(idea), "utf-8", "", _TODAY).hidden) for idea in texts]
    print(f"\nhonest ideas: {sum(pdfs)} of {len(pdfs)} flagged as PDFs, {sum(pages)} of {len(pages)} as pages")
    office = [
        bool((await _read_office_text(make_file(idea)))[1]) for idea in texts for make_file in (build_word, build_odt)
    ]
    print(f"honest ideas: {sum(office)} of {len(office)} flagged as Word documents and OpenDocument texts")
    real_pdfs = sorted(DATA.glob("**/*.pdf"))
    flags_of_pdfs = [
        bool((await read_pdf_text(path.read_bytes(), PdfLimits(), path.name)).hidden) for path in real_pdfs
    ]
    print(f"real PDFs: {sum(flags_of_pdfs)} of {len(flags_of_pdfs)} flagged; real pages: there are none in the data")


def main() -> None:
    parser = build_parser("hostile.hidden_text", __doc__)
    parser.add_argument("--copies", type=int, default=2, help="number of ideas to which every way is applied")
    parser.add_argument("--honest", type=int, default=118, help="number of honest ideas checked for false flags")
    options = parser.parse_args()
    asyncio.run(_measure_pdfs(options.copies))
    _measure_pages(options.copies)
    asyncio.run(_measure_office(options.copies))
    asyncio.run(_measure_honest(options.honest))


if __name__ == "__main__":
    main()
