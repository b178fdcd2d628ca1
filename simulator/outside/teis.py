"""TEI of simulated papers, in GROBID's format."""

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from simulator.outside.fulltexts import write_parts
from simulator.outside.library import Entry
from simulator.outside.pdfs import format_reference

ENTITY_BOMB = (
    '<?xml version="1.0"?>\n<!DOCTYPE TEI [\n<!ENTITY a "ha">\n'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">\n' for n in range(12))
    + ']>\n<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><div><p>&m;</p></div></body></text></TEI>'
)
"""Twelve nested entities, each ten times as long as the previous one: a kilobyte that expands to terabytes."""


def build_paper_tei(
    entry: Entry, cited_entries: Sequence[Entry], grobid_version: str, version: int | None = None
) -> str:
    """Return the TEI of a paper; `grobid_version` is the version of the server, `version` that of the paper."""
    record = entry.record
    body = "".join(
        f'<div xmlns="http://www.tei-c.org/ns/1.0"><head n="{number}">{escape(part.title)}</head>'
        f"<p>{escape(part.text)}</p></div>\n"
        for number, part in enumerate(write_parts(entry, cited_entries, version), 1)
    )
    works = "".join(_format_reference(number, cited_entry) for number, cited_entry in enumerate(cited_entries))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<TEI xml:space="preserve" xmlns="http://www.tei-c.org/ns/1.0" xmlns:xlink="http://www.w3.org/1999/xlink">
<teiHeader xml:lang="en"><fileDesc>
<titleStmt><title level="a" type="main">{escape(record.title)}</title></titleStmt>
<publicationStmt><publisher/><availability status="unknown"><licence/></availability></publicationStmt>
<sourceDesc><biblStruct><analytic>{_format_authors(entry)}</analytic><monogr><imprint><date/></imprint></monogr></biblStruct>
</sourceDesc></fileDesc>
<encodingDesc><appInfo><application version={quoteattr(grobid_version)} ident="GROBID" when="2026-01-01T00:00+0000">
<ref target="https://github.com/grobidOrg/grobid"/></application></appInfo></encodingDesc>
<profileDesc><abstract>
<div xmlns="http://www.tei-c.org/ns/1.0"><p>{escape(record.abstract)}</p></div>
</abstract></profileDesc></teiHeader>
<text xml:lang="en"><body>
{body}<figure xmlns="http://www.tei-c.org/ns/1.0" xml:id="fig_0"><head>Figure 1 :</head><label>1</label>
<figDesc>What the experiments of {escape(record.title)} show.</figDesc></figure>
</body><back><div type="references"><listBibl>
{works}</listBibl></div></back></text></TEI>
"""


def _format_authors(entry: Entry) -> str:
    return "".join(f"<author>{_format_name(author)}</author>" for author in entry.record.authors)


def _format_name(name: str) -> str:
    *given_names, family = name.split() or [""]
    forename = f'<forename type="first">{escape(" ".join(given_names))}</forename>' if given_names else ""
    return f"<persName>{forename}<surname>{escape(family)}</surname></persName>"


def _format_reference(number: int, entry: Entry) -> str:
    record = entry.record
    doi = f'<idno type="DOI">{escape(entry.doi)}</idno>' if entry.doi else ""
    arxiv = f'<idno type="arXiv">arXiv:{escape(entry.arxiv)}</idno>' if entry.arxiv else ""
    date = f'<date type="published" when="{record.year}" />' if record.year else ""
    return (
        f'<biblStruct xml:id="b{number}"><analytic><title level="a" type="main">{escape(record.title)}</title>'
        f'{_format_authors(entry)}{doi}{arxiv}</analytic><monogr><title level="m">{escape(record.venue)}</title>'
        f"<imprint>{date}</imprint></monogr>"
        f'<note type="raw_reference">{escape(format_reference(entry))}</note></biblStruct>\n'
    )
