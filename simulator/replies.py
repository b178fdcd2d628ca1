"""HTTP responses for errors."""

from http import HTTPStatus

from aiohttp import web

from simulator.protocol import ApiError


def build_error_response(error: ApiError) -> web.Response:
    kind = "application/json" if error.body.startswith(b"{") else "text/html"
    headers = {"x-request-id": "req_simulator"}
    if error.retry_after is not None:
        headers["Retry-After"] = f"{error.retry_after:g}"
    return web.Response(
        body=error.body,
        status=error.status,
        reason=HTTPStatus(error.status).phrase,
        content_type=kind,
        headers=headers,
    )
