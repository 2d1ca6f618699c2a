"""Batches draw their jobs side by side, and a new queue is priced by sums of the weights of its owner's queues.

Revision: 0002, after 0001
"""

from broker.upgrade.revisions import execute

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The type stream, and the table owner_weight with its rows for the queues there; no call that opens or drops one is under way."""
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

        create table taskqueue.owner_weight (
          setup       text    not null,
          owner_group text    not null,
          owner_dn    text    not null,
          light       boolean not null,
          queues      bigint  not null,
          weight      numeric not null
        ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
        create index owner_weight_owner on taskqueue.owner_weight (setup, owner_group, owner_dn);
        alter table taskqueue.owner_weight alter column setup set (n_distinct = 1);
        comment on table taskqueue.owner_weight is 'How many queues an owner has, and the sum of their mean weights: the sums over the rows.'
          ' A queue that comes, goes or weighs otherwise appends a row in the same transaction; taskqueue.fold_weights makes them few again.'
          ' Derived from task_queue.mean_weight.';
        comment on column taskqueue.owner_weight.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
        comment on column taskqueue.owner_weight.owner_group is 'OwnerGroup of the queues.';
        comment on column taskqueue.owner_weight.owner_dn is 'OwnerDN of the queues.';
        comment on column taskqueue.owner_weight.light is 'Queues of a mean draw weight of at most 0.1: background where the group allows it (section 9).';
        comment on column taskqueue.owner_weight.queues is 'Queues, or how many more or fewer there are.';
        comment on column taskqueue.owner_weight.weight is 'Sum of their mean draw weights, or the change of it; numeric, so that what goes takes away exactly what came.';
        select pg_advisory_xact_lock(hashtext('taskqueue'), hashtext(s.setup)) from resource.setup s order by s.setup;
        insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, queues, weight)
        select q.setup, q.owner_group, q.owner_dn, q.mean_weight <= 0.1, count(*), sum(q.mean_weight::numeric)
          from taskqueue.task_queue q group by 1, 2, 3, 4;
        """
    )


def downgrade() -> None:
    """Take back what upgrade() made. Known descriptions go: those of private pilots leave the owner to the draw since 0002,
    where 0001 does not look at it."""
    execute("delete from taskqueue.known_offer; drop table taskqueue.owner_weight; drop type taskqueue.stream")
