"""Descriptions of requests to the service, and parsers for its responses, shared by both clients."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Generic, Literal, NamedTuple, TypeVar
from urllib.parse import quote, unquote

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from assayer_client.errors import InvalidRequest, ServiceUnreachable

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
    """File to upload, from disk or from bytes."""

    name: str
    content: Path | bytes
    media_type: str = "application/octet-stream"

    @contextmanager
    def open(self) -> Iterator[IO[bytes] | bytes]:
        """Open the content at its beginning, once for every attempt. Raises InvalidRequest if the file cannot be
        read."""
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
    """Escaped path relative to the service's URL."""
    read: Callable[[Response], T]
    """Function that converts the response. It raises ServiceUnreachable if the response is not from the service."""
    query: Query = field(default_factory=dict)
    """Query parameters; those that are None are omitted."""
    body: BaseModel | None = None
    lines: bytes | None = None
    """Content in JSON Lines, sent instead of a body."""
    uploads: tuple[Upload, ...] = ()
    """Files for a multipart body, in fields named `file`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None
    """Idempotency key. For a POST without one, the client generates it."""
    seconds: float = 0.0
    """Seconds for which the service is asked to hold its response."""

    @property
    def subject(self) -> str:
        """The id at the end of the path."""
        return unquote(self.path.rpartition("/")[2])

    def build_parameters(self) -> dict[str, str | int]:
        return {name: value for name, value in self.query.items() if value is not None}

    def serialise_body(self) -> tuple[str, bytes] | None:
        """Return the media type and bytes of a body that is not multipart; None if there is none. Fields that the
        caller did not set are omitted, so that the service's defaults apply. Raises InvalidRequest if a text contains a
        lone surrogate."""
        if self.lines is not None:
            return "application/jsonl", self.lines
        if self.body is None:
            return None
        try:
            return "application/json", self.body.model_dump_json(exclude_unset=True).encode()
        except (PydanticSerializationError, UnicodeEncodeError) as error:
            raise InvalidRequest(f"The input cannot be serialised to JSON: {error}.") from None


def build_path(*parts: str) -> str:
    """Return a path such as `/v1/evaluations/ev_1`. Parts are escaped, so that an id cannot address another resource.
    Raises InvalidRequest if an id is empty, `.` or `..`."""
    for part in parts:
        if part in ("", ".", ".."):
            raise InvalidRequest(f"{part!r} is not a valid id.")
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def make_json_parser(kind: Any) -> Callable[[Response], Any]:
    """Return a parser for JSON of type `kind`. Resources ignore fields that a newer service has added."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)

    def read(response: Response) -> Any:
        try:
            return adapter.validate_json(response.content)
        except ValidationError as error:
            raise _build_unreadable_error(response, f"it has invalid values ({error.error_count()})") from error

    return read


def make_json_lines_parser(kind: Any) -> Callable[[Response], tuple[Any, ...]]:
    """Return a parser for JSON Lines whose lines are of type `kind`."""
    read = make_json_parser(kind)
    return lambda response: tuple(
        read(response._replace(content=line)) for line in response.content.split(b"\n") if line.strip()
    )


def parse_text(response: Response) -> str:
    try:
        return response.content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _build_unreadable_error(response, "it is not UTF-8") from error


def make_text_parser(media_type: str) -> Callable[[Response], str]:
    """Return a parser for text of this media type. A response of another type is rejected, because it comes from
    another program, such as a proxy."""

    def read(response: Response) -> str:
        _check_type(response, media_type)
        return parse_text(response)

    return read


def make_file_check(media_type: str) -> Callable[[Response], None]:
    """Return a check of the response headers that rejects other media types. It runs before the first byte is saved."""

    def read(response: Response) -> None:
        _check_type(response, media_type)

    return read


def ignore_response(_: Response) -> None:
    return None


def _check_type(response: Response, media_type: str) -> None:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != media_type:
        raise _build_unreadable_error(response, f"it is not {media_type}")


def _build_unreadable_error(response: Response, reason: str) -> ServiceUnreachable:
    kind = response.headers.get("content-type", "without a content type")
    return ServiceUnreachable(
        f"The server's response ({response.status}, {kind}) cannot be read: {reason}.",
        "Check ASSAYER_API_URL, and that the versions of the client and the service match.",
        retryable=False,
    )
