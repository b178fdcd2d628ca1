"""Guarded downloads of addresses that come from data: public hosts only, limits on everything, typed failures."""

from workers.fetching.addresses import Address, Policy, shown
from workers.fetching.downloads import Download, Downloader
from workers.fetching.kinds import Kind
from workers.fetching.posting import Poster
from workers.fetching.resolving import Resolver, SystemResolver
from workers.fetching.settings import DownloadLimits, FetchingSettings

__all__ = [
    "Address",
    "Download",
    "DownloadLimits",
    "Downloader",
    "FetchingSettings",
    "Kind",
    "Policy",
    "Poster",
    "Resolver",
    "SystemResolver",
    "shown",
]
