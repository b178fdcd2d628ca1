"""GitHub: repository search and commits of its REST API, and archives of commits, made from real git repositories
(`repositories.py`)."""

import asyncio
import datetime as dt
import re
import subprocess
from collections.abc import Sequence
from typing import Any
from zlib import crc32

from aiohttp import web

from simulator.outside.knobs import Knobs
from simulator.outside.library import Library
from simulator.outside.repositories import Repositories, Repository
from simulator.outside.simulated_service import SimulatedService, build_retry_header

_DOCS = "https://docs.github.com/rest"
_MAX_RESULTS = 1_000
_MAX_QUERY_LENGTH = 256
_QUALIFIER = re.compile(r"(\w+):(\S+)")
_OPERATOR = re.compile(r"\b(?:AND|OR|NOT)\b")


class GitHub(SimulatedService):
    name = "github"
    prefix = "github"
    knobs = Knobs(per_second=0.5, burst=30)

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self._repositories = Repositories(library)

    def list_routes(self) -> Sequence[web.RouteDef]:
        repository = "/repos/{owner}/{name}"
        return [
            web.get("/search/repositories", self.search),
            web.get(f"{repository}/commits", self.commits),
            web.get("/archive/{owner}/{name}/tar.gz/{sha}", self.archive),
        ]

    def identify_caller(self, request: web.Request) -> str:
        return request.headers.get("Authorization", "")

    def refuse_caller(self, request: web.Request, knobs: Knobs) -> web.Response | None:
        credentials = request.headers.get("Authorization", "")
        if knobs.api_key is not None and credentials and credentials != f"Bearer {knobs.api_key}":
            return self.build_error(401, "Bad credentials")
        return None

    def refuse_over_limit(self, retry_after: float | None) -> web.Response:
        message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
        return self.build_error(403, message, retry_after)

    def build_error(self, status: int, message: str, retry_after: float | None = None) -> web.Response:
        body = {"message": message, "documentation_url": _DOCS, "status": str(status)}
        return web.json_response(body, status=status, headers=build_retry_header(retry_after))

    async def search(self, request: web.Request) -> web.Response:
        query = request.query.get("q", "")
        words = _QUALIFIER.sub("", query)
        if not query.strip() or len(words) > _MAX_QUERY_LENGTH or len(_OPERATOR.findall(words)) > 5:
            return self.build_error(422, "Validation Failed")
        try:
            ranges = [(name, *_parse_range(value)) for name, value in _QUALIFIER.findall(query) if name != "in"]
        except ValueError:
            return self.build_error(422, "Validation Failed")
        size, page = int(request.query.get("per_page", "30")), int(request.query.get("page", "1"))
        repositories_by_paper = self._repositories.by_paper
        repositories = [repositories_by_paper[entry.number] for entry in self.library.search(words)]
        repositories = [
            repository for repository in repositories if all(_is_in_range(repository, *bounds) for bounds in ranges)
        ][:_MAX_RESULTS]
        items = [_build_item(repository) for repository in repositories[(page - 1) * size : page * size]]
        return web.json_response({"total_count": len(repositories), "incomplete_results": False, "items": items})

    async def commits(self, request: web.Request) -> web.Response:
        repository = self._find_repository(request)
        if repository is None:
            return self.build_error(404, "Not Found")
        until = request.query.get("until", "")
        limit = [f"--until={until}"] if until else []
        log_format = "--format=%H %T %cI"
        try:
            log = await asyncio.to_thread(
                self._repositories.run_git, repository, "log", "master", *limit, "-n", "1", log_format
            )
        except subprocess.CalledProcessError:
            return self.build_error(409, "Git Repository is empty.")
        return web.json_response([_build_commit(*line.split(" ")) for line in log.decode().splitlines()])

    async def archive(self, request: web.Request) -> web.Response:
        repository, sha = self._find_repository(request), request.match_info["sha"]
        arguments = ("archive", "--format=tar.gz", f"--prefix={request.match_info['name']}-{sha}/", sha)
        try:
            body = await asyncio.to_thread(self._repositories.run_git, repository, *arguments) if repository else None
        except subprocess.CalledProcessError:
            body = None
        if body is None:
            return self.build_error(404, "Not Found")
        return web.Response(body=body, content_type="application/x-gzip")

    def _find_repository(self, request: web.Request) -> Repository | None:
        name = f"{request.match_info['owner']}/{request.match_info['name']}"
        return self._repositories.by_name.get(name.lower())


def _build_item(repository: Repository) -> dict[str, Any]:
    owner, name = repository.name.split("/")
    record = repository.entry.record if repository.entry else None
    return {
        "id": crc32(repository.name.encode()),
        "name": name,
        "full_name": repository.name,
        "private": False,
        "owner": {"login": owner, "type": "Organization"},
        "html_url": f"https://github.com/{repository.name}",
        "description": f"Code of: {record.title}" if record else None,
        "fork": False,
        "created_at": f"{repository.created}T10:00:00Z",
        "updated_at": f"{repository.pushed}T12:00:00Z",
        "pushed_at": f"{repository.pushed}T12:00:00Z",
        "stargazers_count": record.citation_count if record else 0,
        "language": "Python",
        "topics": [re.sub(r"[^a-z0-9]+", "-", word.lower()) for word in record.keywords] if record else [],
        "archived": False,
        "default_branch": "master",
        "score": 1.0,
    }


def _build_commit(sha: str, tree: str, moment: str) -> dict[str, Any]:
    author = {"name": "Lab", "email": "lab@example.org", "date": moment.replace("+00:00", "Z")}
    return {"sha": sha, "commit": {"author": author, "committer": author, "message": "News", "tree": {"sha": tree}}}


def _parse_range(value: str) -> tuple[str, str]:
    """Return the inclusive bounds of `A..B`, `>=A`, `<=B` or `A`; an open bound is empty. Raises ValueError if a bound
    is neither a date nor a number."""
    low, dots, high = value.partition("..")
    if not dots:
        low, high = (value[2:], "") if value[:2] == ">=" else ("", value[2:]) if value[:2] == "<=" else (value, value)
    ends = ["" if end == "*" else end for end in (low, high)]
    for end in ends:
        if end and not end.isdecimal():
            dt.date.fromisoformat(end)
    return ends[0], ends[1]


def _is_in_range(repository: Repository, name: str, low: str, high: str) -> bool:
    if name == "stars":
        stars = repository.entry.record.citation_count if repository.entry else 0
        return int(low or 0) <= stars <= int(high or 10**9)
    day = {"created": repository.created, "pushed": repository.pushed}.get(name)
    return day is None or (low or "0") <= day.isoformat() <= (high or "9999")
