"""The open web: a search API, and reading of pages."""

from workers.web.reading import PageReader
from workers.web.run_web import RunWeb
from workers.web.search import WebSearch
from workers.web.settings import PageSettings

__all__ = ["PageReader", "PageSettings", "RunWeb", "WebSearch"]
