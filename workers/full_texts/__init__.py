"""Full texts of papers: find open-access copies, download them safely into an archive, and parse them with GROBID or
the embedded parser.

Only the settings are exported here, so that importing them does not load the implementation."""

from workers.full_texts.settings import FullTextSettings, GrobidSettings, HostSettings

__all__ = ["FullTextSettings", "GrobidSettings", "HostSettings"]
