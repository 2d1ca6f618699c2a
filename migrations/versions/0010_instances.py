"""Instances keep what they have and what jobs use of it; jobs why they are where they are; settings of the packing.

Revision: 0010, after 0009. Source: instance-scheduling.md; seed 002.

What is used stands on the instance, so that a constraint keeps it within what there is, whoever writes.
"""

from broker.upgrade.revisions import execute

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

INSTANCE = [
    (
        "queue",
        "text",
        "PanDA queue of kind cloud whose jobs it takes; null = it takes those that instance.add_jobs added.",
    ),
    ("cpu", "numeric", "Cores that it has; null = what its type says when it is loaded."),
    ("ram", "numeric", "Memory that it has (MB); null = what its type says when it is loaded."),
    ("price", "numeric", "Price per hour; null = what its type says when it is loaded."),
    ("used_cpu", "numeric not null default 0", "Cores of the jobs that are placed on it."),
    ("used_ram", "numeric not null default 0", "Memory (MB) of the jobs that are placed on it."),
    ("requested_at", "timestamptz", "When it was requested; null = not known."),
    ("started_at", "timestamptz", "When it was there; null = not yet, or not known."),
    ("released_at", "timestamptz", "When it was released; null = not yet, or not known."),
]
JOB = [
    ("queue", "text", "PanDA queue of kind cloud that it waits at; null = none."),
    ("taskqueue_job_id", "bigint", "Job of TaskQueues that it stands for (instance.follow_taskqueues); null = none."),
    ("reason", "text", "Why it is placed there, waits, or is unschedulable; null = no schedule has looked at it."),
    ("placed_at", "timestamptz", "When it was placed; null = it is on no instance, or not known."),
    ("ended_at", "timestamptz", "When it finished or was cancelled; null = not yet, or not known."),
]
CHECKS = [
    (
        "instance.instance",
        "instance_cpu_used",
        "used_cpu >= 0 and used_cpu <= coalesce(cpu, used_cpu)",
        "jobs use at most the cores that it has",
    ),
    (
        "instance.instance",
        "instance_ram_used",
        "used_ram >= 0 and used_ram <= coalesce(ram, used_ram)",
        "jobs use at most the memory that it has",
    ),
    ("instance.instance", "instance_cpu_allowed", "cpu > 0 and cpu < 1e9", "more than 0 and less than 1e9"),
    ("instance.instance", "instance_ram_allowed", "ram > 0 and ram < 1e15", "more than 0 and less than 1e15"),
    ("instance.instance", "instance_price_allowed", "price >= 0 and price < 1e15", "0 or more, and less than 1e15"),
    ("instance.instance", "instance_instance_id_allowed", "instance_id between 1 and 1e18", "1 to 1e18"),
    ("instance.job", "job_job_id_allowed", "job_id between 1 and 1e18", "1 to 1e18"),
    (
        "instance.job",
        "job_state_allowed",
        "state in ('waiting', 'placed', 'finished', 'cancelled', 'unschedulable')",
        "waiting, placed, finished, cancelled or unschedulable",
    ),
]
"""Table, constraint, what holds, and that in words."""

SETTINGS = """
    create table instance.setting (
      setup text primary key references resource.setup on delete cascade,
      most_instances int check (most_instances >= 0),
      most_per_task int check (most_per_task >= 0),
      first text not null default 'dearest' check (first in ('dearest', 'cheapest'))
    );
    comment on table instance.setting is 'How instances are scheduled in a setup (instance.set_settings); a setup without a row has the defaults.';
    comment on column instance.setting.setup is 'Tenant.';
    comment on column instance.setting.most_instances is 'Instances that are not released at most; null = no limit.';
    comment on column instance.setting.most_per_task is 'The same of each task that has no limit of its own; null = no limit.';
    comment on column instance.setting.first is 'Which jobs are placed first: dearest or cheapest, by the price of the instance that each requires.';
    create table instance.task_limit (
      setup text not null references resource.setup on delete cascade,
      task_id bigint not null,
      most_instances int not null check (most_instances >= 0),
      primary key (setup, task_id)
    );
    comment on table instance.task_limit is 'How many instances a task may have, where it has a limit of its own (instance.set_task_limit).';
    comment on column instance.task_limit.setup is 'Tenant.';
    comment on column instance.task_limit.task_id is 'Task.';
    comment on column instance.task_limit.most_instances is 'Instances that are not released at most.';
"""

INDEXES = """
    create index instance_live on instance.instance (setup, task_id) where state <> 'released';
    comment on index instance.instance_live is 'Instances that a task has: what jobs are placed on.';
    create index job_unplaced on instance.job (setup, task_id) where state in ('waiting', 'unschedulable');
    comment on index instance.job_unplaced is 'Jobs of a task that are on no instance.';
    create index job_placed on instance.job (setup, instance_id) where state = 'placed';
    comment on index instance.job_placed is 'Jobs that an instance has.';
    create index job_ended on instance.job (setup, ended_at) where state in ('finished', 'cancelled');
    comment on index instance.job_ended is 'Jobs that ended long ago.';
    create index instance_released on instance.instance (setup, released_at) where state = 'released';
    comment on index instance.instance_released is 'Instances that were released long ago.';
    create unique index job_of_taskqueue on instance.job (setup, taskqueue_job_id) where taskqueue_job_id is not null;
    comment on index instance.job_of_taskqueue is 'What stands for a job of TaskQueues: one job.';
"""

FILL = """
    update instance.instance i set cpu = t.cpu, ram = t.ram, price = t.price
      from resource.instance_type t where t.setup = i.setup and t.name = i.type
"""

USED = """
    update instance.instance i set used_cpu = u.cpu, used_ram = u.ram
      from (select j.setup, j.instance_id, sum(coalesce(j.cpu, 0)) as cpu, sum(coalesce(j.ram, 0)) as ram
              from instance.job j where j.state = 'placed' group by j.setup, j.instance_id) u
     where u.setup = i.setup and u.instance_id = i.instance_id
"""

STATE_BEFORE = "waiting, placed, finished, or unschedulable."


def upgrade() -> None:
    """Columns, constraints, settings, sequences of ids."""
    for table, columns in (("instance.instance", INSTANCE), ("instance.job", JOB)):
        for name, kind, meaning in columns:
            execute(f"alter table {table} add column {name} {kind}")
            execute(f"comment on column {table}.{name} is '{meaning}'")
    execute(
        "comment on column instance.job.state is 'waiting, placed, finished, cancelled, or unschedulable (no type can"
        " take it; reason says what is short).'"
    )
    execute(FILL)
    execute(USED)
    for table, name, condition, words in CHECKS:
        execute(f"alter table {table} add constraint {name} check ({condition}) not valid")
        execute(f"comment on constraint {name} on {table} is '{words}'")
    execute(SETTINGS)
    execute(INDEXES)
    for sequence, meaning in (
        ("instance_id", "Numbers of instances that instance.schedule requests."),
        ("job_id", "Numbers of jobs that are added without one."),
    ):
        execute(f"create sequence instance.{sequence}")
        execute(f"comment on sequence instance.{sequence} is '{meaning}'")
    execute(
        "select setval('instance.instance_id', max(instance_id)) from instance.instance having max(instance_id) > 0"
    )
    execute("select setval('instance.job_id', max(job_id)) from instance.job having max(job_id) > 0")


def downgrade() -> None:
    """As 0009 had it; cancelled jobs count as finished. What stood for jobs of TaskQueues goes: they are there."""
    execute("delete from instance.job where taskqueue_job_id is not null")
    execute("drop sequence instance.instance_id, instance.job_id")
    execute(
        "drop index instance.instance_live, instance.job_unplaced, instance.job_placed, instance.job_ended, instance.instance_released, instance.job_of_taskqueue"
    )
    execute("drop table instance.setting, instance.task_limit")
    for table, name, _, _ in CHECKS:
        execute(f"alter table {table} drop constraint {name}")
    execute("update instance.job set state = 'finished' where state = 'cancelled'")
    execute(f"comment on column instance.job.state is '{STATE_BEFORE}'")
    for table, columns in (("instance.instance", INSTANCE), ("instance.job", JOB)):
        for name, _, _ in columns:
            execute(f"alter table {table} drop column {name}")
