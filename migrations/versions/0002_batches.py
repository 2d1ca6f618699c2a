"""Batches: the draws of several jobs side by side.

Revision: 0002, after 0001
"""

from broker.upgrade.revisions import execute

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The type that taskqueue.lease_batch works with."""
    execute(
        """
        create type taskqueue.stream as (
          number        int,
          seed          bigint,
          entry         int,
          points        int,
          above         float8,
          task_queue_id bigint,
          definition_id bigint,
          turn          bigint,
          jobs          bigint,
          job_id        bigint,
          user_priority smallint,
          attempt       text
        );
        comment on type taskqueue.stream is 'The draws of one job of a batch, and how far they are (section 5).';
        comment on column taskqueue.stream.number is 'The how-manieth job of the batch it is.';
        comment on column taskqueue.stream.seed is 'Seed of its draws.';
        comment on column taskqueue.stream.entry is 'Number of the CPU bucket in which a queue is drawn; 0 = all buckets are through.';
        comment on column taskqueue.stream.points is 'Points drawn in that bucket (taskqueue.queue_point).';
        comment on column taskqueue.stream.above is 'Key of the last point.';
        comment on column taskqueue.stream.task_queue_id is 'Queue that was drawn, of which a job is to be picked; null = none yet.';
        comment on column taskqueue.stream.definition_id is 'Definition of that queue.';
        comment on column taskqueue.stream.turn is 'The how-manieth of the batch to pick a job of that queue.';
        comment on column taskqueue.stream.jobs is 'Jobs of that queue when its turn had come, the one picked included.';
        comment on column taskqueue.stream.job_id is 'Job that was leased; null = none yet.';
        comment on column taskqueue.stream.user_priority is 'Its user priority.';
        comment on column taskqueue.stream.attempt is 'Its attempt, as the agent presents it.';
        """
    )


def downgrade() -> None:
    """Take back what upgrade() made."""
    execute("drop type taskqueue.stream")
