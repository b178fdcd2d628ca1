"""Reads what people hand in: texts, JSON records, PDFs and office documents, all of them untrusted.

Only the limits are exported here, so that reading the settings loads nothing that does the work.
"""

from workers.documents.limits import DocumentLimits, OfficeLimits, PdfLimits

__all__ = ["DocumentLimits", "OfficeLimits", "PdfLimits"]
