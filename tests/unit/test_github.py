"""Repository data that GitHub returns, and its behaviour when it returns none."""

import base64
import datetime as dt

import pytest

from assayer.errors import SourceMalformed
from assayer.models import OPEN, Window
from tests.unit.canned_remote import ASK, CannedRemote, said
from workers.code.checkout import Commit, TreeEntry
from workers.code.github import GitHub, GitHubCheckout
from workers.outbound.source_requests import SourceResponse

SHA = "0" * 40
COMMITS = "repos/a/b/commits"


def log(sha: str) -> SourceResponse:
    return said([{"sha": sha, "commit": {"committer": {"date": "2024-03-15T12:00:00Z"}}}])


async def test_latest_commit_until_end_of_cutoff_day_is_returned() -> None:
    remote = CannedRemote({COMMITS: log(SHA)})
    assert await GitHub(remote).commit("a/b", Window.until(dt.date(2024, 3, 15)), ASK) == Commit(
        SHA, "2024-03-15T12:00:00Z"
    )
    assert ("until", "2024-03-15T23:59:59Z") in remote.calls[0].params


async def test_unknown_or_empty_repository_has_no_commit() -> None:
    assert await GitHub(CannedRemote()).commit("a/b", OPEN, ASK) is None
    assert await GitHub(CannedRemote({COMMITS: said([])})).commit("a/b", OPEN, ASK) is None


@pytest.mark.parametrize("sha", ["", "HEAD", "--upload-pack=x", f"{SHA}\n", SHA.replace("0", "Ä")])
async def test_invalid_commit_sha_is_retried_once_then_reported_as_malformed(sha: str) -> None:
    remote = CannedRemote({COMMITS: log(sha)})
    with pytest.raises(SourceMalformed):
        await GitHub(remote).commit("a/b", OPEN, ASK)
    assert len(remote.calls) == 2


async def test_file_is_decoded_from_base64_and_other_encodings_are_malformed() -> None:
    entry, path = TreeEntry("x.py", "100644", SHA, 3), f"repos/a/b/git/blobs/{SHA}"
    lines = base64.b64encode(b"x" * 100).decode()
    remote = CannedRemote({path: said({"content": f"{lines[:60]}\n{lines[60:]}\n", "encoding": "base64"})})
    assert await GitHubCheckout(remote, "a/b", Commit(SHA, ""), ASK).contents([entry]) == {"x.py": b"x" * 100}
    for content in ("ä", "x = 1", "abc"):
        remote = CannedRemote({path: said({"content": content, "encoding": "utf-8"})})
        with pytest.raises(SourceMalformed, match="'utf-8'"):
            await GitHubCheckout(remote, "a/b", Commit(SHA, ""), ASK).contents([entry])
