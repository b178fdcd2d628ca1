"""Helpers that declare the methods of `client.evaluations`, `client.batches` and so on once, for both clients.

A namespace class declares its methods as descriptors. Most are built from functions that return an `ApiCall`, many from
just an HTTP method and a path, in which `{}` stands for an id. A method returns its result on `Client`, and an
awaitable of its result on `AsyncClient`."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import update_wrapper
from pathlib import Path
from types import MethodType
from typing import Any, Concatenate, Generic, Literal, ParamSpec, Protocol, Self, TypeVar, overload

from pydantic import BaseModel

from assayer_client.event_stream import EventStream
from assayer_client.exchange import Exchange
from assayer_client.item_jobs import ItemsPage, build_items_call, make_next_items_call
from assayer_client.requests import (
    ApiCall,
    HttpMethod,
    Response,
    build_path,
    ignore_response,
    make_file_check,
    make_json_parser,
)
from assayer_client.resources import TERMINAL, Event, Page

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
E = TypeVar("E", bound=BaseModel)
M = TypeVar("M")
B = TypeVar("B", bound=BaseModel)
B_contra = TypeVar("B_contra", bound=BaseModel, contravariant=True)
S = TypeVar("S")
A = TypeVar("A")
Sync = Literal["sync"]
Async = Literal["async"]


class Namespace(Generic[M]):
    """Group of methods for one kind of resource. Every method raises ApiProblem or ServiceUnreachable if it fails."""

    def __init__(self, exchange: Exchange, finish: Callable[[Any], Any]) -> None:
        """Create a group; `finish` converts a coroutine or an asynchronous generator to the method's return value."""
        self.exchange, self.finish = exchange, finish


class Method(Generic[S, A]):
    """Descriptor for a method with type S on the synchronous client and type A on the asynchronous client."""

    def __init__(self, method: Callable[..., Any], documented: Callable[..., Any] | None = None) -> None:
        """Create a descriptor from a function that takes an Exchange and the method's parameters. `documented` is the
        function whose signature and docstring are shown, if it is not `method`."""
        self._method, self._documented = method, documented
        self.__doc__ = (documented or method).__doc__

    @overload
    def __get__(self, group: None, owner: object) -> Self: ...
    @overload
    def __get__(self, group: Namespace[Sync], owner: object) -> S: ...
    @overload
    def __get__(self, group: Namespace[Async], owner: object) -> A: ...
    def __get__(self, group: Any, owner: object) -> Any:
        if group is None:
            return self
        bound = MethodType(self._method, group.exchange)

        def method(*args: Any, **kwargs: Any) -> Any:
            return group.finish(bound(*args, **kwargs))

        return update_wrapper(method, self._documented or bound)


_Operation = Method[Callable[P, T], Callable[P, Coroutine[Any, Any, T]]]


def define_operation(build: Callable[P, ApiCall[T]]) -> _Operation[P, T]:
    """Return a method that sends the request built by `build`, and that has the same parameters."""
    return Method(lambda exchange, *args, **kwargs: exchange.run(build(*args, **kwargs)), build)


def _fill_template(template: str, *ids: str) -> str:
    remaining = iter(ids)
    return build_path(*(next(remaining) if part == "{}" else part for part in template.split("/")))


def define_by_id(method: HttpMethod, template: str, kind: type[T]) -> _Operation[[str], T]:
    """Return a method that takes an id and returns a `kind`."""
    return define_operation(lambda id: ApiCall(method, _fill_template(template, id), make_json_parser(kind)))


def define_delete(template: str, *, erase: bool = False) -> _Operation[[str], None]:
    """Return a method that takes an id and deletes the resource or, with `erase`, everything stored about it."""
    query = {"erase": "true"} if erase else {}
    return define_operation(lambda id: ApiCall("DELETE", _fill_template(template, id), ignore_response, query))


def define_send(
    method: HttpMethod, url_path: str, body: type[B], kind: type[T], *, hold_seconds: float = 0.0
) -> _Operation[[B], T]:
    """Return a method that sends a body and returns a `kind`. The service may hold its response for
    `hold_seconds`."""
    return define_operation(
        lambda body: ApiCall(method, _fill_template(url_path), make_json_parser(kind), body=body, seconds=hold_seconds)
    )


def define_send_to(method: HttpMethod, template: str, body: type[B], kind: type[T]) -> _Operation[[str, B], T]:
    """Return a method that takes an id and a body."""
    return define_operation(
        lambda id, body: ApiCall(method, _fill_template(template, id), make_json_parser(kind), body=body)
    )


class _Creating(Protocol[B_contra, T_co]):
    def __call__(self, body: B_contra, *, key: str | None = None) -> T_co: ...


def define_create(
    url_path: str, body: type[B], kind: type[T], *, hold_seconds: float = 0.0
) -> Method[_Creating[B, T], _Creating[B, Coroutine[Any, Any, T]]]:
    """Return a method that sends a body with an idempotency key. Repeated calls with the same `key` take effect only
    once."""

    def create(body: B, *, key: str | None = None) -> ApiCall[T]:
        return ApiCall(
            "POST", _fill_template(url_path), make_json_parser(kind), body=body, key=key, seconds=hold_seconds
        )

    return define_operation(create)


class _Listing(Protocol[T_co]):
    def __call__(self, *, after: str | None = None, limit: int = 50) -> T_co: ...


def define_list(url_path: str, kind: type[T]) -> Method[_Listing[Page[T]], _Listing[Coroutine[Any, Any, Page[T]]]]:
    """Return a method that returns a page of resources; its parameter `after` is `next` from the previous page."""

    def list_page(*, after: str | None = None, limit: int = 50) -> ApiCall[Page[T]]:
        return ApiCall(
            "GET",
            build_path(url_path),
            make_json_parser(Page.__class_getitem__(kind)),
            {"after": after, "limit": limit},
        )

    return define_operation(list_page)


class _Waiting(Protocol[T_co]):
    def __call__(self, id: str, *, seconds: float | None = None) -> T_co: ...


def has_ended(job: Any) -> bool:
    return job.state in TERMINAL


def define_wait(
    template: str, kind: type[T], ended: Callable[[T], bool] = has_ended
) -> Method[_Waiting[T], _Waiting[Coroutine[Any, Any, T]]]:
    """Return a method that waits for a job or batch to end and returns it. After `seconds`, that method raises
    TimeoutError, which names the job or batch; the work continues."""

    def wait(exchange: Exchange, id: str, *, seconds: float | None = None) -> Any:
        return exchange.poll(ApiCall("GET", _fill_template(template, id), make_json_parser(kind)), ended, seconds)

    return Method(wait)


class _Following(Protocol[T_co]):
    def __call__(self, id: str, *, after: int = 0) -> T_co: ...


def define_event_stream(
    build: Callable[[str], EventStream[E]],
) -> Method[_Following[Iterator[E]], _Following[AsyncIterator[E]]]:
    """Return a method that yields events as they happen, up to the last one. It reconnects if the connection is
    lost."""

    def follow(exchange: Exchange, id: str, *, after: int = 0) -> Any:
        return exchange.follow(build(id), after)

    return Method(follow)


def define_events(collection: str) -> Method[_Following[Iterator[Event]], _Following[AsyncIterator[Event]]]:
    """Return the method that yields a job's events."""
    return define_event_stream(
        lambda id: EventStream(build_path(collection, id, "events"), Event, lambda event: event.kind in TERMINAL)
    )


class _ReadingItems(Protocol[T_co]):
    def __call__(self, job: str, *, after: int = 0, limit: int = 100, seconds: float = 0.0) -> T_co: ...


def define_items(
    collection: str, page: type[ItemsPage[T]]
) -> Method[_ReadingItems[ItemsPage[T]], _ReadingItems[Coroutine[Any, Any, ItemsPage[T]]]]:
    """Return a method that returns outcomes in order of arrival. With `seconds`, it waits up to that long for the next
    outcome."""

    def items(job: str, *, after: int = 0, limit: int = 100, seconds: float = 0.0) -> ApiCall[ItemsPage[T]]:
        return build_items_call(collection, page, job, after=after, limit=limit, seconds=seconds)

    return define_operation(items)


class _Yielding(Protocol[T_co]):
    def __call__(self, id: str, *, after: int = 0, seconds: float | None = None) -> T_co: ...


def define_outcomes(
    collection: str, page: type[ItemsPage[T]]
) -> Method[_Yielding[Iterator[T]], _Yielding[AsyncIterator[T]]]:
    """Return a method that yields a multi-item job's outcomes as they arrive. That method raises TimeoutError if any
    are missing after `seconds`."""

    def outcomes(exchange: Exchange, id: str, *, after: int = 0, seconds: float | None = None) -> Any:
        return exchange.follow_outcomes(id, make_next_items_call(collection, page, id), after, seconds)

    return Method(outcomes)


def define_wait_for_items(
    collection: str, kind: type[S], page: type[ItemsPage[T]]
) -> Method[_Waiting[S], _Waiting[Coroutine[Any, Any, S]]]:
    """Return a method that waits for a multi-item job to end, and returns it with all outcomes in item order. After
    `seconds`, that method raises TimeoutError; the job continues."""

    async def wait(exchange: Exchange, id: str, *, seconds: float | None = None) -> Any:
        async for _ in exchange.follow_outcomes(id, make_next_items_call(collection, page, id), 0, seconds):
            continue
        return await exchange.run(ApiCall("GET", build_path(collection, id), make_json_parser(kind)))

    return Method(wait)


_Download = Method[
    Callable[Concatenate[str, Path, P], Path], Callable[Concatenate[str, Path, P], Coroutine[Any, Any, Path]]
]


def define_download(build: Callable[Concatenate[str, P], ApiCall[None]]) -> _Download[P]:
    """Return a method that downloads a response of any length to a file atomically."""

    def save(exchange: Exchange, id: str, target: Path, *args: P.args, **kwargs: P.kwargs) -> Any:
        return exchange.save(build(id, *args, **kwargs), target)

    return Method(save)


def define_document_download(template: str, media_type: str, **query: str) -> "_Download[[]]":
    """Return a method that saves a document of the given media type to a file."""
    read: Callable[[Response], None] = make_file_check(media_type)
    return define_download(
        lambda id: ApiCall("GET", _fill_template(template, id), read, query, headers={"Accept": "*/*"})
    )
