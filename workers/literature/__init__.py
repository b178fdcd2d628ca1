"""The literature of an evaluation: the local corpus first, topped up from remote sources, merged and accounted for."""

from workers.literature.federation import Federation
from workers.literature.federations import Federations
from workers.literature.local import LocalCorpus
from workers.literature.merging import merge
from workers.literature.settings import LiteratureSettings

__all__ = ["Federation", "Federations", "LiteratureSettings", "LocalCorpus", "merge"]
