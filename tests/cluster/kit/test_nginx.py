"""The file of nginx. tests/service/test_tls_proxies.py runs the page's copy, with client certificates."""

import json
import re
import ssl
from pathlib import Path

import httpx

from broker.service.endpoints import ENDPOINTS
from broker.service.settings import Settings
from tests.cluster.kit.files import check, text_of
from tests.core.docs import pages
from tests.service.authority import Signer
from tests.service.conftest import BASE, Db, Start, Token, bearer, free_port, program
from tests.service.test_tls_proxies import NGINX_FOLDERS, Fronts, ca, front

__all__ = ["ca", "front"]
_LOCATION = re.compile(r"location ([^{]+?) \{\s*client_max_body_size (\d+)m;")
PAGE = "broker/docs/how-to/certificates.md"


def whole(folder: Path, port: int, upstream: str) -> Path:
    """A complete configuration of nginx that contains the kit's file."""
    changes = {
        "listen 443": f"listen 127.0.0.1:{port}", "/etc/pgbroker/": f"{folder}/", "127.0.0.1:8765": upstream,
    }  # fmt: skip
    (folder / "pgbroker.conf").write_text(text_of("nginx/pgbroker.conf", changes))
    (folder / "secret.nginx").write_text("proxy_set_header X-SSL-Client-Secret 0123456789abcdef0123456789abcdef;\n")
    folders = "".join(f"{name}_temp_path {folder}/{name};" for name in NGINX_FOLDERS)
    file = folder / "nginx.conf"
    file.write_text(f"pid {folder}/pid; error_log stderr; events {{}}\n"
                    f"http {{ access_log off; {folders} include {folder}/pgbroker.conf; }}")  # fmt: skip
    return file


def test_the_page_shows_the_nginx_file_of_the_kit() -> None:
    (shown,) = [block.text for block in pages.by_name()[PAGE].blocks if block.kind == "nginx"]
    assert shown == text_of("nginx/pgbroker.conf")


def test_nginx_reads_the_file(ca: Signer) -> None:
    file = whole(Path.cwd(), 8443, "127.0.0.1:8765")
    assert "[warn]" not in check(program("nginx"), "-t", "-c", file)


def test_nginx_and_the_service_have_the_same_bounds_of_bodies() -> None:
    """No location refuses what an endpoint takes, or passes on what none of its endpoints takes."""
    text = text_of("nginx/pgbroker.conf")
    bounds = {where: int(size) for where, size in _LOCATION.findall(text)}
    taken = dict.fromkeys(bounds, 0)
    for one in ENDPOINTS:
        path = re.sub(r"{[^}]*}", "1", one.path)
        where = next((where for where in bounds if where[0] == "~" and re.search(where[2:], path)), "/")
        taken[where] = max(taken[where], Settings(dsn="").body_limit * one.limit_factor // 2**20)
    assert bounds == taken


def test_nginx_lets_large_submissions_pass_and_no_large_matches(
    front: Fronts, ca: Signer, start: Start, token: Token, db: Db
) -> None:
    """Two megabytes of jobs are stored; nine of a match are refused before they reach the service."""
    nginx, port = program("nginx"), free_port()
    service = start(behind_proxy=True, x509_secret="0123456789abcdef" * 2)
    file = whole(Path.cwd(), port, service.url.removeprefix("http://"))
    server = front([nginx, "-c", str(file), "-g", "daemon off;"], port)
    job = {"requirements": {"OwnerDN": "/CN=a", "OwnerGroup": "users", "CPUTime": 600}, "payload": "x" * 50_000}
    lines = "\n".join(json.dumps({"job_id": number, **job}) for number in range(100, 141))
    with httpx.Client(base_url=server.url + BASE, verify=ssl.create_default_context(cafile="ca.pem")) as client:
        headers = {"Content-Type": "application/x-ndjson", **bearer(token("submitter"))}
        stored = client.post("/jobs", content=lines, headers=headers, timeout=60)
        assert stored.status_code == 200, stored.text
        refused = client.post("/match", json=[" " * 9_000_000], headers=bearer(token("agent")))
        assert refused.status_code == 413
    assert db.execute("select count(*) from taskqueue.job where job_id >= 100").fetchone() == (41,)
