"""Errors that Ray may return instead of an answer when a node is lost, and how callers of a pool handle them; needs no
Ray."""

from typing import Any, cast

import pytest
from ray import ObjectRef
from ray.exceptions import (
    LocalRayletDiedError,
    NodeDiedError,
    ObjectFetchTimedOutError,
    ObjectLostError,
    OutOfMemoryError,
    OwnerDiedError,
    RpcError,
    WorkerCrashedError,
)

from cluster.serving.pool_client import PoolClient, ReplicaLost
from tests.cluster.served.specimen import Specimen

_REFERENCE = ObjectRef.nil().hex()


class LosingHandle:
    """A pool's handle whose first calls end in those errors, and the next in an answer."""

    deployment_name = "index"

    def __init__(self, *errors: Exception) -> None:
        self._errors = list(errors)
        self.asked_for: list[str] = []

    def options(self, method_name: str) -> "LosingHandle":
        self.asked_for.append(method_name)
        return self

    async def remote(self, text: str) -> str:
        if self._errors:
            raise self._errors.pop(0)
        return text

    def client(self, patience: float) -> PoolClient[Specimen]:
        return PoolClient(cast("Any", self), 5.0, patience)


@pytest.mark.parametrize(
    "error",
    [
        ObjectLostError(_REFERENCE, None, ""),
        ObjectFetchTimedOutError(_REFERENCE, None, ""),
        OwnerDiedError(_REFERENCE, None, ""),
        *(cast("Any", kind)("gone") for kind in (NodeDiedError, OutOfMemoryError, RpcError)),
        LocalRayletDiedError(),
        WorkerCrashedError(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_answer_lost_with_its_node_is_requested_again(error: Exception) -> None:
    assert await LosingHandle(error).client(5.0).ask(Specimen.echo, "still here") == "still here"
    with pytest.raises(ReplicaLost, match=f"index.*{type(error).__name__}"):
        await LosingHandle(error).client(5.0).call_once(Specimen.echo, "still here")


def test_handle_is_initialized_when_the_pool_client_is_created() -> None:
    handle = LosingHandle()
    handle.client(5.0)
    assert handle.asked_for, "Ray asks the head when a handle is first used, and holds the event loop for 40 s"
