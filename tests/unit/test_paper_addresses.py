"""Identifiers are read whole from the addresses of publishers, archives, indexes and mirrors, wherever an address is
accepted: as an idea, in an entry of a reference list, or in a text."""

from pathlib import Path

import pytest

from assayer.ideas.parsing import parse_idea
from assayer.literature.paper_addresses import find_identifiers
from assayer.models import Identifiers
from assayer.own_references.entries import read_references
from assayer.reference_lists.bibliography_files import read_bibliography
from assayer.reference_lists.entry_parser import parse_references
from assayer.reference_lists.identifiers import arxiv_ids_in, dois_in
from workers.documents.idea_reader import _parse_named_work

ENTRY = "Lee, A. (2020). Sorting mail at night. Letters, 3(2), 1–9."
DOI = "10.5555/abc.123"
DOIS = {
    DOI: [
        "https://doi.org/10.5555/abc.123", "http://dx.doi.org/10.5555/ABC.123", "https://doi.org/10.5555%2Fabc.123",
        "https://doi.org/10.5555/abc.123?utm_source=news&utm_medium=mail", "https://doi.org/10.5555/abc.123#sec2",
        "https://doi.org/doi:10.5555/abc.123", "https://doi-org.proxy.library.test/10.5555/abc.123",
        "https://api.crossref.org/works/10.5555/abc.123", "https://api.unpaywall.org/v2/10.5555/abc.123?email=a@b.test",
        "https://sub.test/login?url=https%3A%2F%2Fdoi.org%2F10.5555%2Fabc.123",
        "https://sub.test/login?qurl=https%253A%252F%252Fdoi.org%252F10.5555%252Fabc.123&x=1",
        "https://journal.test/article?doi=10.5555/abc.123&page=3",
        "https://api.semanticscholar.org/graph/v1/paper/DOI:10.5555/abc.123?fields=title",
        "https://api.openalex.org/works/https://doi.org/10.5555/abc.123",
        "https://web.archive.org/web/20200101000000/https://doi.org/10.5555/abc.123",
        "https://publisher.test/doi/full/10.5555/abc.123", "https://publisher.test/doi/10.5555/abc.123/full",
        "https://publisher.test/doi/pdfdirect/10.5555/abc.123?download=true",
        "https://publisher.test/doi/suppl/10.5555/abc.123/suppl_file/si_001.pdf",
        "https://link.springer.com/content/pdf/10.5555/abc.123.pdf",
        "https://link.springer.com/chapter/10.5555/abc.123/fulltext.html",
        "https://www.frontiersin.org/articles/10.5555/abc.123/full",
    ],
    "10.5555/(sici)1096-9999(1996)365:1<113::aid-xne9>3.0.co;2-6": [
        "https://publisher.test/doi/10.5555/(SICI)1096-9999(1996)365:1%3C113::AID-XNE9%3E3.0.CO;2-6"
    ],
    "10.5555/journal/btaa123": ["https://academic.oup.com/journal/article/doi/10.5555/journal/btaa123/5735417"],
    "10.5555/1742-6596/999/1/012345": [
        "https://publisher.test/article/10.5555/1742-6596/999/1/012345/meta",
        "https://publisher.test/article/10.5555/1742-6596/999/1/012345/pdf",
    ],
    "10.1145/3999999.3999998": ["https://dl.acm.org/citation.cfm?doid=3999999.3999998"],
    "10.1038/s41586-020-99999-2": [
        "https://www.nature.com/articles/s41586-020-99999-2", "https://www.nature.com/articles/s41586-020-99999-2.pdf",
        "https://idp.nature.com/authorize?redirect_uri=https%3A%2F%2Fwww.nature.com%2Farticles%2Fs41586-020-99999-2",
    ],
    "10.1101/2020.01.01.999999": [
        "https://www.biorxiv.org/content/10.1101/2020.01.01.999999v2",
        "https://www.biorxiv.org/content/10.1101/2020.01.01.999999v2.full.pdf",
        "https://www.biorxiv.org/content/biorxiv/early/2020/01/01/2020.01.01.999999.full.pdf",
        "https://www.medrxiv.org/content/10.1101/2020.01.01.999999v1.full-text",
    ],
    "10.7554/elife.99999": ["https://elifesciences.org/articles/99999"],
    "10.5281/zenodo.9999999": ["https://zenodo.org/record/9999999", "https://zenodo.org/records/9999999/files/a.pdf"],
    "10.2139/ssrn.9999999": [
        "https://papers.ssrn.com/sol3/papers.cfm?abstract_id=9999999", "https://ssrn.com/abstract=9999999"
    ],
    "10.3386/w99999": ["https://www.nber.org/papers/w99999"],
    "10.2307/9999999": ["https://www.jstor.org/stable/9999999", "https://www.jstor.org/stable/10.2307/9999999?seq=1"],
    "10.7717/peerj-cs.999": ["https://peerj.com/articles/cs-999"],
    "10.31234/osf.io/ab9cd": ["https://psyarxiv.com/ab9cd", "https://osf.io/preprints/psyarxiv/ab9cd_v2"],
    "10.21203/rs.3.rs-999999/v1": ["https://www.researchsquare.com/article/rs-999999/v1"],
}  # fmt: skip
ARXIV = {
    "2101.99999": [
        "http://arxiv.org/abs/2101.99999v3", "https://arxiv.org/pdf/2101.99999v2.pdf?download=1#page=3",
        "https://arxiv.org/html/2101.99999v1/#S3", "https://arxiv.org/ps/2101.99999", "https://arxiv.org/src/2101.99999",
        "https://arxiv.org/e-print/2101.99999v1", "https://export.arxiv.org/abs/2101.99999",
        "https://ar5iv.labs.arxiv.org/html/2101.99999", "https://ar5iv.org/abs/2101.99999",
        "https://www.alphaxiv.org/abs/2101.99999v2", "https://alphaxiv.org/overview/2101.99999",
        "https://huggingface.co/papers/2101.99999", "https://www.semanticscholar.org/arxiv/2101.99999",
        "https://api.semanticscholar.org/graph/v1/paper/arXiv:2101.99999", "https://arxiv-vanity.com/papers/2101.99999/",
        "https://scirate.com/arxiv/2101.99999", "https://ui.adsabs.harvard.edu/abs/arXiv:2101.99999",
        "https://web.archive.org/web/2020/https://arxiv.org/abs/2101.99999v1",
        "https://search.test/papers?q=arxiv%3A2101.99999",
    ],
    "hep-th/9999999": ["https://arxiv.org/abs/hep-th/9999999v1", "https://inspirehep.net/api/arxiv/hep-th/9999999"],
    "math/0309999": ["https://arxiv.org/abs/math.GT/0309999", "https://arxiv.org/pdf/math/0309999.pdf"],
}  # fmt: skip
OTHER_ADDRESSES = {
    ("openreview", "abcDEF12_3"): [
        "https://openreview.net/forum?id=abcDEF12_3", "https://openreview.net/forum?noteId=x1&id=abcDEF12_3",
        "https://openreview.net/pdf?id=abcDEF12_3", "https://openreview.net/revisions?id=abcDEF12_3#all",
    ],
    ("acl", "P18-9999"): [
        "https://aclanthology.org/P18-9999.pdf", "https://www.aclweb.org/anthology/P18-9999/",
        "https://aclanthology.info/papers/P18-9999/p18-9999",
    ],
    ("acl", "2020.acl-main.999"): ["https://aclanthology.org/2020.acl-main.999/"],
    ("pubmed", "99999999"): [
        "https://pubmed.ncbi.nlm.nih.gov/99999999/?from_term=mail", "https://www.ncbi.nlm.nih.gov/pubmed/99999999",
        "https://www.ncbi.nlm.nih.gov/pubmed/?term=99999999", "https://europepmc.org/article/MED/99999999",
    ],
    ("pmc", "PMC9999999"): [
        "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC9999999/pdf/a.pdf", "https://pmc.ncbi.nlm.nih.gov/articles/pmc9999999/",
        "https://europepmc.org/article/PMC/PMC9999999",
    ],
    ("s2", "0123456789abcdef0123456789abcdef01234567"): [
        "https://www.semanticscholar.org/paper/Sorting-mail/0123456789abcdef0123456789abcdef01234567"
    ],
    ("openalex", "W9999999999"): ["https://openalex.org/works/w9999999999", "https://openalex.org/W9999999999"],
}  # fmt: skip
NONE = [
    "https://example.test/2101.99999", "https://www.nature.com/nature", "https://github.com/lee/mail/blob/main/2101.99999",
    "https://example.test/paper/10.5", "http://[", "https://www.sciencedirect.com/science/article/pii/S0092867420300011",
]  # fmt: skip
CASES = [
    *((url, Identifiers(doi=name)) for name, urls in DOIS.items() for url in urls),
    *((url, Identifiers(arxiv=name)) for name, urls in ARXIV.items() for url in urls),
    *(
        (url, Identifiers.model_validate({scheme: name}))
        for (scheme, name), urls in OTHER_ADDRESSES.items()
        for url in urls
    ),
    *((url, Identifiers()) for url in NONE),
    (
        "https://doi.org/10.48550/ARXIV.2101.99999v2",
        Identifiers(doi="10.48550/arxiv.2101.99999", arxiv="2101.99999"),
    ),
]
AROUND = ["{}.", "<{}>.", "({})", "[{}];", "“{}”,", "*{}*", "[here]({})"]
"""Punctuation around an address."""


@pytest.mark.parametrize(("address", "identifiers"), CASES)
def test_identifier_is_read_wherever_an_address_is_accepted(address: str, identifiers: Identifiers) -> None:
    assert find_identifiers(address) == identifiers
    named_work = _parse_named_work(Path(address))
    assert named_work is not None
    assert named_work.identifiers == identifiers
    for around in AROUND:
        text = f"We follow earlier work at {around.format(address)}"
        assert set(dois_in(text)) == {identifiers.doi} - {""}
        assert set(arxiv_ids_in(text)) == {identifiers.arxiv} - {""}
        (work,) = parse_references(f"{ENTRY} {around.format(address)}")
        assert (work.title, work.year) == ("Sorting mail at night", 2020)
        assert (work.doi, work.arxiv) == (identifiers.doi, identifiers.arxiv)
    entry = f"TY  - JOUR\nTI  - Sorting mail at night\nUR  - {address}\nER  - \n"
    (read_entry,) = read_bibliography(entry, "a list").entries
    assert (read_entry.work.doi, read_entry.work.arxiv) == (identifiers.doi, identifiers.arxiv)


@pytest.mark.parametrize(
    ("printed", "doi", "arxiv"),
    [
        ("https://doi.org/10.5555/\nabc.123", DOI, ""),
        ("https://\ndoi.org/10.5555/abc.123", DOI, ""),
        ("doi: 10.\n5555/abc.123", DOI, ""),
        ("https://arxiv.org/\nabs/2101.99999v2", "", "2101.99999"),
        ("arXiv:2101.\n99999", "", "2101.99999"),
        ("https://www.biorxiv.org/content/10.1101/\n2020.01.01.999999v2", "10.1101/2020.01.01.999999", ""),
        ("https://www.nature.com/articles/\ns41586-020-99999-2", "10.1038/s41586-020-99999-2", ""),
        ("doi:10.5555/abc.123.PMID: 12345", DOI, ""),
        ("doi:10.5555/abc.123;arXiv:2101.99999", DOI, "2101.99999"),
        ("eprint 2101.99999", "", "2101.99999"),
        ("CoRR abs/2101.99999", "", "2101.99999"),
    ],
)
def test_identifier_broken_over_lines_or_next_to_another_is_read_completely(printed: str, doi: str, arxiv: str) -> None:
    (work,) = parse_references(f"{ENTRY} {printed}")
    assert (work.doi, work.arxiv) == (doi, arxiv)


def test_linked_address_with_brackets_is_a_reference() -> None:
    idea = parse_idea("We sort mail by machine. " * 8, "a").model_copy(
        update={"text": "See [the trial](https://doi.org/10.5555/S0140-6736(20)99999-5)."}
    )
    assert [work.doi for work in read_references(idea).entries] == ["10.5555/s0140-6736(20)99999-5"]
