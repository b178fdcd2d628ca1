"""What can go wrong, one class per boundary.

    AssayerError
    ├── InputError               what the caller gave cannot be used: an empty file, a bad date
    ├── ConfigurationError       a setting is missing, wrong or contradicts another
    ├── BudgetExhausted          the next call would pass the evaluation's budget
    ├── LlmError                 the language model's boundary
    │   ├── LlmRejected          the endpoint will never accept this: wrong key, unknown model
    │   ├── LlmUnavailable       the endpoint is down, or kept failing after every retry
    │   ├── MalformedAnswer      no valid answer came, even after asking again with the error
    │   ├── AnswerRefused        the model declined to answer
    │   └── NoFallback           no LLM is configured and the task has no honest substitute
    ├── LiteratureError          a source of papers failed
    │   ├── CorpusError          the local corpus is missing, damaged, or made with another model
    │   └── SourceError          a remote source
    │       ├── SourceUnavailable    it is down, or kept failing after every retry
    │       ├── SourceBusy           no request slot came free in time, or today's budget is spent
    │       ├── SourceRefused        it will never accept this request: wrong key, bad query
    │       └── SourceMalformed      its answer cannot be read
    ├── FullTextError            a document could not be fetched or parsed
    │   ├── AddressRefused       the address may not be visited: scheme, private network, redirect into one
    │   ├── DownloadFailed       the server did not deliver it
    │   ├── DownloadRefused      it broke a limit: size, time, type, redirects
    │   ├── Unreadable           it arrived, and no parser could read it within its limits
    │   ├── StoredCopyLost       it was stored, and is missing there or damaged: to be fetched anew
    │   └── ParserUnavailable    every server that could have parsed it was out of reach
    ├── MailError                a mail could not be handed to the mail server
    │   ├── MailServerUnavailable    nothing can be handed over: out of reach, no TLS, sign-in or sender refused
    │   ├── MailPostponed            it does not take this mail for now
    │   └── MailRefused              it will never take this mail: no such mailbox
    ├── StorageError             the database is out of reach
    ├── PartUnavailable          a pool of the service is out of reach
    └── Defect                   assayer itself failed on one evaluation; the others go on

A failure belongs to one boundary. Inside a method a failed step is data: it is recorded in the run's
journal and shown in the report's coverage; it never becomes a low score. All of these pickle, so that
they keep their type across processes.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the program tells of an error without loading the models
    from assayer.models.coverage import Fault, UnreadableCause

__all__ = [
    "AddressRefused",
    "AnswerRefused",
    "AssayerError",
    "BudgetExhausted",
    "ConfigurationError",
    "CorpusError",
    "Defect",
    "DownloadFailed",
    "DownloadRefused",
    "FullTextError",
    "InputError",
    "LiteratureError",
    "LlmError",
    "LlmRejected",
    "LlmUnavailable",
    "MailError",
    "MailPostponed",
    "MailRefused",
    "MailServerUnavailable",
    "MalformedAnswer",
    "NoFallback",
    "ParserUnavailable",
    "PartUnavailable",
    "SourceBusy",
    "SourceError",
    "SourceMalformed",
    "SourceRefused",
    "SourceUnavailable",
    "StorageError",
    "StoredCopyLost",
    "Unreadable",
    "said_by",
]


class AssayerError(Exception):
    """Says what was wrong and where (`message`) and what to do about it (`hint`, may be empty)."""

    reason = "an unexpected failure"
    """The class in a few words, for the coverage box."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


def said_by(error: BaseException) -> str:
    """For a log: what it says, and its class where it says nothing, as a deadline that has passed."""
    return str(error) or type(error).__name__


class InputError(AssayerError):
    """What the caller gave cannot be used. `field` names the part of a record that is at fault; empty for the whole."""

    reason = "unusable input"

    def __init__(self, message: str, hint: str = "", field: str = "") -> None:
        super().__init__(message, hint)
        self.args = (message, hint, field)
        self.field = field


class ConfigurationError(AssayerError):
    """A setting is missing, wrong or contradicts another."""

    reason = "a setting is wrong"


class BudgetExhausted(AssayerError):
    """The next call would pass the evaluation's budget; nothing was sent."""

    reason = "the budget was spent"


class LlmError(AssayerError):
    """No usable answer. `faults` lists what was met on the way, for the coverage box."""

    def __init__(self, message: str, hint: str = "", faults: "tuple[Fault, ...]" = ()) -> None:
        super().__init__(message, hint)
        self.args = (message, hint, faults)
        self.faults = faults


class LlmRejected(LlmError):
    """The endpoint will never accept this request: wrong key, unknown model, unsupported parameter."""

    reason = "the LLM endpoint refused the request"


class LlmUnavailable(LlmError):
    """The endpoint is down, or kept failing after every retry."""

    reason = "the LLM endpoint did not answer"


class MalformedAnswer(LlmError):
    """No valid answer came, even after asking again with the validation error."""

    reason = "the LLM gave no valid answer"


class AnswerRefused(LlmError):
    """The model declined to answer."""

    reason = "the LLM declined to answer"


class NoFallback(LlmError):
    """No LLM is configured and the task has no honest substitute."""

    reason = "the step needs an LLM"


class LiteratureError(AssayerError):
    """A source of papers failed."""

    reason = "a source of literature failed"


class CorpusError(LiteratureError):
    """The local corpus is missing, damaged, or was made with another embedding model."""

    reason = "the local corpus failed"


class SourceError(LiteratureError):
    """A remote source of papers, pages or code failed."""

    reason = "a remote source failed"


class SourceUnavailable(SourceError):
    """The source is down, or kept failing after every retry."""

    reason = "a source was down"


class SourceBusy(SourceError):
    """No request slot came free in time, or the source's budget of the day is spent."""

    reason = "a source's rate budget was spent"


class SourceRefused(SourceError):
    """The source will never accept this request."""

    reason = "a source refused the request"


class SourceMalformed(SourceError):
    """The source's answer cannot be read."""

    reason = "a source's answer could not be read"


class FullTextError(AssayerError):
    """A document could not be fetched or parsed."""

    reason = "a document could not be read"


class AddressRefused(FullTextError):
    """The address may not be visited."""

    reason = "an address was refused"


class DownloadFailed(FullTextError):
    """The server did not deliver the document."""

    reason = "a download failed"


class DownloadRefused(FullTextError):
    """The document broke a limit of size, time, type or redirects."""

    reason = "a download broke a limit"


class Unreadable(FullTextError):
    """The document arrived, and no parser could read it within its limits."""

    reason = "a document could not be parsed"

    def __init__(self, message: str, hint: str = "", cause: "UnreadableCause" = "damaged") -> None:
        super().__init__(message, hint)
        self.args = (message, hint, cause)
        self.cause = cause


class StoredCopyLost(FullTextError):
    """The store had a document, which is missing now or was damaged; the next look at its address fetches it anew."""

    reason = "a stored document was lost"


class ParserUnavailable(FullTextError):
    """Every server that could have parsed the document was out of reach."""

    reason = "no parser was in reach"


class MailError(AssayerError):
    """A mail could not be handed to the mail server."""

    reason = "a mail was not taken"


class MailServerUnavailable(MailError):
    """It is out of reach, or refuses TLS, the sign-in or the sender: this says nothing of any one mail."""

    reason = "the mail server was out of reach"


class MailPostponed(MailError):
    """The server does not take this mail for now."""

    reason = "a mail was postponed"


class MailRefused(MailError):
    """The server will never take this mail."""

    reason = "a mail was refused"


class StorageError(AssayerError):
    """The database is out of reach."""

    reason = "the database was out of reach"


class PartUnavailable(AssayerError):
    """A pool of the service is out of reach, or had no room for too long."""

    reason = "a part of the service was out of reach"


class Defect(AssayerError):
    """assayer itself failed on one evaluation; the others go on."""

    reason = "a defect of assayer"
