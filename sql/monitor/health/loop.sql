-- The view uses now() and not the clock of a setup, because leads expire by the server's clock. A renewal time in the
-- future was written before the clock was put back; a living process renews its lead within seconds.
create or replace view monitor.loop as
with known as (
  select l.setup, l.name,
         case when b.setup is null or l.setup is not null then l.held_by end as held_by,
         l.renewed_at, l.expires_at, l.period, l.began_at, l.ended_at,
         case when b.setup is null
              then (select string_agg(concat_ws(': ', nullif(e.key, ''), e.value), '; ' order by e.key)
                      from jsonb_each_text(l.errors) e)
              else coalesce(l.errors ->> b.setup, case when l.errors ? '' then 'the round failed' end) end as error,
         l.failing_since,
         l.holder is null as stopped,
         l.holder is not null and l.expires_at > now() and l.renewed_at < now() + interval '1 minute' as leads,
         case when l.began_at > l.ended_at or l.ended_at is null then now() - l.began_at end as under_way,
         exists (select from lifecycle.needed_loop n
                  where n.name = l.name and (l.setup is null or n.setup = l.setup)) as needed
    from lifecycle.loop l
   cross join (select resource.bound_setup() as setup) b
)
select k.setup, k.name,
       case when k.stopped then 'stopped'
            when not k.leads then 'nobody leads'
            when k.under_way > greatest(10 * k.period, interval '10 minutes') then 'slow'
            when k.error is not null then 'failing'
            else 'well' end as state,
       k.needed, k.held_by, k.renewed_at, k.expires_at, k.period, k.began_at, k.ended_at, k.error,
       case when k.error is not null then k.failing_since end as failing_since
  from known k
 where (k.leads or k.setup is null
        or not exists (select from known a where a.name = k.name and a.setup is null and a.leads))
   and (k.setup = (select resource.bound_setup())) is not false
 union all
select n.setup, n.name, 'never ran', true, null, null, null, null, null, null, null, null
  from lifecycle.needed_loop n
 where not exists (select from lifecycle.loop l where l.name = n.name and (l.setup is null or l.setup = n.setup));

comment on view monitor.loop is
  'The loops of `broker run`: who works on each, and how the last rounds went. Loops that a setup needs and that never '
  'ran are included. A loop of one setup that nobody leads is left out while a loop of all setups is led. '
  '`broker loops` prints the view.';
comment on column monitor.loop.setup is 'Setup that the loop works on; null = all setups.';
comment on column monitor.loop.name is
  'Name of the loop: guard, maintain, watchdog, summarize, sample, notify, classify, schedule, assign-tasks, '
  'assign-jobs or assign-analysis.';
comment on column monitor.loop.state is
  'State of the loop: well, failing (the last round had an error), slow (a round has been running for ten periods and '
  'ten minutes), stopped (its process ended in order), nobody leads (its process died), or never ran.';
comment on column monitor.loop.needed is 'Whether a setup needs the loop (lifecycle.needed_loop).';
comment on column monitor.loop.error is
  'Failures of the last round by setup, in one text; null = the round had no failure. Through the service, the '
  'failures of the setup.';
