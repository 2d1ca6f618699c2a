"""Jobs of tasks are counted by task and status, no longer by queue too.

Revision: 0009, after 0008. Source: lifecycle.md (Statistics).

A task has jobs at hundreds of queues: with the queue in the key hardly two changes of a fold met in a row, and the fold
wrote a row of counts for each change. By queue the counts of queues say it.
"""

from broker.upgrade.revisions import execute

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The key without the queue, counts added up."""
    execute("lock table workload.task_count in access exclusive mode")
    execute("""
        create temporary table kept on commit drop as
        select c.setup, c.task_id, c.status, sum(c.jobs)::bigint as jobs, sum(c.cores)::bigint as cores
          from workload.task_count c group by c.setup, c.task_id, c.status""")
    execute("drop view if exists monitor.brokered_job_count, workload.count_difference, workload.job_by_task")
    execute("truncate workload.task_count")
    execute("alter table workload.task_count drop column queue")
    execute("alter table workload.task_count add constraint task_count_key unique (setup, task_id, status)")
    execute("insert into workload.task_count (setup, task_id, status, jobs, cores) select * from kept")
    execute("drop table kept")


def downgrade() -> None:
    """The key with the queue, jobs counted anew: those that the changes left do not count yet."""
    execute("lock table workload.job, workload.job_change in share mode")
    execute("truncate workload.task_count")
    execute("alter table workload.task_count drop constraint task_count_key")
    execute("alter table workload.task_count add column queue text")
    execute("comment on column workload.task_count.queue is 'Unified queue; null = none yet.'")
    execute(
        "alter table workload.task_count"
        " add constraint task_count_key unique nulls not distinct (setup, task_id, queue, status)"
    )
    execute("""
        insert into workload.task_count (setup, task_id, queue, status, jobs, cores)
        select d.setup, d.task_id, d.queue, d.status, sum(d.jobs), sum(d.cores)
          from (select j.setup, j.task_id, j.queue, j.status, 1 as jobs, coalesce(j.cores, 1) as cores
                  from workload.job j where j.task_id is not null and j.status is not null
                union all
                select c.setup, c.task_id, c.queue, c.from_status, c.jobs, c.cores
                  from workload.job_change c where c.task_id is not null and c.from_status is not null
                union all
                select c.setup, c.task_id, c.queue, c.to_status, -c.jobs, -c.cores
                  from workload.job_change c where c.task_id is not null and c.to_status is not null) d
         group by d.setup, d.task_id, d.queue, d.status
        having sum(d.jobs) <> 0 or sum(d.cores) <> 0""")
