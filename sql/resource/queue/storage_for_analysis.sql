-- See rules/analysis-filters.md, storage-space.
create or replace view resource.storage_for_analysis as
select a.setup, a.queue, a.direction, a.scope, a.position, a.storage
  from resource.queue_storage a
 where a.scope = 'analysis'
    or not exists (select from resource.queue_storage o
                    where o.setup = a.setup and o.queue = a.queue and o.direction = a.direction
                      and o.scope = 'analysis');

comment on view resource.storage_for_analysis is
  'Storages that analysis uses at queues: for each direction of a queue, the storages of the scope analysis if there '
  'are any, else those of the scope default.';
comment on column resource.storage_for_analysis.position is 'Order, from 1; the first is the default.';
