"""All endpoints, in one table from which routes and OpenAPI are made."""

from broker.json_text import Written
from broker.service import agents, bodies, metrics, models, operators, outside, rows, searches, submitters, viewers
from broker.service.adapters import dirac, diracx, panda
from broker.service.endpoint import Endpoint
from broker.service.login import calls as login
from broker.service.pages import endpoints as pages
from broker.service.pages import static
from broker.service.views import VIEWS

BASE = "/api/v1/setups/{setup}"
_JOB = BASE + "/jobs/{job_id:id}"


def _path(listed: str) -> str:
    return f"{BASE}/{listed.replace('_', '-')}"


ENDPOINTS = (
    Endpoint(
        "POST", BASE + "/match", "match", "Get jobs for a resource; 204: nothing fits now", agents.match,
        body=models.MatchRequest, answers=models.Matches, may_be_empty=True, repeatable=True, number=Written,
    ),
    Endpoint(
        "POST", BASE + "/exchange", "exchange", "End jobs, and get jobs for a resource", agents.exchange,
        body=models.Exchange, answers=models.Exchanged, limit_factor=4, repeatable=True, number=Written,
    ),
    Endpoint(
        "POST", BASE + "/jobs/report", "report", "Report on up to 10,000 jobs", agents.report,
        body=list[models.Report], answers=list[models.Reported], limit_factor=4,
    ),
    Endpoint(
        "POST", BASE + "/jobs/finish", "finish", "End up to 10,000 jobs", agents.finish,
        body=list[models.Finish], answers=list[models.Finished], limit_factor=4,
    ),
    Endpoint(
        "POST", BASE + "/jobs/release", "release", "Give back up to 1,000 jobs", agents.release,
        body=list[models.Release], answers=list[models.Released],
    ),
    Endpoint(
        "POST", BASE + "/jobs", "insert", "Insert jobs: JSON lines, or an array", submitters.insert,
        body=list[models.NewJob], answers=models.Inserted, media_types=(bodies.LINES, bodies.JSON),
        reads_itself=True, limit_factor=64, repeatable=True,
    ),
    Endpoint(
        "POST", BASE + "/jobs/cancel", "cancel", "Cancel jobs, all or none", submitters.cancel,
        body=models.Cancel, answers=list[models.Cancelled],
    ),
    Endpoint(
        "POST", BASE + "/jobs/hold", "hold", "Hold jobs that wait", submitters.hold,
        body=models.JobIds, answers=list[models.Held],
    ),
    Endpoint(
        "POST", BASE + "/jobs/resume", "resume", "Resume jobs that are held", submitters.resume,
        body=models.JobIds, answers=list[models.Held],
    ),
    Endpoint(
        "POST", BASE + "/jobs/retry", "retry", "Try failed, cancelled or closed jobs again, all or none",
        submitters.retry, body=models.JobIds, answers=list[models.Retried],
    ),
    Endpoint("GET", _JOB, "job", "The place of a job", viewers.job, answers=models.Job, reads=True),
    Endpoint("GET", _JOB + "/events", "job_events", "The events of a job", viewers.events,
             answers=list[models.Event], reads=True),
    Endpoint("GET", _JOB + "/why", "why_job", "Why a job waits", viewers.why_job, answers=list[models.Condition],
             long=True, reads=True),
    Endpoint(
        "GET", BASE + "/tasks/{task_id:id}/why", "why_task", "Why the jobs of a task go to a queue or not",
        viewers.why_task, answers=list[models.Candidate], long=True, reads=True,
    ),
    Endpoint(
        "GET", BASE + "/tasks/{task_id:id}/obstacles", "obstacles", "The rules that keep a task from queues",
        viewers.obstacles, answers=list[models.Obstacle], long=True, reads=True,
    ),
    *(
        Endpoint(
            "POST", _path(name) + "/search", f"search_{name}",
            f"Search {name}: {', '.join(view.columns)}", searches.find(name), body=models.Search,
            answers=rows.page(name), long=True, reads=True,
        )
        for name, view in VIEWS.items()
    ),
    *(
        Endpoint(
            "POST", _path(name) + "/summary", f"count_{name}",
            f"Count {name} by the values of columns", searches.count(name), body=models.Summary,
            answers=list[rows.group(name)], long=True, reads=True,  # type: ignore[misc]
        )
        for name in VIEWS
    ),
    Endpoint(
        "POST", BASE + "/what-if", "what_if", "What a change would do to the decisions about tasks; the answer is kept",
        operators.what_if, body=models.WhatIf, answers=models.Difference, limit_factor=4,
    ),
    Endpoint(
        "GET", BASE + "/what-if/{what_if_id:id}", "kept_what_if", "A kept answer to a what-if",
        viewers.what_if, answers=models.KeptDifference, reads=True,
    ),
    Endpoint(
        "POST", BASE + "/resources/why", "why_resource", "The jobs that wait for a resource, and why it gets none",
        viewers.why_resource, body=models.ResourceRequest, answers=list[models.Waiting], long=True, reads=True,
        number=Written,
    ),
    Endpoint(
        "POST", BASE + "/quarantines", "set_quarantine", "Quarantine a worker node, a computing element or a site",
        operators.set_quarantine, body=models.NewQuarantine, answers=models.Quarantine,
    ),
    Endpoint(
        "POST", BASE + "/quarantines/lift", "lift_quarantine", "Lift a quarantine of the guard or of an operator",
        operators.lift_quarantine, body=models.QuarantineKey, answers=models.Lifted,
    ),
    Endpoint(
        "POST", BASE + "/tokens", "token", "Exchange the secret of a pilot for a token", outside.token,
        body=models.Secret, answers=models.Token, open=True,
    ),
    Endpoint("GET", "/healthz/live", "live", "Whether the service runs", outside.live, answers=models.Health,
             outside=True, open=True),
    Endpoint("GET", "/healthz/ready", "ready", "Whether the database answers", outside.ready, answers=models.Health,
             outside=True, open=True),
    Endpoint("GET", "/metrics", "metrics", "Figures for Prometheus", outside.figures, outside=True,
             produces=metrics.MEDIA_TYPE),
    Endpoint("GET", "/api/openapi.json", "openapi", "This description", outside.openapi, outside=True, open=True),
    *panda.ENDPOINTS,
    *dirac.ENDPOINTS,
    *diracx.ENDPOINTS,
    *login.ENDPOINTS,
    *static.ENDPOINTS,
    *pages.ENDPOINTS,
)  # fmt: skip
