"""Pages of arXiv's OAI-PMH service as they are read."""

import datetime as dt

import pytest

from assayer.errors import SourceMalformed
from index.ingest.arxiv_oai import OaiError, OaiPage, OaiRecord, read_oai_page, split_into_windows
from index.ingest.record_rows import RecordRow

HEAD = b'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><responseDate>2026-11-20T00:00:00Z</responseDate>'
PAPER = b"""<record><header><identifier>oai:arXiv.org:hep-th/9901001</identifier></header>
<metadata><arXiv xmlns="http://arxiv.org/OAI/arXiv/"><id>hep-th/9901001</id><created>1999-01-04</created>
<authors><author><keyname>Curie</keyname><forenames>Marie</forenames></author><author><keyname>Team</keyname></author>
</authors><title>On
  wrapped titles</title><categories>hep-th math.MP</categories><comments>%s</comments>
<doi>10.1000/A 10.1000/B</doi><abstract>  Some
words. </abstract></arXiv></metadata></record>"""
DELETED_RECORD = b"<record><header status='deleted'><identifier>oai:arXiv.org:0704.0001</identifier></header></record>"


def make_page(*records: bytes, token: bytes = b"") -> bytes:
    listed = b"".join(records) + b"<resumptionToken>" + token + b"</resumptionToken>"
    return HEAD + b"<ListRecords>" + listed + b"</ListRecords></OAI-PMH>"


def _read(*records: bytes) -> tuple[OaiRecord, ...]:
    page = read_oai_page(make_page(*records))
    assert isinstance(page, OaiPage)
    return page.entries


def test_paper_record_is_parsed_with_wrapped_text_joined() -> None:
    (entry,) = _read(PAPER % b"9 pages")
    assert isinstance(entry.row, RecordRow)
    assert (entry.row.key, entry.row.title, entry.row.abstract) == (
        "arxiv:hep-th/9901001", "On wrapped titles", "Some words.",
    )  # fmt: skip
    assert entry.row.authors == ["Marie Curie", "Team"]
    assert entry.row.publication_date == dt.date(1999, 1, 4)
    assert (entry.row.identifiers.doi, entry.row.fields, entry.row.retracted) == (
        "10.1000/a",
        ["hep-th", "math.MP"],
        False,
    )
    (withdrawn,) = _read(PAPER % b"This paper has been withdrawn")
    assert isinstance(withdrawn.row, RecordRow)
    assert withdrawn.row.retracted


def test_deleted_record_keeps_its_paper_id() -> None:
    (entry,) = _read(DELETED_RECORD)
    assert entry.deleted
    assert isinstance(entry.row, RecordRow)
    assert entry.row.key == "arxiv:0704.0001"


def test_record_without_metadata_or_id_is_reported_and_others_are_read() -> None:
    no_metadata = b"<record><header><identifier>oai:arXiv.org:0704.0002</identifier></header></record>"
    no_id = b"<record><header><identifier>x</identifier></header></record>"
    records = _read(no_metadata, no_id, PAPER % b"")
    assert [item.row for item in records[:2]] == ["metadata is missing", "id is missing"]
    assert isinstance(records[2].row, RecordRow)


def test_every_page_but_the_last_has_a_resumption_token() -> None:
    page, last = read_oai_page(make_page(DELETED_RECORD, token=b"123|1001")), read_oai_page(make_page(DELETED_RECORD))
    assert isinstance(page, OaiPage)
    assert isinstance(last, OaiPage)
    assert (page.token, last.token) == ("123|1001", "")


def test_empty_window_is_an_empty_page_and_other_errors_are_returned() -> None:
    assert read_oai_page(HEAD + b'<error code="noRecordsMatch"/></OAI-PMH>') == OaiPage((), "")
    assert read_oai_page(HEAD + b'<error code="badArgument">No\n such set</error></OAI-PMH>') == OaiError(
        "badArgument", "No such set"
    )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html/>",
        HEAD + b"</OAI-PMH>",
        HEAD,
        b'<!DOCTYPE x [<!ENTITY e "e">]>' + HEAD + b"<ListRecords>&e;</ListRecords></OAI-PMH>",
    ],
    ids=["empty", "html", "nothing", "cut", "entities"],
)
def test_invalid_oai_document_is_malformed(body: bytes) -> None:
    with pytest.raises(SourceMalformed):
        read_oai_page(body)


def test_harvest_windows_are_months_covering_every_day_once() -> None:
    assert list(split_into_windows(dt.date(2026, 1, 30), dt.date(2026, 3, 2))) == [
        (dt.date(2026, 1, 30), dt.date(2026, 1, 31)),
        (dt.date(2026, 2, 1), dt.date(2026, 2, 28)),
        (dt.date(2026, 3, 1), dt.date(2026, 3, 2)),
    ]
    assert list(split_into_windows(dt.date(2026, 1, 2), dt.date(2026, 1, 1))) == []
