"""Remote sources of literature, one file per API, behind the small ports of `workers.sources.source`.

|                  | SemanticScholar             | OpenAlex                     | Crossref | Arxiv | Unpaywall |
|------------------|-----------------------------|------------------------------|----------|-------|-----------|
| Searches         | ×                           | ×                            | ×        | ×     |           |
| Snippets         | ×                           |                              |          |       |           |
| Recommends       | ×                           |                              |          |       |           |
| Cites            | ×                           | ×                            |          |       |           |
| Resolves         | ×                           | ×                            | ×        | ×     |           |
| Retracts         |                             | ×                            | ×        | ×     |           |
| LocatesPdfs      | ×                           | ×                            |          | ×     | ×         |
| knows            | s2, doi, arxiv, acl, pubmed | openalex, doi, arxiv, pubmed | doi      | arxiv | doi       |
| papers a request | 500                         | 100                          | 50       | 200   | 1         |
| abstracts        | most                        | most                         | few      | all   | none      |

DOIs are resolved by whoever registered them: Crossref knows those of its members, arXiv its own by the id in them,
OpenAlex and Semantic Scholar those of DataCite that belong to papers. Nobody follows a DOI to where it leads.
"""

from workers.sources.arxiv import Arxiv
from workers.sources.crossref import Crossref
from workers.sources.memory import MemorySource
from workers.sources.openalex import OpenAlex
from workers.sources.semantic_scholar import SemanticScholar
from workers.sources.source import (
    Cites,
    LocatesPdfs,
    Recommends,
    Resolves,
    Retracts,
    Searches,
    Snippet,
    Snippets,
    Source,
    Window,
)
from workers.sources.unpaywall import Unpaywall

__all__ = [
    "Arxiv",
    "Cites",
    "Crossref",
    "LocatesPdfs",
    "MemorySource",
    "OpenAlex",
    "Recommends",
    "Resolves",
    "Retracts",
    "Searches",
    "SemanticScholar",
    "Snippet",
    "Snippets",
    "Source",
    "Unpaywall",
    "Window",
]
