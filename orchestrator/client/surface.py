"""The operations that are one request each, declared once for both clients."""

from collections.abc import Awaitable, Callable
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, Protocol, TypeVar, overload

from orchestrator.client import accounts, batches, judging, operations
from orchestrator.client.calls import Call

__all__ = ["AsyncRunner", "Operation", "Runner", "Surface"]

P = ParamSpec("P")
T = TypeVar("T")


class Runner(Protocol):
    def run(self, call: Call[T]) -> T: ...


class AsyncRunner(Protocol):
    async def run(self, call: Call[T]) -> T: ...


class Operation(Generic[P, T]):
    """A method that runs the call which a function builds, with that function's own parameters. On a client that
    runs calls asynchronously it is to be awaited."""

    def __init__(self, build: Callable[P, Call[T]]) -> None:
        self._build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, client: None, owner: object) -> "Operation[P, T]": ...
    @overload
    def __get__(self, client: Runner, owner: object) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: AsyncRunner, owner: object) -> Callable[P, Awaitable[T]]: ...
    def __get__(self, client: Any, owner: object) -> Any:
        if client is None:
            return self

        def bound(*args: P.args, **kwargs: P.kwargs) -> Any:
            return client.run(self._build(*args, **kwargs))

        return update_wrapper(bound, self._build)


class Surface:
    """What both clients offer, request by request."""

    submit = Operation(operations.submit)
    evaluation = Operation(operations.evaluation)
    evaluations = Operation(operations.evaluations)
    report = Operation(operations.report)
    report_text = Operation(operations.report_text)
    timeline = Operation(operations.timeline)
    cancel = Operation(operations.cancel)
    erase = Operation(operations.erase)
    methods = Operation(operations.methods)
    submit_files = Operation(batches.submit_files)
    add_files = Operation(batches.add_files)
    submit_rows = Operation(batches.submit_rows)
    batch = Operation(batches.batch)
    cancel_batch = Operation(batches.cancel_batch)
    batches = Operation(batches.batches)
    compare = Operation(judging.compare)
    comparison = Operation(judging.comparison)
    cancel_comparison = Operation(judging.cancel_comparison)
    comparisons = Operation(judging.comparisons)
    rank = Operation(judging.rank)
    ranking = Operation(judging.ranking)
    ranking_report = Operation(judging.ranking_report)
    ranking_text = Operation(judging.ranking_text)
    cancel_ranking = Operation(judging.cancel_ranking)
    rankings = Operation(judging.rankings)
    search_corpus = Operation(judging.search_corpus)
    create_webhook = Operation(judging.create_webhook)
    webhooks = Operation(judging.webhooks)
    deliveries = Operation(judging.deliveries)
    delete_webhook = Operation(judging.delete_webhook)
    create_tenant = Operation(accounts.create_tenant)
    tenants = Operation(accounts.tenants)
    tenant = Operation(accounts.tenant)
    change_tenant = Operation(accounts.change_tenant)
    delete_tenant = Operation(accounts.delete_tenant)
    create_key = Operation(accounts.create_key)
    keys = Operation(accounts.keys)
    revoke_key = Operation(accounts.revoke_key)
    usage = Operation(accounts.usage)
