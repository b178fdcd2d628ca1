"""GitHub's REST API: repository search, commits by day, trees and blobs.

GitHub limits search queries to 256 characters, not counting qualifiers, and five operators. Days are in UTC."""

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import AfterValidator, RootModel

from assayer.cutoff import within
from assayer.models import OPEN, Repository, Window
from assayer.run.concurrency import gather_all
from workers.code.checkout import Commit, TreeEntry, checked_repository_name, is_sha
from workers.literature_apis.record_fields import (
    ApiObject,
    CountOrNone,
    TextOrEmpty,
    ValidEntries,
    one_line,
    parse_date,
    web_link,
)
from workers.outbound.source_requests import (
    RequestContext,
    SourceFetcher,
    SourceRequest,
    SourceResponse,
    fetch_json,
    fetch_parsed,
    malformed_response,
    parse_json,
)

_PAGE = 100
_QUERY = 240
"""Maximum characters of a query, less than the limit of 256 because the documentation does not say whether spaces next
to qualifiers count."""
_NOT_WORDS = re.compile(r"\b(?:AND|OR|NOT)\b|\w+:|[^\w\s.+#-]")


def _checked_sha(text: str) -> str:
    if not is_sha(text):
        raise ValueError("not a commit SHA")
    return text


class _Item(ApiObject):
    full_name: str
    html_url: TextOrEmpty = ""
    description: TextOrEmpty = ""
    stargazers_count: CountOrNone = None
    language: TextOrEmpty = ""
    topics: ValidEntries[str] = ()
    created_at: TextOrEmpty = ""
    pushed_at: TextOrEmpty = ""


class _Found(ApiObject):
    items: ValidEntries[_Item]


class _Moment(ApiObject):
    date: TextOrEmpty = ""


class _CommitFacts(ApiObject):
    committer: _Moment = _Moment()


class _Commit(ApiObject):
    sha: Annotated[str, AfterValidator(_checked_sha)]
    commit: _CommitFacts = _CommitFacts()


class _Log(RootModel[tuple[_Commit, ...]]):
    """Commits, the newest first."""


class _Node(ApiObject):
    path: str
    mode: str
    type: str
    sha: TextOrEmpty = ""
    size: CountOrNone = None


class _Tree(ApiObject):
    tree: ValidEntries[_Node]


class _Blob(ApiObject):
    content: str
    encoding: str


class GitHub:
    name: ClassVar[str] = "github"

    def __init__(self, remote: SourceFetcher) -> None:
        self._remote = remote

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Repository]:
        """Search by name, description and README for repositories created in the window, best first. Undated
        repositories are kept and marked."""
        found: dict[str, Repository] = {}
        words = self._query(query, window)
        for page in range(1, -(-limit // _PAGE) + 1):
            size = min(limit, _PAGE)
            params = (("q", words), ("per_page", str(size)), ("page", str(page)))
            request = SourceRequest(self.name, "code", "search/repositories", params)
            answer = await fetch_json(self._remote, request, context, _Found)
            items = answer.items if answer else ()
            repositories = map(_repository, items)
            for repository in within(repositories, window, lambda item: item.created, undated=True):
                found.setdefault(repository.name, repository)
            if len(items) < size:
                break
        return list(found.values())[:limit]

    def _query(self, query: str, window: Window) -> str:
        words = " ".join(_NOT_WORDS.sub(" ", query).split())[:_QUERY]
        parts = [words, "in:name,description,readme"]
        if window != OPEN:
            parts.append(f"created:{window.after or '*'}..{window.before or '*'}")
        return " ".join(parts)

    async def commit(self, name: str, window: Window, context: RequestContext) -> Commit | None:
        """Return the last commit of the main branch up to the end of the window's last day; None if there is none, or
        if the repository does not exist."""
        until = (("until", f"{window.before}T23:59:59Z"),) if window.before else ()
        request = SourceRequest(
            self.name, "code", f"repos/{checked_repository_name(name)}/commits", (*until, ("per_page", "1"))
        )
        log = await fetch_json(self._remote, request, context, _Log)
        if log is None or not log.root:
            return None
        return Commit(log.root[0].sha, log.root[0].commit.committer.date)


class GitHubCheckout:
    """Checkout through the API, with one request per file."""

    def __init__(self, remote: SourceFetcher, name: str, commit: Commit, context: RequestContext) -> None:
        self._remote = remote
        self._path = f"repos/{checked_repository_name(name)}/git"
        self._commit = commit
        self._context = context

    async def entries(self) -> list[TreeEntry]:
        request = SourceRequest(GitHub.name, "code", f"{self._path}/trees/{self._commit.sha}", (("recursive", "1"),))
        answer = await fetch_json(self._remote, request, self._context, _Tree)
        nodes = answer.tree if answer else ()
        return [TreeEntry(node.path, node.mode, node.sha, node.size or 0) for node in nodes if node.type != "tree"]

    async def contents(self, entries: Sequence[TreeEntry]) -> Mapping[str, bytes]:
        blobs = await gather_all(self._blob(entry) for entry in entries)
        return dict(zip((entry.path for entry in entries), blobs, strict=True))

    async def _blob(self, entry: TreeEntry) -> bytes:
        return await fetch_parsed(
            self._remote, SourceRequest(GitHub.name, "code", f"{self._path}/blobs/{entry.sha}"), self._context, _content
        )


def _content(response: SourceResponse) -> bytes:
    blob = parse_json(response, _Blob, GitHub.name)
    try:
        return base64.b64decode("".join(blob.content.split()), validate=True)
    except ValueError:
        encoding = blob.encoding[:20]
        raise malformed_response(
            GitHub.name, f"github sent a file that is not valid base64 (encoding {encoding!r}).", ""
        ) from None


def _repository(item: _Item) -> Repository:
    return Repository(
        name=item.full_name,
        url=web_link(item.html_url),
        description=one_line(item.description),
        stars=item.stargazers_count,
        language=one_line(item.language),
        topics=tuple(map(one_line, item.topics)),
        created=parse_date(item.created_at),
        pushed=parse_date(item.pushed_at),
    )
