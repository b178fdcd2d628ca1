"""Read submissions from OpenReview's public API, without signing in.

Venues since 2023 are in version 2 of the API, earlier ones in version 1. A submission is a note, whose form fields are
in `content`. Both versions return at most 1,000 notes at a time."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from assayer.errors import DownloadFailed, DownloadRefused, InputError
from assayer.ideas.records import decode_json

if TYPE_CHECKING:
    from workers.fetching.downloader import Downloader

Note = Mapping[str, Any]

_PAGE_NOTES = 1000
_USUAL_INVITATIONS = ("Submission", "Blind_Submission")
"""Usual names of the invitation to submit, for venues that do not declare it."""
_VENUE_PAGES = {"/group": "id", "/submissions": "venue"}
"""Query parameter that names the venue, keyed by the page's path."""
_REMEDY = "Check the URL. Submissions that are not public can be read from a JSON export of their notes."


def parse_venue(address: str) -> str:
    """Return the venue of an OpenReview page, such as `ICLR.cc/2025/Conference`; empty for other pages."""
    parts = urlsplit(address)
    if (parts.hostname or "").removeprefix("www.") != "openreview.net" or parts.path not in _VENUE_PAGES:
        return ""
    return parse_qs(parts.query).get(_VENUE_PAGES[parts.path], [""])[0]


def is_withdrawn(note: Note) -> bool:
    """Return whether the authors withdrew the submission, or the chairs rejected it without a review."""
    venue = note["content"].get("venueid")
    name = str(venue.get("value") if isinstance(venue, Mapping) else venue)
    return name.endswith(("/Withdrawn_Submission", "/Desk_Rejected_Submission"))


class OpenReviewNotes:
    """Reads notes. `apis` are the base URLs of the API's versions, in the order in which they are queried."""

    def __init__(self, downloader: "Downloader", apis: Sequence[str]) -> None:
        self._downloader = downloader
        self._apis = apis

    async def fetch_submission(self, forum: str) -> Note:
        """Return the note that opened a forum. Raises InputError if there is no public one."""
        failures: list[str] = []
        for api in self._apis:
            for note in await self._list(api, "notes", {"id": forum}, failures):
                return note
        raise InputError(f"OpenReview has no public submission {forum}. {' '.join(failures)}".strip(), _REMEDY)

    async def fetch_submissions(self, venue: str) -> list[Note]:
        """Return all submissions to a venue, including withdrawn ones. Raises InputError if there are none."""
        failures: list[str] = []
        for api in self._apis:
            for invitation in await self._find_invitations(api, venue, failures):
                if notes := await self._list_all(api, {"invitation": invitation, "sort": "number:asc"}, failures):
                    return notes
        raise InputError(f"OpenReview has no public submissions to {venue}. {' '.join(failures)}".strip(), _REMEDY)

    async def _find_invitations(self, api: str, venue: str, failures: list[str]) -> list[str]:
        """Return the invitation to submit that the venue declares or, if it declares none, the usual ones."""
        for group in await self._list(api, "groups", {"id": venue}, failures):
            submission_invitation = group["content"].get("submission_id")
            if isinstance(submission_invitation, Mapping) and isinstance(submission_invitation.get("value"), str):
                return [submission_invitation["value"]]
        return [f"{venue}/-/{name}" for name in _USUAL_INVITATIONS]

    async def _list_all(self, api: str, query: Mapping[str, str], failures: list[str]) -> list[Note]:
        """Return the notes from all pages of results. Raises InputError if a page after the first fails."""
        notes: list[Note] = []
        while True:
            page_query = {"limit": str(_PAGE_NOTES), "offset": str(len(notes)), **query}
            failures_before = len(failures)
            page_notes = await self._list(api, "notes", page_query, failures)
            if notes and len(failures) > failures_before:
                raise InputError(
                    f"OpenReview stopped after {len(notes)} submissions. {failures[-1]}", "Try again later."
                )
            notes += page_notes
            if len(page_notes) < _PAGE_NOTES:
                return notes

    async def _list(self, api: str, kind: str, query: Mapping[str, str], failures: list[str]) -> list[Note]:
        """Return the objects in a response. If the request fails, return none, and add the reason to `failures`."""
        url = f"{api}/{kind}?{urlencode(query)}"
        try:
            _, body = await self._downloader.read(url, {"json"})
            answer = decode_json(body.decode("utf-8", "replace"), api)
        except (DownloadFailed, DownloadRefused, InputError) as error:
            failures.append(str(error))
            return []
        entries = answer.get(kind) if isinstance(answer, Mapping) else None
        if not isinstance(entries, list):
            failures.append(f"{api} returned no {kind}.")
            return []
        return [
            {**item, "content": item["content"] if isinstance(item.get("content"), Mapping) else {}}
            for item in entries
            if isinstance(item, Mapping)
        ]
