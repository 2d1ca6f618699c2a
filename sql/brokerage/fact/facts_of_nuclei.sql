-- Nuclei are candidates like queues, but only the columns set here count (task-brokerage.md, task-nucleus-list).
create or replace function brokerage.facts_of_nuclei(p_setup text) returns setof brokerage.queue_facts
language sql stable as $$
  with nucleus as materialized (
    select s.nucleus from brokerage.nucleus_site s where s.setup = p_setup
    union
    select n.nucleus from resource.nucleus n where n.setup = p_setup
  ), backlog as materialized (
    select l.dst as nucleus, sum(coalesce(l.queued, 0)) as queued
      from brokerage.link_figures(p_setup) l
     group by l.dst
  ), work as materialized (
    select w.nucleus, sum(w.work) as work
      from brokerage.work_at_nucleus w
     where w.setup = p_setup and w.gshare = ''
     group by w.nucleus
  ), storage as materialized (
    select distinct s.panda_site as nucleus
      from resource.queue s
      join resource.queue_storage o on o.setup = s.setup and o.queue = s.queue and o.direction = 'write_lan'
                                   and o.scope = 'default'
     where s.setup = p_setup and s.role = 'nucleus'
  )
  select r.*
    from nucleus n
    left join brokerage.nucleus_site s on s.setup = p_setup and s.nucleus = n.nucleus
    left join resource.nucleus k on k.setup = p_setup and k.nucleus = n.nucleus
    left join backlog b on b.nucleus = n.nucleus
    left join work w on w.nucleus = n.nucleus
    left join storage o on o.nucleus = n.nucleus
   cross join lateral jsonb_populate_record(null::brokerage.queue_facts, jsonb_build_object(
           'queue', n.nucleus, 'unified_name', n.nucleus, 'panda_site', n.nucleus,
           'is_nucleus', coalesce(s.is_nucleus, false),
           'status', coalesce(k.state, 'ACTIVE'),
           'bare_nucleus', brokerage.bare_nucleus(k.bare_nucleus, s.attributes),
           'queued_into',
           case k.backlogged when true then 'Infinity' when false then '0' else coalesce(b.queued, 0)::text end,
           'remaining_work', coalesce(w.work, 0),
           'has_output_storage', o.nucleus is not null,
           'attributes', coalesce(s.attributes, '{}'))) r
$$;

comment on function brokerage.facts_of_nuclei(text) is
  'The nuclei of a setup as rules of production_task see them, including satellites with a bareNucleus mode and sites '
  'of resource.nucleus; one row per nucleus.';
