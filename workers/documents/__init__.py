"""Reads what people hand in: texts, JSON records and PDFs, all of them untrusted."""

from workers.documents.limits import DocumentLimits, PdfLimits
from workers.documents.pdf import HiddenText, ParsedPdf, extract_pdf
from workers.documents.reading import SUFFIXES, IdeasRead, RejectedInput, idea_of_pdf, read_ideas

__all__ = [
    "SUFFIXES",
    "DocumentLimits",
    "HiddenText",
    "IdeasRead",
    "ParsedPdf",
    "PdfLimits",
    "RejectedInput",
    "extract_pdf",
    "idea_of_pdf",
    "read_ideas",
]
