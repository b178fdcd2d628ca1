"""Error pages for browsers, shown when a request under `/console` (or a link from there to `/v1`) is refused. They show
the error, what to do, a link back, and the text that the person had typed. Other clients get a problem document (RFC
9457).
"""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orchestrator.console.scripted_page import render_template
from orchestrator.problems import MEDIA_TYPE, HttpProblem, ProblemDocument
from orchestrator.settings import AccessSettings
from orchestrator.web.content_negotiation import choose_media_type
from orchestrator.web.csrf import STALE_PAGE, check_origin
from orchestrator.web.return_url import HOME, find_requesting_page

_FORM_MEDIA_TYPE = "application/x-www-form-urlencoded"
_MAX_FORM_BYTES = 400_000
"""Maximum size, in bytes, of a form whose input is shown again. The longest permitted text fits, even if every
character is encoded as `%XX`."""
_MAX_FIELDS = 100
_SERVER_ERROR = 500
_FIELD_TITLES = {
    "score": "Score",
    "note": "Note",
    "reason": "Reason",
    "text": "Text",
    "name": "Name",
    "email": "Address",
    "affiliation": "Institution",
    "tags": "Tags",
}
"""Titles of the form fields whose input is shown again. API keys and hidden fields are never shown."""


class _Advice(NamedTuple):
    title: str
    what_to_do: str


_STALE_ADVICE = _Advice(
    "The page was out of date",
    "You have signed in again since you opened it. Go back (this reloads the page) and submit the form again.",
)
_FAILURE_ADVICE = _Advice("The service failed", "You did nothing wrong. Try again in a moment.")
_ADVICE: Mapping[int, _Advice] = {
    400: _Advice("The request cannot be read", "Go back and try again."),
    401: _Advice(
        "You are not signed in", "You have not signed in, or your session has ended. Sign in, then try again."
    ),
    403: _Advice(
        "You are not allowed to do this", "Ask an owner of this organisation. Owners assign roles under People."
    ),
    404: _Advice("Page not found", "It may have been deleted or erased, or the address may be wrong."),
    405: _Advice("This page cannot be shown", "This address only receives forms. Go back to the page with the form."),
    409: _Advice("This cannot be done now", "Go back and check the current state."),
    410: _Advice("This has been deleted", "Its data has been permanently deleted."),
    413: _Advice("This is too large", "Send less at once."),
    422: _Advice("The form contains an error", "Go back, correct it, and submit it again."),
    429: _Advice("Too many requests", "Wait a moment, then try again."),
    503: _Advice("The service is busy or unavailable", "Wait a moment, then try again."),
}


class RefusalPages:
    """Middleware that replaces problem documents with error pages if the request comes from a browser, and passes on
    all other responses. It must be the outermost middleware, so that it sees the problems raised by all others."""

    def __init__(self, app: ASGIApp, access: AccessSettings) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _is_browser_page_request(scope):
            await self._app(scope, receive, send)
            return
        form = bytearray()
        problem_start: Message | None = None

        async def receive_and_record() -> Message:
            message = await receive()
            if len(form) <= _MAX_FORM_BYTES:
                form.extend(message.get("body", b""))
            return message

        async def send_page(message: Message) -> None:
            nonlocal problem_start
            is_start = message["type"] == "http.response.start"
            if is_start and Headers(raw=message["headers"]).get("content-type") == MEDIA_TYPE:
                problem_start = message
                return
            if problem_start is not None:
                page = self._render_page(Request(scope), message["body"], bytes(form))
                headers = MutableHeaders(raw=list(problem_start["headers"]))
                headers.update(page.headers)
                await send({**problem_start, "headers": headers.raw})
                message, problem_start = {**message, "body": page.body}, None
            await send(message)

        await self._app(scope, receive_and_record, send_page)

    def _render_page(self, request: Request, document: bytes, form: bytes) -> Response:
        problem = ProblemDocument.model_validate_json(document)
        advice = _STALE_ADVICE if problem.detail == STALE_PAGE else _ADVICE.get(problem.status, _FAILURE_ADVICE)
        back_path = find_requesting_page(request, self._access)
        return render_template(
            "refusal.html",
            request,
            request.scope.get("assayer.caller"),
            status=problem.status,
            advice=advice,
            faults=_list_faults(problem),
            typed=self._get_typed_input(request, form),
            back=HOME if request.method == "GET" and back_path.partition("?")[0] == request.url.path else back_path,
            proof=problem.proof,
            request_id=problem.request_id if problem.status >= _SERVER_ERROR else None,
        )

    def _get_typed_input(self, request: Request, form: bytes) -> dict[str, str]:
        """Return what the user entered in the form, keyed by field title. A form submitted from another site is
        ignored, because its text would appear to come from this service."""
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media != _FORM_MEDIA_TYPE or len(form) > _MAX_FORM_BYTES:
            return {}
        try:
            check_origin(request, self._access)
            fields = dict(parse_qsl(form.decode("ascii", "replace"), max_num_fields=_MAX_FIELDS))
        except (HttpProblem, ValueError):
            return {}
        return {title: fields[name] for name, title in _FIELD_TITLES.items() if fields.get(name, "").strip()}


def _list_faults(problem: ProblemDocument) -> list[str]:
    """Return a sentence for each error. Return none for an unknown page or a missing sign-in, because those details are
    written for API clients."""
    if problem.status in (401, 404, 405) or problem.detail == STALE_PAGE:
        return []
    if not problem.errors:
        return [problem.detail]
    named_faults = [((error.pointer or error.parameter or "").strip("/"), error.detail) for error in problem.errors]
    return [f"{_FIELD_TITLES.get(name, name) or 'The form'}: {detail}" for name, detail in named_faults]


def _is_browser_page_request(scope: Scope) -> bool:
    """Return whether a browser is requesting a complete page. A script's request for a page fragment does not count,
    nor does an API request with a key."""
    path, method, headers = scope["path"], scope["method"], Headers(scope=scope)
    is_page = (path == HOME or path.startswith(f"{HOME}/")) and method in ("GET", "POST")
    if not is_page and not (path.startswith("/v1/") and method == "GET" and "authorization" not in headers):
        return False
    media_type = choose_media_type(headers.get("accept"), (MEDIA_TYPE, "application/json", "text/html"))
    return media_type == "text/html" and headers.get("hx-request") != "true"
