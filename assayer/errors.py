"""Exceptions of the program, one class per boundary.

    AssayerError
    ├── InputError               the input cannot be used: an empty file, a bad date
    ├── ConfigurationError       a setting is missing, wrong or contradicts another
    ├── BudgetExhausted          the next call would exceed the evaluation's budget
    ├── LlmError                 the language model's boundary
    │   ├── LlmRejected          the endpoint will never accept this: wrong key, unknown model
    │   ├── LlmUnavailable       the endpoint is down, or failed on every retry
    │   ├── MalformedAnswer      no valid answer, even after the error was sent back to the model
    │   ├── AnswerRefused        the model declined to answer
    │   ├── RequestRefused       the endpoint refused this one request: too long, filtered, not understood
    │   └── NoFallback           no LLM is configured
    ├── LiteratureError          a source of papers failed
    │   ├── CorpusError          the local corpus is missing, damaged, or made with another model
    │   └── SourceError          a remote source
    │       ├── SourceUnavailable    it is down, or failed on every retry
    │       ├── SourceBusy           no request slot came free in time, or today's budget is spent
    │       ├── SourceRefused        it will never accept this request: wrong key, bad query
    │       └── SourceMalformed      its answer cannot be read
    ├── FullTextError            a document could not be fetched or parsed
    │   ├── AddressRefused       the URL may not be fetched: its scheme, a private network, a redirect to one
    │   ├── DownloadFailed       the server did not deliver it
    │   ├── DownloadRefused      it broke a limit: size, time, type, redirects
    │   ├── Unreadable           it was downloaded, but no parser could read it within its limits
    │   ├── StoredCopyLost       the stored copy is missing or damaged and must be fetched again
    │   └── ParserUnavailable    every server that could have parsed it was unreachable
    ├── MailError                a mail could not be handed to the mail server
    │   ├── MailServerUnavailable    no mail can be sent: unreachable, no TLS, sign-in or sender refused
    │   ├── MailPostponed            it temporarily does not accept this mail
    │   └── MailRefused              it will never accept this mail: no such mailbox
    ├── StorageError             the database is unreachable
    ├── PartUnavailable          a pool of the service is unreachable
    └── Defect                   assayer itself failed on one evaluation; the others go on

A failure belongs to one boundary. Inside a method, a failed step is data: it is recorded in the run's journal and shown
in the report's coverage, and never becomes a low score. All these errors can be pickled, so they keep their type across
processes.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # errors can be reported without loading the models
    from assayer.models import Fault
    from assayer.models.coverage import UnreadableCause


class AssayerError(Exception):
    """Base class of assayer's errors. `message` states what is wrong and where; `hint` states what to do about it
    and may be empty."""

    reason = "an unexpected failure"
    """Description of the error class in a few words, shown under “Coverage” in the report."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


def error_text(error: BaseException) -> str:
    """Return the text of an error for a log, or its class name if it has no text, such as an expired deadline."""
    return str(error) or type(error).__name__


class InputError(AssayerError):
    """Raised if the caller's input is unusable. `field` names the faulty part of a record; it is empty if the fault
    concerns the whole record."""

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
    """Raised if there is no usable answer. `faults` lists the errors encountered, for the report's coverage section."""

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
    """Raised if the endpoint refused this one request. `quoted` is the endpoint's own message, which `reason` repeats;
    `context_tokens` is the size of the context window if the endpoint named it, or None."""

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
    reason = "a source of literature failed"


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


class PartUnavailable(AssayerError):
    reason = "a part of the service was unreachable"


class Defect(AssayerError):
    """Raised if assayer itself failed on one evaluation; other evaluations continue."""

    reason = "a defect of assayer"
