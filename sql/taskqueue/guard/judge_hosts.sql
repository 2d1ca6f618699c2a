-- GUARD.md, Quarantines: the rows of worker nodes come first, then the sites, and then the refusals, which depend on
-- both.
create or replace function taskqueue.judge_hosts(
  p_setting taskqueue.setting, p_failing taskqueue.health[], p_ends taskqueue.counted_end[], p_now timestamptz
) returns table (action text, kind text, site text, name text, why text)
language plpgsql as $$
#variable_conflict use_column
declare
  v_setup text := p_setting.setup;
  v_site record;
begin
  insert into taskqueue.quarantine as q (setup, site, kind, name, since, why, locks, is_automatic)
  select v_setup, h.site, 'host', h.name, p_now, taskqueue.why_failing(h, p_ends), false, true
    from unnest(p_failing) h
  on conflict do nothing;
  for v_site in
    with failing as (
      select q.site, count(*) as failing from taskqueue.quarantine q
       where q.setup = v_setup and q.kind = 'host' and q.is_automatic
       group by q.site
    ), site as (
      select f.site, f.failing + h.rising as failing, greatest(f.failing + h.rising, h.hosts) as hosts
        from failing f
       cross join lateral (
         select count(*) as hosts,
                count(*) filter (
                  where o.score > p_setting.guard_score / 2
                    and not exists (select from taskqueue.quarantine q
                                     where q.setup = v_setup and q.site = o.site and q.name = o.name
                                       and q.kind = 'host')) as rising
           from taskqueue.health o
          where o.setup = v_setup and o.kind = 'host' and o.site = f.site) h
    )
    select coalesce(s.site, q.site) as site, s.failing, s.hosts, q.site is not null as is_named,
           coalesce(s.failing > greatest(3, p_setting.most_quarantined * s.hosts), false) as is_bad
      from site s
      full join (select n.site from taskqueue.quarantine n
                  where n.setup = v_setup and n.kind = 'site' and n.is_automatic) q on q.site = s.site
     order by 1
  loop
    if v_site.is_bad and not v_site.is_named then
      return query
        insert into taskqueue.quarantine as q (setup, site, kind, name, since, why, locks, is_automatic)
        values (v_setup, v_site.site, 'site', v_site.site, p_now,
                format('%s of %s worker nodes fail their jobs', v_site.failing, v_site.hosts), false, true)
        on conflict do nothing
        returning 'named', q.kind, q.site, q.name, q.why;
    elsif v_site.is_named and not v_site.is_bad then
      return query
        select 'lifted', d.*
          from (select n.kind, n.name from taskqueue.quarantine n
                 where n.setup = v_setup and n.site = v_site.site and n.is_automatic and not n.locks
                 order by n.kind desc, n.name offset 0) o
         cross join lateral taskqueue.drop_quarantine(v_setup, o.kind, v_site.site, o.name) d;
    end if;
  end loop;
  return query
    with wanted as (
      select q.site, q.name,
             p_setting.guard = 'on'
             and not exists (select from taskqueue.quarantine n
                              where n.setup = v_setup and n.kind = 'site' and n.site = q.site and n.is_automatic
                                and not (q.locks and q.since <= n.since - interval '1 hour')) as locks
        from taskqueue.quarantine q
       where q.setup = v_setup and q.kind = 'host' and q.is_automatic
       order by q.site, q.name
         for update skip locked
    ), changed as (
      update taskqueue.quarantine q
         set locks = w.locks, pause = case when w.locks then interval '10 minutes' end,
             next_probe_at = case when w.locks then p_now + interval '10 minutes' end,
             probe_job_id = null, probe_attempt = null
        from wanted w
       where q.setup = v_setup and q.site = w.site and q.name = w.name and q.kind = 'host' and q.locks <> w.locks
      returning q.*
    )
    select case when coalesce(c.locks, q.locks) then 'quarantined' else 'watched' end, q.kind, q.site, q.name, q.why
      from taskqueue.quarantine q
      left join changed c on c.site = q.site and c.name = q.name
     where q.setup = v_setup and q.kind = 'host' and q.is_automatic and (
             c.site is not null
             or exists (select from unnest(p_failing) h where h.site = q.site and h.name = q.name));
end $$;

comment on function taskqueue.judge_hosts(
  taskqueue.setting, taskqueue.health[], taskqueue.counted_end[], timestamptz) is
  'Makes rows of taskqueue.quarantine for worker nodes that fail (taskqueue.count_ends), names and lifts sites, and '
  'decides which worker nodes are refused. Returns a row per change.';
