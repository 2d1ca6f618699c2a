"""`broker serve`: the HTTPS endpoint for agents, submitters and viewers without a login to the database."""

import ipaddress
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from broker.cli.shared import common, output
from broker.cli.shared.options import options
from broker.cli.shared.session import Setup
from broker.service import is_loopback

if TYPE_CHECKING:
    from broker.database import Target
    from broker.server.embedded import Server
    from broker.service.settings import Login

app = typer.Typer()

PANEL = "Server"
_NEEDED = ("starlette", "msgspec", "uvicorn", "joserfc", "cryptography", "prometheus_client", "jinja2")
_TOKEN = "select token from resource.make_token(p_setup => %s, p_name => %s, p_kind => %s, p_valid => %s)"


@app.command(rich_help_panel=PANEL)
def serve(
    context: typer.Context,
    *,
    bind: Annotated[str, typer.Option(metavar="HOST:PORT", help="Address to listen on.")] = "127.0.0.1:8765",
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes that serve.")] = 1,
    issuer: Annotated[
        list[str] | None, typer.Option(metavar="URL", help="Accept tokens (JWT) of this issuer; repeat it for several.")
    ] = None,
    audience: Annotated[
        str | None, typer.Option(metavar="NAME", help="The audience that tokens of issuers must have.")
    ] = None,
    setup: Setup = "default",
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Certificate chain (PEM).")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Its private key (PEM).")
    ] = None,
    behind_proxy: Annotated[
        bool,
        typer.Option(
            "--behind-proxy", help="A proxy in front of the service terminates TLS: listen without TLS, on any address."
        ),
    ] = False,
    x509_secret: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Accept client certificates from the proxy that shows the secret in FILE."),
    ] = None,
    x509_ca: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Verify chains of certificates, including proxy certificates, with these authorities (PEM).",
        ),
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="URL by which browsers find the service, if it differs from --bind."),
    ] = None,
    login: Annotated[
        str | None, typer.Option(metavar="ISSUER", help="People log in with this OpenID provider.")
    ] = None,
    login_client: Annotated[
        str | None, typer.Option(metavar="ID", help="Client id of the service at the provider.")
    ] = None,
    login_secret: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File with the client secret of the service at the provider.")
    ] = None,
    login_scope: Annotated[
        str, typer.Option(metavar="WORDS", help="Scopes that the service asks the provider for.")
    ] = "openid",
    open_browser: Annotated[
        bool,
        typer.Option(
            "--open",
            help="Open a browser that is logged in as an operator of --setup, or of every setup without it, and run the"
            " loops of broker run.",
        ),
    ] = False,
    rate: Annotated[
        float | None,
        typer.Option(min=1, metavar="N", help="Requests per second of one caller; by default without a limit."),
    ] = None,
    connections: Annotated[
        int,
        typer.Option(min=1, max=1000, help="Connections of each worker to the database; pages have half as many more."),
    ] = 8,
    read: Annotated[
        str | None,
        typer.Option(
            metavar="DSN",
            envvar="BROKER_READ_DSN",
            show_envvar=False,
            help="Read pages, explanations and searches on this standby.",
        ),
    ] = None,
    read_lag: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            envvar="BROKER_READ_LAG",
            show_envvar=False,
            help="Seconds: read on the primary while the standby is further behind; by default BROKER_READ_LAG.",
        ),
    ] = 10,
    log_format: common.LogFormat = "text",
    log_requests: Annotated[
        bool, typer.Option("--log-requests", help="Log a line for each request: its id, caller, path, status and time.")
    ] = False,
) -> None:
    """Serve HTTP or HTTPS until SIGTERM. Callers with tokens match, report, finish, submit and explain.

    --setup names the setup of the token that is shown, whose viewers may read the metrics, and whose jobs go to the
    clients of other systems. The login of --dsn or BROKER_DSN must be the service's own, broker_service. On the
    embedded server its password is made once.
    """
    from broker import database
    from broker.errors import BrokerError

    common.require_packages(_NEEDED, "serve")
    from broker.service import certificates
    from broker.service.run import run
    from broker.service.settings import Settings

    host, port = _place(bind)
    if (tls_cert is None) != (tls_key is None):
        raise typer.BadParameter("--tls-cert and --tls-key belong together", param_hint="--tls-cert")
    if tls_cert is None and not behind_proxy and not is_loopback(host):
        hint = "give --tls-cert and --tls-key, or --behind-proxy if a proxy in front of it does TLS"
        raise BrokerError(f"{host} is not this machine's alone, and tokens would travel in the clear", hint)
    issuers = tuple(_issuer(one) for one in issuer or [])
    if issuers and not audience:
        raise BrokerError("--issuer needs --audience", "name the audience that tokens for this service have")
    if x509_secret is not None and not behind_proxy:
        raise BrokerError("--x509-secret needs --behind-proxy", "only a proxy can hand over client certificates")
    if x509_ca is not None:
        if x509_secret is None:
            raise BrokerError("--x509-ca needs --x509-secret", "anybody could send a chain of certificates")
        certificates.authorities(x509_ca)
    secret = None if x509_secret is None else certificates.secret(x509_secret)
    listens = f"{'http' if tls_cert is None else 'https'}://{bind.rpartition(':')[0]}:{port}"
    if url is not None:
        url = _public(url)
    elif not behind_proxy:
        url = listens
    person = _login(login, login_client, login_secret, login_scope, url)
    shown = setup if _is_given(context, "setup") else None  # the setup of the browser
    if open_browser:
        is_local = not behind_proxy and is_loopback(host) and is_loopback(urlsplit(url or "").hostname or "")
        _require_openable(url, workers, everywhere=shown is None, is_local=is_local)
    _require_free(host, port)
    settings = Settings(
        dsn=_dsn(setup, listens, reads=read is not None), read_dsn=_read_dsn(read), read_lag=read_lag,
        prepare=options.prepare, issuers=issuers, audience=audience, setup=setup, log_format=log_format,
        log_requests=log_requests,
        workers=workers, rate=rate, connections=connections, behind_proxy=behind_proxy,
        x509_secret=secret, x509_ca=None if x509_ca is None else str(x509_ca.absolute()), url=url, login=person,
    )  # fmt: skip
    cert, key = (None if file is None else str(file) for file in (tls_cert, tls_key))
    if not open_browser or url is None:
        run(settings, host, port, tls_cert=cert, tls_key=key)
        return
    from broker.cli.run import running_loops
    from broker.server.browser import open_browser as open_now

    at = url

    def tell(file: str) -> None:
        output.note(f"open {file} in a browser, within a minute")

    output.note("the loops of broker run run inside, as long as this service does")
    with running_loops(database.Target(_embedded().dsn, "embedded"), shown):
        run(settings, host, port, tls_cert=cert, tls_key=key, listening=lambda: open_now(at, shown, tell))


def _is_given(context: typer.Context, name: str) -> bool:
    """Whether an option is named on the command line or in the environment."""
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _require_openable(url: str | None, workers: int, *, everywhere: bool, is_local: bool) -> None:
    """Refuse --open where it cannot work, or where it would give every setup to a service that other machines reach."""
    from broker import database
    from broker.errors import BrokerError

    if database.named(options.dsn):
        raise BrokerError("--open is for the embedded server", "on a server of your own people log in with --login")
    if workers > 1:
        raise BrokerError("--open is for one person, and needs one worker", "leave --workers out")
    if url is None:
        raise BrokerError("--open needs --url behind a proxy", "name the URL by which browsers find the service")
    if everywhere and not is_local:
        fault = "--open gives a browser every setup, and the service is not for this machine alone"
        raise BrokerError(fault, "name one setup: --setup NAME")


def _embedded() -> "Server":
    """The running embedded server."""
    from broker.errors import BrokerError
    from broker.server import embedded

    server = embedded.current()
    if server is None:
        raise BrokerError("the embedded server does not run", "broker up")
    return server


def _place(bind: str) -> tuple[str, int]:
    host, _, port = bind.rpartition(":")
    if not host or not port.isdecimal() or len(port) > 5 or int(port) > 65535:
        raise typer.BadParameter(f"{bind} is not HOST:PORT", param_hint="--bind")
    host = host.removeprefix("[").removesuffix("]")
    return host, int(port) or _free_port(host)


def _free_port(host: str) -> int:
    """A port that is free now, for port 0."""
    with _bound(host, 0) as found:
        return int(found.getsockname()[1])


def _require_free(host: str, port: int) -> None:
    """Refuse an address that another program has, before a token for the service is made and shown."""
    from broker.errors import BrokerError

    try:
        _bound(host, port).close()
    except OSError as error:
        fault = f"cannot listen on {host}, port {port}: {error.strerror}"
        raise BrokerError(fault, "name another address: --bind HOST:PORT") from None


def _bound(host: str, port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError:
        found.close()
        raise
    return found


def _issuer(url: str, option: str = "--issuer") -> str:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        raise typer.BadParameter(f"{url} is not https", param_hint=option)
    return url


def _public(url: str) -> str:
    """The URL by which browsers find the service: scheme, host and port."""
    parts = urlsplit(_issuer(url, "--url"))
    if not parts.hostname or parts.username is not None or parts.path not in ("", "/") or parts.query or parts.fragment:
        raise typer.BadParameter(f"{url} is more than scheme, host and port", param_hint="--url")
    return f"{parts.scheme}://{parts.netloc}"


def _login(issuer: str | None, client: str | None, secret: Path | None, scope: str, url: str | None) -> "Login | None":
    """The provider with which people log in."""
    from broker.errors import BrokerError
    from broker.service import certificates
    from broker.service.settings import Login

    if issuer is None:
        if client is not None or secret is not None:
            raise BrokerError("--login-client and --login-secret need --login", "name the provider of people")
        return None
    if client is None:
        raise BrokerError("--login needs --login-client", "name the client id that the provider gave the service")
    if "openid" not in scope.split():
        raise typer.BadParameter(f"{scope} lacks the word openid", param_hint="--login-scope")
    if url is None or _is_everywhere(url):
        raise BrokerError("--login needs --url", "name the URL by which browsers, and the provider, find the service")
    given = "write the secret that the provider gave the service into the file, readable for you alone"
    known = None if secret is None else certificates.secret(secret, 1, given)
    return Login(issuer=_issuer(issuer, "--login"), client_id=client, client_secret=known, scope=scope)


def _is_everywhere(url: str) -> bool:
    """Whether this is the address of all interfaces, which no browser can use."""
    try:
        return ipaddress.ip_address(urlsplit(url).hostname or "").is_unspecified
    except ValueError:
        return False


def _dsn(setup: str, url: str, *, reads: bool) -> str:
    """The DSN of the service's login. On the embedded server a token is made for the person at a terminal."""
    from broker import database
    from broker.cli.shared.session import ready
    from broker.server.service import service_dsn

    target = database.named(options.dsn, prepare=options.prepare)
    if target:
        _require_login(target)
        if reads:
            _require_no_front(target)
        return target.dsn
    ready()
    server = _embedded()
    found = service_dsn(server)
    if sys.stdout.isatty():
        _show(server, setup, url)
    else:
        output.note("a token for a caller: `broker credential token`")
    return found


def _read_dsn(dsn: str | None) -> str | None:
    """The DSN of the same login on a standby."""
    from broker import database

    target = database.named(dsn, prepare=options.prepare, source="--read") if dsn else None
    if target:
        _require_login(target)
    return target.dsn if target else None


def _require_login(target: "Target") -> None:
    """Refuse a login that is not the service's, since the subject of a call would not count. A database that is away is
    not asked now; each connection checks again."""
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    from broker import database
    from broker.errors import BrokerError, ConnectError

    try:
        with database.connect(target) as connection:
            row = connection.execute("select resource.is_service()").fetchone()
            user = connection.info.user
    except ConnectError:
        return
    except psycopg.errors.InsufficientPrivilege:
        row, user = None, str(conninfo_to_dict(target.dsn).get("user", "the login"))
    if row != (True,):
        hint = "give the DSN of broker_service: only whom that login calls for is believed"
        raise BrokerError(f"{user} is not the login of the service", hint)


def _require_no_front(target: "Target") -> None:
    """Refuse --read if the server is a front: each of its shards has its own standby, with other setups."""
    from broker import database
    from broker.errors import BrokerError, ConnectError
    from broker.fronts.ways import ways

    try:
        with database.connect(target) as connection:
            is_front = bool(ways(connection, target))
    except ConnectError:
        return
    if is_front:
        hint = "leave --read out, or run a service for the shard, with --dsn and --read"
        raise BrokerError("--read is for one database and its standby, and this server is a front", hint)


def _show(server: "Server", setup: str, url: str) -> None:
    """Print a token of an operator for a day, and how to use it."""
    from broker import database

    with database.connect(database.Target(server.dsn, "embedded")) as connection:
        row = connection.execute(_TOKEN, [setup, "broker serve", "operator", "1 day"]).fetchone()
    assert row is not None
    output.say(f"{url}, with a token that holds for a day:")
    output.say(f"  TOKEN={row[0]}")
    output.say(
        f'  curl -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json"'
        f' {url}/api/v1/setups/{setup}/match -d \'{{"resources": [{{"CPUTime": 86400}}]}}\''
    )
