"""Opens the ports that the web process listens on."""

import socket

from state.errors import SetupError


def listen_on(host: str, port: int, setting: str) -> socket.socket:
    """Open a port; SetupError that names the setting if it cannot be had."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, proto)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        raise SetupError(
            f"{setting}: {host}:{port} cannot be listened on ({error.strerror}); "
            f"choose another by {setting}, or 0 for any"
        ) from error
    return listening
