"""Tells whether an address can be reached from this machine alone."""

from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Tell whether a host is an address of loopback, or ``localhost``."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
