"""The local corpus as pools, one for each shard: every process answers for the version that whoever asks began with."""

import datetime as dt
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from assayer.errors import CorpusError, PartUnavailable
from assayer.flow import together
from assayer.ports import Embedder
from cluster.proofs import proofs_of
from cluster.serving.calling import Caller
from cluster.serving.replica import Replica
from cluster.serving.where import Where
from cluster.settings import Settings
from index import Corpus, Versions
from index.corpora import OpenVersions
from index.searching.reader import Reader
from index.shards.parts import OfWhole, Part, whole_of
from index.versions.opening import refuse_other_model

__all__ = ["IndexReplica", "ServedCorpora", "VersionGone", "served_corpora"]

P = ParamSpec("P")
Out = TypeVar("Out")

_BELIEVED_SECONDS = 0.5
"""How long a pool's word on which version is the current one is believed, so that not every search asks twice."""


class VersionGone(PartUnavailable):
    """The version with which somebody began is not there any more: to get an answer it has to begin anew."""


class Told(NamedTuple):
    """What a pool tells of a version."""

    whole: OfWhole
    days: tuple[dt.date, ...]
    """On which the papers of its part were published."""


class IndexReplica(Replica):
    def __init__(self, where: Where, number: int = 0) -> None:
        """Of the shard with that number, or of the whole where there are no shards."""
        settings = self.begin(where)
        directory, proofs, device = settings.corpus_path, proofs_of(settings), settings.corpus.device

        def opened(version: str) -> Part:
            return Part.open(directory, whole_of(directory, version or None), number, proofs, device)

        self._versions = OpenVersions(Versions(directory).name, opened)

    async def current(self) -> str:
        """Name of the newest version that is open here. Raises CorpusError when there is none: a service without a
        corpus has methods that need none."""
        return (await self._versions.current()).whole.version

    async def tell(self, version: str) -> Told:
        """Raises CorpusError when it is not there."""
        part = await self._versions.at(version)
        return Told(part.whole, part.days)

    async def ask(
        self, version: str, question: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """Raises VersionGone when it was there, and is not any more."""
        try:
            part = await self._versions.at(version)
        except CorpusError as error:
            raise VersionGone(f"Version {version} of the corpus cannot be asked any more: {error}") from None
        self._versions.look()
        return await part.ask(question, *args, **kwargs)

    async def check_health(self) -> None:
        """Also looks whether there is a new version, if nobody asks."""
        self._versions.look()

    async def __del__(self) -> None:
        await self._versions.aclose()


class _Served:
    """Implements index.asking.Asked: a part of one version, in a pool."""

    def __init__(self, caller: Caller[IndexReplica], version: str) -> None:
        self._caller = caller
        self._version = version

    async def ask(self, question: Callable[Concatenate[Reader, P], Out], *args: P.args, **kwargs: P.kwargs) -> Out:
        answer: Out = await self._caller.ask(IndexReplica.ask, self._version, question, args, kwargs)
        return answer


class ServedCorpora:
    """Implements cluster.parts.CorporaInFlight over pools of all shards, in their order."""

    def __init__(
        self,
        callers: Sequence[Caller[IndexReplica]],
        directory: Path,
        embedder: Embedder,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`directory` is only told to people; `clock` tells seconds from any moment on."""
        self.callers = callers
        self._directory = directory
        self._embedder = embedder
        self._clock = clock
        self._open: WeakValueDictionary[str, Corpus] = WeakValueDictionary()
        self._latest: tuple[Corpus, float] | None = None
        """With the time when it was said to be."""

    async def current(self) -> Corpus:
        now = self._clock()
        if self._latest is None or now - self._latest[1] > _BELIEVED_SECONDS:
            version = await self.callers[0].ask(IndexReplica.current)
            self._latest = (await self.at(version), now)
        return self._latest[0]

    async def at(self, version: str) -> Corpus:
        found = self._open.get(version)
        if found is None:
            found = self._open[version] = await self._opened(version)
        return found

    async def _opened(self, version: str) -> Corpus:
        told = await together(caller.ask(IndexReplica.tell, version) for caller in self.callers)
        whole = told[0].whole
        refuse_other_model(whole, self._embedder, self._directory)
        if whole.parts != len(self.callers):
            raise CorpusError(
                f"The corpus in {self._directory} has {whole.parts} parts, and this service began with "
                f"{len(self.callers)}.",
                "Deploy the service again.",
            )
        parts = [_Served(caller, version) for caller in self.callers]
        return Corpus(whole, (day for one in told for day in one.days), parts, self._embedder)


def served_corpora(callers: Sequence[Caller[IndexReplica]], settings: Settings) -> Callable[[Embedder], ServedCorpora]:
    return lambda embedder: ServedCorpora(callers, settings.corpus_path, embedder)
