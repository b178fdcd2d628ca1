"""Full texts of papers: candidate locations, guarded download, content-addressed archive, GROBID pool or embedded
parser.

Only the settings are exported here, so that importing them does not load the implementation."""

from workers.full_texts.settings import FullTextSettings, GrobidSettings, HostSettings

__all__ = ["FullTextSettings", "GrobidSettings", "HostSettings"]
