"""Full texts of papers: candidates, guarded download, content-addressed archive, GROBID pool or embedded parser.

Only the settings are exported here, so that reading the settings loads nothing that does the work.
"""

from workers.full_texts.settings import FullTextSettings, GrobidSettings, HostSettings

__all__ = ["FullTextSettings", "GrobidSettings", "HostSettings"]
