"""PDFs for people: the brief of an evaluation, the dossier of a batch."""

from assayer_client.requests import ApiCall, path, reads_file_of


def brief(job: str) -> ApiCall[None]:
    """Two pages."""
    return ApiCall(
        "GET", path("evaluations", job, "brief"), reads_file_of("application/pdf"), headers={"Accept": "*/*"}
    )


def dossier(batch: str, ranking: str = "") -> ApiCall[None]:
    """In the order of a ranking, if one is named, else by score."""
    query = {"ranking": ranking} if ranking else {}
    return ApiCall(
        "GET", path("batches", batch, "dossier"), reads_file_of("application/pdf"), query, headers={"Accept": "*/*"}
    )
