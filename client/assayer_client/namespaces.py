"""Declaration of the methods of `client.evaluations`, `client.batches`, …: each is declared once, for both clients.

A namespace class declares its methods as descriptors over functions that build calls. A descriptor's method is bound to
the client of its namespace: `Client` returns the response, `AsyncClient` returns an awaitable of the same. Most calls
are described by their method and path alone, in which `{}` stands for an id."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import update_wrapper
from pathlib import Path
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar, overload

from pydantic import BaseModel

from assayer_client.event_stream import EventStream
from assayer_client.item_jobs import Asked, Ended, Found, ItemCalls, Receipt
from assayer_client.requests import ApiCall, HttpMethod, Response, path, reads, reads_file_of, reads_nothing
from assayer_client.resources import TERMINAL, Event, Page

__all__ = [
    "AsyncRunner",
    "Create",
    "Download",
    "Events",
    "ItemNamespace",
    "Listing",
    "Namespace",
    "Operation",
    "Runner",
    "Wait",
    "by_id",
    "deleting",
    "downloading",
    "events_of",
    "sending",
    "sending_to",
]

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
E = TypeVar("E", bound=BaseModel)
C = TypeVar("C")
B = TypeVar("B", bound=BaseModel)
B_contra = TypeVar("B_contra", bound=BaseModel, contravariant=True)
S = TypeVar("S")
A = TypeVar("A")


class Runner(Protocol):
    """Interface of a client for running calls."""

    def run(self, call: ApiCall[T]) -> T: ...
    def poll(self, call: ApiCall[T], ended: Callable[[T], bool], seconds: float | None) -> T: ...
    def follow(self, stream: EventStream[E], after: int) -> Iterator[E]: ...
    def save(self, call: ApiCall[None], target: Path) -> Path: ...
    def outcomes(
        self, calls: ItemCalls[Any, Any, Any, T], job: str, after: int, seconds: float | None
    ) -> Iterator[T]: ...
    def wait_for_items(self, calls: ItemCalls[Any, Any, T, Any], job: str, seconds: float | None) -> T: ...


class AsyncRunner(Protocol):
    """The same, to be awaited."""

    async def run(self, call: ApiCall[T]) -> T: ...
    async def poll(self, call: ApiCall[T], ended: Callable[[T], bool], seconds: float | None) -> T: ...
    def follow(self, stream: EventStream[E], after: int) -> AsyncIterator[E]: ...
    async def save(self, call: ApiCall[None], target: Path) -> Path: ...
    def outcomes(
        self, calls: ItemCalls[Any, Any, Any, T], job: str, after: int, seconds: float | None
    ) -> AsyncIterator[T]: ...
    async def wait_for_items(self, calls: ItemCalls[Any, Any, T, Any], job: str, seconds: float | None) -> T: ...


class Namespace(Generic[C]):
    """Group of methods for one kind of resource. Every method raises ApiProblem and ServiceUnreachable."""

    def __init__(self, client: C) -> None:
        self.client = client


class Method(Generic[S, A]):
    """Descriptor for a method with type S on the synchronous client and type A on the asynchronous client."""

    @overload
    def __get__(self, group: None, owner: object) -> Self: ...
    @overload
    def __get__(self, group: Namespace[Runner], owner: object) -> S: ...
    @overload
    def __get__(self, group: Namespace[AsyncRunner], owner: object) -> A: ...
    def __get__(self, group: Any, owner: object) -> Any:
        return self if group is None else self.bound(group)

    def bound(self, group: Any) -> Any:
        raise NotImplementedError


class Operation(Method[Callable[P, T], Callable[P, Coroutine[Any, Any, T]]], Generic[P, T]):
    """Method that sends the call built by a function, with the same parameters as that function."""

    def __init__(self, build: Callable[P, ApiCall[T]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    def bound(self, group: Any) -> Any:
        def send(*args: P.args, **kwargs: P.kwargs) -> Any:
            return group.client.run(self._build(*args, **kwargs))

        return update_wrapper(send, self._build)


def _where(template: str, *ids: str) -> str:
    left = iter(ids)
    return path(*(next(left) if part == "{}" else part for part in template.split("/")))


def by_id(method: HttpMethod, template: str, kind: type[T]) -> Operation[[str], T]:
    """Return a method that takes an id."""
    return Operation(lambda id: ApiCall(method, _where(template, id), reads(kind)))


def deleting(template: str, *, erase: bool = False) -> Operation[[str], None]:
    """Return a method that deletes what has an id, or with `erase` everything stored about it."""
    query = {"erase": "true"} if erase else {}
    return Operation(lambda id: ApiCall("DELETE", _where(template, id), reads_nothing, query))


def sending(method: HttpMethod, where: str, body: type[B], kind: type[T], *, held: float = 0.0) -> Operation[[B], T]:
    """Return a method that takes a body; the service is asked to hold its response for at most `held` seconds."""
    return Operation(lambda body: ApiCall(method, path(*where.split("/")), reads(kind), body=body, seconds=held))


def sending_to(method: HttpMethod, template: str, body: type[B], kind: type[T]) -> Operation[[str, B], T]:
    """Return a method that takes an id and a body."""
    return Operation(lambda id, body: ApiCall(method, _where(template, id), reads(kind), body=body))


class _Creating(Protocol[B_contra, T_co]):
    def __call__(self, body: B_contra, *, key: str | None = None) -> T_co: ...


class Create(Method[_Creating[B, T], _Creating[B, Coroutine[Any, Any, T]]], Generic[B, T]):
    """Method that takes a body; repeated with the same idempotency `key` it has its effect once."""

    def __init__(self, where: str, body: type[B], kind: type[T], *, held: float = 0.0) -> None:
        self._path, self._read, self._held = path(*where.split("/")), reads(kind), held

    def bound(self, group: Any) -> Any:
        def create(body: B, *, key: str | None = None) -> Any:
            return group.client.run(ApiCall("POST", self._path, self._read, body=body, key=key, seconds=self._held))

        return create


class _Listing(Protocol[T_co]):
    def __call__(self, *, after: str | None = None, limit: int = 50) -> T_co: ...


class Listing(Method[_Listing[Page[T]], _Listing[Coroutine[Any, Any, Page[T]]]], Generic[T]):
    """Method that returns a page of resources; `after` is `next` of the page before."""

    def __init__(self, where: str, kind: type[T]) -> None:
        self._path, self._read = path(where), reads(Page.__class_getitem__(kind))

    def bound(self, group: Any) -> Any:
        def list_page(*, after: str | None = None, limit: int = 50) -> Any:
            return group.client.run(ApiCall("GET", self._path, self._read, {"after": after, "limit": limit}))

        return list_page


class _Waiting(Protocol[T_co]):
    def __call__(self, id: str, *, seconds: float | None = None) -> T_co: ...


def has_ended(job: Any) -> bool:
    return job.state in TERMINAL


class Wait(Method[_Waiting[T], _Waiting[Coroutine[Any, Any, T]]], Generic[T]):
    """Method that returns a job or batch once it has ended. Raises TimeoutError naming it after `seconds`; the work
    continues."""

    def __init__(self, template: str, kind: type[T], ended: Callable[[T], bool] = has_ended) -> None:
        self._template, self._read, self._ended = template, reads(kind), ended

    def bound(self, group: Any) -> Any:
        def wait(id: str, *, seconds: float | None = None) -> Any:
            return group.client.poll(ApiCall("GET", _where(self._template, id), self._read), self._ended, seconds)

        return wait


class WaitForItems(Method[_Waiting[T], _Waiting[Coroutine[Any, Any, T]]], Generic[T]):
    """Method that returns a multi-item job with all outcomes, in the order of the items. Raises TimeoutError after
    `seconds`; the work continues."""

    def bound(self, group: Any) -> Any:
        def wait(id: str, *, seconds: float | None = None) -> Any:
            return group.client.wait_for_items(group.calls, id, seconds)

        return wait


class _Following(Protocol[T_co]):
    def __call__(self, id: str, *, after: int = 0) -> T_co: ...


class Events(Method[_Following[Iterator[E]], _Following[AsyncIterator[E]]], Generic[E]):
    """Method that yields events as they happen, up to the last one; reconnects when the connection breaks."""

    def __init__(self, build: Callable[[str], EventStream[E]]) -> None:
        self._build = build

    def bound(self, group: Any) -> Any:
        def events(id: str, *, after: int = 0) -> Any:
            return group.client.follow(self._build(id), after)

        return events


def events_of(where: str) -> Events[Event]:
    """Return the method for the events of a job."""
    return Events(lambda id: EventStream(path(where, id, "events"), Event, lambda event: event.kind in TERMINAL))


class _Yielding(Protocol[T_co]):
    def __call__(self, id: str, *, after: int = 0, seconds: float | None = None) -> T_co: ...


class Outcomes(Method[_Yielding[Iterator[T]], _Yielding[AsyncIterator[T]]], Generic[T]):
    """Method that yields the outcomes of a multi-item job as they arrive. Raises TimeoutError if some are missing
    after `seconds`."""

    def bound(self, group: Any) -> Any:
        def outcomes(id: str, *, after: int = 0, seconds: float | None = None) -> Any:
            return group.client.outcomes(group.calls, id, after, seconds)

        return outcomes


class ItemOperation(Method[Callable[P, T], Callable[P, Coroutine[Any, Any, T]]], Generic[P, T]):
    """Method that sends the call built by a method of the group's `ItemCalls`, with the same parameters."""

    def __init__(self, build: Callable[Concatenate[ItemCalls[Any, Any, Any, Any], P], ApiCall[T]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    def bound(self, group: Any) -> Any:
        return Operation(MethodType(self._build, group.calls)).bound(group)


class ItemNamespace(Namespace[C], Generic[C, Asked, Receipt, Found, Ended]):
    """Group of methods for one kind of multi-item job."""

    calls: ItemCalls[Asked, Receipt, Found, Ended]
    create = ItemOperation(ItemCalls[Asked, Receipt, Found, Ended].create)
    get = ItemOperation(ItemCalls[Asked, Receipt, Found, Ended].get)
    list = ItemOperation(ItemCalls[Asked, Receipt, Found, Ended].list)
    wait = WaitForItems[Found]()
    cancel = ItemOperation(ItemCalls[Asked, Receipt, Found, Ended].cancel)
    erase = ItemOperation(ItemCalls[Asked, Receipt, Found, Ended].erase)
    items = ItemOperation(ItemCalls[Asked, Receipt, Found, Ended].items)
    outcomes = Outcomes[Ended]()


class Download(
    Method[Callable[Concatenate[str, Path, P], Path], Callable[Concatenate[str, Path, P], Coroutine[Any, Any, Path]]],
    Generic[P],
):
    """Method that writes an answer of any length to a file atomically."""

    def __init__(self, build: Callable[Concatenate[str, P], ApiCall[None]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    def bound(self, group: Any) -> Any:
        def save(id: str, target: Path, *args: P.args, **kwargs: P.kwargs) -> Any:
            return group.client.save(self._build(id, *args, **kwargs), target)

        return save


def downloading(template: str, media_type: str, **query: str) -> Download[[]]:
    """Return a method that saves the document of a media type."""
    read: Callable[[Response], None] = reads_file_of(media_type)
    return Download(lambda id: ApiCall("GET", _where(template, id), read, query, headers={"Accept": "*/*"}))
