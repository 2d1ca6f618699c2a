"""Agents that ask a service for a job, one process each: DIRAC's client with a proxy certificate, or plain HTTPS."""

import http.client
import json
import os
import secrets
import ssl
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks import processes
from benchmarks.bench import SETUP
from broker.errors import BrokerError
from broker.laboratory.pilots import Resource

GROUP = "pilots"
NAMES = [f"pilot-{n}" for n in range(64)]
_HOURS = 24  # lifetime of a proxy
_GONE = "Error requesting job"  # also if each job that the Matcher chose was gone


def proxy_of(certified: tuple[Path, Path], folder: Path) -> Path:
    """The file of a new proxy of the pilots' group, as DIRAC makes them."""
    from DIRAC.Core.Security.m2crypto.X509Chain import X509Chain

    certificate, key = map(str, certified)
    chain = X509Chain()
    proxy = folder / "proxy.pem"
    made = (
        chain.loadChainFromFile(certificate),
        chain.loadKeyFromFile(key),
        chain.generateProxyToFile(str(proxy), _HOURS * 3600, diracGroup=GROUP),
    )
    for answer in made:
        if not answer["OK"]:
            raise BrokerError(f"DIRAC makes no proxy: {answer['Message']}")
    return proxy


def understood(resources: Iterable[Resource]) -> list[Resource]:
    """The resources that DIRAC's Matcher takes (with a Site), without fields that it ignores (Banned lists)."""
    return [
        {key: value for key, value in resource.items() if not key.startswith("Banned")}
        for resource in resources
        if "Site" in resource
    ]


def described(resource: Resource) -> Resource:
    """A resource as an agent of DIRAC 9 describes it: Owner for OwnerDN."""
    return {"Owner" if key == "OwnerDN" else key: value for key, value in resource.items()}


@contextmanager
def asking(url: str, proxy: Path, trusted: Path) -> Iterator[processes.Ask]:
    """A client's call: requestJob of DIRAC's MatcherClient, as its JobAgent calls it."""
    os.environ.update(X509_USER_PROXY=str(proxy), X509_CERT_DIR=str(trusted), HOME=str(proxy.parent))
    import DIRAC

    urls = {"WorkloadManagement": {"URLs": {"Matcher": url}}}
    configured = {"DIRAC": {"VirtualOrganization": "bench"}, "Systems": urls}
    DIRAC.initialize(require_auth=False, log_level="FATAL", extra_config=configured)
    from DIRAC.Core.Utilities.DErrno import EWMSNOMATCH
    from DIRAC.WorkloadManagementSystem.Client.MatcherClient import MatcherClient

    known = {"PilotReference": secrets.choice(NAMES), "PilotInfoReportedFlag": False}

    def ask(asked: Sequence[Resource]) -> None:
        [resource] = asked
        answer = MatcherClient().requestJob({**resource, **known})
        if answer["OK"]:
            known["PilotInfoReportedFlag"] = answer["Value"]["PilotInfoReportedFlag"]
        elif answer["Errno"] != EWMSNOMATCH and answer["Message"] != _GONE:
            raise BrokerError(f"requestJob failed: {answer['Message']}")

    yield ask


@contextmanager
def posting(port: int, authority: Path, tokens: Sequence[str], keep: bool) -> Iterator[processes.Ask]:
    """A client's call: match of pgbroker's own API, on a kept connection or on a new one each time."""
    context = ssl.create_default_context(cafile=str(authority))
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context)
    headers = {"Authorization": f"Bearer {secrets.choice(tokens)}", "Content-Type": "application/json"}

    def ask(resources: Sequence[Resource]) -> None:
        body = json.dumps({"resources": resources})
        connection.request("POST", f"/api/v1/setups/{SETUP}/match", body, headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status not in (200, 204):
            raise BrokerError(f"match failed: {answer.status} {text.decode(errors='replace')[:200]}")
        if not keep:
            connection.close()  # the next request opens it again

    try:
        yield ask
    finally:
        connection.close()
