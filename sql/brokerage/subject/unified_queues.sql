-- Statistics, storages and links are kept by PanDA queue, also for the pseudo-queues of a unified queue.
create or replace function brokerage.unified_queues(p_queues brokerage.queue_facts[])
returns table (number bigint, queue text, storage_site text, panda_site text, is_nucleus boolean, status text,
               running_all bigint, runs_production boolean, runs_analysis boolean)
language sql immutable as $$
  select distinct on (q.unified) q.unified, q.unified_name, q.storage_site, q.panda_site, q.is_nucleus, q.status,
         q.running_all, brokerage.runs_production(q.type, q.attributes), brokerage.runs_analysis(q.type, q.attributes)
    from (select f.*, dense_rank() over (order by f.unified_name) as unified from unnest(p_queues) f) q
   order by q.unified
$$;

comment on function brokerage.unified_queues(brokerage.queue_facts[]) is
  'The PanDA queues among the candidates, with the numbers that the facts of subjects use for them.';
