"""The local paper corpus: a directory of immutable versions, built from JSON Lines and searched in place.

Heavy libraries are imported with the modules that use them; none of this imports torch.
"""

from index.build import BuildSummary, build_corpus
from index.corpus import Corpus, CorpusFullTexts
from index.filters import Filters
from index.making import BuildOptions
from index.manifest import Manifest, read_manifest
from index.update import Delta, update_corpus
from index.versions import Versions

__all__ = [
    "BuildOptions",
    "BuildSummary",
    "Corpus",
    "CorpusFullTexts",
    "Delta",
    "Filters",
    "Manifest",
    "Versions",
    "build_corpus",
    "read_manifest",
    "update_corpus",
]
