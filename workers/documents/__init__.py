"""Readers for submitted input: texts, JSON records, PDFs and office documents, all of them untrusted.

Only the limits are exported here, so that importing the settings does not load the implementation."""

from workers.documents.limits import DocumentLimits, OfficeLimits, PdfLimits

__all__ = ["DocumentLimits", "OfficeLimits", "PdfLimits"]
