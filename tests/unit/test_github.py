"""Repository data that GitHub returns, and its behaviour when it returns none."""

import datetime as dt

import pytest

from assayer.errors import SourceMalformed
from assayer.models import OPEN, Window
from tests.unit.canned_remote import ASK, CannedRemote, make_response
from workers.code.commits import Commit
from workers.code.github import GitHub
from workers.outbound.source_requests import SourceResponse

SHA = "0" * 40
COMMITS = "repos/a/b/commits"


def log(sha: str) -> SourceResponse:
    return make_response([{"sha": sha, "commit": {"committer": {"date": "2024-03-15T12:00:00Z"}}}])


async def test_latest_commit_until_end_of_cutoff_day_is_returned() -> None:
    remote = CannedRemote({COMMITS: log(SHA)})
    assert await GitHub(remote).fetch_last_commit("a/b", Window.until(dt.date(2024, 3, 15)), ASK) == Commit(
        SHA, "2024-03-15T12:00:00Z"
    )
    assert ("until", "2024-03-15T23:59:59Z") in remote.calls[0].params


async def test_unknown_or_empty_repository_has_no_commit() -> None:
    assert await GitHub(CannedRemote()).fetch_last_commit("a/b", OPEN, ASK) is None
    assert await GitHub(CannedRemote({COMMITS: make_response([])})).fetch_last_commit("a/b", OPEN, ASK) is None


@pytest.mark.parametrize("sha", ["", "HEAD", "--upload-pack=x", f"{SHA}\n", SHA.replace("0", "Ä")])
async def test_invalid_commit_sha_is_retried_once_then_reported_as_malformed(sha: str) -> None:
    remote = CannedRemote({COMMITS: log(sha)})
    with pytest.raises(SourceMalformed):
        await GitHub(remote).fetch_last_commit("a/b", OPEN, ASK)
    assert len(remote.calls) == 2
