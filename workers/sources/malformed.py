"""An answer that cannot be read: counted where the error is made."""

from assayer.errors import SourceMalformed
from workers.remote.metrics import PARSE_FAILURES

__all__ = ["malformed"]


def malformed(source: str, message: str, hint: str) -> SourceMalformed:
    PARSE_FAILURES.labels(source, "answer").inc()
    return SourceMalformed(message, hint)
