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
    what_if,
)
from broker.service.pages.frame import endpoint

ENDPOINTS = (
    endpoint("", "The first page of a setup", overview.overview),
    *lists.ENDPOINTS,
    *configured.ENDPOINTS,
    *instances.ENDPOINTS,
    *runs.ENDPOINTS,
    endpoint("/jobs/{job_id:id}", "A job", details.job),
    endpoint("/task-queues/{task_queue_id:id}", "A TaskQueue", details.task_queue),
    endpoint("/tasks/{task_id:id}", "A task", task.task),
    endpoint("/queues/{queue:path}", "A PanDA queue", details.queue),
    endpoint("/sites", "List of sites", details.sites),
    endpoint("/sites/{site:path}", "A site", details.site),
    endpoint("/shares", "Shares", more.shares),
    endpoint("/history", "Figures over time", more.history),
    endpoint("/alerts", "Alerts", alerts.alerts),
    endpoint("/health", "Health", more.health, reads=False),
    *what_if.ENDPOINTS,
    find.FIND,
    *replay.ENDPOINTS,
    endpoint("/act", "What an action would do", actions.ask, reads=False),
    actions.POST,
)
