"""The weights of the queues of each owner, summed up: a new queue is priced without counting the others.

Revision: 0003, after 0002
"""

from broker.upgrade.revisions import execute

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The table taskqueue.owner_weight, and its rows for the queues there; no call that opens or drops one is under way."""
    execute(
        """
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
    """Drop the table: all of it can be made anew."""
    execute("drop table taskqueue.owner_weight")
