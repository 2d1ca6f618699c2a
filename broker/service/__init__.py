"""The service: the HTTPS endpoint for agents, submitters and viewers that have no login to the database.

It decides nothing. Each endpoint calls one function of the database, or reads one view, with the role that the caller's
credential names. The service keeps a pool, the keys of issuers, and verified tokens for a minute.
"""

import ipaddress


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
