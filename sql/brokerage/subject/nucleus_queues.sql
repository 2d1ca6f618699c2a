-- The queues are those of the nucleus, or of its secondary nucleus for full-chain tasks (is_chained).
create or replace function brokerage.nucleus_queues(p_setup text, p_nuclei brokerage.queue_facts[])
returns table (nucleus bigint, is_chained boolean, queue text)
language sql stable as $$
  select n.ordinality, c.is_chained, q.queue
    from unnest(p_nuclei) with ordinality n
   cross join (values (false), (true)) c(is_chained)
    left join resource.nucleus k on k.setup = p_setup and k.nucleus = n.queue
    left join brokerage.nucleus_site own on own.setup = p_setup and own.nucleus = n.queue
    join brokerage.nucleus_site s on s.setup = p_setup
     and s.nucleus = case
       when c.is_chained then coalesce(k.secondary_nucleus, own.attributes ->> 'secondaryNucleus', n.queue)
       else n.queue end
    join resource.queue q on q.setup = p_setup and q.panda_site = s.nucleus
                         and (q.role = 'nucleus' or q.queue = s.queue)
$$;

comment on function brokerage.nucleus_queues(text, brokerage.queue_facts[]) is
  'Queues whose storages count at nuclei, by the places of the nuclei.';
