"""The settings of a worker of the service, which the command passes in the environment."""

import os

import msgspec

from broker.errors import BrokerError

_VARIABLE = "BROKER_SERVICE"


class Login(msgspec.Struct, frozen=True, kw_only=True):
    """The OpenID provider with which people log in, and its registration of the service. client_secret: None = the
    provider needs none. scope: the scopes that the service asks for.
    """

    issuer: str
    client_id: str
    client_secret: str | None = None
    scope: str = "openid"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of the service.

    dsn: the login of the service. read_dsn: the same login on a standby, where pages, explanations and searches are
    read; None = no standby. read_lag: seconds that the standby may be behind. prepare: whether statements are prepared;
    None = unless there is a pooler. issuers, audience: the issuers of accepted tokens, and the audience that the tokens
    must have. setup: the setup whose viewers may read the metrics. rate: requests per second of one caller, on all
    workers together; None = any number. connections: connections of each worker to the database. behind_proxy: every
    caller comes through a proxy on this machine. x509_secret: the secret of a proxy that passes on client certificates;
    None = no such proxy. x509_ca: the file with the authorities of these certificates; None = the proxy has verified
    them. url: the URL by which browsers find the service, without a path; None = not known, and a proxy does TLS.
    login: the provider with which people log in; None = only tickets. body_limit: bytes of a body; some endpoints take
    a multiple of it. log_format: text, or json for an object a line. log_requests: a line for each request.
    """

    dsn: str
    read_dsn: str | None = None
    read_lag: float = 10.0
    prepare: bool | None = None
    issuers: tuple[str, ...] = ()
    audience: str | None = None
    setup: str = "default"
    workers: int = 1
    rate: float | None = None
    connections: int = 8
    behind_proxy: bool = False
    x509_secret: str | None = None
    x509_ca: str | None = None
    url: str | None = None
    login: Login | None = None
    body_limit: int = 2**20
    log_format: str = "text"
    log_requests: bool = False


def hand_over(settings: Settings) -> None:
    """Put the settings into the environment, where only processes of the same account can read them."""
    os.environ[_VARIABLE] = msgspec.json.encode(settings).decode()


def taken_over() -> Settings:
    """The settings that `hand_over` left in the environment. Raises BrokerError if there are none."""
    text = os.environ.get(_VARIABLE)
    if text is None:
        raise BrokerError(f"{_VARIABLE} is not set", "start the service with `broker serve`")
    return msgspec.json.decode(text, type=Settings)
