"""The life of a job: allowed transitions, history, counts kept as base and changes, timeouts, who watches.

Revision: 0007, after 0006. Source: lifecycle.md (States, Statistics, Timeouts and fast rebrokerage).

A change of a job's status touches no index of workload.job but when the job starts, ends or goes back to its task, so
that most of them are heap-only, and the indexes are few: each costs every change, touched or not. What jobs were counted by until now (an index on queue, share and status) goes: counts
are kept. Jobs that are there already are counted once, here.
"""

from broker.upgrade.revisions import execute

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

TRANSITIONS = """
    - pending|- throttled|- defined|- assigned|- activated|- sent|- starting|- running|- holding|- transferring
    - finished|- failed|- cancelled|- closed
    pending throttled|pending defined|pending closed|pending failed|pending cancelled
    throttled defined|throttled closed|throttled failed|throttled cancelled
    defined assigned|defined throttled|defined closed|defined failed|defined cancelled
    assigned activated|assigned closed|assigned failed|assigned cancelled
    activated sent|activated closed|activated failed|activated cancelled
    sent starting|sent running|sent activated|sent closed|sent failed|sent cancelled
    starting running|starting activated|starting closed|starting failed|starting cancelled
    running holding|running transferring|running finished|running activated|running closed|running failed
    running cancelled
    holding transferring|holding finished|holding activated|holding closed|holding failed|holding cancelled
    transferring holding|transferring finished|transferring activated|transferring closed|transferring failed
    transferring cancelled
"""


def transitions() -> str:
    """Return the rows of workload.transition as SQL values."""
    pairs = [pair.split() for line in TRANSITIONS.split("\n") for pair in line.split("|") if pair.strip()]
    return ", ".join(f"({'null' if a == '-' else repr(a)}, '{b}')" for a, b in pairs)


def comment(kind: str, name: str, text: str) -> None:
    """Say what an object means."""
    execute("comment on {} {} is '{}'".format(kind, name, text.replace("'", "''")))


def table(name: str, meaning: str, columns: list[tuple[str, str, str]], rest: str = "", storage: str = "") -> None:
    """Make a table of (column, type, meaning)."""
    body = ", ".join([f"{column} {kind}" for column, kind, _ in columns] + ([rest] if rest else []))
    execute(f"create table {name} ({body}) {storage}")
    comment("table", name, meaning)
    for column, _, text in columns:
        comment("column", f"{name}.{column}", text)


# Constraints that cost more than the statement that they check: PostgreSQL reads each anew for each statement (20 us). Jobs
# that are loaded are checked by workload.refuse_jobs; what the calls write themselves needs none.
CHECKS = [
    (
        "workload.job",
        "job_cores_check",
        "cores > -1e9::numeric and cores < 1e9::numeric",
        "a number between -1e9 and 1e9",
    ),
    (
        "workload.job",
        "job_priority_check",
        "priority > -1e9::numeric and priority < 1e9::numeric",
        "a number between -1e9 and 1e9",
    ),
    ("workload.job", "job_cores_allowed", "cores >= 0", "0 or more"),
    ("taskqueue.lease", "lease_state_check", "state in ('matched', 'running')", None),
    ("taskqueue.ended", "ended_outcome_check", "outcome in ('finished', 'failed', 'cancelled', 'closed')", None),
]

KEY = [
    ("queue", "text", "Unified queue; null = none yet."),
    ("gshare", "text", "Global share; null = none."),
    ("resource_type", "text", "Resource type; null = none."),
    ("nucleus", "text", "Nucleus that outputs go to; null = none."),
    ("label", "text", "prodSourceLabel; null = none."),
]
USER = [
    ("user_name", "text", "User; null = none."),
    ("working_group", "text", "Working group; null = none."),
]
SETUP = ("setup", "text not null", "Tenant.")
OFTEN = "with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0)"


def upgrade() -> None:
    """Make the tables, count the jobs that are there."""
    for column, kind, meaning in [
        ("nucleus", "text", "Nucleus of its task when it was made; null = none."),
        ("number", "bigint", "Which part of its task''s input it works on, from 1; null = not made here."),
        (
            "rebrokered",
            "int not null default 0",
            "0 = its part of the input is its own; else the how-manieth job of that part it was whose work went back to the task.",
        ),
        ("previous_queues", "text[]", "Queues where its part of the input was before, oldest first; null = none."),
        ("disk_io", "float8", "diskIO of its task (kB/s per core); null = not known."),
        ("input_files", "bigint", "Files it reads; null = not made here."),
        ("input_bytes", "bigint", "Bytes of them; null = not made here."),
        ("events", "bigint", "Events of its part of the primary input; null = not made here."),
    ]:
        execute(f"alter table workload.job add column {column} {kind}")
        execute(f"comment on column workload.job.{column} is '{meaning}'")
    for on, constraint, _, _ in CHECKS:
        execute(f"alter table {on} drop constraint {constraint}")
    execute(
        """
        comment on column workload.job.modified is 'When it last changed or, for one that no JobAgent of this database has, was last heard of.';
        create sequence workload.job_id start 1000000000000;
        comment on sequence workload.job_id is 'Ids of jobs made here, from 10^12 on: those that submitters give are below.';
        alter table workload.job set (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
        drop index workload.job_queue, workload.job_analysis_started, workload.job_analysis_waiting, workload.job_task;
        create unique index job_task on workload.job (setup, task_id, number, rebrokered);
        create index job_active on workload.job (setup, task_id, queue) where ended is null;
        create index job_analysis on workload.job (setup, started) where gshare = 'User Analysis';
        """
    )
    comment("index", "workload.job_task", "Each part of a task's input is the work of one job at a time.")
    table(
        "workload.transition",
        "Which changes of a job's status there are; workload.change_status refuses all others.",
        [
            ("from_status", "text", "Status before; null = the job is made, or loaded."),
            ("to_status", "text not null", "Status after."),
        ],
        "constraint transition_key unique nulls not distinct (from_status, to_status)",
    )
    execute(f"insert into workload.transition (from_status, to_status) values {transitions()}")
    execute("create sequence workload.job_history_number")
    comment("sequence", "workload.job_history_number", "Order of the history of jobs.")
    table(
        "workload.job_history",
        "Every change of a job's status.",
        [
            SETUP,
            ("at", "timestamptz not null", "When."),
            (
                "number",
                "bigint not null default nextval('workload.job_history_number')",
                "Order of changes at one time.",
            ),
            ("job_id", "bigint not null", "Job."),
            ("from_status", "text", "Status before; null = made."),
            ("to_status", "text not null", "Status after."),
            ("role_name", "text not null", "Who: the database role that called."),
            ("why", "text", "Why: what was called, or the rule that applied."),
        ],
        storage="partition by range (at)",
    )
    execute(
        """
        create index job_history_job on workload.job_history (setup, job_id, at);
        create table workload.job_history_default partition of workload.job_history default;
        """
    )
    comment("table", "workload.job_history_default", "Catches changes of days that have no partition yet.")
    for column in ("setup", "at", "number", "job_id", "from_status", "to_status", "role_name", "why"):
        comment("column", f"workload.job_history_default.{column}", "As in workload.job_history.")
    table(
        "workload.job_change",
        "Changes of status that the counts below do not hold yet: one row a change, or a group of equal ones.",
        [
            SETUP,
            ("at", "timestamptz not null", "When."),
            ("jobs", "bigint not null", "Jobs that changed."),
            ("from_status", "text", "Status before; null = made."),
            ("to_status", "text", "Status after; null = forgotten."),
            ("task_id", "bigint", "Task; null = none."),
            *KEY,
            *USER,
            ("processing_type", "text", "processingType; null = none."),
            ("cores", "bigint not null", "Cores of these jobs."),
            ("disk_io", "numeric", "Sum of their diskIO; null = not known of any."),
            ("disk_io_jobs", "bigint not null", "How many of them say a diskIO."),
        ],
        storage=OFTEN,
    )
    numbers = [
        ("jobs", "bigint not null", "Jobs."),
        ("cores", "bigint not null", "Cores of them."),
    ]
    status = ("status", "text not null", "Status.")
    table(
        "workload.queue_count",
        "Jobs that have not ended, counted by what brokerage looks at; workload.job_change adds to them.",
        [
            SETUP,
            *KEY,
            status,
            *numbers,
            ("disk_io", "numeric not null", "Sum of the diskIO of those that say one."),
            ("disk_io_jobs", "bigint not null", "How many say one."),
        ],
        "constraint queue_count_key unique nulls not distinct (setup, queue, gshare, resource_type, nucleus, label, status)",
        "with (fillfactor = 50)",
    )
    table(
        "workload.user_count",
        "Jobs that have not ended, counted by user; workload.job_change adds to them.",
        [SETUP, *USER, *KEY[:2], KEY[4], ("processing_type", "text", "processingType; null = none."), status, *numbers],
        "constraint user_count_key unique nulls not distinct (setup, user_name, working_group, queue, gshare, label, processing_type, status)",
        "with (fillfactor = 50)",
    )
    table(
        "workload.task_count",
        "Jobs counted by task, ended ones among them; workload.job_change adds to them.",
        [SETUP, ("task_id", "bigint not null", "Task."), KEY[0], status, *numbers],
        "constraint task_count_key unique nulls not distinct (setup, task_id, queue, status)",
        "with (fillfactor = 50)",
    )
    table(
        "workload.start_count",
        "Jobs that began to run, by minute; workload.job_change adds to them.",
        [
            SETUP,
            *KEY[:3],
            ("minute", "timestamptz not null", "The minute, by its begin."),
            ("jobs", "bigint not null", "Jobs."),
            ("last_at", "timestamptz not null", "The last of them."),
        ],
        "constraint start_count_key unique nulls not distinct (setup, queue, gshare, resource_type, minute)",
    )
    execute(
        """
        create index user_count_group on workload.user_count (setup, working_group) where working_group <> '';
        create index start_count_last on workload.start_count (setup, queue, last_at);
        """
    )
    table(
        "workload.end_count",
        "Jobs that ended, by task, queue and minute; workload.job_change adds to them.",
        [
            SETUP,
            ("task_id", "bigint not null", "Task."),
            KEY[0],
            ("status", "text not null", "finished, failed, cancelled or closed."),
            ("minute", "timestamptz not null", "The minute, by its begin."),
            ("jobs", "bigint not null", "Jobs."),
        ],
        "constraint end_count_key unique nulls not distinct (setup, task_id, queue, status, minute)",
    )
    table(
        "resource.pilot_request",
        "Requests for jobs by pilots of queues, by ten minutes, of which not every one is noted (taskqueue.roll_up_resources).",
        [
            SETUP,
            ("queue", "text not null", "Unified queue."),
            ("since", "timestamptz not null", "Begin of the ten minutes."),
            ("requests", "bigint not null", "Requests noted."),
        ],
        "primary key (setup, queue, since), foreign key (setup) references resource.setup on delete cascade",
    )
    table(
        "workload.setting",
        "How a setup keeps what its jobs leave; a setup without a row has the defaults.",
        [
            ("setup", "text primary key", "Tenant."),
            (
                "history_kept",
                "interval not null default '30 days' check (history_kept > interval '0')",
                "How long workload.job_history is kept.",
            ),
            (
                "jobs_kept",
                "interval not null default '30 days' check (jobs_kept > interval '0')",
                "How long ended jobs are kept in workload.job.",
            ),
        ],
        "foreign key (setup) references resource.setup on delete cascade",
    )
    execute(
        """
        insert into workload.job_change (setup, at, jobs, from_status, to_status, task_id, queue, gshare, resource_type, nucleus, label,
                                         user_name, working_group, processing_type, cores, disk_io, disk_io_jobs)
        select j.setup, coalesce(max(j.state_changed), now()), count(*), null, j.status, j.task_id, j.queue, j.gshare, j.resource_type, j.nucleus, j.label,
               j.user_name, j.working_group, j.processing_type, coalesce(sum(coalesce(j.cores, 1)), 0), null, 0
          from workload.job j
         where j.status is not null
         group by j.setup, j.status, j.task_id, j.queue, j.gshare, j.resource_type, j.nucleus, j.label, j.user_name, j.working_group, j.processing_type;
        insert into workload.start_count (setup, queue, gshare, resource_type, minute, jobs, last_at)
        select j.setup, j.queue, j.gshare, j.resource_type, date_trunc('minute', j.started, 'utc'), count(*), max(j.started)
          from workload.job j where j.started is not null group by 1, 2, 3, 4, 5;
        insert into workload.end_count (setup, task_id, queue, status, minute, jobs)
        select j.setup, j.task_id, j.queue, j.status, date_trunc('minute', j.ended, 'utc'), count(*)
          from workload.job j where j.ended is not null and j.task_id is not null and j.status in ('finished', 'failed', 'cancelled', 'closed') group by 1, 2, 3, 4, 5;

        alter table taskqueue.job add column brokered boolean not null default false;
        comment on column taskqueue.job.brokered is 'It is a job of workload.job, whose status follows what becomes of it here.';
        alter table taskqueue.lease add column brokered boolean not null default false;
        comment on column taskqueue.lease.brokered is 'It is a job of workload.job, whose status follows what becomes of it here.';
        create index lease_matched on taskqueue.lease (setup, matched_at) where state = 'matched';
        alter table taskqueue.setting add column heartbeat_time interval not null default '2 hours' check (heartbeat_time > interval '0'),
                                      add column attempts int not null default 3 check (attempts > 0),
                                      add column shares text not null default 'groups' check (shares in ('groups', 'global'));
        comment on column taskqueue.setting.heartbeat_time is 'A lease of a running job expires so long after the last heartbeat; the job fails then.';
        comment on column taskqueue.setting.attempts is 'A job that was matched so often and never started fails.';
        comment on column taskqueue.setting.shares is
          'What a group that is a leaf of the global shares gets: groups = the share of its owner group, DIRAC''s law; global = by how far the share is behind in the tree.';
        alter table taskqueue.share_correction drop constraint share_correction_factor_check, add check (factor >= 0 and factor < 'infinity');
        comment on table taskqueue.share_correction is
          'Factors on the shares of groups: from the usage in the history where the setting share_correction is on (section 9), from the tree of global shares where shares is global.';
        comment on column taskqueue.share_correction.owner_dn is 'Owner; empty = the whole group, one with JobSharing or a global share.';
        comment on column taskqueue.share_correction.factor is 'Expected share / used share, within 1/5..5; of a global share what it gets by the tree / the share of its group.';
        alter table brokerage.setting add column makes_jobs boolean not null default true;
        comment on column brokerage.setting.makes_jobs is
          'Whether assigned jobs are made in this database (workload.job), as defined; false = they are made elsewhere, and what was assigned is counted for assignments_count.';
        insert into brokerage.setting as s (setup, makes_jobs) select distinct r.setup, false from brokerage.run r
        on conflict (setup) do update set makes_jobs = false;
        """
    )
    table(
        "lifecycle.setting",
        "Timeouts of a setup; a setup without a row has the defaults.",
        [
            ("setup", "text primary key", "Tenant."),
            (
                "profile",
                "text not null default 'documented' check (profile in ('documented', 'panda2026'))",
                "Whose timeouts apply: doc or panda2026.",
            ),
            ("most", "int not null default 10000 check (most > 0)", "Jobs that one call touches at most, by rule."),
        ],
        "foreign key (setup) references resource.setup on delete cascade",
    )
    table(
        "lifecycle.leader",
        "Who watches now. A lease, not a lock: every step is right with two who watch.",
        [
            ("name", "text primary key", "What is done by one at a time: watchdog."),
            ("holder", "uuid not null", "Who: a number drawn when it began."),
            ("held_by", "text not null", "Its host and process, for people."),
            (
                "expires_at",
                "timestamptz not null",
                "Until then nobody else does it; by the server's clock, not that of a setup.",
            ),
        ],
    )


def downgrade() -> None:
    """Take them away again. The counts of 0006 read the jobs themselves."""
    execute(
        """
        drop table lifecycle.leader, lifecycle.setting, resource.pilot_request, workload.setting, workload.end_count, workload.start_count, workload.task_count,
          workload.user_count, workload.queue_count, workload.job_change, workload.job_history, workload.transition;
        alter table brokerage.setting drop column makes_jobs;
        alter table taskqueue.setting drop column heartbeat_time, drop column attempts, drop column shares;
        delete from taskqueue.share_correction where factor not between 0.2 and 5;
        alter table taskqueue.share_correction drop constraint share_correction_factor_check,
          add constraint share_correction_factor_check check (factor between 0.2 and 5);
        drop index taskqueue.lease_matched;
        alter table taskqueue.lease drop column brokered;
        alter table taskqueue.job drop column brokered;
        drop index workload.job_active, workload.job_task, workload.job_analysis;
        alter table workload.job drop column nucleus, drop column number, drop column rebrokered, drop column previous_queues, drop column disk_io,
          drop column input_files, drop column input_bytes, drop column events;
        drop sequence workload.job_id, workload.job_history_number;
        alter table workload.job reset (fillfactor, autovacuum_vacuum_scale_factor, autovacuum_vacuum_cost_delay);
        create index job_queue on workload.job (setup, queue, gshare, status);
        create index job_analysis_started on workload.job (setup, started)
         where gshare = 'User Analysis' and started is not null;
        create index job_analysis_waiting on workload.job (setup, queue)
         where gshare = 'User Analysis' and status in ('activated', 'sent', 'starting');
        create index job_task on workload.job (setup, task_id);
        """
    )
    for on, constraint, condition, words in CHECKS:
        execute(f"alter table {on} add constraint {constraint} check ({condition})")
        if words:
            comment("constraint", f"{constraint} on {on}", words)
