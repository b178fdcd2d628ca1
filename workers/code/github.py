"""GitHub's REST API: repository search, and commits by day.

GitHub limits search queries to 256 characters, not counting qualifiers, and five operators. Days are in UTC."""

import re
from typing import Annotated, ClassVar

from pydantic import AfterValidator, RootModel

from assayer.cutoff import keep_within_window
from assayer.models import OPEN, Repository, Window
from workers.code.commits import Commit, is_sha, validate_repository_name
from workers.literature_apis.record_fields import (
    ApiObject,
    CountOrNone,
    TextOrEmpty,
    ValidEntries,
    one_line,
    parse_date,
    web_link,
)
from workers.outbound.source_requests import RequestContext, SourceFetcher, SourceRequest, fetch_json

_PAGE = 100
_QUERY = 240
"""Maximum length of a query in characters. It is less than the limit of 256, because the documentation does not say
whether spaces next to qualifiers count."""
_NOT_WORDS = re.compile(r"\b(?:AND|OR|NOT)\b|\w+:|[^\w\s.+#-]")


def _check_sha(text: str) -> str:
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
    sha: Annotated[str, AfterValidator(_check_sha)]
    commit: _CommitFacts = _CommitFacts()


class _Log(RootModel[tuple[_Commit, ...]]):
    """Commits, newest first."""


class GitHub:
    name: ClassVar[str] = "github"

    def __init__(self, remote: SourceFetcher) -> None:
        self._remote = remote

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Repository]:
        """Search name, description and README for repositories created in the window, best first. Undated repositories
        are kept and marked."""
        found: dict[str, Repository] = {}
        search_terms = self._query(query, window)
        for page in range(1, -(-limit // _PAGE) + 1):
            size = min(limit, _PAGE)
            params = (("q", search_terms), ("per_page", str(size)), ("page", str(page)))
            request = SourceRequest(self.name, "code", "search/repositories", params)
            answer = await fetch_json(self._remote, request, context, _Found)
            items = answer.items if answer else ()
            repositories = map(_repository, items)
            for repository in keep_within_window(repositories, window, lambda item: item.created, undated=True):
                found.setdefault(repository.name, repository)
            if len(items) < size:
                break
        return list(found.values())[:limit]

    def _query(self, query: str, window: Window) -> str:
        search_terms = " ".join(_NOT_WORDS.sub(" ", query).split())[:_QUERY]
        parts = [search_terms, "in:name,description,readme"]
        if window != OPEN:
            parts.append(f"created:{window.after or '*'}..{window.before or '*'}")
        return " ".join(parts)

    async def commit(self, name: str, window: Window, context: RequestContext) -> Commit | None:
        """Return the last commit on the main branch up to the end of the window's last day; None if there is none or
        the repository does not exist."""
        until = (("until", f"{window.before}T23:59:59Z"),) if window.before else ()
        request = SourceRequest(
            self.name, "code", f"repos/{validate_repository_name(name)}/commits", (*until, ("per_page", "1"))
        )
        log = await fetch_json(self._remote, request, context, _Log)
        if log is None or not log.root:
            return None
        return Commit(log.root[0].sha, log.root[0].commit.committer.date)


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
