"""CSRF protection: a browser's request to change data is accepted only from one of this service's own pages. This is
verified by its origin and a token derived from the session.

Forms send the token in `csrf_token`, scripts in `X-CSRF-Token`."""

import hmac
from urllib.parse import urlsplit

from starlette.requests import Request

from orchestrator.access.sessions import derive_csrf_token
from orchestrator.problems import HttpProblem
from orchestrator.settings import AccessSettings
from orchestrator.web.cookies import read_session_token
from orchestrator.web.services import Services

CSRF_FIELD = "csrf_token"
CSRF_HEADER = "X-CSRF-Token"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
STALE_PAGE = "The page is out of date. Reload it and try again."
_FORM_MEDIA_TYPE = "application/x-www-form-urlencoded"


def get_csrf_token(request: Request) -> str:
    """Return the token for a page's forms; empty if the person is not signed in."""
    services: Services = request.app.state.services
    return _derive_token(request, services.access)


def check_origin(request: Request, settings: AccessSettings) -> None:
    """Raise HttpProblem with status 403 unless the request comes from one of this service's own pages. Browsers send
    the origin with every request that changes data, except from pages without a referrer. Most also state whether a
    request stays on the same site."""
    origin_header, site = request.headers.get("origin", ""), request.headers.get("sec-fetch-site")
    origin = urlsplit(origin_header)
    if settings.url is not None:
        own_url = urlsplit(settings.url)
        is_same_origin = (origin.scheme, origin.netloc) == (own_url.scheme, own_url.netloc)
    else:
        is_same_origin = origin.scheme in ("http", "https") and origin.netloc == request.headers.get("host")
    if origin_header in ("", "null"):
        is_same_origin = site == "same-origin"
    if not is_same_origin or site not in (None, "same-origin"):
        raise HttpProblem(
            "forbidden",
            "The request does not come from one of this service's own pages. Behind a proxy, the operator must set "
            "ASSAYER_ACCESS__URL to the service's public URL.",
        )


async def check_csrf(request: Request, settings: AccessSettings) -> None:
    """Check a form's origin and CSRF token; file uploads send the token in a header. Raises HttpProblem with status 403
    if either is invalid."""
    check_origin(request, settings)
    token = request.headers.get(CSRF_HEADER, "")
    if not token and request.headers.get("content-type", "").partition(";")[0].strip().lower() == _FORM_MEDIA_TYPE:
        token = str((await request.form()).get(CSRF_FIELD, ""))
    _check_token(request, settings, token)


def check_csrf_header(request: Request, settings: AccessSettings) -> None:
    """Check the origin and the CSRF token header of a request made by a script, before the body is read. Raises
    HttpProblem with status 403 if either is invalid."""
    check_origin(request, settings)
    _check_token(request, settings, request.headers.get(CSRF_HEADER, ""))


def _derive_token(request: Request, settings: AccessSettings) -> str:
    token = read_session_token(request, settings)
    return derive_csrf_token(token) if token else ""


def _check_token(request: Request, settings: AccessSettings, token: str) -> None:
    expected = _derive_token(request, settings)
    if not expected or not hmac.compare_digest(token.encode(), expected.encode()):
        raise HttpProblem("forbidden", STALE_PAGE)
