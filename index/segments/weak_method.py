"""Cache an object's method without keeping the object alive."""

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast
from weakref import WeakMethod

P = ParamSpec("P")
Out = TypeVar("Out")


def cache_method(method: Callable[P, Out], size: int) -> Callable[P, Out]:
    """Return a bound method with its last `size` results cached. An object that stores its cached method is freed, and
    its files are closed, as soon as nothing else refers to it: `lru_cache` alone would keep both until the garbage
    collector runs. Arguments must be hashable."""
    method_ref = WeakMethod(method)

    @lru_cache(size)
    def call(*args: P.args, **kwargs: P.kwargs) -> Out:
        method_alive = method_ref()
        if method_alive is None:
            raise ReferenceError("The cached method's object no longer exists. Keep it while its method is used.")
        return method_alive(*args, **kwargs)

    return cast(Callable[P, Out], call)
