"""The local paper corpus: a directory of immutable versions, built from paper records and searched in place.

`ingest` turns published data into records; `records` reads and checks them; `building` turns records into `segments`,
and segments into `versions`; `search` answers queries from one version; `shards` does all of this for several corpora
combined into one; `nightly` keeps a corpus up to date.

Heavy libraries are imported only by the modules that use them; no module in this package imports torch."""

from assayer.models import Filters
from index.building.build import BuildSummary, build_corpus
from index.building.update import Delta, UpdateSummary, read_delta, update_corpus
from index.building.version_builder import BuildOptions
from index.corpus import Corpus, CorpusFullTexts, FullTextLookup, create_empty_corpus
from index.shards.build import ShardedBuild, build_shards
from index.shards.publish import publish_shards
from index.shards.shard_store import ShardedManifest, ShardStore, assign_shards, is_sharded
from index.shards.update import ShardedUpdate, update_shards
from index.version_cache import CorpusVersionCache
from index.versions.manifest import Manifest, read_manifest
from index.versions.version_store import VersionStore
