"""Contents of the error bodies of endpoints, gateways and proxies, whatever their form."""

import html
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from workers.llm.stated_limits import find_stated_wait, find_stated_window
from workers.outbound.durations import parse_duration

_MAX_SEARCHED_CHARS = 2_000
"""Maximum number of characters of an endpoint's message that are searched for words and numbers."""
_MAX_QUOTED_CHARS = 300
"""Maximum number of characters of an endpoint's message that an error quotes."""
_MAX_READ_CHARS = 10_000
"""Maximum number of characters of a web page or other markup that are read."""
_MAX_VALUES = 500
"""Maximum number of values of an error body that are searched for codes and waits."""

_MESSAGE_FIELDS = (
    "message",
    "detail",
    "error_message",
    "error_msg",
    "errorMessage",
    "msg",
    "Message",
    "status_msg",
    "error_description",
    "title",
)
"""Names of the field with the message, most specific first."""
_CODE_FIELD = re.compile(r"(?:error|http|status)?(?:code|type|status|reason)|quotaid")
_WAIT_FIELD = re.compile(
    r"(?:retryafter|retrydelay|retryin|estimatedtime|resetsin|wait)(?:s|secs|seconds|ms|milliseconds)?"
)
"""Fields with codes and with waits; their names in lower case, without underscores."""
_TAG = re.compile(r"<(style|script)\b.*?</\1\s*>|<!--.*?-->|<[^>]{0,1000}>", re.DOTALL | re.IGNORECASE)
_PAGE = re.compile(r"\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype html|html|head|body|title)\b", re.I | re.S)
_TITLE = re.compile(r"<(title|h1)\b[^>]*>(.*?)</\1\s*>", re.DOTALL | re.IGNORECASE)


def clip_line(text: str, limit: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


class ErrorBody(NamedTuple):
    """Contents of an error body. Any field may be empty."""

    message: str
    code: str
    param: str
    context_tokens: int | None = None
    """Context window, if the body states it in a separate field."""
    page_title: str | None = None
    """Title of the web page that the body is; None if it is none."""
    retry_after: float | None = None
    """Wait that the body asks for, in seconds."""
    headers: Mapping[str, str] = {}
    """Headers of a provider's response that a gateway forwards in the body; names in lower case."""

    @property
    def text(self) -> str:
        """Return the entire text in lower case, starting with the named parameter."""
        return f"{self.param} {self.message} {self.code}".lower()

    def contains_any(self, *words: str) -> bool:
        text = self.text
        return any(word in text for word in words)

    @property
    def quoted_message(self) -> str:
        return clip_line(self.message, _MAX_QUOTED_CHARS) or "no reason given"

    @property
    def description(self) -> str:
        """Return the message or, for a web page, that it is one."""
        if self.page_title is None:
            return clip_line(self.message, _MAX_QUOTED_CHARS)
        return f"a web page titled “{clip_line(self.page_title)}”" if self.page_title else "a web page without a title"

    @property
    def window(self) -> int | None:
        """Return the context window that the body states, in tokens; None if it states none."""
        return self.context_tokens or find_stated_window(self.message, self.code)


def decode_text(body: bytes, charset: str = "") -> str:
    """Decode a body. JSON is UTF-8, UTF-16 or UTF-32; only what is none of them is read in the `charset` that the
    response states. Bytes that cannot be decoded become `�`."""
    for encoding in (json.detect_encoding(body), charset):
        with suppress(UnicodeError, LookupError):
            return body.decode(encoding)
    return body.decode(errors="replace")


def parse_json(text: str) -> object:
    """Parse untrusted JSON. If it is not JSON or is nested too deeply, return the text."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def parse_error_body(body: object) -> ErrorBody:
    """Parse an error body in any format in use: OpenAI's `error` object, the same object in a list or in another
    message, a bare string, a web page, events of a stream, FastAPI's `detail`, or a provider's message forwarded by a
    proxy."""
    levels = list(_unwrap(body))
    innermost = levels[-1]
    fields = [level for level in reversed(levels) if isinstance(level, dict)]
    values = list(_list_values(fields))
    title = _find_page_title(innermost) if isinstance(innermost, str) else None
    message = clip_line(title or _build_message(innermost, fields), _MAX_SEARCHED_CHARS)
    codes = (str(value) for name, value in values if _CODE_FIELD.fullmatch(name) and isinstance(value, str | int))
    waits = (_parse_seconds(value, name) for name, value in values if _WAIT_FIELD.fullmatch(name))
    sizes = (value for name, value in values if name == "nctx" and isinstance(value, int) and value > 0)
    headers = next((value for name, value in values if name == "headers" and isinstance(value, dict)), {})
    return ErrorBody(
        message,
        " ".join(dict.fromkeys(filter(None, codes))),
        next((value for name, value in values if name == "param" and isinstance(value, str)), ""),
        next(sizes, None),
        title,
        next((wait for wait in waits if wait is not None), find_stated_wait(message)),
        {str(name).lower(): str(value) for name, value in headers.items()},
    )


def _unwrap(body: object) -> Iterator[object]:
    """Yield a body and the errors that it wraps, from the outside in."""
    while True:
        yield body
        match body:
            case {"error": dict() | list() | str() as inner} if inner:
                body = inner
            case [inner, *_] | {"errors": [inner, *_]} | {"base_resp": dict() as inner}:
                body = inner
            case {"detail": dict() as inner} | {"message": dict() as inner}:
                body = inner
            case dict() if isinstance(message := _find_message(body), str):
                inner = message if _PAGE.match(message) else _parse_inner_json(message)
                if inner is None:
                    return
                body = inner
            case str() if (inner := _parse_inner_json(body)) is not None:
                body = inner
            case _:
                return


def _parse_inner_json(text: str) -> object | None:
    """Return the JSON in a text that is nothing else, or in the first event of a stream that is an error."""
    if text.lstrip().startswith(("data:", "event:")):
        data = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")]
        text = next((line for line in data if '"error"' in line or '"message"' in line), "")
    value = parse_json(text)
    return value if isinstance(value, dict | list) and value else None


def _find_page_title(text: str) -> str | None:
    """Return the title of a web page, empty if it has none; None if the text is no web page."""
    if not _PAGE.match(text):
        return None
    title = _TITLE.search(text[:_MAX_READ_CHARS])
    return _strip_markup(title[2]) if title else ""


def _find_message(fields: Mapping[str, Any]) -> Any:
    """Return the message or, if no field has a usual name, the first text of several words."""
    sentences = (value for value in fields.values() if isinstance(value, str) and " " in value.strip())
    return next((fields[name] for name in _MESSAGE_FIELDS if fields.get(name)), next(sentences, ""))


def _build_message(innermost: object, fields: list[dict[str, Any]]) -> str:
    """Return the message of the innermost error: its own, and the one beside it or of the provider behind a proxy."""
    with suppress(RecursionError):  # a message that is a deeply nested list
        if isinstance(innermost, str):
            outer_message = _render(_find_message(fields[0])) if fields else ""
            text = _strip_markup(innermost) if "</" in innermost else innermost[:_MAX_READ_CHARS]
            return ": ".join(filter(None, (text, outer_message if outer_message != innermost else "")))
        own_message = _render(_find_message(fields[0])) if fields else ""
        return " ".join(filter(None, (own_message, _find_provider_message(fields[0]) if fields else "")))
    return ""


def _render(message: Any) -> str:
    """Return a message that may be a list, such as FastAPI's of fields that were not accepted."""
    if isinstance(message, list):
        return "; ".join(_render(item) for item in message[:10])
    if isinstance(message, dict):
        location = ".".join(map(str, message["loc"])) if isinstance(message.get("loc"), list) else ""
        return ": ".join(filter(None, (location, _render(_find_message(message)) or str(message))))
    return str(message)


def _find_provider_message(fields: Mapping[str, Any]) -> str:
    """Return the message from the provider behind a proxy, such as OpenRouter's `metadata.raw`."""
    metadata = fields.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    return parse_error_body(raw).message if isinstance(raw, str) else ""


def _list_values(levels: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    """Yield the values in an error and in what wraps it, from the inside out, with their names in lower case and
    without underscores."""
    queue: list[tuple[str, Any]] = [("", level) for level in levels]
    seen_ids: set[int] = set()
    for name, value in queue:
        if id(value) in seen_ids:
            continue
        if isinstance(value, dict | list):
            seen_ids.add(id(value))
            if len(queue) < _MAX_VALUES:
                queue.extend(value.items() if isinstance(value, dict) else [("", item) for item in value])
        yield name.replace("_", "").lower(), value


def _parse_seconds(value: Any, name: str) -> float | None:
    """Return a wait in seconds; its field's name may state milliseconds. Google's may be an object."""
    if isinstance(value, dict):
        value = value.get("seconds")
    seconds = parse_duration(str(value)) if isinstance(value, int | float | str) else None
    return seconds if seconds is None or not name.endswith(("ms", "milliseconds")) else seconds / 1000


def _strip_markup(markup: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", markup[:_MAX_READ_CHARS])).split())
