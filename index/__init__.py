"""The local paper corpus: a directory of immutable versions, built from records of papers and searched in place.

`ingest` makes records of what others publish; `reading` checks them; `building` makes `segments` of them and, of these,
`versions`; `searching` asks one version; `shards` does all that with several corpora as one; `nightly` while we sleep.

Heavy libraries are imported with the modules that use them; none of this imports torch.
"""

from index.building.build import BuildSummary, build_corpus
from index.building.delta import Delta, read_delta
from index.building.making import BuildOptions
from index.building.update import UpdateSummary, update_corpus
from index.corpora import Corpora
from index.corpus import Corpus, CorpusFullTexts, HoldsFullTexts
from index.filters import Filters
from index.shards.build import ShardedBuild, build_shards
from index.shards.manifest import ShardedManifest
from index.shards.publishing import publish_shards
from index.shards.shards import Shards, is_sharded, shard_of
from index.shards.update import ShardedUpdate, update_shards
from index.versions.manifest import Manifest, read_manifest
from index.versions.versions import Versions

__all__ = [
    "BuildOptions",
    "BuildSummary",
    "Corpora",
    "Corpus",
    "CorpusFullTexts",
    "Delta",
    "Filters",
    "HoldsFullTexts",
    "Manifest",
    "ShardedBuild",
    "ShardedManifest",
    "ShardedUpdate",
    "Shards",
    "UpdateSummary",
    "Versions",
    "build_corpus",
    "build_shards",
    "is_sharded",
    "publish_shards",
    "read_delta",
    "read_manifest",
    "shard_of",
    "update_corpus",
    "update_shards",
]
