"""GitHub's REST API: repository search, commits by day, trees and blobs.

Search queries hold at most 256 characters besides qualifiers and five operators; days are in UTC.
"""

import base64
import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import AfterValidator, RootModel

from assayer.flow import together
from assayer.models import Repository
from workers.code.checkout import Commit, Entry, checked_name, is_sha
from workers.remote.call import Ask, Call, Remote, Reply
from workers.sources.answers import Count, Entries, Shape, Text, read, read_known
from workers.sources.asking import ask_for
from workers.sources.fields import line, link, read_date
from workers.sources.malformed import malformed
from workers.sources.source import Window

__all__ = ["ApiCheckout", "GitHub"]

_PAGE = 100
_QUERY = 240
"""256 is the limit; how blanks beside qualifiers count is not documented."""
_NOT_WORDS = re.compile(r"\b(?:AND|OR|NOT)\b|\w+:|[^\w\s.+#-]")


def _checked_sha(text: str) -> str:
    if not is_sha(text):
        raise ValueError("not the name of a commit")
    return text


class _Item(Shape):
    full_name: str
    html_url: Text = ""
    description: Text = ""
    stargazers_count: Count = None
    language: Text = ""
    topics: Entries[str] = ()
    created_at: Text = ""
    pushed_at: Text = ""


class _Found(Shape):
    items: Entries[_Item]


class _Moment(Shape):
    date: Text = ""


class _CommitFacts(Shape):
    committer: _Moment = _Moment()


class _Commit(Shape):
    sha: Annotated[str, AfterValidator(_checked_sha)]
    commit: _CommitFacts = _CommitFacts()


class _Log(RootModel[tuple[_Commit, ...]]):
    """The newest first."""


class _Node(Shape):
    path: str
    mode: str
    type: str
    sha: Text = ""
    size: Count = None


class _Tree(Shape):
    tree: Entries[_Node]


class _Blob(Shape):
    content: str
    encoding: str


class GitHub:
    name: ClassVar[str] = "github"

    def __init__(self, remote: Remote, least_stars: int = 0) -> None:
        self._remote = remote
        self._least_stars = least_stars

    async def search(self, query: str, limit: int, window: Window, ask: Ask) -> list[Repository]:
        """By name, description and README, created in the window; best first. Undated ones stay, marked."""
        found: dict[str, Repository] = {}
        words = self._query(query, window)
        for page in range(1, -(-limit // _PAGE) + 1):
            size = min(limit, _PAGE)
            params = (("q", words), ("per_page", str(size)), ("page", str(page)))
            call = Call(self.name, "code", "search/repositories", params)
            answer = await ask_for(self._remote, call, ask, lambda reply: read_known(reply, _Found, self.name))
            items = answer.items if answer else ()
            for repository in map(_repository, items):
                if repository.created is None or window.holds(repository.created):
                    found.setdefault(repository.name, repository)
            if len(items) < size:
                break
        return list(found.values())[:limit]

    def _query(self, query: str, window: Window) -> str:
        words = " ".join(_NOT_WORDS.sub(" ", query).split())[:_QUERY]
        parts = [words, "in:name,description,readme"]
        if window != Window():
            parts.append(f"created:{window.after or '*'}..{window.before or '*'}")
        if self._least_stars:
            parts.append(f"stars:>={self._least_stars}")
        return " ".join(parts)

    async def commit(self, name: str, before: dt.date | None, ask: Ask) -> Commit | None:
        """The last one of the main branch by the end of that day; None when there is none or no such repository."""
        until = (("until", f"{before}T23:59:59Z"),) if before else ()
        call = Call(self.name, "code", f"repos/{checked_name(name)}/commits", (*until, ("per_page", "1")))
        log = await ask_for(self._remote, call, ask, lambda reply: read_known(reply, _Log, self.name))
        if log is None or not log.root:
            return None
        return Commit(log.root[0].sha, log.root[0].commit.committer.date)


class ApiCheckout:
    """A state of a repository read through the API, a request a file. Implements Checkout."""

    def __init__(self, remote: Remote, name: str, commit: Commit, ask: Ask) -> None:
        self._remote = remote
        self._path = f"repos/{checked_name(name)}/git"
        self._commit = commit
        self._ask = ask

    async def entries(self) -> list[Entry]:
        call = Call(GitHub.name, "code", f"{self._path}/trees/{self._commit.sha}", (("recursive", "1"),))
        answer = await ask_for(self._remote, call, self._ask, lambda reply: read_known(reply, _Tree, GitHub.name))
        nodes = answer.tree if answer else ()
        return [Entry(node.path, node.mode, node.sha, node.size or 0) for node in nodes if node.type != "tree"]

    async def contents(self, entries: Sequence[Entry]) -> Mapping[str, bytes]:
        blobs = await together(self._blob(entry) for entry in entries)
        return dict(zip((entry.path for entry in entries), blobs, strict=True))

    async def _blob(self, entry: Entry) -> bytes:
        return await ask_for(
            self._remote, Call(GitHub.name, "code", f"{self._path}/blobs/{entry.sha}"), self._ask, _content
        )


def _content(reply: Reply) -> bytes:
    blob = read(reply, _Blob, GitHub.name)
    try:
        return base64.b64decode("".join(blob.content.split()), validate=True)
    except ValueError:
        encoding = blob.encoding[:20]
        raise malformed(GitHub.name, f"A file that github sent is not in base64 but in {encoding!r}.", "") from None


def _repository(item: _Item) -> Repository:
    return Repository(
        name=item.full_name,
        url=link(item.html_url),
        description=line(item.description),
        stars=item.stargazers_count,
        language=line(item.language),
        topics=tuple(map(line, item.topics)),
        created=read_date(item.created_at),
        pushed=read_date(item.pushed_at),
    )
