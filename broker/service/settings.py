"""What a worker of the service needs to know. The command hands it over in the environment."""

import os

import msgspec

from broker.errors import BrokerError

_VARIABLE = "BROKER_SERVICE"


class Login(msgspec.Struct, frozen=True, kw_only=True):
    """With whom people log in: an OpenID provider, and how it knows the service.

    client_secret: None = the provider asks for none. scope: what of a person the service asks for.
    """

    issuer: str
    client_id: str
    client_secret: str | None = None
    scope: str = "openid"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration of the service.

    dsn: the login of the service. read_dsn: the same login on a standby, where pages, explanations and searches are
    read; None = there is none. read_lag: seconds that it may be behind. prepare: whether statements are prepared;
    None = where no pooler is between.
    issuers, audience: whose tokens are verified, and for whom they must be. setup: the setup whose viewers may read
    the metrics. rate: requests a second of one caller, on all workers together; None = any number. connections: to
    the database, of each worker. behind_proxy: every caller comes through a proxy on this machine. x509_secret: what a
    proxy shows that hands over client certificates; None = there is none. x509_ca: the file with the authorities of
    these certificates; None = the proxy has verified them. url: where browsers find the service, without a path; None =
    nobody knows, and a proxy does TLS. login: with whom people log in; None = with tickets alone. body_limit,
    jobs_limit: bytes of a body, and of the body of an insertion.
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
    jobs_limit: int = 2**26


def hand_over(settings: Settings) -> None:
    """Put the settings into the environment, where only processes of the same account can read them."""
    os.environ[_VARIABLE] = msgspec.json.encode(settings).decode()


def taken_over() -> Settings:
    """The settings that `hand_over` left in the environment. Raises BrokerError where there are none."""
    text = os.environ.get(_VARIABLE)
    if text is None:
        raise BrokerError(f"{_VARIABLE} is not set", "start the service with `broker serve`")
    return msgspec.json.decode(text, type=Settings)
