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
    check_link,
    clean_line,
    parse_date,
)
from workers.outbound.source_requests import RequestContext, SourceFetcher, SourceRequest, fetch_json

_PAGE_ITEMS = 100
_MAX_QUERY_CHARS = 240
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


class _SearchAnswer(ApiObject):
    items: ValidEntries[_Item]


class _CommitTime(ApiObject):
    date: TextOrEmpty = ""


class _CommitDetails(ApiObject):
    committer: _CommitTime = _CommitTime()


class _Commit(ApiObject):
    sha: Annotated[str, AfterValidator(_check_sha)]
    commit: _CommitDetails = _CommitDetails()


class _Log(RootModel[tuple[_Commit, ...]]):
    """Commits, newest first."""


class GitHub:
    name: ClassVar[str] = "github"

    def __init__(self, remote: SourceFetcher) -> None:
        self._remote = remote

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Repository]:
        """Search name, description and README for repositories created in the window, best first. Undated repositories
        are kept and marked."""
        repositories_by_name: dict[str, Repository] = {}
        search_terms = self._build_search_query(query, window)
        for page in range(1, -(-limit // _PAGE_ITEMS) + 1):
            page_items = min(limit, _PAGE_ITEMS)
            params = (("q", search_terms), ("per_page", str(page_items)), ("page", str(page)))
            request = SourceRequest(self.name, "code", "search/repositories", params)
            answer = await fetch_json(self._remote, request, context, _SearchAnswer)
            items = answer.items if answer else ()
            repositories = map(_parse_repository, items)
            for repository in keep_within_window(repositories, window, lambda item: item.created, undated=True):
                repositories_by_name.setdefault(repository.name, repository)
            if len(items) < page_items:
                break
        return list(repositories_by_name.values())[:limit]

    def _build_search_query(self, query: str, window: Window) -> str:
        search_terms = " ".join(_NOT_WORDS.sub(" ", query).split())[:_MAX_QUERY_CHARS]
        parts = [search_terms, "in:name,description,readme"]
        if window != OPEN:
            parts.append(f"created:{window.after or '*'}..{window.before or '*'}")
        return " ".join(parts)

    async def fetch_last_commit(self, name: str, window: Window, context: RequestContext) -> Commit | None:
        """Return the last commit on the main branch up to the end of the window's last day; None if there is none or
        the repository does not exist."""
        until = (("until", f"{window.before}T23:59:59Z"),) if window.before else ()
        request = SourceRequest(
            self.name, "code", f"repos/{validate_repository_name(name)}/commits", (*until, ("per_page", "1"))
        )
        commit_log = await fetch_json(self._remote, request, context, _Log)
        if commit_log is None or not commit_log.root:
            return None
        return Commit(commit_log.root[0].sha, commit_log.root[0].commit.committer.date)


def _parse_repository(item: _Item) -> Repository:
    return Repository(
        name=item.full_name,
        url=check_link(item.html_url),
        description=clean_line(item.description),
        stars=item.stargazers_count,
        language=clean_line(item.language),
        topics=tuple(map(clean_line, item.topics)),
        created=parse_date(item.created_at),
        pushed=parse_date(item.pushed_at),
    )
