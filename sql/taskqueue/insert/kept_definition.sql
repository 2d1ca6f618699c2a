-- LEASES.md, Ended jobs: every reader of ended jobs and of the history finds requirements here. A reader that asks for
-- one definition probes two keys.
create or replace view taskqueue.kept_definition as
select d.setup, d.definition_id, d.owner_dn, d.owner_group, d.requirements
  from taskqueue.definition d
union all
select p.setup, p.definition_id, p.requirements ->> 'OwnerDN', p.requirements ->> 'OwnerGroup', p.requirements
  from taskqueue.past_definition p;

comment on view taskqueue.kept_definition is
  'Definitions of TaskQueues and leases, and past ones (taskqueue.past_definition): each definition is in one of both '
  'at every commit. Restrict setup and definition.';
comment on column taskqueue.kept_definition.owner_dn is 'OwnerDN.';
comment on column taskqueue.kept_definition.owner_group is 'OwnerGroup.';
