-- What the users of tasks and their shares have at queues (analysis-load.md, stabilizer). Shares and users are looked
-- at once each.
create or replace function brokerage.facts_of_users(
  p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_base_profile text
) returns setof brokerage.user_facts
language sql stable as $$
  with task as materialized (
    select f.gshare, f.label, f.user_name, dense_rank() over (order by f.gshare, f.label) as share_number,
           dense_rank() over (order by f.gshare, f.label, f.user_name) as user_number
      from unnest(p_tasks) f
  ), queue as materialized (
    select f.ordinality as number, dense_rank() over (order by f.unified_name) as unified
      from unnest(p_queues) with ordinality f
  ), unified as materialized (
    select u.number, u.queue from brokerage.unified_queues(p_queues) u
  ), share as materialized (
    select distinct t.share_number as number, t.gshare, t.label from task t
  ), of_user as materialized (  -- here: of the jobs of this database
    select s.number as share, u.number as queue, x.user_name, coalesce(sum(x.queued), 0)::bigint as queued,
           coalesce(sum(x.running), 0)::bigint as running,
           coalesce(sum(x.running) filter (where x.label is not null), 0) as running_here
      from share s
      join workload.user_queue_job x on x.setup = p_setup and x.gshare = s.gshare
                                    and coalesce(x.label = s.label, x.label is null)
      join unified u on u.queue = x.queue
     group by s.number, u.number, x.user_name
    having bool_or(x.label is null) or sum(x.queued) > 0 or sum(x.running) > 0
  ), users as materialized (
    select o.share, o.queue, count(*) filter (where o.user_name <> '_total') as listed,
           coalesce(max(o.running) filter (where o.user_name = '_total') + sum(o.running_here),
                    sum(o.running)) as running
      from of_user o
     group by o.share, o.queue
  ), owner as materialized (
    select distinct on (t.user_number) t.user_number as number, t.share_number, t.user_name from task t
     order by t.user_number
  ), own as materialized (
    select w.number as owner, o.queue, o.queued, o.running
      from owner w
      join of_user o on o.share = w.share_number and o.user_name = w.user_name
  ), rate as materialized (
    select s.number as share, u.number as queue, sum(r.rate) filter (where r.gshare <> '') as of_share,
           sum(r.rate) filter (where r.gshare = '') as of_all
      from workload.start_rate r
      join unified u on u.queue = r.queue
      join share s on r.gshare in ('', s.gshare)
     where r.setup = p_setup
     group by s.number, u.number
  )
  select o.number * cardinality(p_queues) + q.number, w.queued, w.running,
         case when u.share is null then 1
              when p_base_profile = 'documented' then greatest(u.listed, 1)
              else u.listed + 1 end,
         u.running::bigint, x.of_share, x.of_all
    from owner o
   cross join queue q
    left join users u on u.share = o.share_number and u.queue = q.unified
    left join own w on w.owner = o.number and w.queue = q.unified
    left join rate x on x.share = o.share_number and x.queue = q.unified
   where u.share is not null or w.owner is not null or x.share is not null
$$;

comment on function brokerage.facts_of_users(text, brokerage.task_facts[], brokerage.queue_facts[], text) is
  'Jobs of the users of tasks and of all users of their shares, a row a user with a share and queue where there are '
  'some.';
