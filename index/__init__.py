"""The local paper corpus: a directory of immutable versions, built from JSON Lines and searched in place.

Heavy libraries are imported with the modules that use them; none of this imports torch.
"""

from index.build import BuildSummary, build_corpus
from index.corpus import Corpus, CorpusFullTexts, HoldsFullTexts
from index.delta import Delta, read_delta
from index.filters import Filters
from index.making import BuildOptions
from index.manifest import Manifest, read_manifest
from index.update import UpdateSummary, update_corpus
from index.versions import Versions

__all__ = [
    "BuildOptions",
    "BuildSummary",
    "Corpus",
    "CorpusFullTexts",
    "Delta",
    "Filters",
    "HoldsFullTexts",
    "Manifest",
    "UpdateSummary",
    "Versions",
    "build_corpus",
    "read_delta",
    "read_manifest",
    "update_corpus",
]
