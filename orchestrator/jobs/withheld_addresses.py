"""Removal of host addresses from error messages. Operators see which machine failed; tenants only see what failed."""

import re

_URL = r"\b[a-z][a-z0-9+.-]{1,20}://[^\s<>\"'(){},;]{0,2000}[^\s<>\"'(){},;.:]"
_IPV4 = r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b"
_IPV6 = r"\[[0-9a-f:.]{2,45}\](?::\d{1,5})?|(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{1,4}\b"
_HOST = r"\b(?=[0-9.-]{0,200}[a-z])[a-z0-9][a-z0-9.-]{0,200}:\d{2,5}(?:/\w{1,100})?\b"
_ADDRESS = re.compile(f"{_URL}|{_IPV4}|{_IPV6}|{_HOST}", re.IGNORECASE)


def withhold_addresses(text: str) -> str:
    """Replace URLs, IP addresses and hosts with a port by a placeholder."""
    return _ADDRESS.sub("(address withheld)", text)
