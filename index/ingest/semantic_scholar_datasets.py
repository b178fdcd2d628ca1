"""Client for Semantic Scholar's datasets service: releases, their files, and diffs between releases."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from assayer.errors import ConfigurationError, SourceMalformed, SourceRefused
from index.ingest.source_files import IngestSource, IngestTransport, SourceKind

_HINT = "Check ASSAYER_S2__BASE_URL."


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


_ResponseBody = TypeVar("_ResponseBody", bound=_Answer)


class _Dataset(_Answer):
    name: str
    files: tuple[str, ...] = ()


class Release(_Answer):
    release_id: str
    datasets: tuple[_Dataset, ...] = ()


class _Diff(_Answer):
    from_release: str
    to_release: str
    update_files: tuple[str, ...] = ()
    delete_files: tuple[str, ...] = ()


class _Diffs(_Answer):
    diffs: tuple[_Diff, ...] = ()


class S2File(NamedTuple):
    """Identity of a file. Its links change over time, because they expire."""

    kind: SourceKind
    since: str
    """Release that a diff starts from; empty for a file from a full release."""
    release: str
    deleted: bool
    name: str

    @property
    def source(self) -> IngestSource:
        extent = "delete" if self.deleted else "update" if self.since else "full"
        layer = int(self.release.replace("-", "")) if self.since else 0
        name = f"{self.release}/{extent}/{self.name}"
        return IngestSource(kind=self.kind, name=name, layer=layer, seal=self.release, deleted=self.deleted)


class S2Datasets:
    """Client for the datasets service. Its methods raise SourceUnavailable, SourceRefused or SourceMalformed if the
    service cannot be reached, refuses the request or sends a malformed response. Raises ConfigurationError without a
    key."""

    def __init__(self, transport: IngestTransport, base_url: str, key: str) -> None:
        if not key:
            raise ConfigurationError("Semantic Scholar's datasets require an API key.", "Set ASSAYER_S2__API_KEY.")
        self._transport = transport
        self._base = f"{base_url}/datasets/v1"
        self._key = key

    async def fetch_release(self, name: str) -> Release:
        return await self._request(f"release/{quote(name, safe='')}", Release)

    async def list_files(self, release: str, kind: SourceKind) -> dict[S2File, str]:
        """Return the dataset's files, with links that are currently valid."""
        path = f"release/{quote(release, safe='')}/dataset/{kind}"
        dataset = await self._request(path, _Dataset)
        return _index_by_file(
            [(S2File(kind, "", release, False, _extract_file_name(link)), link) for link in dataset.files]
        )

    async def list_changed_files(self, since: str, until: str, kind: SourceKind) -> dict[S2File, str]:
        """Return the files of the diffs between two releases, with links that are currently valid."""
        path = f"diffs/{quote(since, safe='')}/to/{quote(until, safe='')}/{kind}"
        diffs = await self._request(path, _Diffs)
        return _index_by_file(
            [
                (S2File(kind, since, diff.to_release, is_deletion, _extract_file_name(link)), link)
                for diff in diffs.diffs
                for is_deletion, links in ((False, diff.update_files), (True, diff.delete_files))
                for link in links
            ]
        )

    async def _request(self, path: str, shape: type[_ResponseBody]) -> _ResponseBody:
        body = await self._transport.read(f"{self._base}/{path}", self._key)
        try:
            return shape.model_validate_json(body)
        except ValidationError:
            raise SourceMalformed(f"Semantic Scholar's response to {path} cannot be parsed.", _HINT) from None


class S2Files:
    """Downloads source files to a local folder, and renews expired links."""

    def __init__(
        self, service: S2Datasets, transport: IngestTransport, links: Mapping[S2File, str], incoming: Path
    ) -> None:
        self._service = service
        self._transport = transport
        self._links = dict(links)
        self._files = {file.source.name + file.kind: file for file in links}
        self._incoming = incoming

    @property
    def sources(self) -> Sequence[IngestSource]:
        return [file.source for file in self._links]

    @asynccontextmanager
    async def open_source(self, source: IngestSource) -> AsyncIterator[str]:
        file = self._files[source.name + source.kind]
        path = self._incoming / f"{source.kind}-{source.name.replace('/', '-')}"
        if await self._transport.save(self._links[file], path) == "refused":
            await self._renew(file)
            if await self._transport.save(self._links[file], path) == "refused":
                raise SourceRefused(f"Semantic Scholar does not provide {source.name} in {source.kind}.", _HINT)
        yield str(path)
        path.unlink()

    async def _renew(self, file: S2File) -> None:
        if file.since:
            fresh_links = await self._service.list_changed_files(file.since, file.release, file.kind)
        else:
            fresh_links = await self._service.list_files(file.release, file.kind)
        self._links |= {s2_file: link for s2_file, link in fresh_links.items() if s2_file in self._links}


def _index_by_file(links: Sequence[tuple[S2File, str]]) -> dict[S2File, str]:
    """Return the links keyed by file. Raises SourceMalformed if two files have the same name."""
    by_file = dict(links)
    if len(by_file) != len(links):
        raise SourceMalformed("Semantic Scholar lists two files with the same name in one dataset.", _HINT)
    return by_file


def _extract_file_name(link: str) -> str:
    """Return the file name in a link, without the link's signature, which changes."""
    return urlsplit(link).path.rsplit("/", 1)[-1]
