"""Description of a request to the service and of how its response is read, independent of a connection, so that both
clients send the same requests."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Generic, Literal, NamedTuple, TypeVar
from urllib.parse import quote, unquote

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from assayer_client.errors import InvalidRequest, ServiceUnreachable

__all__ = [
    "ApiCall",
    "HttpMethod",
    "Response",
    "Upload",
    "path",
    "reads",
    "reads_file_of",
    "reads_lines",
    "reads_nothing",
    "reads_text",
    "reads_text_of",
]

T = TypeVar("T")
HttpMethod = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Query = Mapping[str, str | int | None]


class Response(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """Response headers, with names in lower case."""
    content: bytes


@dataclass(frozen=True)
class Upload:
    """File to upload, from the disk or from bytes."""

    name: str
    content: Path | bytes
    media_type: str = "application/octet-stream"

    @contextmanager
    def opened(self) -> Iterator[IO[bytes] | bytes]:
        """Open the content from the beginning; called again for every attempt."""
        if isinstance(self.content, bytes):
            yield self.content
            return
        try:
            file = self.content.open("rb")
        except OSError as error:
            raise InvalidRequest(f"{self.content} cannot be read: {error.strerror}.") from None
        with file:
            yield file


@dataclass(frozen=True)
class ApiCall(Generic[T]):
    method: HttpMethod
    path: str
    """Escaped path relative to the service's address."""
    read: Callable[[Response], T]
    """Function that reads the response. It raises ServiceUnreachable for a response that is not from the service."""
    query: Query = field(default_factory=dict)
    """Query parameters; those that are None are left out."""
    body: BaseModel | None = None
    lines: bytes | None = None
    """Content in JSON Lines, sent instead of a body."""
    uploads: tuple[Upload, ...] = ()
    """Files of a multipart body, in fields named `file`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    """Idempotency key; the client generates one for a POST without it."""
    seconds: float = 0.0
    """Seconds for which the service is asked to hold its response."""

    @property
    def subject(self) -> str:
        """Id at the end of the path."""
        return unquote(self.path.rpartition("/")[2])

    def parameters(self) -> dict[str, str | int]:
        return {name: value for name, value in self.query.items() if value is not None}

    def content(self) -> tuple[str, bytes] | None:
        """Return the non-form body with its media type; None if there is none. Fields that the caller left out are
        omitted, because the service's own defaults are newer than the client's. Raises InvalidRequest for text with a
        lone surrogate."""
        if self.lines is not None:
            return "application/jsonl", self.lines
        if self.body is None:
            return None
        try:
            return "application/json", self.body.model_dump_json(exclude_unset=True).encode()
        except (PydanticSerializationError, UnicodeEncodeError) as error:
            raise InvalidRequest(f"The input cannot be written as JSON: {error}.") from None


def path(*parts: str) -> str:
    """Return a path such as `/v1/evaluations/ev_1`; ids are escaped so that an id cannot address another resource."""
    for part in parts:
        if part in ("", ".", ".."):
            raise InvalidRequest(f"{part!r} is not an id.")
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def reads(kind: Any) -> Callable[[Response], Any]:
    """Return a reader for JSON of type `kind`. Fields added by a newer service are ignored if the type allows this."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)

    def read(answered: Response) -> Any:
        try:
            return adapter.validate_json(answered.content)
        except ValidationError as error:
            raise _unreadable(answered, f"{error.error_count()} of its values are invalid") from error

    return read


def reads_lines(kind: Any) -> Callable[[Response], tuple[Any, ...]]:
    """Return a reader for JSON Lines, each line of the same type."""
    read = reads(kind)
    return lambda answered: tuple(
        read(answered._replace(content=line)) for line in answered.content.split(b"\n") if line.strip()
    )


def reads_text(answered: Response) -> str:
    try:
        return answered.content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _unreadable(answered, "it is not UTF-8") from error


def reads_text_of(media_type: str) -> Callable[[Response], str]:
    """Return a reader that accepts only this media type, because a response of another type comes from another program,
    such as a proxy."""

    def read(answered: Response) -> str:
        _check_type(answered, media_type)
        return reads_text(answered)

    return read


def reads_file_of(media_type: str) -> Callable[[Response], None]:
    """Return a check of the response headers, made before the first byte of a file is written, so that a response
    of another type is not saved."""

    def read(answered: Response) -> None:
        _check_type(answered, media_type)

    return read


def reads_nothing(_: Response) -> None:
    return None


def _check_type(answered: Response, media_type: str) -> None:
    kind = answered.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != media_type:
        raise _unreadable(answered, f"{media_type} was asked for")


def _unreadable(answered: Response, why: str) -> ServiceUnreachable:
    kind = answered.headers.get("content-type", "of no kind")
    return ServiceUnreachable(
        f"The server's answer ({answered.status}, {kind}) cannot be read: {why}.",
        "Is this the address of the service, and does the version of the client match?",
        retryable=False,
    )
