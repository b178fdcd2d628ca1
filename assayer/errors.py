"""assayer's exceptions, one class per boundary.

    AssayerError
    ├── InputError               the input cannot be used: an empty file, a bad date
    ├── ConfigurationError       a setting is missing, wrong or contradicts another
    ├── BudgetExhausted          the next LLM request would exceed the evaluation's budget
    ├── LlmError                 the language model's boundary
    │   ├── LlmRejected          the endpoint will never accept this: wrong key, unknown model
    │   ├── LlmUnavailable       the endpoint is down, or failed on every retry
    │   ├── MalformedAnswer      still no valid answer after the error was sent back to the model
    │   ├── AnswerRefused        the model declined to answer
    │   ├── RequestRefused       the endpoint refused this one request: too long, filtered, not understood
    │   └── NoFallback           no LLM is configured
    ├── LiteratureError          a source of papers failed
    │   ├── CorpusError          the local corpus is missing, damaged or built with another model
    │   └── SourceError          a remote source failed
    │       ├── SourceUnavailable    it is down, or failed on every retry
    │       ├── SourceBusy           no request slot became free in time, or today's quota is used up
    │       ├── SourceRefused        it will never accept this request: wrong key, bad query
    │       └── SourceMalformed      its answer cannot be read
    ├── FullTextError            a document could not be fetched or parsed
    │   ├── AddressRefused       the URL may not be fetched: disallowed scheme, or a private network
    │   ├── DownloadFailed       the server did not deliver the document
    │   ├── DownloadRefused      the download exceeded a limit: size, time, type, redirects
    │   ├── Unreadable           downloaded, but no parser could read it within its limits
    │   ├── StoredCopyLost       the stored copy is missing or damaged and must be fetched again
    │   └── ParserUnavailable    every server that could parse it was unreachable
    ├── MailError                an email could not be handed to the mail server
    │   ├── MailServerUnavailable    no email can be sent: unreachable, no TLS, sign-in or sender refused
    │   ├── MailPostponed            the server temporarily rejects this email
    │   └── MailRefused              the server will never accept this email: no such mailbox
    ├── StorageError             the database is unreachable
    ├── ComponentUnavailable          a component of the service is unreachable
    └── Defect                   assayer itself failed on one evaluation; other evaluations continue

Each failure belongs to one boundary. Inside an evaluation method, a failed step is data: the run's journal records it,
and the report shows it under coverage; it never becomes a low score. All these errors can be pickled, so they keep
their type across processes.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # so that errors can be reported without loading the models
    from assayer.models import Fault
    from assayer.models.coverage import UnreadableCause


class AssayerError(Exception):
    """Base class for assayer's errors. `message` says what went wrong and where; `hint` says what to do about it, and
    may be empty."""

    reason = "an unexpected failure"
    """Short description of this kind of error, shown under “Coverage” in the report."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


def error_text(error: BaseException) -> str:
    """Return an error's text for a log, or its class name if it has no text (a TimeoutError, for example)."""
    return str(error) or type(error).__name__


class InputError(AssayerError):
    """Raised if the caller's input is unusable. `field` names the faulty field of a record; it is empty if the whole
    record is at fault."""

    reason = "unusable input"

    def __init__(self, message: str, hint: str = "", field: str = "") -> None:
        super().__init__(message, hint)
        self.args = (message, hint, field)
        self.field = field


class ConfigurationError(AssayerError):
    reason = "a setting is wrong"


class BudgetExhausted(AssayerError):
    reason = "the budget was spent"


class LlmError(AssayerError):
    """Raised if the language model gave no usable answer. `faults` lists the errors encountered, for the report's
    coverage section."""

    def __init__(self, message: str, hint: str = "", faults: "tuple[Fault, ...]" = ()) -> None:
        super().__init__(message, hint)
        self.args = (message, hint, faults)
        self.faults = faults


class LlmRejected(LlmError):
    reason = "the LLM endpoint refuses every request"


class LlmUnavailable(LlmError):
    reason = "the LLM endpoint did not answer"


class MalformedAnswer(LlmError):
    reason = "the LLM gave no valid answer"


class AnswerRefused(LlmError):
    reason = "the LLM declined to answer"


class RequestRefused(LlmError):
    """Raised if the endpoint refused this one request. `quoted` is the endpoint's own message, which is repeated in
    `reason`. `context_tokens` is the size of the context window, or None if the endpoint did not state it."""

    reason = "the LLM endpoint refused the request"

    def __init__(
        self,
        message: str,
        hint: str = "",
        faults: "tuple[Fault, ...]" = (),
        quoted: str = "",
        context_tokens: int | None = None,
    ) -> None:
        super().__init__(message, hint, faults)
        self.args = (message, hint, faults, quoted, context_tokens)
        self.quoted = quoted
        self.context_tokens = context_tokens
        if quoted:
            self.reason = f"{type(self).reason} (“{quoted.rstrip('.')}”)"


class NoFallback(LlmError):
    reason = "the step needs an LLM"


class LiteratureError(AssayerError):
    reason = "a literature source failed"


class CorpusError(LiteratureError):
    reason = "the local corpus failed"


class SourceError(LiteratureError):
    reason = "a remote source failed"


class SourceUnavailable(SourceError):
    reason = "a source was down"


class SourceBusy(SourceError):
    reason = "a source's rate budget was spent"


class SourceRefused(SourceError):
    reason = "a source refused the request"


class SourceMalformed(SourceError):
    reason = "a source's answer could not be read"


class FullTextError(AssayerError):
    reason = "a document could not be read"


class AddressRefused(FullTextError):
    reason = "a URL was refused"


class DownloadFailed(FullTextError):
    reason = "a download failed"


class DownloadRefused(FullTextError):
    reason = "a download exceeded a limit"


class Unreadable(FullTextError):
    reason = "a document could not be parsed"

    def __init__(self, message: str, hint: str = "", cause: "UnreadableCause" = "damaged") -> None:
        super().__init__(message, hint)
        self.args = (message, hint, cause)
        self.cause = cause


class StoredCopyLost(FullTextError):
    reason = "a stored document was lost"


class ParserUnavailable(FullTextError):
    reason = "no parser was reachable"


class MailError(AssayerError):
    reason = "an email was not accepted"


class MailServerUnavailable(MailError):
    reason = "the mail server was unreachable"


class MailPostponed(MailError):
    reason = "an email was postponed"


class MailRefused(MailError):
    reason = "an email was refused"


class StorageError(AssayerError):
    reason = "the database was unreachable"


class ComponentUnavailable(AssayerError):
    reason = "a component of the service was unreachable"


class Defect(AssayerError):
    """Raised if assayer itself failed on one evaluation; other evaluations continue."""

    reason = "a defect of assayer"
