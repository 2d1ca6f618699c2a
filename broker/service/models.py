"""The bodies of requests and answers. OpenAPI is made from them, so their words are for callers."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import UNSET, Meta, Struct, UnsetType

JobId = Annotated[int, Meta(ge=1, le=2**63 - 1, description="Id of a job.")]
Attempt = Annotated[
    str, Meta(max_length=200, description="The attempt from the match, which proves that the job is the caller's.")
]
Reason = Annotated[str, Meta(max_length=1000)]
Resource = Annotated[
    dict[str, Any], Meta(title="Resource", description="A description of a resource, or a node of DiracX.")
]
_REQUIRED = Meta(title="Requirements", description="The requirements of a job.", extra_json_schema={"type": "object"})
Requirements = Annotated[dict[str, Any], _REQUIRED]


class Request(Struct, forbid_unknown_fields=True):
    """A body; a key that is not listed is refused."""


class MatchRequest(Request):
    """Ask for jobs. resources: descriptions of the resource in order of preference; the first that yields a job is
    used. request_id may be in the header Idempotency-Key instead."""

    resources: Annotated[list[Resource], Meta(min_length=1, max_length=10)]
    n: Annotated[int, Meta(ge=1, le=1000, description="Number of jobs.")] = 1
    request_id: Annotated[
        UUID | None, Meta(description="The same id within ten minutes gives the same answer; same as Idempotency-Key.")
    ] = None
    wait: Annotated[float, Meta(ge=0, le=300, description="Seconds to wait for a job if none fits now.")] = 0.0


class Match(Struct, omit_defaults=True):
    """A leased job. payload: the data that the agent needs to run the job, as it was inserted. processors: the
    processors that the job gets, if its requirements have a range."""

    job_id: JobId
    attempt: Attempt
    task_queue_id: int
    requirements: Annotated[Any, _REQUIRED]  # Raw
    user_priority: int
    payload: Any = UNSET
    processors: int | UnsetType = UNSET


class Matches(Struct):
    """The jobs for a request."""

    matches: list[Match]


Errors = Annotated[
    list[dict[str, Any]],
    Meta(description='Errors of the run: [{"source": "pilot", "code": 1305, "text": "..."}], at most seven.'),
]
Used = Annotated[
    dict[str, Any], Meta(description='What the run used: {"cpu": seconds, "wall": seconds, "ram": MB, "cores": n}.')
]
Host = Annotated[str, Meta(description="The worker node.")]


class Report(Request, omit_defaults=True):
    """A report on a job. status: starting, running, holding or transferring; left out = running, null = a heartbeat.
    An end without facts (error, used, host) takes over those of reports."""

    job_id: JobId
    attempt: Attempt
    status: str | UnsetType | None = UNSET
    error: Errors | UnsetType | None = UNSET
    used: Used | UnsetType | None = UNSET
    host: Host | UnsetType = UNSET


class Finish(Request, omit_defaults=True):
    """The end of a job. outcome: finished, failed, cancelled or closed; left out = finished."""

    job_id: JobId
    attempt: Attempt
    outcome: str | UnsetType = UNSET
    error: Errors | UnsetType | None = UNSET
    used: Used | UnsetType | None = UNSET
    host: Host | UnsetType = UNSET


class Exchange(MatchRequest):
    """End jobs, then ask for jobs. ends: as for `finish`. A call that is refused before it waits has ended nothing.
    Idempotency-Key or request_id covers both: the same call gives the same answers and the same jobs within ten
    minutes."""

    ends: Annotated[list[Finish], Meta(max_length=1000, description="Jobs that have ended.")] = []


class Release(Request):
    """A job to be given back."""

    job_id: JobId
    attempt: Attempt


class Reported(Struct):
    """The answer to a report: continue, kill, stale (stop working on the job) or refused, with a reason."""

    job_id: JobId
    action: str
    reason: str | None


class Finished(Struct):
    """The result of an end: the outcome, stale or refused, with a reason."""

    job_id: JobId
    outcome: str
    reason: str | None


class Exchanged(Struct):
    """The results of the ends, and the jobs for the request; none if nothing fits now."""

    ended: list[Finished]
    matches: list[Match]


class ItemError(Struct):
    """The reason why one of many items was refused."""

    code: str | None
    message: str
    hint: str | None


class Released(Struct):
    """The result of giving back a job. A job that was marked for kill has ended instead."""

    job_id: JobId
    released: bool
    task_queue_id: int | None
    error: ItemError | None


class NewJob(Request):
    """A job to be inserted, with an id that the submitter chooses; or jobs with the same requirements: `jobs` has an
    id, a user priority and a payload for each, and the last two may be left out. requirements: also a job of DiracX'
    matching specification. payload: the data that the agent needs to run the job, any JSON value."""

    requirements: Requirements
    job_id: Annotated[int, Meta(ge=1, le=10**12 - 1)] | UnsetType = UNSET
    user_priority: Annotated[int, Meta(ge=0, le=10)] = 1
    payload: Any = UNSET
    jobs: list[list[Any]] | UnsetType = UNSET


class Inserted(Struct):
    """The numbers of stored lines and jobs, and the ids of the jobs. new, moved, restarted: jobs that are new, that
    waited before, and that had ended."""

    stored: int
    jobs: int
    new: int
    moved: int
    restarted: int
    job_ids: list[JobId]


class JobIds(Request):
    """Jobs to be held or resumed."""

    job_ids: Annotated[list[JobId], Meta(max_length=1000)]


class Cancel(Request):
    """Jobs to be cancelled, all or none. reason: the agent gets it."""

    job_ids: Annotated[list[JobId], Meta(max_length=100_000)]
    reason: Reason = "cancelled"


class Cancelled(Struct):
    """The result: ended, kill asked, or the earlier end of the job with its outcome."""

    job_id: JobId
    answer: str


class Held(Struct):
    """Whether the state of a job changed."""

    job_id: JobId
    changed: bool
    error: ItemError | None


class Job(Struct, omit_defaults=True):
    """The state of a job, and since when. The other members depend on whether the job is brokered, and on whether its
    submitter asks."""

    job_id: JobId
    status: str
    since: datetime
    task_id: int | None = None
    queue: str | None = None
    site: str | None = None
    owner: str | None = None
    owner_group: str | None = None
    priority: int | None = None
    created_at: datetime | None = None
    heard_at: datetime | None = None
    attempts: int | None = None
    task_queue_id: int | None = None
    reason: Annotated[str | None, Meta(description="The reason why the job waits, in one word.")] = None
    why: str | None = None


class Event(Struct):
    """An event of a job in TaskQueues. Only the end of a lease has host, errors, and use (seconds, MB, processors).

    A failed end has the retry rule that decided, the passive rule before it, and the number of failures; the event
    changed has the rule with the changes of requirements. why: the reason of a cancellation."""

    at: datetime
    attempt_number: int | None
    event: str
    site: str | None
    grid_ce: str | None
    host: str | None
    error_class: str | None
    error_text: str | None
    cpu_used: float | None
    wall_used: float | None
    ram_used: float | None
    cores_used: int | None
    retry_rule: str | None
    passive_rule: str | None
    failures: int | None
    why: str | None


class Condition(Struct):
    """A condition of a job, and the number of kinds of resources seen lately that fail it."""

    condition: str
    wanted: str | None
    failing: int
    seen: int
    last_seen: datetime | None
    remark: str | None


class Candidate(Struct):
    """A queue for the jobs of a task: the broker's present decision about it, and every reason against it."""

    queue: str | None
    verdict: str
    rank: int | None
    rule: str | None
    criteria: str | None
    reason: str | None
    weight: float | None
    factors: Any
    all_reasons: list[str] | None


class ResourceRequest(Request):
    """A description of a resource."""

    resource: Resource


class Waiting(Struct):
    """Waiting jobs, by the conditions that the resource fails; an empty list means that it matches."""

    jobs: int
    task_queues: int
    failing: list[str]
    example: int
    wanted: str | None
    offered: str | None


class Restriction(Request):
    """A condition of a search: a row's column is compared with the value, or with the values (in, not in). A null
    column differs from every value; eq and neq with null test whether a column is null."""

    parameter: Annotated[str, Meta(description="A column.")]
    operator: Literal["eq", "neq", "gt", "lt", "in", "not in", "like", "not like", "regex"]
    value: str | int | float | bool | UnsetType | None = UNSET
    values: Annotated[list[str | int | float | bool], Meta(max_length=10_000)] | UnsetType = UNSET


class Order(Request):
    """A column that orders the rows."""

    parameter: str
    direction: Literal["asc", "desc"] = "asc"


Restrictions = Annotated[list[Restriction], Meta(max_length=50, description="All of them hold.")]


class Search(Request):
    """A search. parameters: columns to show; left out = all. Without sort the newest come first. cursor: that of the
    previous page, with the same search and sort."""

    parameters: Annotated[list[str], Meta(min_length=1, max_length=100)] | None = None
    search: Restrictions = []
    sort: Annotated[list[Order], Meta(max_length=10)] = []
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 100
    cursor: Annotated[str, Meta(max_length=20_000)] | None = None


class Found(Struct):
    """A page of rows. cursor: the beginning of the next page; null = this is the last page."""

    rows: list[dict[str, Any]]
    cursor: str | None


class Summary(Request):
    """Counts of rows by the values of some columns; one count without columns."""

    grouping: Annotated[list[str], Meta(max_length=10)]
    search: Restrictions = []


class Obstacle(Struct):
    """A rule that keeps a task from queues: the number of queues that it rejects first, that fail it, and that would be
    open without this rule alone."""

    rule: str
    rejects: int
    fails: int
    opens: int
    example: str | None


class Retried(Struct):
    """The result of trying a job again."""

    job_id: JobId
    answer: str


class QuarantineKey(Request):
    """The key of a quarantine. kind: host (a worker node), ce (a computing element) or site. site may be left out for a
    worker node whose requests name no site; name is left out for a site."""

    kind: Literal["host", "ce", "site"]
    site: Annotated[str, Meta(max_length=800)] | None = None
    name: Annotated[str, Meta(max_length=1020)] | None = None


class NewQuarantine(QuarantineKey, kw_only=True):
    """A worker node, computing element or site that gets no job from now on. why: reason of the
    quarantine."""

    why: Reason


class Quarantine(Struct):
    """A quarantine of an operator. since: when it began."""

    kind: str
    site: str
    name: str
    since: datetime
    why: str


class Lifted(Struct):
    """Whether there was a quarantine to lift."""

    lifted: bool


class WhatIf(Request):
    """A change that is not stored: configuration keys (`component:KEY` or `KEY`; null removes one), a world that is
    merged over the setup, a profile, other parameters of its rules, rules that are left out. tasks: the tasks to
    decide; by default all open tasks, or at most `newest` of them. force: accept keys that no shipped rule reads."""

    config: Annotated[
        dict[str, Any], Meta(title="Config", description="Configuration keys with their values.", max_length=100)
    ] = {}
    world: Annotated[dict[str, Any], Meta(title="World", description="A world, or a part of one.")] | UnsetType = UNSET
    profile: str | None = None
    parameters: Annotated[
        dict[str, dict[str, Any]], Meta(title="Parameters", description="Parameters by rule.", max_length=100)
    ] = {}
    without: Annotated[list[str], Meta(description="Rules that are left out.", max_length=100)] = []
    tasks: Annotated[list[Annotated[int, Meta(ge=0, le=2**63 - 1)]], Meta(max_length=10_000)] | None = None
    newest: Annotated[int, Meta(ge=1, le=2**31 - 1)] | None = None
    algorithm: Literal["production_task", "production_job", "analysis_job"] = "production_job"
    force: bool = False


class Change(Struct):
    """A task that is decided differently: queues or nuclei gained and lost, the best common candidate whose weight
    changed, and the best candidate before and after."""

    task_id: int
    status_before: str | None
    status_after: str | None
    gained: list[str]
    lost: list[str]
    queue: str | None
    weight_before: float | None
    weight_after: float | None
    best_before: str | None
    best_after: str | None


class QueueChange(Struct):
    """A queue or nucleus: the tasks whose best candidate it is, and the jobs that it would get if each task were
    alone."""

    queue: str
    tasks_before: int
    tasks_after: int
    jobs_before: int
    jobs_after: int


class RuleChange(Struct):
    """A rule: pairs of task and queue that it rejects before and after, those gained and lost, and an example with its
    numbers."""

    rule: str
    before: int
    after: int
    gained: int
    lost: int
    example: str | None


class Difference(Struct):
    """The effect of a change. before, after: tasks by status. not_open: named tasks that no broker works on, with the
    reasons. kept: fields of the world that no rule reads. what_if_id: the number of this kept answer."""

    before: dict[str, int]
    after: dict[str, int]
    differences: list[Change]
    not_open: dict[int, str]
    kept: list[str]
    queues: list[QueueChange]
    rules: list[RuleChange]
    what_if_id: int | UnsetType = UNSET


class KeptDifference(Struct):
    """The kept answer to a what-if: the effect that a change would have had at that time."""

    what_if_id: int
    asked_at: datetime
    asked_by: str
    change: Annotated[Any, Meta(description="What was asked.", extra_json_schema={"type": "object"})]  # Raw
    difference: Annotated[Any, Meta(description="The answer.", extra_json_schema={"type": "object"})]  # Raw


class Secret(Request):
    """The stamp and the secret of a pilot."""

    stamp: Annotated[str, Meta(max_length=1000)]
    secret: Annotated[str, Meta(max_length=1000)]


class Token(Struct):
    """A bearer token, and the seconds for which it is valid."""

    access_token: str
    token_type: str
    expires_in: int


class Health(Struct):
    """Whether it is well."""

    status: str
