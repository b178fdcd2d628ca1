"""The local paper corpus: a directory of immutable versions, built from JSON Lines and searched in place.

Heavy libraries are imported with the modules that use them; none of this imports torch.
"""

from index.build import BuildOptions, BuildSummary, build_corpus
from index.corpus import Corpus, CorpusFullTexts, HoldsFullTexts
from index.manifest import Manifest, read_manifest
from index.versions import Versions

__all__ = [
    "BuildOptions",
    "BuildSummary",
    "Corpus",
    "CorpusFullTexts",
    "HoldsFullTexts",
    "Manifest",
    "Versions",
    "build_corpus",
    "read_manifest",
]
