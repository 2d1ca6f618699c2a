"""The catalogue of lists: views of schema `monitor`, and the one public name of each of their columns.

Commands, searches over HTTP and pages are made from it. A column has the same name in `broker jobs -o`, in JSON, in a
search and in the address of a page. A statement names nothing that is not here. This module imports no SQLAlchemy, so
that the command line starts quickly; the types of the columns are in broker/tables.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Column:
    """A column of a list. source: its name in the view. heading: its heading in a table."""

    source: str
    heading: str


@dataclass(frozen=True)
class Filter:
    """An option of a command that restricts a list to the rows that fulfil a condition.

    columns: the view's columns that the condition reads. condition: with %s for each value, or without for a flag
    (kind bool); by default that the first column has the value. indexed: the rows are found by an index. names: of the
    option, if several. values: the possible values. known: a query of the values that a setup has, with %(setup)s.
    """

    columns: str
    help: str
    kind: type = str
    condition: str = ""
    indexed: bool = False
    names: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    known: str = ""

    def restriction(self, value: object) -> tuple[str, list[object]]:
        """The condition, and the values in it."""
        condition = self.condition or f"{self.columns.split()[0]} = %s"
        return condition, [value] * condition.count("%s")


@dataclass(frozen=True)
class Command:
    """A list as a command. shown: the usual columns. dropped: columns that a table leaves out if it is too wide, in
    this order. joined: a column that stands behind another one in a table, as `NAME OTHER`. paged: whether --after is
    offered. large: whether a filter without an index looks at a window only. name: of the command, if it differs from
    the list's; two words for a command of a group."""

    help: str
    shown: str
    filters: Mapping[str, Filter] = field(default_factory=dict)
    dropped: str = ""
    joined: str = ""
    of_setup: bool = True
    paged: bool = True
    large: bool = False
    name: str = ""


@dataclass(frozen=True)
class Search:
    """A list as a search over HTTP. restricted: a search names one of these columns, so that it does not read the whole
    history. late: columns cost a look-up each, so that a page in another order is found before its columns are read.
    general: rows without a setup belong to every setup."""

    restricted: tuple[str, ...] = ()
    late: bool = False
    general: bool = False


@dataclass(frozen=True)
class Page:
    """A list as a page. filters: columns that filter it. unsorted: columns that are found row by row, so that an order
    by them reads all rows."""

    shown: str
    filters: str
    unsorted: tuple[str, ...] = ()


@dataclass(frozen=True)
class List:
    """A list.

    order: columns that identify a row of a setup, each with whether the largest value comes first. nullable: those of
    them that may be null. counted: whether the rows are those of the last count of the loop summarize.
    """

    title: str
    view: str
    columns: Mapping[str, Column]
    order: tuple[tuple[str, bool], ...]
    nullable: tuple[str, ...] = ()
    counted: bool = False
    command: Command | None = None
    search: Search | None = None
    page: Page | None = None

    @property
    def key(self) -> str:
        """The column that orders it first."""
        return self.order[0][0]

    def headings(self, names: str) -> dict[str, str]:
        """Columns, separated by blanks, with their headings."""
        return {name: self.columns[name].heading for name in names.split()}


_WORDS = {
    "cpu_time": "CPU time (s)", "dry": "dry run", "grid_ce": "CE", "owner_dn": "owner", "owner_group": "group",
    "retry_at": "again", "role_name": "role", "task_queue_id": "TaskQueue", "task_queues": "TaskQueues",
    "why": "why it waits", "cpu_used": "CPU used (s)", "wall_used": "wall used (s)", "ram_used": "memory used (MB)",
}  # fmt: skip
"""Headings of columns whose names in words are not good headings."""
LINKS = {
    "job_id": "/jobs/{}", "task_id": "/tasks/{}", "queue": "/queues/{}", "site": "/sites/{}", "nucleus": "/sites/{}",
    "task_queue_id": "/task-queues/{}", "change_id": "/changes?change_id={}", "probe_job_id": "/jobs/{}",
}  # fmt: skip
"""The page to which a column links: the path below the setup; {} is the value."""


def _columns(names: str, sources: Mapping[str, str] | None = None, **headings: str) -> dict[str, Column]:
    """Columns by their public names. sources: the names of columns that the view names differently."""
    called = sources or {}
    words = _WORDS | headings
    return {
        name: Column(
            called.get(name, name), words.get(name) or name.removesuffix("_id").removesuffix("_at").replace("_", " ")
        )
        for name in names.split()
    }


_SITES = "select site from monitor.site where setup = %(setup)s"
_QUEUES = "select queue from monitor.queue where setup = %(setup)s"
_SITES_AND_QUEUES = f"{_SITES} union {_QUEUES}"
_QUEUE_STATUSES = ("online", "brokeroff", "test", "offline", "paused", "standby")  # and others that a queue has
TASK_STATUSES = tuple(
    "registered defined assigning ready pending scouting scouted running prepared done failed finished aborting aborted"
    " finishing topreprocess preprocessing tobroken broken toretry toincexec toreassign rerefine paused throttled"
    " exhausted passed staging staged merging waiting".split()
)
"""The statuses that a task may have, as in the constraint task_status_allowed."""
JOB_STATUSES = tuple(
    "pending defined waiting assigned activated throttled sent starting running holding merging transferring finished"
    " failed cancelled closed held leased".split()
)
"""The statuses that a job may have, as in workload.job_statuses, and the states in TaskQueues."""
CHANGED = (
    "CPU bucket", "TaskQueue", "alert rule", "alert target", "attribute", "compatible platform", "configuration",
    "credential", "error class", "identity", "job", "limit", "limit of instances", "owner", "owner group",
    "pilot secret", "profile", "quarantine", "retry rule", "rule", "session", "settings", "setup", "silence", "task",
    "ticket", "timeout", "token", "trial",
)  # fmt: skip
"""The kinds of objects whose changes are noted, as the callers of resource.note_change name them."""
REASONS = ("misconfigured", "too_large", "held", "unknown", "limited", "no_resource_seen", "overtaken", "waiting")
"""The reasons why jobs wait in TaskQueues, as in taskqueue.reason_of."""
_ALGORITHMS = ("production_task", "production_job", "analysis_job")
_OPEN = "{assigning,ready,scouting,running,pending}"  # statuses of tasks that a broker may take

TASK_DECISIONS = List(
    "Decisions",
    "monitor.task_decision",
    _columns(
        "run_id decided_at algorithm status jobs nucleus rule reason retry_at task_id profile trial arm dry errcode"
        " candidates rejected not_candidates changes"
    ),
    (("run_id", True),),
    command=Command(
        "List the decisions of the runs about a task.",
        "run_id decided_at algorithm status jobs nucleus rule reason retry_at",
        {"algorithm": Filter("algorithm", "", values=_ALGORITHMS), "task": Filter("task_id", "")},
        "nucleus retry_at algorithm",
    ),
)
"""The list of `broker decisions --task`."""
_GROUP = Filter("owner_group", "Only jobs of this owner group.")
_MEASURE = Filter("measure", "Only this measure.", values=("memory", "CPU time", "wall time"))
_USE = "measure jobs request median most above"
TASK_USE = List(
    "Use of memory and time",
    "monitor.use_by_task",
    _columns("owner_group measure unit jobs request median most above since"),
    (("measure", False), ("owner_group", False)),
    command=Command(
        "Compare what the jobs of a task used with what they required.",
        f"{_USE} unit since",
        {"task": Filter("task_id", ""), "group": _GROUP, "measure": _MEASURE},
        "since",
        paged=False,
    ),
)
"""The list of `broker use --task`."""
OF_TASK: Mapping[str, List] = {"decisions": TASK_DECISIONS, "use": TASK_USE}
"""The lists that --task shows in place of a list, by its name."""
OWN_JOBS = List(
    "Jobs",
    "taskqueue.own_jobs",
    _columns(
        "job_id status since site heard_at attempts reason why priority owner owner_group task_queue_id",
        {"status": "state", "priority": "user_priority", "owner": "owner_dn"},
    ),
    (("job_id", True),),
    command=Command(
        "List the jobs of the submitter that wait or are leased, newest first.",
        "job_id status since site heard_at attempts reason why",
        dropped="attempts heard_at",
    ),
    search=Search(),
)
"""A submitter's own jobs that wait or are leased, which a submitter sees in place of all jobs."""

LISTS: Mapping[str, List] = {
    "queues": List(
        "PanDA queues",
        "monitor.queue",
        _columns("queue site role status type cores waiting running cloud"),
        (("queue", False),),
        command=Command(
            "List PanDA queues with their status and their jobs.",
            "queue site role status type cores waiting running",
            {
                "site": Filter("site", "Only queues of this site.", known=_SITES),
                "status": Filter(
                    "status", "Only queues of this status, such as online.", values=_QUEUE_STATUSES,
                    known="select status from monitor.queue where setup = %(setup)s",
                ),
            },
            "role type",
        ),
        search=Search(),
        page=Page("queue site status role type cores waiting running", "site status role type cloud"),
    ),
    "sites": List(
        "Sites",
        "monitor.site",
        _columns(
            "site status waiting_cores starting_cores running_cores failures limits limits_reached pilots_seen queues"
            " online waiting starting running quarantined quarantine",
            limits_reached="reached", waiting="waiting jobs", starting="starting jobs", running="running jobs",
        ),
        (("site", False),),
        command=Command(
            "List sites with their cores, failures and limits. The failures are those of the last hour; the list"
            " shows when pilots were last seen, too.",
            "site status waiting_cores starting_cores running_cores failures quarantined limits limits_reached"
            " pilots_seen",
            {
                "site": Filter("site", "Only this site.", known=_SITES),
                "full": Filter("limits_reached", "Only sites with a limit that is reached.", bool,
                               "limits_reached > 0"),
            },
            "limits_reached limits quarantined",
        ),
    ),
    "tasks": List(
        "Tasks",
        "monitor.task",
        _columns(
            "task_id status owner share priority nucleus jobs jobs_left finished why next_try label algorithm run_id"
            " retry_at not_due reason max_attempt",
            {"owner": "user_name", "share": "gshare"},
            jobs_left="unassigned", run_id="last run", reason="waits for",
        ),
        (("task_id", True),),
        command=Command(
            "List tasks, newest first, and why they wait.",
            "task_id status owner share priority nucleus jobs jobs_left finished why next_try",
            {
                "status": Filter("status", "Only tasks of this status, such as running.", values=TASK_STATUSES),
                "owner": Filter("user_name", "Only tasks of this owner, PanDA's user."),
                "share": Filter(
                    "gshare", "Only tasks of this global share.",
                    known="select gshare from monitor.share_tree where setup = %(setup)s",
                ),
                "nucleus": Filter("nucleus", "Only tasks of this nucleus.", known=_SITES),
                "waiting": Filter(
                    "status jobs_left", "Only tasks that a broker may take and that have jobs to assign.", bool,
                    f"status = any ('{_OPEN}') and jobs_left > 0",
                ),
            },
            "finished priority jobs_left owner share nucleus",
            joined="next_try why",
            large=True,
        ),
        search=Search(),
        page=Page(
            "task_id status reason owner share priority nucleus jobs jobs_left finished why next_try",
            "status reason owner share nucleus algorithm",
        ),
    ),
    "jobs": List(
        "Jobs",
        "monitor.listed_job",
        _columns(
            "job_id status since task_id queue site owner owner_group priority created_at",
            {"owner": "user_name", "owner_group": "gshare", "created_at": "created"},
            owner_group="group or share",
        ),
        (("job_id", True),),
        command=Command(
            "List jobs, newest first, with their status, task and queue.",
            "job_id status since task_id queue site owner",
            {
                "status": Filter(
                    "status", "Only jobs of this status or state, such as activated, waiting or leased.",
                    names=("--status", "--state"), values=JOB_STATUSES,
                ),
                "task": Filter("task_id", "Only jobs of this task.", int, indexed=True),
                "queue": Filter("queue", "Only jobs of this PanDA queue.", known=_QUEUES),
                "site": Filter("queue site", "Only jobs of this site or queue.", condition="(queue = %s or site = %s)",
                               known=_SITES_AND_QUEUES),
                "owner": Filter("user_name", "Only jobs of this owner; for brokered jobs, PanDA's user."),
                "group": Filter("gshare", "Only jobs of this owner group; for brokered jobs, the global share."),
            },
            "site owner",
            large=True,
        ),
        search=Search(late=True),
        page=Page(
            "job_id status since task_id queue site owner owner_group priority",
            "status task_id queue site owner owner_group",
        ),
    ),
    "task_queues": List(
        "TaskQueues",
        "monitor.task_queue",
        _columns(
            "task_queue_id cpu_time jobs held_jobs siblings owner_group owner state reason priority mean_weight"
            " oldest_job_at created_at requirements",
            {"owner": "owner_dn"},
            held_jobs="held", reason="waits for",
        ),
        (("task_queue_id", True),),
        search=Search(),
        page=Page(
            "task_queue_id owner_group owner cpu_time jobs held_jobs state reason oldest_job_at priority",
            "owner_group owner reason state",
            unsorted=("jobs", "held_jobs", "reason"),
        ),
    ),
    "leases": List(
        "Leases",
        "monitor.lease",
        _columns(
            "job_id attempt_number state site heard_at expires_at kill_reason owner grid_ce role_name subject"
            " matched_at reported_at expired owner_group task_queue_id user_priority requirements host error error_text"
            " cpu_used wall_used ram_used cores_used",
            {"owner": "owner_dn"},
            subject="agent",
        ),
        (("job_id", True),),
        command=Command(
            "List leased jobs, newest first. It shows where each is, when its JobAgent was last heard, and until when"
            " it has the job.",
            "job_id attempt_number state site host heard_at expires_at kill_reason owner",
            {
                "site": Filter("site", "Only leases of this site.", known=_SITES_AND_QUEUES),
                "state": Filter(
                    "state", "Only leases of this state: matched, until the first report, then running.",
                    names=("--state", "--status"), values=("matched", "running"),
                ),
                "overdue": Filter("expired", "Only leases that expired and were not taken back yet.", bool, "expired"),
            },
            "kill_reason owner host",
            large=True,
        ),
        search=Search(),
        page=Page(
            "job_id attempt_number state site grid_ce host owner_group owner matched_at heard_at expires_at subject",
            "state site grid_ce host owner_group owner",
        ),
    ),
    "runs": List(
        "Decisions",
        "monitor.run",
        _columns(
            "run_id started_at algorithm profile trial dry tasks with_candidates pending throttled failed ended_at"
            " called_by",
        ),
        (("run_id", True),),
        command=Command(
            "List the runs of the brokers, newest first. Each has the results of its tasks; --task: runs of a task.",
            "run_id started_at algorithm profile trial dry tasks with_candidates pending throttled failed",
            {
                "algorithm": Filter("algorithm", "Only runs of production_task, production_job or analysis_job.",
                                    values=_ALGORITHMS),
                "task": Filter("task_id", "Show the decisions of the runs about this task, with reasons.", int),
            },
            "dry profile trial throttled",
            name="decisions",
        ),
    ),
    "verdicts": List(
        "Verdicts",
        "monitor.verdict",
        _columns(
            "run_id task_id rank jobs queue algorithm profile verdict rule criteria reason dry weight decided_at"
        ),
        (("run_id", True), ("task_id", True), ("queue", False)),
        nullable=("queue",),
        search=Search(restricted=("run_id", "task_id")),
    ),
    "changes": List(
        "Changes",
        "monitor.change",
        _columns("change_id at object name before after role_name subject", at="when", object="of", subject="by"),
        (("change_id", True),),
        command=Command(
            "List what people changed, and who did it, newest first. That is configuration, credentials, holds and"
            " cancelled jobs.",
            "change_id at object name before after role_name subject",
            {
                "of": Filter("object", "Only changes of this kind of object, such as limit, settings or job.",
                             values=CHANGED),
                "name": Filter("name", "Only changes of objects with this name."),
                "by": Filter("role_name subject", "Only changes by this role or caller.",
                             condition="(role_name = %s or subject = %s)"),
            },
            "subject role_name",
        ),
        search=Search(general=True),
        page=Page(
            "at object name before after role_name subject change_id", "object name role_name subject change_id"
        ),
    ),
    "events": List(
        "Events",
        "monitor.job_event",
        _columns(
            "at job_id attempt_number task_queue_id event site grid_ce role_name subject host error_class error"
            " error_text cpu_used wall_used ram_used cores_used retry_rule passive_rule failures why",
        ),
        (("at", True), ("job_id", True), ("attempt_number", True), ("event", False)),
        search=Search(restricted=("job_id", "at")),
    ),
    "failures": List(
        "Failed jobs",
        "monitor.failure",
        _columns(
            "at job_id attempt_number site host class source code text task_id owner owner_group grid_ce error"
            " error_text cpu_used wall_used ram_used cores_used",
            {"owner": "owner_dn"},
            at="when",
        ),
        (("at", True), ("job_id", True), ("attempt_number", True)),
        search=Search(),
        page=Page(
            "at job_id attempt_number site host class source code text task_id owner_group owner",
            "site host class source code task_id owner_group owner",
            unsorted=(
                *("at", "job_id", "attempt_number", "site", "host", "class", "source", "code", "text", "task_id"),
                *("owner_group", "owner"),
            ),
        ),
    ),
    "use": List(
        "Use of memory and time",
        "monitor.use_by_group",
        _columns("owner_group measure unit jobs request median most above since"),
        (("owner_group", False), ("measure", False)),
        command=Command(
            "Compare what jobs used with what they required. That is memory and time, by owner group; --task: of a"
            " task.",
            f"owner_group {_USE} unit since",
            {"group": _GROUP, "measure": _MEASURE, "task": Filter("task_id", "Show the jobs of this task.", int)},
            "since",
            paged=False,
        ),
        search=Search(),
        page=Page(f"owner_group {_USE} unit since", "owner_group measure"),
    ),
    "reasons": List(
        "Reasons",
        "monitor.waiting_by_reason",
        _columns(
            "reason owner_group cpu_time jobs task_queues waits age oldest_job_at counted_at meaning",
            waits="oldest waits", age="counted ago",
        ),
        (("jobs", True), ("reason", False), ("owner_group", False), ("cpu_time", False)),
        counted=True,
        command=Command(
            "List why jobs wait in TaskQueues, the most jobs first. Each reason has a line for an owner group and a"
            " CPU bucket.",
            "reason owner_group cpu_time jobs task_queues waits age meaning",
            {
                "reason": Filter("reason", "Only this reason, such as too_large.", values=REASONS),
                "group": Filter("owner_group", "Only jobs of this owner group."),
            },
            "meaning task_queues age waits",
            paged=False,
        ),
    ),
    "limits": List(
        "Limits",
        "monitor.site_limit",
        _columns(
            "limit_id site grid_ce kind attribute value ceiling delay burst used reached jobs task_queues",
            jobs="jobs concerned", task_queues="TaskQueues concerned",
        ),
        (("limit_id", False),),
        command=Command(
            "List the limits of sites, and how far each is used. It counts the jobs that wait because of a limit.",
            "limit_id site grid_ce kind attribute value ceiling delay burst used reached jobs",
            {
                "site": Filter("site", "Only limits of this site.", known=_SITES_AND_QUEUES),
                "reached": Filter("reached", "Only limits that are reached.", bool, "reached"),
            },
            "grid_ce burst delay",
        ),
    ),
    "quarantines": List(
        "Quarantines",
        "monitor.quarantine",
        _columns(
            "kind site name state made_by since next_probe_at why probe_job_id probed_at score",
            made_by="by", why="why",
        ),
        (("site", False), ("kind", False), ("name", False)),
        command=Command(
            "List quarantines, and what the guard watches. Quarantines are refused, worker nodes that the guard would"
            " quarantine are watched, and sites are named.",
            "name site kind state made_by since next_probe_at why",
            {
                "site": Filter("site", "Only quarantines of this site.", known=_SITES_AND_QUEUES),
                "state": Filter("state", "Only quarantines of this state.", values=("refused", "watched", "named")),
                "kind": Filter("kind", "Only worker nodes (host), computing elements (ce) or sites (site).",
                               values=("host", "ce", "site")),
            },
            paged=False,
            name="quarantine list",
        ),
        search=Search(),
        page=Page(
            "kind site name state made_by since next_probe_at probe_job_id score why", "site state kind name made_by"
        ),
    ),
    "resources": List(
        "Resources",
        "monitor.resource_seen",
        _columns("last_seen first_seen samples matched resource class"),
        (("last_seen", True), ("class", False)),
        command=Command(
            "List the kinds of resources that asked for jobs lately. The latest comes first.",
            "last_seen first_seen samples matched resource",
            {
                "site": Filter(
                    "resource", "Only resources of this site.", condition="resource -> 'Site' @> to_jsonb(%s::text)",
                    known=_SITES_AND_QUEUES,
                ),
            },
            "first_seen",
            paged=False,
        ),
    ),
    "attributes": List(
        "Attributes offered lately",
        "monitor.offered_attribute",
        _columns("site attribute type kinds lowest highest values last_seen noted_at", noted_at="read by brokerage"),
        (("site", False), ("attribute", False)),
        command=Command(
            "List the attributes that resources offered lately. They come by site, with their values.",
            "site attribute type kinds lowest highest values last_seen noted_at",
            {
                "site": Filter("site", "Only attributes that resources of this site offer.", known=_SITES_AND_QUEUES),
                "attribute": Filter(
                    "attribute", "Only this attribute, such as gpu.count.",
                    known="select name from monitor.attribute where setup = %(setup)s",
                ),
            },
            "last_seen type noted_at",
            paged=False,
        ),
        search=Search(),
        page=Page("site attribute type kinds lowest highest values last_seen", "site attribute type",
                  unsorted=("lowest", "highest")),
    ),
    "setups": List(
        "Setups",
        "monitor.setup",
        _columns(
            "setup created_at simulated task_queues identities shares", simulated="simulated time",
        ),
        (("setup", False),),
        command=Command(
            "List the setups of this database, with how much they hold.",
            "setup created_at simulated task_queues identities shares",
            dropped="simulated",
            of_setup=False,
        ),
    ),
}  # fmt: skip
