"""`broker serve` with TLS, as a separate process, on a database of a benchmark."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from benchmarks import cpu
from benchmarks.bench import SEED, SETUP, Bench
from benchmarks.options import Options
from benchmarks.serving.agents import Plan, unverified
from benchmarks.serving.authority import Authority
from broker.errors import BrokerError

_LOGIN = "broker_service"

_TOKENS = """
insert into resource.access_token (hash, setup, name, kind, expires_at)
select sha256(convert_to(t, 'UTF8')), %s, 'agent ' || n, 'agent', now() + interval '1 day'
  from unnest(%s::text[]) with ordinality u(t, n)
"""


def tokens_of(connection: psycopg.Connection[Any], agents: int) -> list[str]:
    """A token for each agent."""
    tokens = [secrets.token_hex(32) for _ in range(agents)]
    connection.execute(_TOKENS.encode(), [SETUP, tokens])
    return tokens


def cpu_of(postmaster: int | None, pids: list[int]) -> list[float]:
    """CPU seconds of the service's processes, and of the database."""
    ticks = os.sysconf("SC_CLK_TCK")
    service = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        service += int(fields[11]) + int(fields[12])
    return [service / ticks, cpu.seconds(postmaster) if postmaster else 0.0]


@contextmanager
def service(
    bench: Bench, connection: psycopg.Connection[Any], certified: tuple[Path, Path] | None = None
) -> Iterator[tuple[int, list[int]]]:
    """`broker serve` with TLS, on a free port: the port, and its processes. `certified`: a certificate and its key,
    otherwise it makes its own."""
    password = secrets.token_urlsafe(18)
    connection.execute(sql.SQL("alter role {} login password {}").format(sql.Identifier(_LOGIN), sql.Literal(password)))
    dsn = make_conninfo(bench.where.admin.dsn, user=_LOGIN, password=password)
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="pgbroker-serve-") as folder:
        certificate, key = certified or Authority(Path(folder)).certify("localhost")
        command = [str(Path(sys.executable).with_name("broker")), "serve", "--bind", f"127.0.0.1:{port}"]
        command += ["--setup", SETUP, "--tls-cert", str(certificate), "--tls-key", str(key)]
        with (Path(folder) / "log").open("w+") as log:
            process = subprocess.Popen(command, env={**os.environ, "BROKER_DSN": dsn}, stdout=log, stderr=log)
            try:
                _await(port, process, log.name)
                yield port, [process.pid]
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(30)
                connection.execute(sql.SQL("alter role {} nologin password null").format(sql.Identifier(_LOGIN)))


@contextmanager
def agents_at_work(
    bench: Bench, port: int, tokens: list[str], agents: int, options: Options
) -> Iterator["subprocess.Popen[str]"]:
    """Agents with TLS in a separate process, which ask at the rate of the options; all are connected. Its standard
    output has their findings. Raises BrokerError if it failed."""
    descriptions = [dict(one) for one in bench.workload.requests(SEED)]
    plan = Plan(port, SETUP, agents, options.rate, options.seconds, tokens, descriptions, options.exchange)
    words = [sys.executable, "-m", "benchmarks.serving.agents"]
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process:
            assert process.stdin and process.stdout
            process.stdin.write(json.dumps(asdict(plan)))
            process.stdin.close()
            process.stdout.readline()
            yield process
        if process.returncode != 0:
            errors.seek(0)
            raise BrokerError(f"the agents ended with {process.returncode}", errors.read()[-2000:])


def free_port() -> int:
    """A free port of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _await(port: int, process: subprocess.Popen[bytes], log: str) -> None:
    context = unverified()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"https://127.0.0.1:{port}/healthz/ready", context=context, timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    raise BrokerError("the service did not start", Path(log).read_text()[-2000:])
