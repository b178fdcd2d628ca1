"""The socket on which a service listens, which is opened before anything else is loaded."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from assayer.errors import ConfigurationError

_BACKLOG = 2_048


@contextmanager
def open_listening_socket(host: str, port: int) -> Iterator[socket.socket]:
    """Open a listening socket; port 0 selects a free port. Raises ConfigurationError if the address is not
    available."""
    try:
        listener = _bind_listening_socket(host, port)
    except (OSError, OverflowError) as error:
        raise ConfigurationError(
            f"assayer cannot listen on {host}, port {port}: {getattr(error, 'strerror', None) or error}.",
            "Choose another --port (0 chooses a free one) or another --host.",
        ) from None
    with listener:
        yield listener


def _bind_listening_socket(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)  # from now on, clients that connect wait instead of being refused
    except BaseException:
        listener.close()
        raise
    return listener
