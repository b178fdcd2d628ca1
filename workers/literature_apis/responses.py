"""Reads the responses of source APIs, JSON and XML; what cannot be read is requested once more.

Of JSON the frame must be right, and parts of it that are not are left out. XML is parsed without DTDs, entities and
network, within libxml2's own limits.
"""

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, TypeVar

from lxml import etree
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    WrapValidator,
)
from pydantic import ValidatorFunctionWrapHandler as Validator

from assayer.errors import SourceMalformed
from workers.literature_apis.record_fields import one_line
from workers.outbound.metrics import PARSE_FAILURES
from workers.outbound.source_requests import RequestContext, SourceFetcher, SourceRequest, SourceResponse


def malformed_response(source: str, message: str, hint: str) -> SourceMalformed:
    PARSE_FAILURES.labels(source, "answer").inc()
    return SourceMalformed(message, hint)


T = TypeVar("T")

_NO_CACHED_ANSWER = dt.timedelta(microseconds=1)
"""Freshness that no cached response satisfies."""


async def fetch_parsed(
    remote: SourceFetcher, request: SourceRequest, context: RequestContext, read: Callable[[SourceResponse], T]
) -> T:
    """Return the result of `read` for the response, requesting it again if it is malformed. Raises SourceError;
    SourceMalformed if the second response is no better.

    The second response replaces the first in the shared cache, so that the unreadable response is not served for
    the whole cache lifetime."""
    try:
        return read(await remote.fetch(request, context))
    except SourceMalformed:
        return read(await remote.fetch(replace(request, lifetime=_NO_CACHED_ANSWER), context))


S = TypeVar("S", bound=BaseModel)

_MAX_COUNT = 10**9


class ApiObject(BaseModel):
    """Fields that are read from an API object. Others are ignored, because sources add fields without notice."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def _or_none(value: object, validate: Validator, info: ValidationInfo) -> object:
    if value is None:
        return None
    try:
        return validate(value)
    except ValidationError:
        PARSE_FAILURES.labels(info.context or "unknown", "record").inc()
        return None


def _without_gaps(values: tuple[T | None, ...]) -> tuple[T, ...]:
    return tuple(value for value in values if value is not None)


TextOrEmpty = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
"""Text, or an empty string for null and other types."""
CountOrNone = Annotated[
    int | None, BeforeValidator(lambda value: value if type(value) is int and 0 <= value < _MAX_COUNT else None)
]
"""Count, or None for a value that cannot be a count."""
TrueOrFalse = Annotated[bool, BeforeValidator(lambda value: value is True)]
ObjectOrNone = Annotated[T | None, WrapValidator(_or_none)]
"""Object, or None if it is missing or malformed."""
ValidEntries = Annotated[
    tuple[Annotated[T, WrapValidator(_or_none)], ...],
    BeforeValidator(lambda value: value if isinstance(value, list) else ()),
    AfterValidator(_without_gaps),
]
"""List without malformed and null entries; empty for null."""


def parse_json_unless_unknown(response: SourceResponse, shape: type[S], source: str) -> S | None:
    """Parse as `parse_json` does; None if the source does not know the requested item."""
    return None if response.status == 404 else parse_json(response, shape, source)


def parse_json(response: SourceResponse, shape: type[S], source: str) -> S:
    """Parse the response. Raises SourceMalformed, which is counted for the source, as are left-out entries."""
    try:
        return shape.model_validate_json(response.body, context=source)
    except ValidationError as error:
        PARSE_FAILURES.labels(source, "answer").inc()
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise SourceMalformed(
            f"The answer of {source} cannot be read{f' at {place}' if place else ''}: {first['msg']}.",
            "Check that its base URL is the API's; if it is, the API has changed.",
        ) from None


MAX_XML_BYTES = 16 * 2**20
_QUOTED_CHARACTERS = 200
_BASE_URL_HINT = "Check that its base URL is the API's; if it is, the API has changed."


def parse_xml(body: bytes, source: str) -> etree._Element:
    """Return the root element. Raises SourceMalformed; a document with a DTD is refused before its content is used."""
    if len(body) > MAX_XML_BYTES:
        raise malformed_response(
            source, f"The answer of {source} has {len(body):,} bytes.", f"At most {MAX_XML_BYTES:,} are read."
        )
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        recover=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        # The parser's words quote the document.
        raise malformed_response(
            source, f"The answer of {source} is not XML: {one_line(str(error))[:_QUOTED_CHARACTERS]}.", _BASE_URL_HINT
        ) from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise malformed_response(
            source, f"The answer of {source} declares a document type, which no feed does.", _BASE_URL_HINT
        )
    return root
