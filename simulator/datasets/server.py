"""The three services on one address, with faults on request."""

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date
from functools import cache
from hashlib import sha256
from typing import Literal, get_args

from aiohttp import web
from aiohttp.typedefs import Handler

from simulator.datasets import oai
from simulator.datasets.editions import RELEASES, Edition, EditionPaper
from simulator.datasets.s2_lines import DATASETS, compare_editions
from simulator.outside.library import Library
from simulator.outside.openalex_works import build_work, invert_abstract

Fault = Literal["busy", "expired", "cut", "forgotten"]
FAULTS: tuple[Fault, ...] = get_args(Fault)
KEY = "simulated-key"
_FILE_COUNT = 3
"""Number of files of each dataset."""


class DatasetServices:
    """Simulated services. Each fault affects the first request of its kind: `busy`, the first request to each path (503
    with Retry-After 0); `expired`, the first link to each file (403); `cut`, the first delivery of each file (only half
    is sent); `forgotten`, the first resumption token."""

    def __init__(self, library: Library, faults: Iterable[Fault] = ()) -> None:
        self._editions = {number: Edition(library, number) for number in RELEASES}
        self._edition = self._editions[1]
        self._faults = frozenset(faults)
        self._request_counts: Counter[str] = Counter()
        self._links: Counter[str] = Counter()
        self._s2_file = cache(self._pack_s2_file)
        self._openalex_file = cache(self._pack_works)

    def build_application(self) -> web.Application:
        application = web.Application(middlewares=[self._inject_busy])
        application.add_routes(
            [
                web.get("/datasets/v1/release/{release}", self.show_release),
                web.get("/datasets/v1/release/{release}/dataset/{dataset}", self.show_dataset),
                web.get("/datasets/v1/diffs/{since}/to/{until}/{dataset}", self.show_diffs),
                web.get("/s3/{lease}/{since}/{release}/{dataset}/{what}/{name}", self.send_s2_file),
                web.get("/oai", self.list_records),
                web.get("/openalex/works/manifest.json", self.show_manifest),
                web.get("/openalex/works/{folder}/part_0000.gz", self.send_works),
                web.put("/_datasets/edition/{number}", self.change_edition),
                web.get("/_datasets/requests", self.show_requests),
                web.post("/_datasets/reset", self.reset),
            ]
        )
        return application

    async def show_release(self, request: web.Request) -> web.Response:
        _check_key(request)
        name = request.match_info["release"]
        release = RELEASES[self._edition.number] if name == "latest" else name
        if release not in RELEASES.values():
            return web.json_response({"message": "Requested release was not found."}, status=404)
        datasets = [{"name": dataset, "description": "", "README": ""} for dataset in DATASETS]
        return web.json_response({"release_id": release, "README": "", "datasets": datasets})

    async def show_dataset(self, request: web.Request) -> web.Response:
        _check_key(request)
        release, dataset = request.match_info["release"], request.match_info["dataset"]
        files = [self._sign_link(request, "none", release, dataset, "full", number) for number in range(_FILE_COUNT)]
        return web.json_response({"name": dataset, "description": "", "README": "", "files": files})

    async def show_diffs(self, request: web.Request) -> web.Response:
        _check_key(request)
        since, dataset = request.match_info["since"], request.match_info["dataset"]
        until = (
            RELEASES[self._edition.number] if request.match_info["until"] == "latest" else request.match_info["until"]
        )
        steps = [] if since == until else [(since, until)]
        diffs = [
            {
                "from_release": old,
                "to_release": new,
                "update_files": [
                    self._sign_link(request, old, new, dataset, "update", number) for number in range(_FILE_COUNT)
                ],
                "delete_files": [self._sign_link(request, old, new, dataset, "delete", 0)],
            }
            for old, new in steps
        ]
        return web.json_response({"dataset": dataset, "start_release": since, "end_release": until, "diffs": diffs})

    async def send_s2_file(self, request: web.Request) -> web.StreamResponse:
        match = request.match_info
        if "expired" in self._faults and match["lease"] == "1":
            text = "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"
            return web.Response(text=text, status=403, content_type="application/xml")
        number = int(match["name"].split("_")[-1].removesuffix(".gz"))
        change, since = match["what"], match["since"]
        body = self._s2_file(since, match["release"], match["dataset"], change, number)
        return await self._deliver(request, body, "/".join((since, match["dataset"], change, match["name"])))

    async def list_records(self, request: web.Request) -> web.Response:
        token = request.query.get("resumptionToken", "")
        if token and "forgotten" in self._faults and not self._request_counts["token"]:
            self._request_counts["token"] += 1
            return _respond_with_xml(
                oai.build_error("badResumptionToken", "The value of the resumptionToken argument is invalid")
            )
        window, _, start = token.partition("|") if token else (_format_window(request.query), "", "0")
        first, last = (date.fromisoformat(day) for day in window.split("--"))
        return _respond_with_xml(oai.build_page(oai.list_entries(self._edition, first, last), int(start), window))

    async def show_manifest(self, _: web.Request) -> web.Response:
        files = [
            {
                "url": f"s3://openalex/data/jsonl/works/{folder}/part_0000.gz",
                "meta": {"content_length": len(body), "record_count": gzip.decompress(body).count(b"\n")},
            }
            for folder in _list_folders(self._edition.number)
            if (body := self._openalex_file(self._edition.number, folder))
        ]
        manifest = {"date": RELEASES[self._edition.number], "format": "jsonl", "entity": "works", "files": files}
        return web.json_response(manifest)

    async def send_works(self, request: web.Request) -> web.StreamResponse:
        folder = request.match_info["folder"]
        return await self._deliver(request, self._openalex_file(self._edition.number, folder), folder)

    async def change_edition(self, request: web.Request) -> web.Response:
        self._edition = self._editions[2 if request.match_info["number"] == "2" else 1]
        return web.json_response({"edition": self._edition.number})

    async def show_requests(self, _: web.Request) -> web.Response:
        return web.json_response(dict(self._request_counts))

    async def reset(self, _: web.Request) -> web.Response:
        self._edition = self._editions[1]
        self._request_counts.clear()
        self._links.clear()
        return web.json_response({"edition": self._edition.number})

    @web.middleware
    async def _inject_busy(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        path = "/".join(("", "s3", *request.path.split("/")[3:])) if request.path.startswith("/s3/") else request.path
        self._request_counts[path] += 1
        if "busy" in self._faults and self._request_counts[path] == 1 and not path.startswith("/_datasets"):
            return web.Response(status=503, headers={"Retry-After": "0"}, text="Retry after 0 seconds")
        return await handler(request)

    def _sign_link(self, request: web.Request, since: str, release: str, dataset: str, change: str, number: int) -> str:
        """Return a link that resembles a signed one; it contains the number of links made to the file so far."""
        path = f"{since}/{release}/{dataset}/{change}/20261101_{number}.gz"
        self._links[path] += 1
        return f"{request.url.origin()}/s3/{self._links[path]}/{path}?X-Amz-Expires=604800"

    async def _deliver(self, request: web.Request, body: bytes, name: str) -> web.StreamResponse:
        """Deliver a file with support for ranges, like an object store. With the fault `cut`, the first delivery
        ends after half of the file."""
        tag = f'"{sha256(body).hexdigest()[:32]}"'
        range_header, offset = request.headers.get("Range", ""), 0
        if range_header and request.headers.get("If-Range", tag) == tag:
            offset = int(range_header.removeprefix("bytes=").removesuffix("-"))
        if offset >= len(body) > 0:
            return web.Response(status=416, headers={"Content-Range": f"bytes */{len(body)}"})
        headers = {"ETag": tag, "Content-Length": str(len(body) - offset), "Content-Type": "application/gzip"}
        if offset:
            headers["Content-Range"] = f"bytes {offset}-{len(body) - 1}/{len(body)}"
        response = web.StreamResponse(status=206 if offset else 200, headers=headers)
        await response.prepare(request)
        is_cut = "cut" in self._faults and not self._request_counts[f"delivered {name}"]
        self._request_counts[f"delivered {name}"] += 1
        await response.write(body[offset : len(body) // 2] if is_cut else body[offset:])
        if is_cut and request.transport is not None:
            request.transport.close()
        return response

    def _pack_s2_file(self, since: str, release: str, dataset: str, change: str, number: int) -> bytes:
        numbers = {name: edition for edition, name in RELEASES.items()}
        old_edition = self._editions[numbers[since]] if since in numbers else None
        lines = compare_editions(dataset, old_edition, self._editions[numbers[release]])
        return _pack_lines(
            (lines.deletions if change == "delete" else lines.updates)[number :: 1 if change == "delete" else 3]
        )

    def _pack_works(self, edition: Literal[1, 2], folder: str) -> bytes:
        """Return the packed works of a folder: each work is only in the folder of its last change."""
        current, previous = self._editions[edition], self._editions[1]
        lines = []
        for number, paper in current.papers.items():
            is_changed = edition == 2 and previous.papers.get(number) != paper
            if folder == _list_folders(edition)[-1 if is_changed else 0]:
                lines.append(
                    build_work(current.library, paper.entry, "https://simulated.example") | _build_changed_fields(paper)
                )
        return _pack_lines(lines)


def _build_changed_fields(paper: EditionPaper) -> dict[str, object]:
    """Return the fields that differ between editions."""
    reference_links = [f"https://openalex.org/{reference.openalex}" for reference in paper.references]
    return {"abstract_inverted_index": invert_abstract(paper.abstract), "referenced_works": reference_links}


def _list_folders(edition: int) -> list[str]:
    return [f"updated_date={release}" for number, release in RELEASES.items() if number <= edition]


def _format_window(query: Mapping[str, str]) -> str:
    return f"{query['from']}--{query['until']}"


def _pack_lines(lines: Iterable[Mapping[str, object]]) -> bytes:
    return gzip.compress("".join(f"{json.dumps(line)}\n" for line in lines).encode(), 1, mtime=0)


def _respond_with_xml(text: str) -> web.Response:
    return web.Response(text=text, content_type="text/xml")


def _check_key(request: web.Request) -> None:
    if request.headers.get("x-api-key") != KEY:
        raise web.HTTPForbidden(text='{"message": "Forbidden"}', content_type="application/json")
