"""Unpaywall: `/v2/DOI`, for DOIs registered with Crossref, modelled on its documentation and source code."""

from collections.abc import Sequence
from typing import ClassVar

from aiohttp import web

from simulator.outside.knobs import Knobs
from simulator.outside.library import Entry
from simulator.outside.simulated_service import SimulatedService, build_retry_header


class Unpaywall(SimulatedService):
    name: ClassVar[str] = "unpaywall"
    prefix: ClassVar[str] = "unpaywall"
    knobs = Knobs(per_day=100_000)

    def list_routes(self) -> Sequence[web.RouteDef]:
        return [web.get("/v2/{doi:.+}", self.record)]

    def identify_caller(self, request: web.Request) -> str:
        return request.query.get("email", "")

    def refuse_caller(self, request: web.Request, knobs: Knobs) -> web.Response | None:
        email = self.identify_caller(request)
        if "@" not in email or email.endswith("example.com"):
            message = "Email address required in API call, see http://unpaywall.org/products/api"
            return self.build_error(422, message)
        return None

    def build_error(self, status: int, message: str, retry_after: float | None = None) -> web.Response:
        body = {"HTTP_status_code": status, "error": True, "message": message}
        return web.json_response(body, status=status, headers=build_retry_header(retry_after))

    async def record(self, request: web.Request) -> web.Response:
        doi = request.match_info["doi"].lower()
        entry = self.library.by_doi.get(doi)
        if entry is None:
            return self.build_error(404, f"'{doi}' is an invalid doi.  See http://doi.org/{doi}")
        return web.json_response(_build_record(entry, str(request.url.origin())))


def _build_record(entry: Entry, origin: str) -> dict[str, object]:
    record, locations = entry.record, _build_locations(entry, origin)
    return {
        "best_oa_location": locations[0] if locations else None,
        "data_standard": 2,
        "doi": entry.doi,
        "doi_url": f"https://doi.org/{entry.doi}",
        "first_oa_location": locations[-1] if locations else None,
        "genre": "proceedings-article" if entry.acl else "journal-article",
        "has_repository_copy": bool(entry.arxiv),
        "is_oa": bool(locations),
        "is_paratext": False,
        "journal_is_in_doaj": False,
        "journal_is_oa": False,
        "journal_issn_l": None,
        "journal_issns": None,
        "journal_name": record.venue or None,
        "oa_locations": locations,
        "oa_locations_embargoed": [],
        "oa_status": "bronze" if entry.free_pdf else "green" if locations else "closed",
        "published_date": record.publication_date.isoformat() if record.publication_date else None,
        "publisher": "Simulated Society",
        "title": record.title,
        "updated": "2026-09-02T11:19:03.413410",
        "year": record.year,
        "z_authors": [{"raw_author_name": name, "is_corresponding": None} for name in record.authors],
    }


def _build_locations(entry: Entry, origin: str) -> list[dict[str, object]]:
    """Return the free locations, the publisher's first. A landing page without a PDF is also a location."""
    locations = list[dict[str, object]]()
    if entry.free_pdf:
        address = f"{origin}{entry.pdf_path}"
        locations.append(_build_location("open (via free pdf)", "publisher", f"https://doi.org/{entry.doi}", address))
    if entry.arxiv:
        page, pdf = f"https://arxiv.org/abs/{entry.arxiv}", f"{origin}{entry.pdf_path}"
        evidence = "oa repository (via OAI-PMH title and first author match)"
        locations.append(_build_location(evidence, "repository", page, pdf if entry.corpus_id % 4 else None))
    return [location | {"is_best": number == 0} for number, location in enumerate(locations)]


def _build_location(evidence: str, host: str, page: str, pdf: str | None) -> dict[str, object]:
    return {
        "endpoint_id": None,
        "evidence": evidence,
        "host_type": host,
        "license": None,
        "oa_date": None,
        "pmh_id": None,
        "repository_institution": None,
        "updated": "2026-08-12T00:28:39.645349",
        "url": pdf or page,
        "url_for_landing_page": page,
        "url_for_pdf": pdf,
        "version": "publishedVersion" if host == "publisher" else "submittedVersion",
    }
