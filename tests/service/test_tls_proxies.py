"""The page certificates.md: its commands, and its files of nginx and Apache, with certificates of callers."""

import shlex
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from tests.core.docs import pages
from tests.core.docs.test_blocks import run
from tests.service.authority import CA_DN, LIMITED, ROBOT, ROBOT_DN, Signer, authority, chain, make, proxy
from tests.service.conftest import BASE, WANTED, Db, Jobs, Token, bearer, free_port, program
from tests.service.test_command import Serve, serve

PAGE = pages.by_name()["broker/docs/how-to/certificates.md"]
APACHE = Path("/usr/lib/apache2/modules")
MODULES = """mpm_event authz_core headers proxy proxy_http ssl gridsite""".split()
Served = Callable[[int], str]
Fronts = Callable[[list[str], int], "Front"]
NGINX_FOLDERS = "client_body proxy fastcgi uwsgi scgi".split()

__all__ = ["serve"]


class Front:
    """A web server with the page's files, in front of a service that the page's command has started."""

    def __init__(self, program: list[str], port: int, folder: Path) -> None:
        self.log = folder / "log"
        self.process = subprocess.Popen(program, stdout=self.log.open("w"), stderr=subprocess.STDOUT)
        self.url = f"https://localhost:{port}"
        self._folder = folder
        deadline = time.monotonic() + 20
        while self.process.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise AssertionError(self.log.read_text())

    def match(self, *chain: Signer, headers: dict[str, str] | None = None) -> httpx.Response:
        """A match by a caller with this chain; the first certificate is the caller's."""
        context = ssl.create_default_context(cafile=str(self._folder / "ca.pem"))
        if chain:
            file = self._folder / "caller.pem"
            file.write_text(chain[0].key_pem + "".join(one.pem for one in chain))
            context.load_cert_chain(file)
        with httpx.Client(verify=context) as client:
            return client.post(self.url + BASE + "/match", json=WANTED, headers=headers)


@pytest.fixture
def front(tmp_path: Path) -> Iterator[Fronts]:
    """A function that starts a web server, which is stopped at the end."""
    started: list[Front] = []

    def start(program: list[str], port: int) -> Front:
        started.append(Front(program, port, tmp_path))
        return started[-1]

    yield start
    for one in started:
        one.process.terminate()
        one.process.wait()


@pytest.fixture
def ca(tmp_path: Path, jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> Signer:
    """An authority, with the files of a web server in the current folder. There is one job."""
    jobs(1)
    monkeypatch.chdir(tmp_path)
    made = authority()
    localhost = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    server = make([(NameOID.COMMON_NAME, "localhost")], made, (localhost, False))
    for name, text in {"ca.pem": made.pem, "server.pem": server.pem, "server.key": server.key_pem}.items():
        (tmp_path / name).write_text(text)
    return made


@pytest.fixture
def served(serve: Serve, service_dsn: str, dsn: str, warm: Path, ca: Signer) -> Served:
    """A function that runs a command of the page that serves, and returns the address. The other commands have run."""
    assert ca
    program("openssl")
    first, *commands = (block for block in PAGE.blocks if block.kind == "sh")
    run(first, dsn, Path.cwd(), {}, warm)

    def start(number: int) -> str:
        words = shlex.split(commands[number].text)
        assert words[:2] == ["broker", "serve"]
        return serve(*words[2:], BROKER_DSN=service_dsn).url

    return start


def test_the_commands_of_the_page_serve_a_proxy_with_the_secret(served: Served, ca: Signer) -> None:
    trusting, verifying = served(0), served(1)
    first = Path("secret.nginx").read_text().removeprefix("proxy_set_header ").rstrip(";\n").split()
    second = Path("secret.apache").read_text().removeprefix("RequestHeader set ").split()
    assert (first, first[0]) == (second, "X-SSL-Client-Secret")
    robot = make(ROBOT, ca)
    with httpx.Client(headers={"X-SSL-Client-Verify": "SUCCESS", "X-SSL-Client-Subject": "CN=robot,DC=org"}) as client:
        assert client.post(trusting + BASE + "/match", json=WANTED).status_code == 401
        client.headers[first[0]] = first[1]
        assert client.post(trusting + BASE + "/match", json=WANTED).status_code == 200
        client.headers["X-SSL-Client-Cert"] = chain(proxy(robot), robot)
        assert client.post(verifying + BASE + "/match", json=WANTED).status_code == 204


def test_certificates_behind_nginx_are_accepted(
    served: Served, front: Fronts, ca: Signer, token: Token, db: Db
) -> None:
    nginx, folder = program("nginx"), Path.cwd()
    port, text = _file("nginx", served(0))
    folders = "".join(f"{name}_temp_path {folder}/{name};" for name in NGINX_FOLDERS)
    whole = f"pid {folder}/pid; error_log stderr; events {{}} http {{ access_log off; {folders}\n{text} }}"
    (folder / "nginx.conf").write_text(whole)
    server = front([nginx, "-c", str(folder / "nginx.conf"), "-g", "daemon off;"], port)

    robot = make(ROBOT, ca)
    assert server.match(robot).status_code == 200
    assert db.execute("select subject from taskqueue.lease").fetchall() == [("x509 " + ROBOT_DN,)]
    assert server.match(robot, headers={"X-SSL-Client-Subject": "CN=x", "X-SSL-Client-Secret": "x"}).status_code == 204
    stranger = server.match(make([(NameOID.COMMON_NAME, "a, b/c")], ca))
    assert (stranger.status_code, r"x509 /CN=a, b\\/c" in stranger.json()["detail"]) == (403, True)
    named = {"X-SSL-Client-Subject": "CN=robot,DC=org", "X-SSL-Client-Verify": "SUCCESS"}
    assert server.match(headers=named).status_code == 401
    assert server.match(headers=bearer(token("agent"))).status_code == 204
    for refused in ([proxy(robot), robot], [make(ROBOT, authority())], [make(ROBOT, ca, begins=-90, ends=-10)]):
        assert "SSL certificate error" in server.match(*refused).text

    # nginx hands over the signer
    db.execute(
        "select from resource.set_credential('default', 'pilots', 'agent', 'x509', null, 'issuer_dn', %s)", [CA_DN]
    )
    assert server.match(robot).status_code == 204


def test_proxy_certificates_behind_apache_are_accepted(
    served: Served, front: Fronts, ca: Signer, token: Token, db: Db
) -> None:
    apache, folder = program("apache2"), Path.cwd()
    if not all((APACHE / f"mod_{name}.so").exists() for name in MODULES):
        pytest.skip("Apache with mod_gridsite is not installed")
    port, text = _file("apache", served(1))
    modules = "".join(f"LoadModule {name}_module {APACHE}/mod_{name}.so\n" for name in MODULES)
    (folder / "httpd.conf").write_text(
        f"ServerRoot {folder}\nPidFile {folder}/pid\nDefaultRuntimeDir {folder}\nErrorLog {folder}/errors\n"
        f"ServerName localhost\nUser nobody\nGroup nogroup\n{modules}Listen 127.0.0.1:{port}\n{text}"
    )
    server = front([apache, "-f", str(folder / "httpd.conf"), "-DFOREGROUND"], port)

    robot = make(ROBOT, ca)
    pilot = proxy(robot)
    assert server.match(proxy(pilot, cn="456"), pilot, robot).status_code == 200
    assert db.execute("select subject from taskqueue.lease").fetchall() == [("x509 " + ROBOT_DN,)]
    assert server.match(robot).status_code == 204
    limited = server.match(proxy(robot, language=LIMITED), robot)
    assert (limited.status_code, "limited" in limited.json()["detail"]) == (401, True)
    assert server.match(headers={"X-SSL-Client-Cert": "x", "X-SSL-Client-Secret": "x"}).status_code == 401
    assert server.match(headers=bearer(token("agent"))).status_code == 204


def _file(kind: str, url: str) -> tuple[int, str]:
    """The page's file of a web server, on a free port and with the paths of the current folder."""
    (text,) = [block.text for block in PAGE.blocks if block.kind == kind]
    port = free_port()
    for name, value in {
        "listen 443": f"listen 127.0.0.1:{port}", "*:443": f"127.0.0.1:{port}", "/etc/pgbroker/": f"{Path.cwd()}/",
        "127.0.0.1:8765": url.removeprefix("http://"),
    }.items():  # fmt: skip
        text = text.replace(name, value)
    return port, text
