"""An object store that speaks S3's protocol over HTTP on this machine, and addresses in stores of every kind."""

import itertools
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

KINDS = ("file", "memory", "s3")
_NUMBERS = itertools.count()


class ObjectStore:
    """Object store that keeps its objects when it is stopped and started again."""

    port = 0

    def start(self) -> None:
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # one line a request
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=self.port, verbose=False)
        self._server.start()
        _, self.port = self._server.get_host_and_port()

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables by which clients find the store."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-east-1",
        }

    def new_bucket(self) -> str:
        """Create a bucket and return its address."""
        import boto3

        name = f"corpus-{os.getpid()}-{next(_NUMBERS)}"
        variables = self.variables
        boto3.client(
            "s3",
            endpoint_url=variables["AWS_ENDPOINT_URL"],
            aws_access_key_id="testing",
            aws_secret_access_key="testing",  # noqa: S106 - the store takes any
            region_name="us-east-1",
        ).create_bucket(Bucket=name)
        return f"s3://{name}"

    def stop(self) -> None:
        self._server.stop()


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """Run an object store; its variables are set for this process and its children meanwhile."""
    from s3fs import S3FileSystem

    store = ObjectStore()
    store.start()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in store.variables.items():
            patch.setenv(name, value)
        S3FileSystem.clear_instance_cache()  # those made before know another endpoint
        try:
            yield store
        finally:
            S3FileSystem.clear_instance_cache()
            store.stop()


def empty_address(kind: str, folder: Path, store: ObjectStore) -> str:
    """Return the address of an empty place for a corpus."""
    if kind == "file":
        return (folder / "bucket").as_uri()
    if kind == "memory":
        return f"memory://corpus-{next(_NUMBERS)}"
    return f"{store.new_bucket()}/corpus"
