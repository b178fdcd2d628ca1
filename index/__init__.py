"""The local paper corpus: a directory of immutable versions, built from records of papers and searched in place.

`ingest` turns what others publish into records; `records` reads and checks them; `building` makes `segments` of them,
and `versions` of the segments; `search` answers queries from one version; `shards` does all that with several corpora
as one; `nightly` keeps a corpus up to date.

Heavy libraries are imported with the modules that use them; none of this imports torch.
"""

from assayer.models import Filters
from index.building.build import BuildSummary, build_corpus
from index.building.update import Delta, UpdateSummary, read_delta, update_corpus
from index.building.version_builder import BuildOptions
from index.corpus import Corpus, CorpusFullTexts, FullTextLookup
from index.shards.build import ShardedBuild, build_shards
from index.shards.publish import publish_shards
from index.shards.shard_store import ShardedManifest, ShardStore, is_sharded, shard_of
from index.shards.update import ShardedUpdate, update_shards
from index.version_cache import CorpusVersionCache
from index.versions.manifest import Manifest, read_manifest
from index.versions.version_store import VersionStore

__all__ = [
    "BuildOptions",
    "BuildSummary",
    "Corpus",
    "CorpusFullTexts",
    "CorpusVersionCache",
    "Delta",
    "Filters",
    "FullTextLookup",
    "Manifest",
    "ShardStore",
    "ShardedBuild",
    "ShardedManifest",
    "ShardedUpdate",
    "UpdateSummary",
    "VersionStore",
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
