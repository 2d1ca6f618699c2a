-- ARCHITECTURE.md, Hot rows: seen resources are appended, and rolled up in the background; only the 10,000 kinds seen
-- last are kept. A resource whose site is a PanDA queue counts as a pilot of that queue (rule no-pilot of brokerage),
-- and its GPUs as GPUs of that queue (rule software).
create or replace function taskqueue.roll_up_resources(p_setup text) returns bigint
language plpgsql as $$
declare
  v_count bigint;
begin
  with gone as (
    delete from taskqueue.resource_seen s
     where s.ctid = any (array(select i.ctid from taskqueue.resource_seen i
                                where i.setup = p_setup and i.seen_at < resource.clock(p_setup) - interval '10 seconds'
                                  for update skip locked))
    returning s.class, s.seen_at, s.matched, s.resource, s.definition_id
  ), last_match as (
    select distinct on (g.class) g.class, g.seen_at, g.definition_id
      from gone g
     where g.definition_id is not null
     order by g.class, g.seen_at desc
  ), kept as (
    insert into taskqueue.resource_class as c (setup, class, resource, first_seen, last_seen, samples, matched,
                                              matched_at, definition_id, other_matched_at)
    select p_setup, g.class, (array_agg(g.resource))[1], min(g.seen_at), max(g.seen_at), count(*),
           count(*) filter (where g.matched), m.seen_at, m.definition_id,
           max(g.seen_at) filter (where g.definition_id <> m.definition_id)
      from gone g
      left join last_match m on m.class = g.class
     group by g.class, m.seen_at, m.definition_id
     order by g.class
    on conflict (setup, class) do update
       set last_seen = greatest(c.last_seen, excluded.last_seen), samples = c.samples + excluded.samples,
           matched = c.matched + excluded.matched,
           matched_at = coalesce(excluded.matched_at, c.matched_at),
           definition_id = coalesce(excluded.definition_id, c.definition_id),
           other_matched_at = greatest(excluded.other_matched_at, c.other_matched_at,
                                       case when c.definition_id <> excluded.definition_id then c.matched_at end)
  ), pilot as (
    select q.queue, g.seen_at, g.resource
      from gone g
     cross join lateral unnest(taskqueue.text_set('Site', g.resource -> 'Site', true)) s(site)
      join resource.queue q on q.setup = p_setup and q.queue = s.site
  ), piloted as (
    insert into resource.pilot_request as p (setup, queue, since, requests)
    select p_setup, p.queue, date_bin('10 minutes', p.seen_at, 'epoch') as since, count(*)
      from pilot p
     group by p.queue, since
     order by p.queue, since
    on conflict (setup, queue, since) do update set requests = p.requests + excluded.requests
  ), with_gpu as (
    insert into resource.pilot_gpu as p (setup, queue, gpu_id, vendor, model, vram, architecture, framework_version,
                                         driver_version, last_seen)
    select p_setup, p.queue, md5(o::text)::uuid as gpu_id, o.vendor, o.model, o.vram, o.architecture,
           o.framework_version, o.driver_version, max(p.seen_at)
      from pilot p
     cross join lateral taskqueue.gpus_offered(p.resource) o
     group by p.queue, gpu_id, o.vendor, o.model, o.vram, o.architecture, o.framework_version, o.driver_version
     order by p.queue, gpu_id
    on conflict (setup, queue, gpu_id) do update set last_seen = greatest(p.last_seen, excluded.last_seen)
  )
  select count(*) into v_count from gone;
  delete from resource.pilot_request p
   where p.ctid = any (array(select i.ctid from resource.pilot_request i
                              where i.setup = p_setup and i.since < resource.clock(p_setup) - interval '1 day'
                                for update skip locked));
  delete from resource.pilot_gpu p
   where p.setup = p_setup
     and (p.last_seen < resource.clock(p_setup) - interval '1 day'
          or p.gpu_id not in (select o.gpu_id from resource.pilot_gpu o
                               where o.setup = p_setup and o.queue = p.queue
                               order by o.last_seen desc, o.gpu_id
                               limit 100));
  delete from taskqueue.resource_class c
   where c.setup = p_setup
     and c.class in (select o.class from taskqueue.resource_class o
                      where o.setup = p_setup
                      order by o.last_seen desc, o.class
                     offset 10000);
  return v_count;
end $$;

comment on function taskqueue.roll_up_resources(text) is
  'Moves the resources seen over ten seconds ago into their kinds, counts them for the PanDA queues to which they '
  'belong (resource.pilot_request), notes their GPUs (resource.pilot_gpu), and keeps the 10,000 kinds seen last; '
  'returns how many resources it moved.';
