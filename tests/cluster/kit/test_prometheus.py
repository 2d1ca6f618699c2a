"""The file of Prometheus: promtool accepts it, and a real Prometheus scrapes the service with it."""

import subprocess
import time
from pathlib import Path

import httpx

from tests.calls import Calls
from tests.cluster.kit.files import check, text_of
from tests.cluster.kit.queries import plain, targets
from tests.service.authority import Signer
from tests.service.conftest import Token, free_port, program
from tests.service.test_command import Serve, serve
from tests.service.test_tls_proxies import ca

__all__ = ["ca", "serve"]


def written(folder: Path, target: str) -> Path:
    """The file, with the paths of a folder and this target, which is scraped each second."""
    (folder / "prometheus.token").touch()
    changes = {
        "/etc/pgbroker/": f"{folder}/",
        "broker.example.org:443": target,
        "scrape_interval: 15s": "scrape_interval: 1s",
    }
    file = folder / "prometheus.yml"
    file.write_text(text_of("prometheus/prometheus.yml", changes))
    return file


def test_promtool_reads_the_file(ca: Signer) -> None:
    check(program("promtool"), "check", "config", written(Path.cwd(), "localhost:443"))


def test_prometheus_scrapes_the_service_and_evaluates_the_boards(
    ca: Signer, filled: Calls, serve: Serve, service_dsn: str, token: Token
) -> None:
    """Prometheus verifies the certificate of the service, and reads the token of a viewer from the file."""
    assert filled
    folder = Path.cwd()
    running = serve("--tls-cert", "server.pem", "--tls-key", "server.key", "--url", "https://broker.example.org",
                    BROKER_DSN=service_dsn)  # fmt: skip
    file = written(folder, running.url.removeprefix("https://").replace("127.0.0.1", "localhost"))
    (folder / "prometheus.token").write_text(token("viewer") + "\n")
    place = f"127.0.0.1:{free_port()}"
    log = (folder / "log").open("w")
    process = subprocess.Popen(
        [program("prometheus"), f"--config.file={file}", f"--storage.tsdb.path={folder}/data",
         f"--web.listen-address={place}"], stdout=log, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 30
        found: list[object] = []
        while not found and time.monotonic() < deadline:
            time.sleep(0.2)
            try:
                asked = httpx.get(f"http://{place}/api/v1/query", params={"query": "pgbroker_database_up == 1"})
                found = asked.json()["data"]["result"]
            except (httpx.TransportError, KeyError, ValueError):
                continue
        assert found, (folder / "log").read_text()
        with httpx.Client(base_url=f"http://{place}/api/v1") as client:
            for board, one in targets("expr"):
                answer = client.get("/query", params={"query": plain(one["expr"])}).json()
                assert answer["status"] == "success", f"{board}: {answer}"
    finally:
        process.terminate()
        process.wait()
