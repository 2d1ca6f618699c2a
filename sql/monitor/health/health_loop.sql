-- A loop is reported if nobody has worked on it for a minute: another process needs less time to take it over.
create or replace view monitor.health_loop as
with meaning (name, cost) as (
  values
  ('maintain', 'shares, counts and resources seen get stale, matches get slower, histories get no partitions'),
  ('watchdog', 'jobs whose input came stay assigned, leases that expire stay leased, no timeout ends a job'),
  ('summarize', 'pages and metrics show old counts, and reasons why jobs wait get stale'),
  ('sample', 'the history of figures has gaps, and no alert is judged'),
  ('notify', 'no alert begins, ends or is sent'),
  ('classify', 'classes of queues, users and tasks get stale, and throttles do not act'),
  ('guard', 'no worker node is quarantined, and pauses of quarantines do not end'),
  ('schedule', 'steps are not packed onto instances, and empty instances cost money'),
  ('assign-tasks', 'tasks get no nucleus'),
  ('assign-jobs', 'jobs of production tasks are assigned to no queue'),
  ('assign-analysis', 'jobs of users'' tasks are assigned to no queue')
), worked_on as (  -- the process in the best state for each setup
  select distinct on (n.setup, n.name)
         n.setup, n.name, l.held_by, l.expires_at, l.began_at, l.error, l.failing_since,
         case when l.name is null then 'never ran'
              when l.state in ('nobody leads', 'stopped')
                   and (l.expires_at < now() - interval '1 minute' or l.renewed_at > now() + interval '1 minute')
              then l.state
              when l.state in ('slow', 'failing') then l.state
              else 'well' end as state
    from lifecycle.needed_loop n
    left join monitor.loop l
      on l.name = n.name and (l.setup is null or l.setup = n.setup) and l.renewed_at is not null
   order by n.setup, n.name, l.state in ('nobody leads', 'stopped'), l.renewed_at desc
), judged as (
  select w.name, w.state, max(w.held_by) as held_by, max(w.expires_at) as expires_at, min(w.began_at) as began_at,
         min(w.error) as error, min(w.failing_since) as failing_since, array_agg(w.setup order by w.setup) as setups
    from worked_on w
   group by w.name, w.state
)
select 'loop' as area, j.name as object,
       case j.state
            when 'never ran' then format('no %s has run yet', j.name)
            when 'nobody leads' then format('nobody has led %s since %s', j.name,
                                            to_char(j.expires_at, 'YYYY-MM-DD HH24:MI TZ'))
            when 'stopped' then format('%s was stopped at %s', coalesce(j.held_by, j.name),
                                       to_char(j.expires_at, 'YYYY-MM-DD HH24:MI TZ'))
            when 'slow' then format('the round of %s has been running since %s', coalesce(j.held_by, j.name),
                                    to_char(j.began_at, 'YYYY-MM-DD HH24:MI TZ'))
            when 'failing' then format('each round has failed since %s: %s',
                                       to_char(j.failing_since, 'YYYY-MM-DD HH24:MI TZ'), j.error)
            else format('%s leads', coalesce(j.held_by, 'a process')) end
       || case when j.state = 'well' then ''
               else format('; needed by %s', array_to_string(j.setups[1:5], ', '))
                    || case when cardinality(j.setups) > 5 then format(' and %s more', cardinality(j.setups) - 5)
                            else '' end end as value,
       v.verdict,
       case when v.verdict <> 'ok' then coalesce(m.cost, 'the work of the loop is not done') end as cost,
       case when v.verdict = 'ok' then null
            when j.state in ('slow', 'failing')
            then 'read the log of broker run there; monitor.health shows sessions that wait for a lock'
            else format('%s; a setup that needs no loops says so: '
                        'broker settings --setup %s --set lifecycle.loops=[]',
                        case when j.state = 'stopped' then 'start `broker run` or `broker serve --open` again'
                             else format('keep `broker run` running on two machines%s', ' (last: ' || j.held_by || ')')
                        end,
                        case when cardinality(j.setups) = 1 then j.setups[1] else 'NAME' end) end as remedy
  from judged j
  left join meaning m on m.name = j.name
 cross join lateral (
   select case when j.state = 'well' then 'ok'
               when j.state = 'slow'
                    or j.state = 'stopped' and j.expires_at > now() - interval '1 hour'
                    or j.state = 'failing' and j.failing_since > now() - interval '10 minutes'
               then 'advice'
               else 'problem' end as verdict) v;

comment on view monitor.health_loop is
  'Whether the loops that setups need are running: who leads them, whether rounds end, and whether they succeed. Part '
  'of monitor.health.';
comment on column monitor.health_loop.area is 'Area of the finding: loop.';
comment on column monitor.health_loop.object is 'Name of the loop.';
