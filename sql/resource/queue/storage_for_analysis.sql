-- Storages that analysis uses at a queue: those of the scope analysis where a direction has some, else the default
-- ones (brokerage-rules 1.4c, storage-space).
create or replace view resource.storage_for_analysis as
select a.setup, a.queue, a.direction, a.scope, a.position, a.storage
  from resource.queue_storage a
 where a.scope = 'analysis'
    or not exists (select from resource.queue_storage o
                    where o.setup = a.setup and o.queue = a.queue and o.direction = a.direction
                      and o.scope = 'analysis');

comment on view resource.storage_for_analysis is
  'Storages that analysis uses at queues: of the scope analysis where a direction of a queue has some, else the '
  'default ones.';
comment on column resource.storage_for_analysis.setup is 'Tenant.';
comment on column resource.storage_for_analysis.queue is 'Queue.';
comment on column resource.storage_for_analysis.direction is 'read_lan (input) or write_lan (output).';
comment on column resource.storage_for_analysis.scope is 'analysis or default: which of them it is.';
comment on column resource.storage_for_analysis.position is 'Order, from 1; the first is the default.';
comment on column resource.storage_for_analysis.storage is 'Storage.';
