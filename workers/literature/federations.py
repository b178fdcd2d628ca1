"""Makes the federation of each evaluation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from assayer.run import Run
from workers.literature.beyond import Beyond
from workers.literature.federation import Federation
from workers.literature.local import LocalCorpus
from workers.literature.settings import LiteratureSettings
from workers.sources.source import Source

__all__ = ["Federations"]


@dataclass(frozen=True)
class Federations:
    corpus: LocalCorpus
    sources: Mapping[str, Callable[[Run], Source]] = field(default_factory=dict)
    """By name, the one first whose record is preferred where one is enough; each as one run may use it."""
    settings: LiteratureSettings = field(default_factory=LiteratureSettings)

    @property
    def version(self) -> str:
        """Of the corpus, with the remote sources that top it up; what those will answer nobody can name."""
        return " + ".join([self.corpus.version, *self.sources])

    def for_run(self, run: Run) -> Federation:
        sources = [make(run) for make in self.sources.values()]
        beyond = Beyond(sources, self.settings, run)
        return Federation(self.corpus, beyond, self.version, self.settings, run)
