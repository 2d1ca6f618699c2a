"""Values of worlds that nothing can have: ids below 0, statuses of jobs that PanDA does not know, work below 0.

Revision: 0008, after 0007. Sources: world-format.md, lifecycle.md (States).

As in 0004: what constraints allow stands in their comments, and rows that are there stay as they are until they are
changed. Jobs are checked by workload.refuse_jobs instead.

Submitters could give ids of the range of brokered jobs until now: those that have done so keep them, and brokerage goes
on behind the last.
"""

from broker.upgrade.revisions import execute

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

STATUSES = (
    "pending defined waiting assigned activated throttled sent starting running holding merging transferring"
    " finished failed cancelled closed"
).split()

CHECKS = [
    ("workload.task", "task_id", "{0} >= 0", "0 or more"),
    (
        "workload.statistic",
        "status",
        f"{{0}} in ({', '.join(map(repr, STATUSES))})",
        f"a status of jobs: {', '.join(STATUSES)}",
    ),
    ("workload.remaining_work", "work", "{0} >= 0", "0 or more"),
    ("brokerage.live_counter", "jobs", "{0} >= 0", "0 or more"),
]
"""Table, column, what holds of it, and that in words."""

PASS_IDS = """
    select setval('workload.job_id', m.job_id)
      from (select max(i.job_id) as job_id
              from (select j.job_id from taskqueue.job j union all select l.job_id from taskqueue.lease l
                    union all select e.job_id from taskqueue.ended e) i
             where i.job_id between 1000000000000 and 999999999999999999) m
     where m.job_id >= (select s.last_value + s.is_called::int from workload.job_id s)
"""


def upgrade() -> None:
    """The constraints, and what they allow in words."""
    for table, column, condition, words in CHECKS:
        name = f"{table.partition('.')[2]}_{column}_allowed"
        execute(f"alter table {table} add constraint {name} check ({condition.format(column)}) not valid")
        execute(f"comment on constraint {name} on {table} is '{words}'")
    execute(PASS_IDS)


def downgrade() -> None:
    """Drop the constraints."""
    for table, column, _, _ in CHECKS:
        execute(f"alter table {table} drop constraint {table.partition('.')[2]}_{column}_allowed")
