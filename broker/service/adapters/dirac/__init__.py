"""DIRAC's services Matcher, JobStateUpdate and JobMonitoring, as DIRAC's own clients call them over HTTPS."""

from collections.abc import Mapping

from broker.service.adapters.dirac import job_monitoring, job_state_update, matcher
from broker.service.adapters.dirac.rpc import ADAPTER, Method, served
from broker.service.endpoint import Endpoint

__all__ = ["ENDPOINTS"]


def _service(name: str, summary: str, methods: Mapping[str, Method]) -> Endpoint:
    path = "/WorkloadManagement/" + name
    return Endpoint("POST", path, f"dirac_{name}", summary, served(path[1:], methods), adapter=ADAPTER)


ENDPOINTS = (
    _service("Matcher", "Jobs for DIRAC's JobAgents", matcher.METHODS),
    _service("JobStateUpdate", "Reports and ends of DIRAC's JobAgents", job_state_update.METHODS),
    _service("JobMonitoring", "Queries of DIRAC's JobAgents about their jobs", job_monitoring.METHODS),
)
