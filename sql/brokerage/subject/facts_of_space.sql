-- task-weights.md, Factors, defines the space. For each token one storage of each nucleus counts.
create or replace function brokerage.facts_of_space(
  p_setup text, p_keys brokerage.nucleus_key[], p_nuclei brokerage.queue_facts[], p_base_profile text
) returns setof brokerage.space_facts
language sql stable as $$
  with nucleus as materialized (
    select f.ordinality as number, f.remaining_work from unnest(p_nuclei) with ordinality f
  ), output as materialized (
    select distinct on (n.nucleus, n.is_chained, o.storage) n.nucleus, n.is_chained, o.storage,
           o.position = 1
           and n.queue = min(n.queue collate "C") over (partition by n.nucleus, n.is_chained) as is_default,
           s.type, s.read_wan, s.write_wan, s.space_total,
           coalesce(s.space_free, 0) + coalesce(s.space_expired, 0)
           - case when p_base_profile = 'documented' then 0
                  else coalesce(s.space_min_free, 0) + coalesce(s.space_unavailable, 0) end as space
      from brokerage.nucleus_queues(p_setup, p_nuclei) n
      join resource.queue_storage o on o.setup = p_setup and o.queue = n.queue and o.direction = 'write_lan'
                                   and o.scope = 'default'
      left join resource.storage s on s.setup = p_setup and s.storage = o.storage
     order by n.nucleus, n.is_chained, o.storage, 4 desc
  ), token as materialized (
    select o.outlet, o.is_chained, k.token
      from (select distinct on (k.outlet) k.outlet, k.is_chained, k.tokens
              from unnest(p_keys) k
             where k.outlet is not null
             order by k.outlet) o
     cross join unnest(o.tokens) k(token)
  ), place as materialized (  -- the storage of each nucleus for each token
    select distinct on (k.token, k.is_chained, o.nucleus) k.token, k.is_chained, o.nucleus, o.storage, o.space,
           o.space_total, o.read_wan, o.write_wan
      from (select distinct token.token, token.is_chained from token) k
      join output o
        on o.is_chained = k.is_chained
       and case when k.token = '' then o.is_default else brokerage.token_fit(k.token, o.storage, o.type) is not null end
     order by k.token, k.is_chained, o.nucleus, brokerage.token_fit(k.token, o.storage, o.type),
              o.is_default desc, o.storage collate "C"
  )
  select k.outlet * cardinality(p_nuclei) + n.number, coalesce(min(p.space), 0),
         (array_agg(p.space order by (p.space - trunc(brokerage.space_for(n.remaining_work))) / p.space_total,
                                     p.storage) filter (where p.space_total > 0))[1],
         (array_agg(p.space_total order by (p.space - trunc(brokerage.space_for(n.remaining_work))) / p.space_total,
                                           p.storage) filter (where p.space_total > 0))[1],
         min(case k.token when '' then 'it has no output storage'
                          else format('no storage there fits its output token %s', k.token)
                               || coalesce(', which is ' || resource.pattern_problem(k.token), '') end)
           filter (where p.storage is null),
         coalesce(min(format('-source_blacklist: read_wan of %s is %s', p.storage,
                             p.read_wan)) filter (where p.read_wan in ('OFF', 'TEST')),
                  min(format('-destination_blacklist: write_wan of %s is %s', p.storage,
                             p.write_wan)) filter (where p.write_wan in ('OFF', 'TEST')))
    from token k
   cross join nucleus n
    left join place p on p.token = k.token and p.is_chained = k.is_chained and p.nucleus = n.number
   group by k.outlet * cardinality(p_nuclei) + n.number
$$;

comment on function brokerage.facts_of_space(
  text, brokerage.nucleus_key[], brokerage.queue_facts[], text) is
  'Space for outputs at nuclei (GB) and problems of their storages, one row per nucleus and set of tasks with the same '
  'tokens.';
