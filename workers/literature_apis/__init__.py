"""Remote sources of literature, one file per API, behind the small ports of `workers.literature_apis.capabilities`.

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
| knows               | s2, doi, arxiv, acl, pubmed | openalex, doi, arxiv, pubmed | doi      | arxiv | doi       |
| papers a request    | 500                         | 100                          | 50       | 200   | 1         |
| abstracts           | most                        | most                         | few      | all   | none      |

Google Scholar (`google_scholar.py`) only searches, ten papers a request, with a stretch of the text in place of an
abstract.

DOIs are resolved by the source that registered them: Crossref knows those of its members, arXiv its own by the id in
them, OpenAlex and Semantic Scholar those of DataCite that belong to papers. No DOI is followed to where it leads.
"""
