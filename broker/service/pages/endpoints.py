"""All pages of a setup."""

from broker.service.pages import (
    actions,
    alerts,
    configured,
    details,
    find,
    instances,
    lists,
    more,
    overview,
    replay,
    runs,
    task,
    tasks,
    what_if,
)
from broker.service.pages.frame import COUNTS, FIGURES, MISSING, endpoint

ENDPOINTS = (
    endpoint("", "The first page of a setup", overview.overview, (FIGURES, COUNTS)),
    *lists.ENDPOINTS,
    *tasks.ENDPOINTS,
    *configured.ENDPOINTS,
    *instances.ENDPOINTS,
    *runs.ENDPOINTS,
    endpoint("/jobs/{job_id:id}", "A job", details.job),
    endpoint("/task-queues/{task_queue_id:id}", "A TaskQueue", details.task_queue),
    endpoint("/tasks/{task_id:id}", "A task", task.task),
    endpoint("/queues/{queue:path}", "A PanDA queue", details.queue, (FIGURES,)),
    endpoint("/sites", "List of sites", details.sites, (FIGURES, COUNTS)),
    endpoint("/sites/{site:path}", "A site", details.site, (FIGURES, COUNTS)),
    endpoint("/shares", "Shares", more.shares, (FIGURES,)),
    endpoint("/history", "Figures over time", more.history, (FIGURES,)),
    endpoint("/alerts", "Alerts", alerts.alerts, (FIGURES,)),
    endpoint("/health", "Health", more.health, reads=False),
    *what_if.ENDPOINTS,
    find.FIND,
    *replay.ENDPOINTS,
    actions.ASK,
    actions.POST,
    MISSING,
)
