"""Status of a Ray cluster, as reported by its head: which nodes are alive, and whether the service runs on them."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx2

_TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True)
class Dashboard:
    """Client of the dashboard of a Ray head. While the head does not respond, it reports no nodes and no
    applications."""

    port: int

    async def put(self, config: Mapping[str, Any]) -> bool:
        """Submit a Serve config, as KubeRay does; return False while the head does not respond.

        Raises RuntimeError if the head rejects the config."""
        try:
            async with self._client as client:
                response = await client.put("/api/serve/applications/", json=config)
        except (httpx2.HTTPError, OSError):
            return False
        if response.status_code in (401, 403) or 400 <= response.status_code < 404:
            raise RuntimeError(f"Ray refuses the config: {response.status_code} {response.text[:2000]}")
        return response.is_success

    async def list_nodes(self) -> frozenset[str]:
        """Return the ids of the nodes that the head considers alive."""
        answer = await self._get("/api/v0/nodes?limit=1000")
        items = answer.get("data", {}).get("result", {}).get("result", [])
        return frozenset(item["node_id"] for item in items if item["state"] == "ALIVE")

    async def get_applications(self) -> Mapping[str, Any]:
        """Return the status of Serve's applications."""
        return await self._get("/api/serve/applications/")

    async def _get(self, path: str) -> Mapping[str, Any]:
        try:
            async with self._client as client:
                response = await client.get(path)
                body = response.json() if response.is_success else {}
        except (httpx2.HTTPError, OSError, ValueError):
            return {}
        return body if isinstance(body, dict) else {}

    @property
    def _client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}",
            timeout=_TIMEOUT_SECONDS,
            headers={"Authorization": f"Bearer {self._token}"},
        )

    @cached_property
    def _token(self) -> str:
        """Token that every request needs."""
        return Path(os.environ["RAY_AUTH_TOKEN_PATH"]).read_text("ascii")


def is_up(status: Mapping[str, Any], nodes: Collection[str]) -> bool:
    """Return whether every application is running, every pool has its target number of processes, all on these nodes,
    and every proxy is healthy. `status` is the response of Serve's controller."""
    applications = status.get("applications", {}).values()
    proxies = status.get("proxies", {})
    pools = [pool for application in applications for pool in application["deployments"].values()]
    return (
        bool(pools)
        and all(application["status"] == "RUNNING" for application in applications)
        and all(pool["status"] == "HEALTHY" and _is_full(pool, nodes) for pool in pools)
        and bool(proxies)
        and all(node in nodes and proxy["status"] == "HEALTHY" for node, proxy in proxies.items())
    )


def _is_full(pool: Mapping[str, Any], nodes: Collection[str]) -> bool:
    running_replicas = [item for item in pool["replicas"] if item["state"] == "RUNNING" and item["node_id"] in nodes]
    return bool(len(running_replicas) == len(pool["replicas"]) == pool["target_num_replicas"])
