-- The load for analysis includes the jobs of all users of a share and label at queues (analysis-load.md, stabilizer). A
-- share is read once, whatever the resource types of its jobs.
create or replace function brokerage.load_of_analysis(
  p_setup text, p_tasks brokerage.task_facts[], p_keys brokerage.task_key[], p_queues brokerage.queue_facts[],
  p_base_profile text, p_load brokerage.load_facts[]
) returns setof brokerage.load_facts
language sql stable as $$
  with mix as materialized (
    select m.number, dense_rank() over (order by m.gshare, m.label) as share, m.gshare, m.label
      from (select distinct k.mix_number as number, t.gshare, t.label
              from unnest(p_tasks) with ordinality t
              join unnest(p_keys) with ordinality k on k.ordinality = t.ordinality) m
  ), share as materialized (
    select distinct m.share as number, m.gshare, m.label from mix m
  ), unified as materialized (
    select u.number, u.queue from brokerage.unified_queues(p_queues) u
  ), of_user as materialized (  -- running_here: the jobs of this database
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
  ), rate as materialized (
    select s.number as share, u.number as queue, sum(r.rate) filter (where r.gshare <> '') as of_share,
           sum(r.rate) filter (where r.gshare = '') as of_all
      from workload.start_rate r
      join unified u on u.queue = r.queue
      join share s on r.gshare in ('', s.gshare)
     where r.setup = p_setup
     group by s.number, u.number
  )
  select coalesce(l.place, h.place), l.running, l.starting, l.activated, l.assigned, l.defined, l.numslots,
         l.type_running, l.type_starting, l.type_activated, l.type_assigned, l.type_defined, h.users, h.users_running,
         h.of_share, h.of_all
    from unnest(p_load) l
    full join (select m.number * cardinality(p_queues) + coalesce(u.queue, x.queue) as place,
                      case when p_base_profile = 'documented' then greatest(u.listed, 1) else u.listed + 1 end as users,
                      u.running::bigint as users_running, x.of_share, x.of_all
                 from users u
                 full join rate x on x.share = u.share and x.queue = u.queue
                 join mix m on m.share = coalesce(u.share, x.share)) h on h.place = l.place
$$;

comment on function brokerage.load_of_analysis(
  text, brokerage.task_facts[], brokerage.task_key[], brokerage.queue_facts[], text, brokerage.load_facts[]) is
  'Jobs and slots at queues (brokerage.facts_of_load) with users of shares and their jobs, one row for each share with '
  'label and resource types (mix) and PanDA queue that has any.';
