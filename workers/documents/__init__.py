"""Reads what people hand in: texts, JSON records and PDFs, all of them untrusted.

Only the limits are exported here, so that reading the settings loads nothing that does the work.
"""

from workers.documents.limits import DocumentLimits, PdfLimits

__all__ = ["DocumentLimits", "PdfLimits"]
