"""Full texts of papers: candidates, guarded download, content-addressed archive, GROBID pool or embedded parser."""

from workers.full_texts.acquisition import Acquisition, GetsCopies, ReadsDocuments
from workers.full_texts.candidates import Candidate, candidates
from workers.full_texts.documents import Documents, open_documents
from workers.full_texts.parsed import ParsedPaper
from workers.full_texts.pool import GrobidPool
from workers.full_texts.service import First, FullTextService, open_full_texts
from workers.full_texts.settings import FullTextSettings, GrobidSettings, HostSettings
from workers.full_texts.tei import read_tei

__all__ = [
    "Acquisition",
    "Candidate",
    "Documents",
    "First",
    "FullTextService",
    "FullTextSettings",
    "GetsCopies",
    "GrobidPool",
    "GrobidSettings",
    "HostSettings",
    "ParsedPaper",
    "ReadsDocuments",
    "candidates",
    "open_documents",
    "open_full_texts",
    "read_tei",
]
