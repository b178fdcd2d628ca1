"""Remote literature sources, one module per API, behind the small ports in `workers.literature_apis.capabilities`.

|                     | SemanticScholar             | OpenAlex                     | Crossref | Arxiv | Unpaywall |
|---------------------|-----------------------------|------------------------------|----------|-------|-----------|
| SearchesPapers      | ×                           | ×                            | ×        | ×     |           |
| SearchesSnippets    | ×                           |                              |          |       |           |
| RecommendsPapers    | ×                           |                              |          |       |           |
| ListsReferences     | ×                           | ×                            |          |       |           |
| ListsCitingPapers   | ×                           | ×                            |          |       |           |
| ResolvesIdentifiers | ×                           | ×                            | ×        | ×     |           |
| ReportsRetractions  |                             | ×                            | ×        | ×     |           |
| LocatesPdfs         | ×                           | ×                            |          | ×     | ×         |
| known identifiers   | s2, doi, arxiv, acl, pubmed | openalex, doi, arxiv, pubmed | doi      | arxiv | doi       |
| papers per request  | 500                         | 100                          | 50       | 200   | 1         |
| abstracts           | most                        | most                         | few      | all   | none      |

Google Scholar (`google_scholar.py`) only searches, ten papers per request, and returns a snippet of the text instead of
an abstract.

A DOI is resolved by the source that knows its registry. Crossref resolves its members' DOIs, arXiv its own DOIs (by the
id in them), and OpenAlex and Semantic Scholar the DataCite DOIs of papers. DOI links are never followed."""
