"""Put on PYTHONPATH, this notes every host that a process or its Python children try to reach or look up, and refuses
all beyond this machine before anything is sent: a lookup is egress too."""

import os
import sys
from ipaddress import ip_address

_NOTES = os.environ["EGRESS_NOTES"]


def _is_here(host: str) -> bool:
    if host in ("", "localhost"):
        return True
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _watch(event: str, arguments: "tuple[object, ...]") -> None:
    if event == "socket.getaddrinfo":
        host = arguments[0]
    elif event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        address = arguments[1]
        if not isinstance(address, tuple):  # a socket of this machine's file system, or one that is connected
            return
        host = address[0]
    elif event in ("socket.gethostbyname", "socket.gethostbyaddr"):
        host = arguments[0]
    else:
        return
    name = "" if host is None else host.decode() if isinstance(host, bytes) else str(host)
    here = _is_here(name)
    with open(_NOTES, "a", encoding="utf-8") as notes:
        notes.write(f"{'here' if here else 'beyond'} {event} {name}\n")
    if not here:
        raise PermissionError(f"{event} to {name} was refused by a test")


sys.addaudithook(_watch)
