"""What downloads from addresses in data cost, and how they end."""

from prometheus_client import Counter

__all__ = ["DOWNLOADED_BYTES", "DOWNLOADS"]

DOWNLOADS = Counter(
    "assayer_downloads_total",
    "Downloads by how they ended: delivered, absent (any other status), or the name of the failure.",
    ["outcome"],
)
DOWNLOADED_BYTES = Counter("assayer_download_bytes_total", "Bytes of delivered bodies, unpacked.")
