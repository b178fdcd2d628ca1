"""GitHub's REST API: repository search, commits by day, trees and blobs.

Search queries hold at most 256 characters besides qualifiers and five operators; days are in UTC.
"""

import base64
import binascii
import datetime as dt
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from assayer.errors import SourceMalformed
from assayer.flow import together
from assayer.models import Repository
from workers.code.checkout import Commit, Entry, checked_name, is_sha
from workers.remote import Ask, Call, Remote
from workers.sources.answers import Count, Entries, Shape, Text, read
from workers.sources.fields import line, link, read_date
from workers.sources.source import Window

__all__ = ["ApiCheckout", "GitHub"]

_PAGE = 100
_QUERY = 240
"""256 is the limit; how blanks beside qualifiers count is not documented."""
_NOT_WORDS = re.compile(r"\b(?:AND|OR|NOT)\b|\w+:|[^\w\s.+#-]")


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
    sha: str
    commit: _CommitFacts = _CommitFacts()


class _Log(Shape):
    commits: Entries[_Commit]


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
        """By name, description and README, created in the window; best first."""
        found: dict[str, Repository] = {}
        words = self._query(query, window)
        for page in range(1, -(-limit // _PAGE) + 1):
            size = min(limit, _PAGE)
            params = (("q", words), ("per_page", str(size)), ("page", str(page)))
            reply = await self._remote.fetch(Call(self.name, "code", "search/repositories", params), ask)
            items = read(reply, _Found, self.name).items if reply.status == 200 else ()
            for repository in map(_repository, items):
                if _created_in(repository, window):
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
        until = (("until", f"{before + dt.timedelta(days=1)}T00:00:00Z"),) if before else ()
        call = Call(self.name, "code", f"repos/{checked_name(name)}/commits", (*until, ("per_page", "1")))
        reply = await self._remote.fetch(call, ask)
        if reply.status == 404:
            return None
        log = read(reply._replace(body=b'{"commits":' + reply.body + b"}"), _Log, self.name).commits
        if not log:
            return None
        if not is_sha(log[0].sha):
            raise SourceMalformed(f"The commit that {self.name} names for {name} is none.")
        return Commit(log[0].sha, log[0].commit.committer.date)


class ApiCheckout:
    """A state of a repository read through the API, a request a file. Implements Checkout."""

    def __init__(self, remote: Remote, name: str, commit: Commit, ask: Ask) -> None:
        self._remote = remote
        self._path = f"repos/{checked_name(name)}/git"
        self._commit = commit
        self._ask = ask

    async def entries(self) -> list[Entry]:
        call = Call("github", "code", f"{self._path}/trees/{self._commit.sha}", (("recursive", "1"),))
        reply = await self._remote.fetch(call, self._ask)
        nodes = read(reply, _Tree, "github").tree if reply.status == 200 else ()
        return [Entry(node.path, node.mode, node.sha, node.size or 0) for node in nodes if node.type != "tree"]

    async def contents(self, entries: Sequence[Entry]) -> Mapping[str, bytes]:
        blobs = await together(self._blob(entry) for entry in entries)
        return dict(zip((entry.path for entry in entries), blobs, strict=True))

    async def _blob(self, entry: Entry) -> bytes:
        reply = await self._remote.fetch(Call("github", "code", f"{self._path}/blobs/{entry.sha}"), self._ask)
        blob = read(reply, _Blob, "github")
        try:
            return base64.b64decode("".join(blob.content.split()), validate=True)
        except binascii.Error:
            raise SourceMalformed(f"A file that github sent is not in base64 but in {blob.encoding[:20]!r}.") from None


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


def _created_in(repository: Repository, window: Window) -> bool:
    """Undated ones stay, marked."""
    day = repository.created
    return day is None or (
        (window.after is None or window.after <= day) and (window.before is None or day <= window.before)
    )
