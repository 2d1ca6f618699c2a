-- See classes.md, Classes of tasks. Tasks of Express Analysis are S. Other tasks have the class of their user's
-- remaining slots, A, B or C, and become S when nearly done. Progress is that of the jobs in this database, and jobs
-- that are still to be made are left. A task has no class if its user has no stored slots, or only old ones.
create or replace function brokerage.task_classes(p_setup text)
returns table (task_id bigint, task_class int, reason text)
language sql stable as $$
  with config as materialized (
    select (k.of_class ->> 'PROGRESS_TO_BOOST_A')::float8 as progress_a,
           (k.of_class ->> 'MAX_REM_JOBS_TO_BOOST_A')::float8 as most_a,
           (k.of_class ->> 'PROGRESS_TO_BOOST_B')::float8 as progress_b,
           (k.of_class ->> 'MAX_REM_JOBS_TO_BOOST_B')::float8 as most_b
      from (select resource.configuration(p_setup) -> 'analy_eval') k(of_class)
  ), task as materialized (
    select t.task_id, t.user_name, t.gshare = 'Express Analysis' as is_express,
           case when u.rem_slots_a > 0 then 1
                when u.rem_slots_b > 0 then 0
                when u.rem_slots_a <= 0 and u.rem_slots_b <= 0 then -1 end as by_user
      from workload.task t
      left join resource.account u on u.setup = t.setup and u.kind = 'user' and u.name = t.user_name
                                  and brokerage.is_current(
                                    u.evaluated, (select resource.clock(p_setup)), interval '20 minutes')
     where t.setup = p_setup and t.label in ('user', 'panda')
       and t.status in ('ready', 'scouting', 'scouted', 'running', 'pending', 'throttled')
  ), made as materialized (
    select j.task_id, sum(j.jobs)::bigint as jobs,
           coalesce(sum(j.jobs) filter (where j.status = 'finished'), 0)::bigint as finished,
           coalesce(sum(j.jobs) filter (where not workload.is_end(j.status)), 0)::bigint as remaining
      from workload.job_by_task j
     where j.setup = p_setup
       and j.task_id in (select t.task_id from task t where not t.is_express and t.by_user in (0, 1))
     group by j.task_id
  ), progress as materialized (
    select m.task_id, m.jobs + u.jobs as jobs, m.finished, m.remaining + u.jobs as remaining
      from made m
      left join workload.input_digest i on i.setup = p_setup and i.task_id = m.task_id
      left join brokerage.task_state s on s.setup = p_setup and s.task_id = m.task_id
                                      and s.algorithm = 'analysis_job'
     cross join lateral (
       select greatest(coalesce(i.jobs, 0) - coalesce(s.assigned_jobs, 0), 0) as jobs) u
  )
  select t.task_id, case when t.is_express or b.is_boosted then 2 else t.by_user end,
         case
           when t.is_express then 'Express Analysis'
           when b.is_boosted then format('%s of %s jobs finished, %s left', p.finished, p.jobs, p.remaining)
           when t.by_user = 1 then format('user %s has slots left in hi-sites', t.user_name)
           when t.by_user = 0 then format('user %s has no slots left in hi-sites', t.user_name)
           else format('user %s has no slots left in hi-sites and mid-sites', t.user_name)
         end
    from task t
   cross join config c
    left join progress p on p.task_id = t.task_id
   cross join lateral (
     select coalesce(p.remaining > 0
                     and (t.by_user = 1 and p.finished * 100 >= c.progress_a * p.jobs and p.remaining <= c.most_a
                          or t.by_user = 0 and p.finished * 100 >= c.progress_b * p.jobs and p.remaining <= c.most_b),
                     false)) b(is_boosted)
   where t.is_express or t.by_user is not null
$$;

comment on function brokerage.task_classes(text) is
  'Classes of the open tasks of users (2 S, 1 A, 0 B, -1 C), with the reasons, from the remaining slots of their '
  'users and the progress of the tasks (analy_eval).';
