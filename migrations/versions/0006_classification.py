"""Classes of queues, users and tasks of user analysis: what they are worked out of, and when they were.

Revision: 0006, after 0005. Source: brokerage-rules.md 1.4a (share-throttle: ages) and 1.12 (classification).

A class without a time holds as it is: worlds that say classes need not say when. The kind of a resource (CRIC's
resource_type) was kept among the fields that nothing reads, and moves to a column of its own. The kinds of rules get
back their words, which 0005 lost with the constraint that it made anew.
"""

from collections.abc import Sequence

from broker.upgrade.revisions import execute

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

COLUMNS: Sequence[tuple[str, str, str, str]] = [
    ("resource.queue", "resource_type", "text", "CRIC: GRID, hpc, cloud, ...; null = GRID."),
    ("resource.queue_activity", "site_classified", "timestamptz", "When site_class was said; null = it holds as it is."),
    ("resource.account", "evaluated", "timestamptz", "When rem_slots_a and rem_slots_b were; null = they hold as they are."),
    ("resource.share", "measured", "timestamptz", "When the usage was measured; null = it holds as it is."),
    ("workload.task", "task_classified", "timestamptz", "When task_class was said; null = it holds as it is."),
    ("workload.job", "activated", "timestamptz", "Since when it waited for a worker node; null = since it was created."),
    ("workload.job", "processing_type", "text", "processingType; pmerge is a merge job; null = as its task."),
    ("workload.user_queue_statistic", "running_cores", "bigint", "Cores of the running jobs; null = one a job."),
]  # fmt: skip


STATUS = (
    "JEDI''s status; tasks in assigning are brokered to nuclei, the jobs of ready, scouting, running and pending ones."
)
STATUS_BEFORE = "JEDI''s status; ready, scouting, running and pending tasks are brokered."


def upgrade() -> None:
    """The columns, what was kept of them, and the indexes that jobs are read by."""
    execute(f"comment on column workload.task.status is '{STATUS}'")
    for table, column, kind, meaning in COLUMNS:
        bounds = ""
        if kind == "bigint":
            bounds = f" check ({column} > -1e15::numeric and {column} < 1e15::numeric)"
        execute(f"alter table {table} add column {column} {kind}{bounds}")
        execute(f"comment on column {table}.{column} is '{meaning}'")
    execute(
        """
        comment on constraint user_queue_statistic_running_cores_check on workload.user_queue_statistic
          is 'a number between -1e15 and 1e15';
        comment on constraint profile_rule_kind_check on brokerage.profile_rule
          is 'task rule, candidate, row rule, set rule, second pass, weight, choice, distribution, pending or fact';
        update resource.queue set resource_type = cric ->> 'resource_type', cric = cric - 'resource_type'
         where cric ? 'resource_type';
        create index job_analysis_started on workload.job (setup, started)
         where gshare = 'User Analysis' and started is not null;
        create index job_analysis_waiting on workload.job (setup, queue)
         where gshare = 'User Analysis' and status in ('activated', 'sent', 'starting');
        create index job_task on workload.job (setup, task_id);
        """
    )


def downgrade() -> None:
    """Drop them; the kinds of resources go back to where they were kept."""
    execute(
        """
        update resource.queue set cric = coalesce(cric, '{}') || jsonb_build_object('resource_type', resource_type)
         where resource_type is not null;
        comment on constraint profile_rule_kind_check on brokerage.profile_rule is null;
        drop index workload.job_task, workload.job_analysis_waiting, workload.job_analysis_started;
        """
    )
    execute(f"comment on column workload.task.status is '{STATUS_BEFORE}'")
    for table, column, _, _ in reversed(COLUMNS):
        execute(f"alter table {table} drop column {column}")
