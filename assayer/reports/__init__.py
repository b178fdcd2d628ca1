"""Reports for people and programs: as JSON, Markdown or one self-contained HTML file.

The package exports no names, so that using one format does not load the templates of another."""
