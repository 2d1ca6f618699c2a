create or replace view monitor.health_history as
with today (day, days) as (
  select (now() at time zone 'utc')::date,
         (select ceil(extract(epoch from coalesce(max(coalesce(s.history_kept, interval '30 days')),
                                                  interval '30 days')) / 86400)::int
            from resource.setup p
            left join taskqueue.setting s on s.setup = p.setup)
), partition as (
  select to_date(right(c.relname, 8), 'YYYYMMDD') as day
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
   where i.inhparent = 'taskqueue.history'::regclass and c.relname ~ '^history_[0-9]{8}$'
), ahead as (  -- up to the first day without a partition
  select count(*) - 1 as days
    from (select p.day - row_number() over (order by p.day)::int + 1 as begins
            from partition p, today t
           where p.day >= t.day) p,
         today t
   where p.begins = t.day
), stray as (
  select count(*) as events from (select from taskqueue.history_default limit 100000) h
)
select 'history' as area, 'partitions made ahead' as object,
       case when a.days < 0 then 'none for today' else format('%s days', a.days) end as value,
       v.verdict,
       case when v.verdict <> 'ok' then 'events go into history_default, which retention does not clear' end as cost,
       case when v.verdict <> 'ok'
            then 'call taskqueue.maintain() without a setup at least once a day; a day with events in '
                 'history_default gets no partition, but the next day does' end as remedy
  from ahead a
 cross join lateral (
   select case when a.days < 1 and exists (select from resource.setup) then 'advice' else 'ok' end as verdict) v
 union all
select 'history', 'events in history_default',
       s.events || case when s.events = 100000 then ' or more' else '' end,
       v.verdict,
       case when v.verdict <> 'ok' then 'these events stay beyond the retention, and their days get no partition' end,
       case when v.verdict <> 'ok' then 'run taskqueue.maintain() every day; existing events stay until '
                                        'somebody deletes them as broker_owner after the retention' end
  from stray s
 cross join lateral (select case when s.events > 0 then 'advice' else 'ok' end as verdict) v
 union all
select 'history', 'partitions beyond the retention', format('%s, retention is %s days', o.partitions, t.days),
       v.verdict,
       case when v.verdict <> 'ok' then 'disk: 7 GB a day at a thousand matches a second' end,
       case when v.verdict <> 'ok'
            then 'call taskqueue.maintain(); if it cannot drop them, a long transaction reads the history' end
  from today t
 cross join lateral (select count(*) as partitions from partition p where p.day < t.day - t.days - 1) o
 cross join lateral (select case when o.partitions > 0 then 'advice' else 'ok' end as verdict) v;

comment on view monitor.health_history is
  'Whether the history of TaskQueues has the partitions of the days ahead, and none beyond the retention. Part of '
  'monitor.health.';
comment on column monitor.health_history.area is 'Area of the finding: history.';
