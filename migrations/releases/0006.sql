-- release: 0.1.0
-- file: brokerage/account_of.sql
create or replace function brokerage.account_of(t brokerage.task_facts) returns text
language sql stable parallel safe
as $$
  select case when t.working_group <> '' then 'group ' || t.working_group else 'user ' || coalesce(t.user_name, 'not known') end
$$;

comment on function brokerage.account_of(brokerage.task_facts) is
'Whose jobs count for the caps of a task, in words: its working group, else its user.';
-- file: brokerage/classes/classes.sql
-- The classes by the jobs here, and why.
create or replace function brokerage.classes(p_setup text, p_profile text default null)
returns table (kind text, name text, class text, reason text, figures jsonb)
language plpgsql stable
security definer set search_path = brokerage, pg_temp
as $$
declare
  v_profile text := coalesce(p_profile, (select s.profile from brokerage.setting s where s.setup = p_setup), 'doc');
begin
  perform resource.look(p_setup);
  perform brokerage.require_profile(v_profile);
  return query
    select 'queue', s.queue, (array['lo', 'mid', 'hi'])[s.site_class + 2], s.reason,
           jsonb_build_object('jobs', s.jobs, 'mean_wait', s.mean_wait, 'upper_wait', s.upper_wait, 'long_jobs', s.long_jobs, 'mean_long_wait', s.mean_long_wait)
      from brokerage.site_classes(p_setup, brokerage.flavour(v_profile)) s
    union all
    select 'user', u.user_name, case when u.rem_slots_a > 0 then 'A' when u.rem_slots_b > 0 then 'B' else 'C' end, format('%s slots in hi-sites, %s in mid-sites', u.slots_hi, u.slots_mid),
           jsonb_build_object('slots_hi', u.slots_hi, 'slots_mid', u.slots_mid, 'rem_slots_a', u.rem_slots_a, 'rem_slots_b', u.rem_slots_b)
      from brokerage.user_slots(p_setup) u
    union all
    select 'task', t.task_id::text, (array['C', 'B', 'A', 'S'])[t.task_class + 2], t.reason, '{}'::jsonb
      from brokerage.task_classes(p_setup) t
    order by 1, 2;
end $$;

comment on function brokerage.classes(text, text) is
'Classes of user analysis by the jobs here: of queues (hi, mid, lo), users (A, B, C by what they have left) and tasks (S, A, B, C), with the reason and what it was worked out of. What brokerage.classify says now; but users go by the classes of queues that are in force, tasks by what was last said of their users, so for what would be said of these call it first (in a transaction that is rolled back, to store nothing). A flavour of panda2026 looks at the waits of merge jobs alone (processing_type pmerge, or the task is_merging, or those of user gangarbt). Errors: PB001 (no such profile), PB002 (setup not granted).';
-- file: brokerage/classes/classify.sql
-- Every ten minutes or so: classes of queues hold for 60 minutes, what users have left for 20, classes of tasks for 15 (brokerage-rules 1.4a). Waits for nobody: a row that
-- somebody else holds keeps what it says till the next time.
create or replace procedure brokerage.classify(p_setup text, p_profile text default null)
language plpgsql
security definer set search_path = brokerage, pg_temp
as $$
declare
  v_profile text := coalesce(p_profile, (select s.profile from brokerage.setting s where s.setup = p_setup), 'doc');
  v_flavour text;
  v_now timestamptz := resource.clock(p_setup);
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform brokerage.require_profile(v_profile);
  v_flavour := brokerage.flavour(v_profile);
  with class as materialized (
    select s.queue, s.site_class from brokerage.site_classes(p_setup, v_flavour) s
  ), held as materialized (
    select a.queue from resource.queue_activity a where a.setup = p_setup and a.queue in (select c.queue from class c) for update skip locked
  ), said as (
    update resource.queue_activity a
       set site_class = c.site_class, site_classified = v_now
      from class c
      join held h on h.queue = c.queue
     where a.setup = p_setup and a.queue = c.queue
  )
  insert into resource.queue_activity (setup, queue, site_class, site_classified)
  select p_setup, c.queue, c.site_class, v_now
    from class c
   where not exists (select from resource.queue_activity a where a.setup = p_setup and a.queue = c.queue)
   order by c.queue
  on conflict do nothing;

  with slot as materialized (
    select s.user_name, s.rem_slots_a, s.rem_slots_b from brokerage.user_slots(p_setup) s
  ), held as materialized (
    select a.name from resource.account a where a.setup = p_setup and a.kind = 'user' and a.name in (select s.user_name from slot s) for update skip locked
  ), said as (
    update resource.account a
       set rem_slots_a = s.rem_slots_a, rem_slots_b = s.rem_slots_b, evaluated = v_now
      from slot s
      join held h on h.name = s.user_name
     where a.setup = p_setup and a.kind = 'user' and a.name = s.user_name
  )
  insert into resource.account (setup, kind, name, rem_slots_a, rem_slots_b, evaluated)
  select p_setup, 'user', s.user_name, s.rem_slots_a, s.rem_slots_b, v_now
    from slot s
   where not exists (select from resource.account a where a.setup = p_setup and a.kind = 'user' and a.name = s.user_name)
   order by s.user_name
  on conflict do nothing;

  with class as materialized (
    select t.task_id, t.task_class from brokerage.task_classes(p_setup) t
  ), held as materialized (
    select t.task_id from workload.task t where t.setup = p_setup and t.task_id in (select c.task_id from class c) for update skip locked
  )
  update workload.task t
     set task_class = c.task_class, task_classified = v_now
    from class c
    join held h on h.task_id = c.task_id
   where t.setup = p_setup and t.task_id = c.task_id;
end $$;

comment on procedure brokerage.classify(text, text) is
'Works the classes of user analysis out of the jobs here and stores them with the time: of queues (hi, mid, lo), what users have left, of tasks (S, A, B, C), in this order, each by the one before. Call it every 10 minutes. What it has no jobs for stays as it was loaded. Of which profile the law is: p_profile, else the setup''s. brokerage.classes says what it would do, and why. Errors: PB001 (no such setup or profile), PB002 (not an operator).';
-- file: brokerage/classes/is_current.sql
-- brokerage-rules 1.4a: what was measured longer ago is as if it was not.
create or replace function brokerage.is_current(p_at timestamptz, p_now timestamptz, p_most interval) returns boolean
language sql immutable parallel safe
as $$
  select coalesce(p_at >= p_now - p_most, true)
$$;

comment on function brokerage.is_current(timestamptz, timestamptz, interval) is
'Whether something said then still holds, at an age of p_most at most; without a time it does.';
-- file: brokerage/classes/site_classes.sql
-- Classes of queues for user analysis, by how long its jobs waited there (brokerage-rules 1.12, classification; D-51). Samples are jobs of User Analysis that
-- started in the last four days; a sample weighs half as much after 6 h (doc) or 12 h (panda2026, which looks at merge jobs and those of its tester alone). A queue
-- whose samples say nothing of the spread (fewer than two) has no class. The thirds are those of grid resources.
create or replace function brokerage.site_classes(p_setup text, p_flavour text)
returns table (queue text, site_class int, jobs bigint, mean_wait float8, upper_wait float8, long_jobs bigint, mean_long_wait float8, has_started boolean,
               hi_limit float8, lo_limit float8, reason text)
language sql stable
as $$
  with job as not materialized (
    select j.queue, j.created, j.activated, j.started, j.status
      from workload.job j
      left join workload.task t on t.setup = j.setup and t.task_id = j.task_id
     where j.setup = p_setup and j.gshare = 'User Analysis' and j.label in ('user', 'panda') and j.queue is not null
       and (p_flavour = 'doc' or coalesce(j.processing_type, t.processing_type) = 'pmerge' or t.is_merging or j.user_name = 'gangarbt')
  ), moment as materialized (
    select resource.clock(p_setup) as now, interval '1 hour' * case when p_flavour = 'doc' then 6 else 12 end as half
  ), sample as materialized (
    select j.queue, extract(epoch from j.started - coalesce(j.activated, j.created))::float8 as wait,
           exp(-ln(2) * extract(epoch from m.now - j.started)::float8 / extract(epoch from m.half)::float8) as weight
      from moment m
     cross join job j
     where j.started > m.now - interval '4 days' and j.started <= m.now and j.started >= coalesce(j.activated, j.created)
  ), mean as materialized (
    select s.queue, count(*) as jobs, sum(s.weight) as weight, sum(s.weight * s.wait) / sum(s.weight) as mean_wait from sample s group by s.queue
  ), bound as materialized (
    select m.queue, m.jobs, m.mean_wait, least(m.mean_wait + case when max(s.wait) > min(s.wait) then brokerage.student_t_bound(m.weight) * sqrt(sum(s.weight * (s.wait - m.mean_wait) ^ 2) / m.weight) else 0 end, 999999) as upper_wait
      from mean m
      join sample s on s.queue = m.queue
     where m.jobs > 1
     group by m.queue, m.jobs, m.weight, m.mean_wait
  ), waiting as materialized (  -- jobs that wait longer than the mean; one that starts still waits where jobs are pushed
    select b.queue, count(*) as jobs, avg(w.wait) as mean_wait
      from bound b
     cross join moment m
      join resource.queue q on q.setup = p_setup and q.queue = b.queue
      join job j on j.queue = b.queue and j.status in ('activated', 'sent', 'starting') and (j.status <> 'starting' or q.workflow like 'push%')
     cross join lateral (select extract(epoch from m.now - case when p_flavour = 'doc' then coalesce(j.activated, j.created) else j.created end)::float8) w(wait)
     where w.wait > b.mean_wait
     group by b.queue
  ), started as materialized (
    select q.queue, coalesce(bool_or(a.laststart >= m.now - interval '1 day'), false) or exists (
             select from workload.job j where j.setup = p_setup and j.queue = q.queue and j.started >= m.now - interval '1 day') as lately
      from bound q
     cross join moment m
      left join resource.queue_activity a on a.setup = p_setup and a.queue = q.queue
     group by q.queue, m.now
  ), figure as materialized (
    select b.queue, b.jobs, b.mean_wait, b.upper_wait, coalesce(w.jobs, 0) as long_jobs, coalesce(w.mean_wait, b.mean_wait) as mean_long_wait,
           greatest(b.upper_wait, coalesce(w.mean_wait, b.mean_wait)) as rank, s.lately, coalesce(q.resource_type, 'GRID') = 'GRID' as is_grid
      from bound b
      join resource.queue q on q.setup = p_setup and q.queue = b.queue
      join started s on s.queue = b.queue
      left join waiting w on w.queue = b.queue
  ), third as materialized (
    select greatest(percentile_cont(0.333) within group (order by f.rank), 3600) as hi, greatest(percentile_cont(0.667) within group (order by f.rank), 10800) as lo
      from figure f
     where f.is_grid
  )
  select f.queue, c.class, f.jobs, f.mean_wait, f.upper_wait, f.long_jobs, f.mean_long_wait, f.lately, t.hi, t.lo,
         case
           when c.class = 1 then format('waits are at most %s s, of the %s s for hi', round(f.rank), round(t.hi))
           when c.class = -1 then format('waits reach %s s, over the %s s for lo', round(f.rank), round(t.lo))
           when not f.lately then 'no job started in a day'
           when f.rank > t.hi then format('waits reach %s s, between the %s s for hi and the %s s for lo', round(f.rank), round(t.hi), round(t.lo))
           else format('%s jobs wait longer than usual', f.long_jobs)
         end
    from figure f
   cross join third t
   cross join lateral (
     select case
              when f.lately and (p_flavour = 'doc' and f.rank < t.hi and f.long_jobs < 3
                                 or p_flavour <> 'doc' and (f.rank <= t.hi or f.upper_wait <= t.hi and f.long_jobs <= 3)) then 1
              when f.rank > t.lo then -1
              else 0
            end) c(class)
$$;

comment on function brokerage.site_classes(text, text) is
'Classes of queues for user analysis (1 hi, 0 mid, -1 lo) by the jobs that started there, and why (flavour doc or panda2026): weighted mean of their waits, its bound of 95 percent, jobs that wait longer than the mean, how long these do (s), whether a job started in the last day, the limits of hi and lo (s). A queue with fewer than two samples has no row.';
-- file: brokerage/classes/student_t_bound.sql
-- Upper 95 % bound of Student's t, for degrees of freedom that need not be whole (brokerage-rules 1.12, w_cl95upp). Many: the expansion of Cornish and Fisher around
-- the normal quantile. Few: Newton's method on the incomplete beta function, whose tail is 2 * 0.05 at x = n / (n + t^2), in the logarithm of x.
create or replace function brokerage.student_t_bound(p_freedom float8) returns float8
language plpgsql immutable parallel safe
as $$
declare
  v_z constant float8 := 1.6448536269514722;
  v_a constant float8 := p_freedom / 2;
  v_log_of_beta float8;
  v_sum float8;
  v_term float8;
  v_value float8;
  v_step float8;
  v_log float8;
begin
  if p_freedom >= 60 then
    return v_z + (v_z ^ 3 + v_z) / (4 * p_freedom) + (5 * v_z ^ 5 + 16 * v_z ^ 3 + 3 * v_z) / (96 * p_freedom ^ 2)
           + (3 * v_z ^ 7 + 19 * v_z ^ 5 + 17 * v_z ^ 3 - 15 * v_z) / (384 * p_freedom ^ 3)
           + (79 * v_z ^ 9 + 776 * v_z ^ 7 + 1482 * v_z ^ 5 - 1920 * v_z ^ 3 - 945 * v_z) / (92160 * p_freedom ^ 4);
  elsif p_freedom < 0.01 then  -- beyond any wait
    return 'infinity'::float8;
  elsif p_freedom is null then
    return null;
  end if;
  -- B(a, 1/2) = sqrt(pi) * gamma(a) / gamma(a + 1/2): the quotient at a + 20 by its series, taken down by the recurrence
  select ln(pi()) / 2 - ln(a.far) / 2 - ln(1 - 1 / (8 * a.far) + 1 / (128 * a.far ^ 2) + 5 / (1024 * a.far ^ 3) - 21 / (32768 * a.far ^ 4) - 399 / (262144 * a.far ^ 5)) + sum(ln((v_a + k + 0.5) / (v_a + k)))
    into v_log_of_beta
    from (select v_a + 20) a(far), generate_series(0, 19) k
   group by a.far;
  v_log := least((ln(0.1 * v_a) + v_log_of_beta) / v_a, -1e-3);
  for v_turn in 1 .. 50 loop
    v_sum := 1 / v_a;
    v_term := 1;
    for v_n in 1 .. 2000 loop
      v_term := v_term * (v_n - 0.5) / v_n * exp(v_log);
      v_sum := v_sum + v_term / (v_a + v_n);
      exit when v_term < 1e-17 * v_sum;
    end loop;
    v_value := v_a * v_log - v_log_of_beta + ln(v_sum);
    v_step := (v_value - ln(0.1)) * v_sum * sqrt(1 - exp(v_log));
    v_log := least(v_log - v_step, v_log / 2);
    exit when abs(v_step) < 1e-13 * abs(v_log);
  end loop;
  return sqrt(p_freedom) * exp(-v_log / 2) * sqrt(1 - exp(v_log));
end $$;

comment on function brokerage.student_t_bound(float8) is
'Value that a variable of Student''s t distribution with so many degrees of freedom exceeds with a probability of 5 percent.';
-- file: brokerage/classes/task_classes.sql
-- Classes of user tasks (brokerage-rules 1.12): Express Analysis is S; others have what their users have left, A, B or C, and become S when nearly done. Progress is that
-- of the jobs here. A task whose user is not evaluated, or was too long ago, has no class.
create or replace function brokerage.task_classes(p_setup text)
returns table (task_id bigint, task_class int, reason text)
language sql stable
as $$
  with config as materialized (
    select (k.of_class ->> 'PROGRESS_TO_BOOST_A')::float8 as progress_a, (k.of_class ->> 'MAX_REM_JOBS_TO_BOOST_A')::float8 as most_a,
           (k.of_class ->> 'PROGRESS_TO_BOOST_B')::float8 as progress_b, (k.of_class ->> 'MAX_REM_JOBS_TO_BOOST_B')::float8 as most_b
      from (select resource.configuration(p_setup) -> 'analy_eval') k(of_class)
  ), task as materialized (
    select t.task_id, t.user_name, t.gshare = 'Express Analysis' as is_express,
           case when u.rem_slots_a > 0 then 1 when u.rem_slots_b > 0 then 0 when u.rem_slots_a <= 0 and u.rem_slots_b <= 0 then -1 end as by_user
      from workload.task t
      left join resource.account u on u.setup = t.setup and u.kind = 'user' and u.name = t.user_name
                                  and brokerage.is_current(u.evaluated, (select resource.clock(p_setup)), interval '20 minutes')
     where t.setup = p_setup and t.label in ('user', 'panda') and t.status in ('ready', 'scouting', 'scouted', 'running', 'pending', 'throttled')
  ), progress as materialized (
    select j.task_id, count(*) as jobs, count(*) filter (where j.status = 'finished') as finished,
           count(*) filter (where j.status not in ('finished', 'failed', 'cancelled', 'closed')) as remaining
      from workload.job j
     where j.setup = p_setup and j.task_id in (select t.task_id from task t where not t.is_express and t.by_user in (0, 1))
     group by j.task_id
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
     select coalesce(p.remaining > 0 and (t.by_user = 1 and p.finished * 100 >= c.progress_a * p.jobs and p.remaining <= c.most_a
                                          or t.by_user = 0 and p.finished * 100 >= c.progress_b * p.jobs and p.remaining <= c.most_b), false)) b(is_boosted)
   where t.is_express or t.by_user is not null
$$;

comment on function brokerage.task_classes(text) is
'Classes of the open tasks of users (2 S, 1 A, 0 B, -1 C), and why, by what their users have left and how far they are (analy_eval).';
-- file: brokerage/classes/user_slots.sql
-- How much of hi and mid sites each user has, and may still have (brokerage-rules 1.12): running cores of the shares User Analysis and Express Analysis at queues of a
-- class that is in force, on grid resources, without merge jobs. Jobs here, and counts kept elsewhere. Who has no job there is not evaluated.
create or replace function brokerage.user_slots(p_setup text)
returns table (user_name text, slots_hi bigint, slots_mid bigint, rem_slots_a float8, rem_slots_b float8)
language sql stable
as $$
  with config as materialized (
    select (c.all_keys #>> '{analy_eval,USER_USAGE_THRESHOLD_A}')::float8 as threshold_a, (c.all_keys #>> '{analy_eval,USER_USAGE_THRESHOLD_B}')::float8 as threshold_b
      from (select resource.configuration(p_setup)) c(all_keys)
  ), site as materialized (
    select a.queue, a.site_class
      from resource.queue_activity a
      join resource.queue q on q.setup = a.setup and q.queue = a.queue
     where a.setup = p_setup and a.site_class is not null and coalesce(q.resource_type, 'GRID') = 'GRID'
       and brokerage.is_current(a.site_classified, (select resource.clock(p_setup)), interval '1 hour')
  ), job as (
    select j.user_name, j.queue, sum(case when j.status = 'running' then coalesce(j.cores, 1) else 0 end) as cores
      from workload.job j
      left join workload.task t on t.setup = j.setup and t.task_id = j.task_id
     where j.setup = p_setup and j.gshare in ('User Analysis', 'Express Analysis') and j.label in ('user', 'panda')
       and j.queue in (select s.queue from site s) and j.status in ('defined', 'assigned', 'activated', 'starting', 'running')
       and coalesce(j.processing_type, t.processing_type) is distinct from 'pmerge' and t.is_merging is not true
     group by j.user_name, j.queue
    union all
    select u.user_name, u.queue, coalesce(u.running_cores, u.running, 0)
      from workload.user_queue_statistic u
     where u.setup = p_setup and u.gshare in ('User Analysis', 'Express Analysis') and u.user_name <> '_total' and coalesce(u.queued, 0) + coalesce(u.running, 0) > 0
  ), slot as (
    select j.user_name, coalesce(sum(j.cores) filter (where s.site_class = 1), 0)::bigint as hi, coalesce(sum(j.cores) filter (where s.site_class = 0), 0)::bigint as mid
      from job j
      join site s on s.queue = j.queue
     where j.user_name is not null
     group by j.user_name
  )
  select s.user_name, s.hi, s.mid, greatest(c.threshold_a - s.hi, 0), greatest(c.threshold_b - s.hi - s.mid, 0)
    from slot s
   cross join config c
$$;

comment on function brokerage.user_slots(text) is
'Running slots (cores) of users of analysis at queues of class hi and mid, and what is left to the thresholds of classes A and B (analy_eval:USER_USAGE_THRESHOLD_A and _B).';
-- file: brokerage/compare.sql
-- brokerage-doc-profile, G5: float8 where the two are clearly apart, numeric where they are not. The exact ones are computed only then,
-- and the first two must be cheap (ten operators), or the planner leaves the call in place.
create or replace function brokerage.compare(p_left float8, p_right float8, p_exact_left numeric, p_exact_right numeric) returns int
language sql stable parallel safe
as $$
  select case
    when abs(p_left - p_right) > 1e-9 * greatest(abs(p_left), abs(p_right)) then sign(p_left - p_right)::int
    else sign(p_exact_left - p_exact_right)::int
  end
$$;

comment on function brokerage.compare(float8, float8, numeric, numeric) is
'Sign of left minus right, exact however near they are; null where one is null.';
-- file: brokerage/compare_walltime.sql
-- brokerage-doc-profile, walltime, cross-multiplied (G5): a corepower of 14.54 decides right at equality.
create or replace function brokerage.compare_walltime(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events float8, p_limit float8) returns int
language sql stable parallel safe
as $$
  select case
    when t.cpu_time_is_hs06 is not true then brokerage.compare(
      t.walltime * coalesce(t.job_input_mb, 0), p_limit * brokerage.slot_cores(t, q, p),
      t.walltime::numeric * coalesce(t.job_input_mb, 0)::numeric, p_limit::numeric * brokerage.slot_cores(t, q, p))
    when t.cpu_time * p_events = 0 then sign(coalesce(t.base_walltime, 0) - p_limit)::int
    else brokerage.compare(
      t.cpu_time * p_events * 100,
      (p_limit - coalesce(t.base_walltime, 0)) * brokerage.slot_cores(t, q, p) * coalesce(nullif(q.corepower, 0), 10) * coalesce(t.cpu_efficiency, 90),
      t.cpu_time::numeric * p_events::numeric * 100,
      (p_limit::numeric - coalesce(t.base_walltime, 0)::numeric) * brokerage.slot_cores(t, q, p)
      * coalesce(nullif(q.corepower, 0), 10)::numeric * coalesce(t.cpu_efficiency, 90)::numeric)
  end
$$;

comment on function brokerage.compare_walltime(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, float8, float8) is
'Sign of the walltime of a job with so many events at the queue, minus a limit (s); null = the walltime is not known.';
-- file: brokerage/disk_io_cores.sql
-- brokerage-doc-profile, disk-io: what a task's diskIO is divided by.
create or replace function brokerage.disk_io_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns int
language sql stable parallel safe
as $$
  select case when coalesce(t.task_core_count, 1) in (0, 1) then 1 else brokerage.whole_queue_cores(t, q, p) end
$$;

comment on function brokerage.disk_io_cores(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Cores that the diskIO of a task is shared by: those of the whole queue''s slot, 1 for tasks of one core or any.';
-- file: brokerage/engine/assigned_before.sql
-- What the turns of a batch before this one assigned, by the number of the queue (brokerage.decide_in_turn): jobs, or the work of tasks. It goes from one
-- turn to the next in a setting of the transaction, as all turns are one query. Volatile, and of the turn: to be read again in each, not before.
create or replace function brokerage.assigned_before(p_turn bigint) returns float8[]
language plpgsql volatile
as $$
declare
  v_said text := current_setting('brokerage.assigned');
begin
  if split_part(v_said, ' ', 1)::bigint <> p_turn then
    raise exception 'turn % is decided in turn %', p_turn, split_part(v_said, ' ', 1)
      using errcode = 'XX000', hint = 'The plan of the turns is not one row after the other: a bug, please report it.';
  end if;
  return split_part(v_said, ' ', 2)::float8[];
end $$;

comment on function brokerage.assigned_before(bigint) is 'What the turns of a batch before a turn assigned, by the number of the queue or nucleus; null where nothing was. Fails in another turn.';
-- file: brokerage/engine/compose.sql
-- The query of a profile, made of its rules in their order (architecture, A rule is a function). It begins with a WITH list, and the caller says what
-- to do with its last two relations:
--   judged (task_number, task_id, queue, unified_name, failed, failures, weight, factors, queued, capacity, chunk)
--                                                each pair; failed is 'rule<tab>reason', with ! before it where the queue never entered the list
--   ranked (the same, place, best, best_rule)    those that nothing rejects, best first
-- With p_survivors judged has the facts of queues and pairs that nothing rejects (q, p). With p_hint only row rules are asked, up to the one named last and
-- without those named, and each queue is taken for one of the nucleus (brokerage-rules 1.1, task-job-check).
-- Parameters of the query: $1 setup, $2 task facts, $3 queue facts, $4 flavour. Wide: facts are columns and rules are planned into them, so a pair costs
-- a few microseconds; else facts are one value each, which plans in a tenth of the time and is the better for less than some thousand pairs.
-- First each pair is asked by itself, rules in a row in one level, also behind rules that look at the other queues of the task (set rule, choice): those
-- are answered afterwards, in their order, over rows without facts (sorting the facts of 300,000 pairs took longer than all rules). So is a weight of
-- terms (brokerage.compose_terms): each pair has its terms, their sums are taken when it is known who is left. Rules that stand behind such a weight are
-- asked when that is done, over the pairs that are left with their facts: all read the weight that decides.
create or replace function brokerage.compose(p_profile text, p_algorithm text, p_wide boolean, p_all_failures boolean default false, p_survivors boolean default false,
                                             p_hint jsonb default null) returns text
language plpgsql stable
as $$
declare
  v_rule brokerage.profile_rule;
  v_marks boolean;
  v_facts record := brokerage.compose_facts(p_wide, p_algorithm, p_hint is not null);
  v_pairs text := v_facts.base;
  v_pair text := v_facts.pair;
  v_level int := 0;
  v_outside text[] := '{}'::text[];
  v_persistent text[] := '{}'::text[];
  v_temporary text[] := '{}'::text[];
  v_weights text[] := '{}'::text[];
  v_alone text[] := '{null::text}'::text[];   -- columns that say why a pair fails by itself
  v_failed text[] := '{null::text}'::text[];  -- the same, and why it fails beside others, in the order of the rules
  v_marked text[] := '{}'::text[];
  v_failures text[] := '{null::text[]}'::text[];
  v_asked text[] := '{}'::text[];             -- columns that the answers beside others need
  v_beside text := '';                        -- columns that the next level makes beside its own
  v_done text := '';                          -- relations up to the weight, where rules stand behind one that is known late
  v_stage text := 'asked';
  v_steps text := '';
  v_relation text := 'asked';
  v_group text;                               -- set rules in a row that hold or are ignored together
  v_group_levels int[] := '{}'::int[];
  v_group_said text[] := '{}'::text[];
  v_ignored jsonb := '{}'::jsonb;             -- groups, and the column that says where one is ignored
  v_terms int := 0;                           -- weights that look at the terms of the other candidates
  v_left text;                                -- why a pair is lost before the weights, but for marks
  v_unmarked text;                            -- the like of a pair by itself
  v_factors text[] := '{}'::text[];           -- factors of the weight, 1 where the rules that they go with are ignored
  v_plain text[];                             -- factors as pairs have them by themselves
  v_weight text;
  v_call text;
  v_said text;
  v_choice brokerage.profile_rule;            -- the choice by weight
  v_distribution jsonb := '{}'::jsonb;
  v_figures text;
begin
  perform brokerage.require_profile(p_profile, p_algorithm);
  select l.marks into v_marks
    from brokerage.profile_line p join brokerage.shipped_profile l on l.profile = p.of_profile
   where p.profile = p_profile;
  for v_rule in
    select r.* from brokerage.rule_in_force r where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled and r.kind not in ('task rule', 'second pass', 'pending', 'fact')
       and (p_hint is null or r.kind = 'row rule' and not p_hint -> 'without' ? r.rule
                              and r.position <= (select l.position from brokerage.rule_in_force l where l.profile = p_profile and l.algorithm = p_algorithm and l.rule = p_hint ->> 'last'))
    union all
    select p_profile, p_algorithm, 'end', 'end', 'infinity', null, null, false, true, '{}', null
     order by position, rule
  loop
    perform brokerage.require_order(v_rule, v_level > 0, v_weight is not null, v_choice.rule);
    if v_group <> (case when v_rule.kind = 'set rule' then coalesce(v_rule.parameters ->> 'group', v_rule.rule) else '' end) then
      v_steps := v_steps || brokerage.compose_set_step(v_group_levels, v_group_said, v_relation, v_failed, p_all_failures);
      v_relation := format('step_%s', v_group_levels[1]);
      v_failed := v_failed || array(select format('x.lost_%s', l) from unnest(v_group_levels) with ordinality g(l, n) order by n);
      v_failures := v_failures || format('x.failures_%s', v_group_levels[1]);
      v_ignored := v_ignored || jsonb_build_object(v_group, format('x.ignored_%s', v_group_levels[1]));
      v_group := null;
      v_group_levels := '{}'::int[];
      v_group_said := '{}'::text[];
    end if;
    if v_rule.kind not in ('candidate', 'row rule') and cardinality(v_outside || v_persistent || v_temporary) > 0 then
      v_pairs := brokerage.compose_chain(v_pairs, v_level, format('coalesce(%s) is null', array_to_string(v_alone, ', ')), v_outside, v_persistent, v_temporary, p_all_failures, v_beside);
      v_beside := '';
      v_alone := v_alone || format('x.failed_%s', v_level);
      v_failed := v_failed || format('x.failed_%s', v_level);
      v_failures := v_failures || format('x.failures_%s', v_level);
      v_marked := format('x.marked_%s', v_level) || v_marked;
      v_asked := v_asked || array[format('x.failed_%s', v_level), format('x.marked_%s', v_level), format('x.failures_%s', v_level)];
      v_level := v_level + 1;
      v_outside := '{}'::text[];
      v_persistent := '{}'::text[];
      v_temporary := '{}'::text[];
    end if;
    if v_rule.kind = 'weight' and cardinality(v_weights) = 0 then  -- marked queues are removed before the weights
      v_unmarked := array_to_string(v_alone, ', ');
      v_left := array_to_string(v_failed, ', ');
      v_alone := v_alone || v_marked;
      v_failed := v_failed || v_marked;
      v_marked := '{}'::text[];
    elsif v_rule.kind <> 'weight' and cardinality(v_weights) > 0 then
      v_pairs := format('select x.*%s, case when coalesce(%s) is null then array[%s]::float8[] end as factors from (%s) x offset 0', v_beside, array_to_string(v_alone, ', '), array_to_string(v_weights, ', '), v_pairs);
      v_beside := '';
      v_plain := array(select format('x.factors[%s]', n) from generate_subscripts(v_weights, 1) n order by n);
      v_weight := array_to_string(v_plain, ' * ');
      v_asked := v_asked || 'x.factors'::text;
      v_weights := '{}'::text[];
    end if;
    if v_weight is not null and v_rule.function is not null and v_factors <> v_plain then
      v_done := format('%s as materialized (select x.task_number, x.task_id, x.queue, x.unified_name, %s, case when coalesce(%s) is null then %s end as p from (%s) x), %s',
                       v_stage, array_to_string(v_asked, ', '), array_to_string(v_alone, ', '), v_pair, v_pairs, v_steps);
      v_asked := array(select c.name from unnest(v_failed || v_failures) c(name) where starts_with(c.name, 'x.'));
      v_pairs := replace(v_facts.again, '@pairs@',
                         format('select x.task_number, x.task_id, x.queue, x.unified_name, %s, case when x.factors is not null then array[%s]::float8[] end as factors, x.p from %s x',
                                array_to_string(v_asked, ', '), array_to_string(v_factors, ', '), v_relation));
      v_asked := v_asked || 'x.factors'::text;
      v_alone := v_failed;
      v_factors := v_plain;
      v_stage := 'weighed';
      v_relation := 'weighed';
      v_steps := '';
    end if;
    if v_weight is not null then
      v_pair := replace(v_facts.weighed_pair, '@weight@', v_weight);
    end if;
    v_call := case when v_rule.function is not null or v_rule.kind not in ('choice', 'end')
                   then brokerage.rule_call(v_rule, concat_ws(', ', v_facts.task, v_facts.queue, v_pair)) end;
    v_said := coalesce(v_rule.parameters ->> 'as', v_rule.rule) || E'\t' || case when v_rule.parameters ? 'as' then coalesce(v_rule.criteria || ': ', '') else '' end;
    case v_rule.kind
      when 'candidate' then
        v_outside := v_outside || format('%L || %s', '!' || v_said, v_call);
      when 'row rule' then
        if v_rule.temporary and v_marks then
          v_temporary := format('%L || %s', v_said, v_call) || v_temporary;  -- the last mark that was written counts
        else
          v_persistent := v_persistent || format('%L || %s', v_said, v_call);
        end if;
      when 'weight' then
        if brokerage.weighs_terms(v_rule) then
          v_terms := v_terms + 1;
          v_beside := v_beside || format(', case when coalesce(%s) is null then %s end as terms_%s', v_unmarked, v_call, v_terms);
          v_asked := v_asked || format('x.terms_%s', v_terms);
          v_weights := v_weights || '1::float8'::text;
          v_factors := v_factors || brokerage.compose_terms(v_rule, v_terms, v_left);
        else
          v_weights := v_weights || v_call;
          v_factors := v_factors || brokerage.compose_factor(v_rule, cardinality(v_weights), v_ignored);
        end if;
      when 'distribution' then
        v_distribution := v_distribution || jsonb_build_object(v_rule.rule, format('case when coalesce(%s) is null then %s end', array_to_string(v_alone, ', '), v_call));
      when 'set rule', 'choice' then
        if v_call is null then
          v_choice := v_rule;
        else
          v_beside := v_beside || format(case when p_all_failures and v_rule.kind = 'set rule' then ', case when not starts_with(coalesce(%s, ''''), ''!'') then %s end as said_%s'
                                              else ', case when coalesce(%s) is null then %s end as said_%s' end, array_to_string(v_alone, ', '), v_call, v_level);
          v_asked := v_asked || format('x.said_%s', v_level);
          if v_rule.kind = 'set rule' then
            v_group := coalesce(v_rule.parameters ->> 'group', v_rule.rule);
            v_group_levels := v_group_levels || v_level;
            v_group_said := v_group_said || v_said;
          else
            v_steps := v_steps || brokerage.compose_choice_step(v_level, v_said, v_relation, v_failed, (v_rule.parameters ->> 'best')::bigint);
            v_relation := format('step_%s', v_level);
            v_failed := v_failed || format('x.lost_%s', v_level);
          end if;
          v_level := v_level + 1;
        end if;
      else
        null;
    end case;
  end loop;
  v_pairs := format('select x.*%s, (%s)::bigint as queued, (%s)::bigint as capacity, (%s)::int as chunk, (%s)::float8 as first, %s as spared%s from (%s) x', v_beside,
                    coalesce(v_distribution ->> 'queued-jobs', 'null'), coalesce(v_distribution ->> 'running-jobs-cap', 'null'), coalesce(v_distribution ->> 'job-chunk', 'null'),
                    coalesce(v_distribution ->> 'used-sites-first', 'null'), brokerage.compose_spared(v_choice, v_facts.task, v_pair),
                    case when p_survivors then format(', case when coalesce(%1$s) is null then %2$s end as survivor_q, case when coalesce(%1$s) is null then %3$s end as survivor_p',
                                                      array_to_string(v_alone, ', '), v_facts.queue, v_facts.pair) else '' end, v_pairs);
  v_figures := 'x.queued, x.capacity, x.chunk, x.first, x.spared';
  return format('with %s%s judged as materialized (select x.task_number, x.task_id, x.queue, x.unified_name, coalesce(%s) as failed, %s as failures, %s as weight, %s as factors, %s%s from %s x), '
                'ranked as materialized (select x.*, %s as place, case when not x.spared then %L::bigint end as best, %L::text as best_rule from judged x where x.failed is null) ',
                v_done,
                case when v_steps = '' then ''
                     else format('%s as materialized (select x.task_number, x.task_id, x.queue, x.unified_name, %s, %s%s from (%s) x), ', v_stage, array_to_string(v_asked, ', '), v_figures,
                                 case when p_survivors then ', x.survivor_q, x.survivor_p' else '' end, v_pairs) || v_steps end,
                array_to_string(v_failed || v_marked, ', '), array_to_string(v_failures, ' || '), coalesce(array_to_string(nullif(v_factors, '{}'::text[]), ' * '), 'null::float8'),
                case when v_weight is null then 'null::float8[]' when v_factors = v_plain then 'x.factors' else format('case when x.factors is not null then array[%s]::float8[] end', array_to_string(v_factors, ', ')) end,
                v_figures, case when p_survivors then ', x.survivor_q as q, x.survivor_p as p' else '' end,
                case when v_steps = '' then format('(%s)', v_pairs) else v_relation end,
                brokerage.compose_place(v_choice, v_distribution ? 'used-sites-first', 'x.task_number'), v_choice.parameters ->> 'best', v_choice.rule);
end $$;

comment on function brokerage.compose(text, text, boolean, boolean, boolean, jsonb) is
'SQL of a profile: the relations judged and ranked over all pairs of tasks and queues, made of the rules in force. Errors: PB001 (no such profile, a rule that does not fit), PB002 (a rule whose owner is not trusted).';
-- file: brokerage/engine/compose_chain.sql
-- One level of the composed query: rules in a row, each asked only where those before it accept. Every item is 'rule<tab>' || its function, which is
-- null where the rule accepts. Who does not enter the list is asked first. p_beside: more columns of the level.
create or replace function brokerage.compose_chain(p_from text, p_level int, p_alive text, p_outside text[], p_persistent text[], p_temporary text[], p_all_failures boolean, p_beside text) returns text
language sql immutable parallel safe
as $$
  select format('select x.*%7$s, case when %1$s then coalesce(%2$s) end as failed_%3$s, case when %1$s then coalesce(%4$s) end as marked_%3$s, %5$s as failures_%3$s from (%6$s) x offset 0',
                p_alive, array_to_string(p_outside || p_persistent || 'null::text'::text, ', '), p_level, array_to_string(p_temporary || 'null::text'::text, ', '),
                case when p_all_failures
                     then format('case when coalesce(%s) is null then array_remove(array[%s]::text[], null) end', array_to_string(p_outside || 'null::text'::text, ', '), array_to_string(p_persistent || p_temporary, ', '))
                     else 'null::text[]' end,
                p_from, p_beside)
$$;

comment on function brokerage.compose_chain(text, int, text, text[], text[], text[], boolean, text) is
'SQL of one level of a profile: the first persistent rule that fails, the last temporary one that was written, and all that fail where they are asked for.';
-- file: brokerage/engine/compose_choice_step.sql
-- A choice keeps the best of the queues of a task that have a value. p_failed are the columns that say why a pair was lost before. Kept are those that lose.
create or replace function brokerage.compose_choice_step(p_level int, p_said text, p_relation text, p_failed text[], p_best bigint) returns text
language sql immutable parallel safe
as $$
  select format('answer_%1$s as materialized (select o.task_number, o.queue from (select x.task_number, x.queue, row_number() over (partition by x.task_number order by x.said_%1$s desc, x.queue collate "C") as place'
                ' from %4$s x where coalesce(%2$s) is null and x.said_%1$s is not null) o where o.place > %5$s), '
                'step_%1$s as not materialized (select x.*, case when a.queue is not null then %3$L || format(''%%s is not among the %5$s best'', x.said_%1$s) end as lost_%1$s from %4$s x'
                ' left join answer_%1$s a on a.task_number = x.task_number and a.queue = x.queue), ',
                p_level, array_to_string(p_failed, ', '), p_said, p_relation, p_best)
$$;

comment on function brokerage.compose_choice_step(int, text, text, text[], bigint) is
'SQL of a relation that adds lost_<level>: why a choice loses a queue beside the others of its task.';
-- file: brokerage/engine/compose_factor.sql
-- A factor counts, or, with the parameter if_holds, only where the set rules of that group hold for the task (task-locality-disable drops data terms).
create or replace function brokerage.compose_factor(p_rule brokerage.profile_rule, p_number int, p_ignored jsonb) returns text
language plpgsql immutable
as $$
declare
  v_group text := p_rule.parameters ->> 'if_holds';
begin
  if v_group is null then
    return format('x.factors[%s]', p_number);
  elsif not p_ignored ? v_group then
    raise exception 'weight % of profile %: no set rules of group % stand before it', p_rule.rule, p_rule.profile, quote_literal(v_group)
      using errcode = 'PB001', hint = 'if_holds names the parameter group of set rules with a lower position.';
  end if;
  return format('case when %s then 1 else x.factors[%s] end', p_ignored ->> v_group, p_number);
end $$;

comment on function brokerage.compose_factor(brokerage.profile_rule, int, jsonb) is
'SQL of a factor of the weight behind the set rules. Errors: PB001 (a group that is not there).';
-- file: brokerage/engine/compose_facts.sql
-- How facts stand in the composed query: wide, as columns t_*, q_*, p_* of each pair, so that rules are planned into them; else as one value each
-- (t, q, p). Behind the weights the pair's weight is the text @weight@, to be replaced. What an algorithm does not know of its pairs is null.
-- p_as_nucleus: every queue counts as one of the nucleus. Facts are added again to pairs (the text @pairs@) that kept but those of the pair, as p.
create or replace function brokerage.compose_facts(p_wide boolean, p_algorithm text, p_as_nucleus boolean, out base text, out task text, out queue text, out pair text, out weighed_pair text, out again text)
language sql stable
as $$
  with source as (
    select p.oid, p.proname as name, p.proargnames as columns
      from pg_proc p
     where p.pronamespace = 'brokerage'::regnamespace
       and p.proname = case when p_algorithm = 'production_task' then 'facts_of_nucleus_pairs'
                            when p_algorithm = 'analysis_job' then case when p_wide then 'facts_of_analysis_pairs' else 'facts_of_few_analysis_pairs' end
                            when p_wide then 'facts_of_pairs' else 'facts_of_few_pairs' end
  ), attribute as (
    select k.number, k.letter, k.type, c.attname as name, c.attnum as place, format_type(c.atttypid, null) as of_type,
           k.letter <> 'p' or c.attname = any (s.columns) as is_known, k.letter || c.attname = 'pweight' as is_weight
      from (values (1, 't', 'task_facts'), (2, 'q', 'queue_facts'), (3, 'p', 'pair_facts')) k(number, letter, type)
      join pg_attribute c on c.attrelid = ('brokerage.' || k.type)::regclass and c.attnum > 0 and not c.attisdropped
     cross join source s
  ), fact as (
    select a.letter, min(a.number) as number, min(a.type) as type,
           string_agg(format('%s as %I', v.value, a.letter || '_' || a.name), ', ' order by a.place) as columns,
           string_agg(v.value, ', ' order by a.place) as attributes,
           string_agg(w.value, ', ' order by a.place) as taken,
           string_agg(format('(x.p).%I as %I', a.name, a.letter || '_' || a.name), ', ' order by a.place) as kept,
           string_agg(case when a.is_weight then '@weight@' else w.value end, ', ' order by a.place) as weighed
      from attribute a
     cross join lateral (select case when p_as_nucleus and a.letter || a.name = 'pis_nucleus_queue' then 'true' when a.is_known then format('%s.%I', a.letter, a.name) else 'null::' || a.of_type end) v(value)
     cross join lateral (select case when p_wide then format('x.%I', a.letter || '_' || a.name) else format('(x.%s).%I', a.letter, a.name) end) w(value)
     group by a.letter
  ), text as (
    select f.letter, f.number,
           case when p_wide then f.columns else format('row(%s)::brokerage.%I as %s', f.attributes, f.type, f.letter) end as made,
           case when p_wide then format('row(%s)::brokerage.%I', f.taken, f.type) else 'x.' || f.letter end as taken,
           case when p_wide and f.letter = 'p' then f.kept when p_wide then f.columns when f.letter <> 'p' then format('row(%s)::brokerage.%I as %s', f.attributes, f.type, f.letter) end as made_again,
           format('row(%s)::brokerage.%I', f.weighed, f.type) as weighed
      from fact f
  )
  select format('select t.ordinality as task_number, t.task_id, q.queue, q.unified_name, %s from brokerage.%s($1, $2, $3, $4) p'
                ' join unnest($2) with ordinality t on t.ordinality = p.task_number join unnest($3) with ordinality q on q.ordinality = p.queue_number%s',
                string_agg(x.made, ', ' order by x.number), (select s.name from source s),
                case when p_wide then '' else ' offset 0' end),  -- wide, rules take the columns where they are: a copy of all was a fifth of the time
         min(x.taken) filter (where x.letter = 't'), min(x.taken) filter (where x.letter = 'q'), min(x.taken) filter (where x.letter = 'p'),
         min(x.weighed) filter (where x.letter = 'p'),
         format('select x.*, %s from (@pairs@) x join unnest($2) with ordinality t on t.ordinality = x.task_number join unnest($3) q on q.queue = x.queue%s',
                string_agg(x.made_again, ', ' order by x.number), case when p_wide then '' else ' offset 0' end)
    from text x
$$;

comment on function brokerage.compose_facts(boolean, text, boolean) is
'SQL of all pairs with their facts, and how task, queue and pair (before and behind the weights) are handed to a rule over it.';
-- file: brokerage/engine/compose_place.sql
-- The order of the candidates of a task, in the one definition that all of them share who rank: queues that are used first (used-sites-first), then those of
-- weight 0 where the choice says so (bootstrap), then by weight, then by name.
create or replace function brokerage.compose_place(p_choice brokerage.profile_rule, p_used_first boolean, p_partition text) returns text
language sql immutable
as $$
  select format('row_number() over (partition by %s order by %s)', p_partition,
                concat_ws(', ', case when p_used_first then 'x.first desc nulls last' end, case when ((p_choice).parameters ->> 'zero_first')::boolean then 'x.weight <> 0' end,
                          'x.weight desc nulls last', 'x.queue collate "C"'))
$$;

comment on function brokerage.compose_place(brokerage.profile_rule, boolean, text) is
'SQL of the place of a candidate among those of its task, from 1: by x.first where queues that are used stand first, x.weight and x.queue.';
-- file: brokerage/engine/compose_second_pass.sql
-- Which tasks may be decided once more, if nothing is left for them (anal-loops). $1 are task facts. Says of each 'persistent': only where no queue fell
-- to a temporary rule, or 'any'.
create or replace function brokerage.compose_second_pass(p_profile text, p_algorithm text) returns text
language plpgsql stable
as $$
declare
  v_rule brokerage.profile_rule;
begin
  select r.* into v_rule from brokerage.rule_in_force r
   where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled and r.kind = 'second pass' order by r.position, r.rule limit 1;
  return case when v_rule.rule is not null
              then format('select s.task_id, s.said from (select t.task_id, %s as said from unnest($1) t where not coalesce(t.second_pass, false)) s where s.said is not null', brokerage.rule_call(v_rule, 't')) end;
end $$;

comment on function brokerage.compose_second_pass(text, text) is
'SQL of the rule of kind second pass: task_id and what it says of the tasks that may be decided once more; null = a profile without one. Errors: PB001, PB002 (a rule that does not fit).';
-- file: brokerage/engine/compose_set_step.sql
-- Answers of rules that look at the other queues of the task: each holds where some queue that is left passes them all, else they are ignored. A reason with !
-- before it holds all the same. p_failed are the columns that say why a pair was lost before. Kept are the answers, not the pairs with them. Where all failures
-- are asked for, a rule that holds also says why it would lose pairs that were lost before: whether it holds is decided by those that reach it.
create or replace function brokerage.compose_set_step(p_levels int[], p_said text[], p_relation text, p_failed text[], p_all_failures boolean) returns text
language sql immutable parallel safe
as $$
  with rule as (
    select l.level, l.number, format('case when a.task_number is not null or starts_with(x.said_%1$s, ''!'') then %2$L || ltrim(x.said_%1$s, ''!'') end', l.level, p_said[l.number]) as loses
      from unnest(p_levels) with ordinality l(level, number)
  ), text as (
    select string_agg(format('x.said_%s', r.level), ', ' order by r.number) as said,
           string_agg(format('case when %s then %s end as lost_%s', f.alive, r.loses, r.level), ', ' order by r.number) as lost,
           case when p_all_failures then format('array_remove(array[%s], null)', string_agg(r.loses, ', ' order by r.number)) else 'null::text[]' end as failures, f.alive
      from rule r
     cross join (select format('coalesce(%s) is null', array_to_string(p_failed, ', '))) f(alive)
     group by f.alive
  )
  select format('answer_%1$s as materialized (select x.task_number from %2$s x where %3$s and coalesce(%4$s) is null group by x.task_number), '
                'step_%1$s as not materialized (select x.*, %3$s and a.task_number is null as ignored_%1$s, %5$s, %6$s as failures_%1$s from %2$s x left join answer_%1$s a on a.task_number = x.task_number), ',
                p_levels[1], p_relation, t.alive, t.said, t.lost, t.failures)
    from text t
$$;

comment on function brokerage.compose_set_step(int[], text[], text, text[], boolean) is
'SQL of a relation that adds lost_<level>: why set rules that stand together lose a queue beside the others of its task, ignored_<first level>: whether they are ignored for it, and failures_<first level>: why they would lose it, where that is asked for.';
-- file: brokerage/engine/compose_spared.sql
-- Whom the choice by weight keeps whatever the place (brokerage-rules 1.4c, top-10): input that is distributed may be anywhere, and a queue that was asked for is
-- taken.
create or replace function brokerage.compose_spared(p_choice brokerage.profile_rule, p_task text, p_pair text) returns text
language sql immutable
as $$
  select concat_ws(' or ', 'false', case when ((p_choice).parameters ->> 'spares_distributed')::boolean then format('coalesce((%s).is_distributed, false)', p_task) end,
                   case when ((p_choice).parameters ->> 'spares_preassigned')::boolean then format('coalesce((%s).is_preassigned, false)', p_pair) end)
$$;

comment on function brokerage.compose_spared(brokerage.profile_rule, text, text) is
'SQL of whether a choice by weight keeps a queue whatever its place, of the facts of task and pair. Its parameters: spares_distributed, spares_preassigned (boolean).';
-- file: brokerage/engine/compose_task_rules.sql
-- The rules of a profile that look at the task alone, before any queue: the first that fails throttles or fails it. $1 are task facts.
create or replace function brokerage.compose_task_rules(p_profile text, p_algorithm text) returns text
language plpgsql stable
as $$
declare
  v_rule brokerage.profile_rule;
  v_calls text[] := '{}'::text[];
begin
  for v_rule in
    select r.* from brokerage.rule_in_force r
     where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled and r.kind = 'task rule'
     order by r.position, r.rule
  loop
    if coalesce(v_rule.parameters ->> 'status', '') not in ('throttled', 'failed', 'pending') then
      raise exception 'rule % of profile %: parameter status is %', v_rule.rule, p_profile, coalesce(v_rule.parameters ->> 'status', 'not there')
        using errcode = 'PB001', hint = 'Say what becomes of the task: {"status": "throttled"}, {"status": "failed"} or {"status": "pending"}.';
    end if;
    v_calls := v_calls || format('%L || %s', concat_ws(E'\t', v_rule.parameters ->> 'status', v_rule.rule, ''), brokerage.rule_call(v_rule, 't'));
  end loop;
  return format('select s.task_id, split_part(s.said, E''\t'', 1), split_part(s.said, E''\t'', 2), split_part(s.said, E''\t'', 3)'
                ' from (select t.task_id, coalesce(%s) as said from unnest($1) t) s where s.said is not null',
                array_to_string(v_calls || 'null::text'::text, ', '));
end $$;

comment on function brokerage.compose_task_rules(text, text) is
'SQL of the rules of a profile that look at the task alone: task_id, status, rule and reason of the tasks that are throttled or fail. Errors: PB001, PB002 (a rule that does not fit).';
-- file: brokerage/engine/compose_terms.sql
-- A weight that looks at the other candidates (the new basic weight of analysis): its function gives the terms of each pair, float8[]; another one, named
-- like it with _factor behind, makes the factor of the terms of a pair, the sums of the first eight over the candidates of the task, and the parameters.
-- Marked queues are among the candidates. Taken behind the rules that look at other queues and stand before the weights, so that nothing counts that those
-- have lost, and what those have lost has no factor. p_lost are the columns that say why a pair was lost before the weights.
create or replace function brokerage.compose_terms(p_rule brokerage.profile_rule, p_number int, p_lost text) returns text
language plpgsql stable
as $$
declare
  v_parts text[] := parse_ident(p_rule.function);
begin
  if not exists (select from pg_proc p
                   join pg_namespace n on n.oid = p.pronamespace
                   join pg_proc t on t.pronamespace = n.oid and t.proname = v_parts[2] and t.proowner = p.proowner
                  where n.nspname = v_parts[1] and p.proname = v_parts[2] || '_factor' and p.prorettype = 'float8'::regtype
                    and p.proargtypes::text = concat_ws(' ', 'float8[]'::regtype::oid, 'float8[]'::regtype::oid, 'jsonb'::regtype::oid)) then
    raise exception 'weight % of profile %: there is no function %_factor beside %', p_rule.rule, p_rule.profile, p_rule.function, p_rule.function
      using errcode = 'PB001', hint = 'It has the same owner, takes terms float8[], their sums float8[] and parameters jsonb, and returns float8.';
  end if;
  return format('case when x.factors is not null and coalesce(%s) is null then %I.%I(x.terms_%s, array[%s], %L::jsonb) end', p_lost, v_parts[1], v_parts[2] || '_factor', p_number,
                (select string_agg(format('sum(case when coalesce(%s) is null then x.terms_%s[%s] end) over (partition by x.task_number)', p_lost, p_number, n), ', ' order by n)
                   from generate_series(1, 8) n),
                p_rule.parameters);
end $$;

comment on function brokerage.compose_terms(brokerage.profile_rule, int, text) is
'SQL of the factor of a weight that looks at the terms of all candidates of a task. Errors: PB001 (a function that is not there).';
-- file: brokerage/engine/compose_turn.sql
-- What is asked again of a task's survivors when its turn comes: the weights and rules that see assignments, by the same functions as before; the
-- other factors are taken over. It stands behind a relation u (number, task, survivor, queue_number) of brokerage.decide_in_turn, and yields
-- judged (queue, number, failed, weight, factors, queued, capacity, chunk, place, best, best_rule). What the turns before assigned is added to the facts.
create or replace function brokerage.compose_turn(p_profile text, p_algorithm text) returns text
language plpgsql stable
as $$
declare
  v_rule brokerage.profile_rule;
  v_factors text[] := '{}'::text[];
  v_rules text[] := '{}'::text[];
  v_distribution jsonb := '{}'::jsonb;
  v_facts text := brokerage.compose_turn_facts(p_algorithm, false);
  v_weighed text := brokerage.compose_turn_facts(p_algorithm, true);
  v_choice brokerage.profile_rule;
begin
  for v_rule in
    select r.* from brokerage.rule_in_force r where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled order by r.position, r.rule
  loop
    if v_rule.kind = 'weight' then
      v_factors := v_factors || case when (v_rule.parameters ->> 'sees_assignments')::boolean then brokerage.rule_call(v_rule, v_facts)
                                     else format('x.factors[%s]', cardinality(v_factors) + 1) end;
    elsif v_rule.kind = 'row rule' and (v_rule.parameters ->> 'sees_assignments')::boolean then
      v_rules := v_rules || format('%L || %s', coalesce(v_rule.parameters ->> 'as', v_rule.rule) || E'\t', brokerage.rule_call(v_rule, v_weighed));
    elsif v_rule.kind = 'distribution' then
      v_distribution := v_distribution || jsonb_build_object(v_rule.rule, brokerage.rule_call(v_rule, v_weighed));
    elsif v_rule.kind = 'choice' and v_rule.function is null then
      v_choice := v_rule;
    end if;
  end loop;
  return format(
    'with judged as materialized (select x.*, case when x.failed is null then %1$s end as place, case when not x.spared then %2$L::bigint end as best, %3$L::text as best_rule'
    ' from (select x.queue, x.number, x.weight, x.now as factors, coalesce(%4$s) as failed, (%5$s)::bigint as queued, (%6$s)::bigint as capacity, (%7$s)::int as chunk,'
    ' (%8$s)::float8 as first, %9$s as spared'
    ' from (select x.*, %10$s as weight from (select x.*, array[%11$s]::float8[] as now from (select s.*, coalesce(a.assigned[s.number], 0) as assigned from (select brokerage.assigned_before(u.number) as assigned) a'
    ' cross join unnest(u.survivor, u.queue_number) s(queue, unified_name, factors, q, p, number) offset 0) x offset 0) x offset 0) x offset 0) x) ',
    brokerage.compose_place(v_choice, v_distribution ? 'used-sites-first', 'x.failed is null'), v_choice.parameters ->> 'best', v_choice.rule, array_to_string(v_rules || 'null::text'::text, ', '),
    coalesce(v_distribution ->> 'queued-jobs', 'null'), coalesce(v_distribution ->> 'running-jobs-cap', 'null'), coalesce(v_distribution ->> 'job-chunk', 'null'),
    coalesce(v_distribution ->> 'used-sites-first', 'null'), brokerage.compose_spared(v_choice, 'u.task', 'x.p'),
    coalesce((select string_agg(format('x.now[%s]', n), ' * ') from generate_subscripts(v_factors, 1) n), 'null::float8'), array_to_string(v_factors, ', '));
end $$;

comment on function brokerage.compose_turn(text, text) is
'SQL of what is asked again of the survivors of one task, after other tasks of the batch got jobs assigned. Errors: PB001, PB002 (a rule that does not fit).';
-- file: brokerage/engine/compose_turn_facts.sql
-- Facts of a survivor (brokerage.survivor) with what turns before assigned there, as rules take them: jobs to the live counter, or work of tasks to what
-- is left at the nucleus. Written out, so that rules are planned into the query. p_weighed: with the weight that it now has.
create or replace function brokerage.compose_turn_facts(p_algorithm text, p_weighed boolean) returns text
language sql stable
as $$
  select 'u.task, ' || string_agg(format('row(%s)::brokerage.%I', f.attributes, f.type), ', ' order by f.type desc)
    from (select a.type, string_agg(case when a.type = 'pair_facts' and a.name = 'weight' and p_weighed then 'x.weight'
                                         when a.type = 'pair_facts' and a.name = 'remaining_work' and p_algorithm = 'production_task' then '(x.p).remaining_work + x.assigned'
                                         when a.type = 'queue_facts' and a.name = 'live_jobs' and p_algorithm <> 'production_task' then '(x.q).live_jobs + x.assigned::bigint'
                                         else format('(x.%s).%I', left(a.type, 1), a.name) end, ', ' order by a.place) as attributes
            from (select k.type, c.attname as name, c.attnum as place
                    from (values ('queue_facts'), ('pair_facts')) k(type)
                    join pg_attribute c on c.attrelid = ('brokerage.' || k.type)::regclass and c.attnum > 0 and not c.attisdropped) a
           group by a.type) f
$$;

comment on function brokerage.compose_turn_facts(text, boolean) is 'SQL of task, queue and pair of a survivor as a rule takes them in its turn.';
-- file: brokerage/engine/decide.sql
-- Decides tasks and keeps every decision. One query over all of them; where it fails because of some task's figures it is halved until that task
-- is alone: it leaves with its error, the others are decided. Errors that are nobody's figures (locks, disk, a rule that is not there) end the call.
create or replace function brokerage.decide(p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]) returns void
language plpgsql
as $$
declare
  v_half int := cardinality(p_task_ids) / 2;
begin
  if cardinality(p_task_ids) = 0 then
    return;
  end if;
  begin
    perform brokerage.decide_together(p_run, p_task_ids, p_queues);
    return;
  exception when data_exception or cardinality_violation or raise_exception then
    if v_half = 0 then
      insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, reason, errcode, candidates, rejected, not_candidates)
      values (p_run.setup, p_run.run_id, p_task_ids[1], p_run.started_at, 'error', sqlerrm, sqlstate, 0, 0, 0);
      return;
    end if;
  end;
  perform brokerage.decide(p_run, p_task_ids[:v_half], p_queues);
  perform brokerage.decide(p_run, p_task_ids[v_half + 1:],
                           case when brokerage.sees_assignments(p_run.profile, p_run.algorithm) then brokerage.with_assignments(p_run, p_task_ids[:v_half], p_queues) else p_queues end);
end $$;

comment on function brokerage.decide(brokerage.run, bigint[], brokerage.queue_facts[]) is
'Decides tasks in a run and stores what was decided (brokerage.task_decision, brokerage.decision); a task whose figures raise an error is stored with it. Errors: PB001, PB002 (a rule that does not fit).';
-- file: brokerage/engine/decide_in_turn.sql
-- A batch of a profile whose weights see what the same batch assigned (live counter, brokerage-rules 1.3; remaining work, 1.1): each task in turn,
-- highest current priority first, is weighed over the queues that nothing rejects, and its jobs are assigned, or the task itself, before the next one.
-- All turns are rows of one query, planned once (a query a turn was planned a turn, half of the time): the first row makes what no assignment changes
-- for all tasks, each row weighs one task, and is not asked for before the jobs of the one before are assigned.
create or replace function brokerage.decide_in_turn(p_run brokerage.run, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_wide boolean) returns void
language plpgsql
set enable_memoize = off set cursor_tuple_fraction = 1  -- no row is like another, and all are fetched
as $$
declare
  v_wait jsonb := (select r.parameters from brokerage.rule_in_force r where r.profile = p_run.profile and r.algorithm = p_run.algorithm and r.kind = 'pending' and r.enabled limit 1);
  v_first_of_zeros boolean := brokerage.takes_first_of_zeros(p_run.profile, p_run.algorithm);
  v_tasks brokerage.task_facts[] := array(select f from unnest(p_tasks) f order by f.current_priority desc, f.task_id);
  v_pools int[] := array(select case when p_run.algorithm = 'production_task' then dense_rank() over (order by f.gshare) else 1 end  -- work is counted by share
                           from unnest(v_tasks) with ordinality f order by f.ordinality);
  v_assigned text[] := array_fill('{}'::text, array[cardinality(v_pools)]);  -- what each pool got, see brokerage.assigned_before
  v_turns refcursor;
  v_outside bigint;
  v_rejected bigint;
  v_survivors bigint;
  v_told brokerage.queue_verdict[];
  v_kept bigint;
  v_names text[];
  v_numbers bigint[];
  v_weights float8[];
  v_queued bigint[];
  v_capacities bigint[];
  v_chunks int[];
  v_decisions brokerage.task_decision[] := '{}'::brokerage.task_decision[];
  v_verdicts brokerage.verdict[] := '{}'::brokerage.verdict[];
  v_sent brokerage.nucleus_assignment[] := '{}'::brokerage.nucleus_assignment[];
begin
  open v_turns no scroll for execute
    brokerage.compose(p_run.profile, p_run.algorithm, p_wide, false, true)
    || ', queue as materialized (select q.queue, dense_rank() over (order by q.unified_name) as number from unnest($3) q)'
       ' select u.outside, u.rejected, u.survivors, u.refused || r.said as verdicts, r.kept, r.names, r.numbers, r.weights, r.queued, r.capacities, r.chunks'
       '   from (select n.number, $2[n.number] as task,'
       '                count(*) filter (where starts_with(j.failed, ''!'')) as outside, count(*) filter (where not starts_with(j.failed, ''!'')) as rejected,'
       '                array_agg(row(j.queue, case when starts_with(j.failed, ''!'') then ''n'' else ''r'' end::"char", null, j.weight, j.factors, null, null, null,'
       '                              ltrim(split_part(j.failed, E''\t'', 1), ''!''), split_part(j.failed, E''\t'', 2))::brokerage.queue_verdict) filter (where j.failed is not null) as refused,'
       '                count(*) filter (where j.queue is not null and j.failed is null) as survivors,'
       '                array_agg(row(j.queue, j.unified_name, j.factors, j.q, j.p)::brokerage.survivor) filter (where j.queue is not null and j.failed is null) as survivor,'
       '                array_agg(q.number) filter (where j.queue is not null and j.failed is null) as queue_number'
       '           from generate_subscripts($2, 1) n(number)'
       '           left join judged j on j.task_number = n.number'
       '           left join queue q on q.queue = j.queue'
       '          group by n.number order by n.number offset 0) u'
       '  cross join lateral ('
    || brokerage.compose_turn(p_run.profile, p_run.algorithm)
    || ' select array_agg(row(r.queue, case when r.failed is not null or r.place > r.best then ''r'' else ''c'' end::"char", case when r.place <= coalesce(r.best, r.place) then r.place end,'
       '        r.weight, r.factors, r.queued, r.capacity, r.chunk, coalesce(split_part(r.failed, E''\t'', 1), case when r.place > r.best then r.best_rule end),'
       '        coalesce(split_part(r.failed, E''\t'', 2), case when r.place > r.best then format(''number %s by weight, the best %s are taken'', r.place, r.best) end))::brokerage.queue_verdict) as said,'
       '        count(*) filter (where r.is_kept) as kept, array_agg(r.queue) filter (where r.is_kept) as names, array_agg(r.number) filter (where r.is_kept) as numbers,'
       '        array_agg(r.weight) filter (where r.is_kept) as weights, array_agg(r.queued) filter (where r.is_kept) as queued,'
       '        array_agg(r.capacity) filter (where r.is_kept) as capacities, array_agg(coalesce(r.chunk, 25)) filter (where r.is_kept) as chunks'
       '   from (select j.*, j.place <= coalesce(j.best, j.place) as is_kept from judged j order by j.place offset 0) r) r'
    using p_run.setup, v_tasks, p_queues, brokerage.flavour(p_run.profile);
  for v_number in 1 .. cardinality(v_tasks) loop
    perform set_config('brokerage.assigned', v_number || ' ' || v_assigned[v_pools[v_number]], true);
    fetch v_turns into v_outside, v_rejected, v_survivors, v_told, v_kept, v_names, v_numbers, v_weights, v_queued, v_capacities, v_chunks;
    v_decisions := v_decisions || (p_run.setup, p_run.run_id, v_tasks[v_number].task_id, p_run.started_at, case when v_kept > 0 then 'candidates' else 'pending' end, null, null, null,
                                   case when v_kept > 0 then null else p_run.started_at + brokerage.wait_of(v_wait, v_tasks[v_number].current_priority) end,
                                   v_kept, v_rejected + v_survivors - v_kept, v_outside)::brokerage.task_decision;
    if v_told is not null then
      v_verdicts := v_verdicts || (p_run.setup, p_run.run_id, v_tasks[v_number].task_id, p_run.started_at, v_told)::brokerage.verdict;
    end if;
    if v_kept > 0 and p_run.algorithm = 'production_task' then
      v_sent := v_sent || brokerage.nucleus_for(p_run, v_tasks[v_number], v_names, brokerage.probabilities(v_weights, v_first_of_zeros));
      if v_sent[cardinality(v_sent)].gshare is not null then
        v_assigned[v_pools[v_number]] := brokerage.with_assigned(v_assigned[v_pools[v_number]], array[v_numbers[array_position(v_names, v_sent[cardinality(v_sent)].nucleus)]],
                                                                 array[v_sent[cardinality(v_sent)].work]);
      end if;
    elsif v_kept > 0 then
      v_assigned[1] := brokerage.with_assigned(v_assigned[1], v_numbers,
        brokerage.assign_task(p_run, v_tasks[v_number].task_id, v_names, v_weights, v_queued, v_capacities, v_chunks));
    end if;
    if v_number % 100 = 0 or v_number = cardinality(v_tasks) then  -- stored together: a statement a row takes five times as long
      insert into brokerage.task_decision select d.* from unnest(v_decisions) d;
      insert into brokerage.verdict select v.* from unnest(v_verdicts) v;
      perform brokerage.assign_nuclei(v_sent) where cardinality(v_sent) > 0;
      v_decisions := '{}'::brokerage.task_decision[];
      v_verdicts := '{}'::brokerage.verdict[];
      v_sent := '{}'::brokerage.nucleus_assignment[];
    end if;
  end loop;
  close v_turns;
end $$;

comment on function brokerage.decide_in_turn(brokerage.run, brokerage.task_facts[], brokerage.queue_facts[], boolean) is
'Decides tasks of a run one after the other where weights see what the batch has assigned, stores the decisions and assigns the jobs, or the tasks. Errors: PB001, PB002 (a rule that does not fit).';
-- file: brokerage/engine/decide_together.sql
-- Decides tasks by one query made of the profile's rules (brokerage.compose). Tasks with texts that cannot be read leave with their error before,
-- tasks that a task rule refuses with that. Those that a rule of kind second pass names are decided once more, and their
-- decisions say so.
create or replace function brokerage.decide_together(p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]) returns void
language plpgsql
as $$
declare
  v_flavour text := brokerage.flavour(p_run.profile);
  v_tasks brokerage.task_facts[];
  v_wide boolean;
begin
  insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, reason, errcode, candidates, rejected, not_candidates)
  select p_run.setup, p_run.run_id, t.task_id, p_run.started_at, 'error', p.problem, 'PB001', 0, 0, 0
    from workload.task t
   cross join lateral (select brokerage.task_problem(t, v_flavour, p_run.algorithm)) p(problem)
   where t.setup = p_run.setup and t.task_id = any (p_task_ids) and p.problem is not null;

  v_tasks := array(select f from brokerage.facts_of_tasks(p_run.setup, p_task_ids, v_flavour, p_run.algorithm) f
                    where not exists (select from brokerage.task_decision d where d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = f.task_id)
                    order by f.task_id);
  v_tasks := brokerage.with_job_check(p_run.setup, p_run.profile, p_run.algorithm, v_tasks);

  execute 'insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, retry_at, rule, reason, candidates, rejected, not_candidates)'
          ' select $2, $3, s.task_id, $4, s.status, case when s.status = ''pending'' then $4 + brokerage.wait_of(p.parameters, t.current_priority) end, s.rule, s.reason, 0, 0, 0'
          '   from (' || brokerage.compose_task_rules(p_run.profile, p_run.algorithm) || ') s(task_id, status, rule, reason)'
          '   join unnest($1) t on t.task_id = s.task_id'
          '   left join brokerage.rule_in_force p on p.profile = $5 and p.algorithm = $6 and p.kind = ''pending'' and p.enabled'
    using v_tasks, p_run.setup, p_run.run_id, p_run.started_at, p_run.profile, p_run.algorithm;
  v_tasks := array(select f from unnest(v_tasks) f
                    where not exists (select from brokerage.task_decision d where d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = f.task_id));

  loop
    v_wide := cardinality(v_tasks) * cardinality(p_queues) > 5000;
    if not p_run.dry and (p_run.algorithm = 'production_task' or brokerage.sees_assignments(p_run.profile, p_run.algorithm)) then
      perform brokerage.decide_in_turn(p_run, v_tasks, p_queues, v_wide);
    else
      execute brokerage.compose(p_run.profile, p_run.algorithm, v_wide)
              || ', stored as ('
                 'insert into brokerage.verdict (setup, run_id, task_id, decided_at, queues)'
                 ' select $1, $5, v.task_id, $6, array_agg(row(v.queue, v.verdict, v.rank, v.weight, v.factors, v.queued, v.capacity, v.chunk, v.rule, v.reason)::brokerage.queue_verdict)'
                 '   from ('
                 ' select j.task_id, j.queue, case when starts_with(j.failed, ''!'') then ''n'' else ''r'' end::"char" as verdict, null::int as rank, j.weight, j.factors, null::bigint as queued, null::bigint as capacity, null::int as chunk,'
                 '        ltrim(split_part(j.failed, E''\t'', 1), ''!'') as rule, split_part(j.failed, E''\t'', 2) as reason'
                 '   from judged j where j.failed is not null'
                 ' union all'
                 ' select r.task_id, r.queue, case when r.place > r.best then ''r'' else ''c'' end::"char", case when r.place <= coalesce(r.best, r.place) then r.place end, r.weight, r.factors, r.queued, r.capacity, r.chunk,'
                 '        case when r.place > r.best then r.best_rule end, case when r.place > r.best then format(''number %s by weight, the best %s are taken'', r.place, r.best) end'
                 '   from ranked r) v group by v.task_id)'
                 ' insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, retry_at, candidates, rejected, not_candidates)'
                 ' select $1, $5, t.task_id, $6, case when t.kept > 0 then ''candidates'' else ''pending'' end,'
                 '        case when t.kept > 0 then null else $6 + brokerage.wait_of(p.parameters, t.current_priority) end, t.kept, t.refused - t.kept, t.outside'
                 '   from (select u.task_id, u.current_priority, count(j.queue) filter (where not coalesce(starts_with(j.failed, ''!''), false)) as refused,'
                 '                count(j.queue) filter (where j.failed is null) - coalesce(min(l.queues), 0) as kept,'
                 '                count(j.queue) filter (where starts_with(j.failed, ''!'')) as outside'
                 '           from unnest($2) with ordinality u left join judged j on j.task_number = u.ordinality'
                 '           left join (select r.task_number, count(*) as queues from ranked r where r.place > r.best group by r.task_number) l on l.task_number = u.ordinality'
                 '          group by u.ordinality, u.task_id, u.current_priority) t'
                 '   left join brokerage.rule_in_force p on p.profile = $7 and p.algorithm = $8 and p.kind = ''pending'' and p.enabled'
        using p_run.setup, v_tasks, p_queues, v_flavour, p_run.run_id, p_run.started_at, p_run.profile, p_run.algorithm;
    end if;
    update brokerage.task_decision d set rule = s.rule, reason = s.reason
      from unnest(v_tasks) f
     cross join brokerage.second_pass(p_run.profile, p_run.algorithm) s
     where f.second_pass and d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = f.task_id;
    v_tasks := brokerage.tasks_of_second_pass(p_run, v_tasks);
    exit when cardinality(v_tasks) = 0;
  end loop;
end $$;

comment on function brokerage.decide_together(brokerage.run, bigint[], brokerage.queue_facts[]) is
'Decides tasks in a run by one query and stores what was decided. Errors: PB001, PB002 (a rule that does not fit), and what the figures of a task raise.';
-- file: brokerage/engine/explained_pass.sql
-- anal-loops, where nothing is stored: a task as the pass sees it that decides about it. Asked by the query that decides.
create or replace function brokerage.explained_pass(p_setup text, p_profile text, p_algorithm text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[]) returns brokerage.task_facts[]
language plpgsql stable
as $$
declare
  v_query text := brokerage.compose_second_pass(p_profile, p_algorithm);
  v_task_id bigint;
  v_said text;
  v_again boolean;
begin
  if v_query is null then
    return p_tasks;
  end if;
  execute v_query into v_task_id, v_said using p_tasks;
  if v_said is null then
    return p_tasks;
  end if;
  execute brokerage.compose(p_profile, p_algorithm, false)
          || ' select count(*) filter (where j.failed is null) = 0 and count(*) filter (where not starts_with(j.failed, ''!'')) > 0 and ($5 = ''any'' or count(*) filter (where exists (select from unnest($6) r(begins) where starts_with(j.failed, r.begins))) = 0) from judged j'
     into v_again using p_setup, p_tasks, p_queues, brokerage.flavour(p_profile), v_said, brokerage.temporary_rules(p_profile, p_algorithm);
  return case when v_again then array(select brokerage.in_second_pass(f) from unnest(p_tasks) f) else p_tasks end;
end $$;

comment on function brokerage.explained_pass(text, text, text, brokerage.task_facts[], brokerage.queue_facts[]) is
'Facts of a task, in the second pass where the first one leaves it no queue (one task). Errors: PB001, PB002 (a rule that does not fit).';
-- file: brokerage/engine/flavour.sql
-- Which readings the facts have: those of the shipped profile at the root (texts of architectures and policies are read differently).
create or replace function brokerage.flavour(p_profile text) returns text
language sql stable
as $$
  select l.of_profile from brokerage.profile_line l join brokerage.shipped_profile s on s.profile = l.of_profile where l.profile = p_profile
$$;

comment on function brokerage.flavour(text) is 'The shipped profile that a profile goes back to: doc or panda2026; null = there is no such profile.';
-- file: brokerage/engine/in_second_pass.sql
create or replace function brokerage.in_second_pass(t brokerage.task_facts) returns brokerage.task_facts
language plpgsql immutable parallel safe
as $$
begin
  t.second_pass := true;
  return t;
end $$;

comment on function brokerage.in_second_pass(brokerage.task_facts) is 'Facts of a task that is decided once more.';
-- file: brokerage/engine/require_order.sql
-- Rules stand in an order that can be composed: who enters first, weights together, the choice by weight last.
create or replace function brokerage.require_order(p_rule brokerage.profile_rule, p_rules_before boolean, p_weights_before boolean, p_chosen_by text) returns void
language plpgsql immutable
as $$
begin
  if p_rule.kind = 'candidate' and p_rules_before then
    raise exception 'rule % of profile % is of kind candidate and stands behind others', p_rule.rule, p_rule.profile
      using errcode = 'PB001', hint = 'Who enters the list is decided first: give it a lower position.';
  elsif p_rule.kind = 'weight' and p_weights_before then
    raise exception 'weight % of profile % stands behind rules that read the weight', p_rule.rule, p_rule.profile
      using errcode = 'PB001', hint = 'Weights stand together: give this one a lower position.';
  elsif p_chosen_by is not null and p_rule.kind not in ('distribution', 'end') then
    raise exception 'rule % of profile % stands behind rule %, which chooses by weight', p_rule.rule, p_rule.profile, p_chosen_by
      using errcode = 'PB001', hint = 'The choice by weight is the last of the rules: give this one a lower position.';
  elsif p_rule.kind = 'choice' and (p_rule.parameters -> 'draw') is distinct from 'true' and coalesce(jsonb_typeof(p_rule.parameters -> 'best'), '') <> 'number' then
    raise exception 'rule % of profile %: parameter best is %', p_rule.rule, p_rule.profile, coalesce(p_rule.parameters ->> 'best', 'not there')
      using errcode = 'PB001', hint = 'Say how many queues are kept: {"best": 10}.';
  end if;
end $$;

comment on function brokerage.require_order(brokerage.profile_rule, boolean, boolean, text) is
'Refuses a rule that stands where no query can be made of it, or a choice that does not say how many it keeps. Errors: PB001.';
-- file: brokerage/engine/rule_call.sql
-- How the composed query calls a rule. Names are looked up in the catalogue and quoted, so nothing of a profile's texts becomes SQL. A rule runs as
-- the owner of the house: only functions of those who could act as it anyway (members of the role, superusers) are taken.
create or replace function brokerage.rule_call(p_rule brokerage.profile_rule, p_facts text) returns text
language plpgsql stable
as $$
declare
  v_parts text[] := parse_ident(p_rule.function);
  v_facts int := case when p_rule.kind in ('task rule', 'second pass') then 1 else 3 end;
  v_types text := concat_ws(' ', 'brokerage.task_facts'::regtype::oid, case when v_facts = 3 then 'brokerage.queue_facts'::regtype::oid end, case when v_facts = 3 then 'brokerage.pair_facts'::regtype::oid end);
  v_result regtype := case when p_rule.kind in ('weight', 'choice', 'distribution') then 'float8'::regtype else 'text'::regtype end;
  v_function record;
begin
  select p.oid, p.pronargs, p.prorettype, p.prosecdef, p.proconfig, p.provolatile, n.nspname, p.proname,
         pg_has_role(p.proowner, (select r.role_name from resource.house_role r where r.kind = 'owner'), 'member') as is_trusted
    into v_function
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
   where n.nspname = v_parts[1] and p.proname = v_parts[2]
     and p.proargtypes::text in (v_types, concat_ws(' ', v_types, 'jsonb'::regtype::oid))
   order by p.pronargs desc limit 1;
  if not found or cardinality(v_parts) <> 2 then
    raise exception 'rule % of profile %: there is no function % that takes %', p_rule.rule, p_rule.profile, coalesce(p_rule.function, 'null'),
                    case v_facts when 1 then 'task_facts' else 'task_facts, queue_facts and pair_facts' end
      using errcode = 'PB001', hint = 'Name schema and function; one more argument jsonb gets the parameters.';
  end if;
  if v_function.prorettype <> v_result and not (p_rule.kind = 'weight' and v_function.prorettype = 'float8[]'::regtype) then
    raise exception 'rule % of profile %: % returns %, a % returns %', p_rule.rule, p_rule.profile, p_rule.function, v_function.prorettype::regtype, p_rule.kind, v_result
      using errcode = 'PB001', hint = 'A rule returns text (null accepts), a weight, the value of a choice or a figure of distribution float8; a weight that looks at the other candidates its terms, float8[].';
  end if;
  if not v_function.is_trusted then
    raise exception 'rule % of profile %: the owner of % is no member of the role that owns pgbroker', p_rule.rule, p_rule.profile, p_rule.function
      using errcode = 'PB002', hint = 'A rule runs with the rights of that role: let a DBA own the function.';
  end if;
  if not has_schema_privilege(v_function.nspname, 'usage') or not has_function_privilege(v_function.oid, 'execute') then
    raise exception 'rule % of profile %: % may not call %', p_rule.rule, p_rule.profile, current_user, p_rule.function
      using errcode = 'PB002', hint = format('Its owner says: grant usage on schema %I to %I; grant execute on function %s to %I.', v_function.nspname, current_user, v_function.oid::regprocedure, current_user);
  end if;
  return format('%I.%I(%s%s)', v_function.nspname, v_function.proname, p_facts, case when v_function.pronargs > v_facts then format(', %L::jsonb', p_rule.parameters) else '' end);
end $$;

comment on function brokerage.rule_call(brokerage.profile_rule, text) is
'SQL that calls the function of a rule on facts; a function with one argument more gets the parameters of the rule. Errors: PB001 (no such function, or of another type), PB002 (its owner is not trusted, or it may not be called).';
-- file: brokerage/engine/second_pass.sql
-- What decisions say of tasks that were decided once more: their candidates would puzzle who asks where the input is.
create or replace function brokerage.second_pass(p_profile text, p_algorithm text, out rule text, out reason text)
language sql stable
as $$
  select r.rule, 'no queue has the input and passes the other rules: decided once more, without locality'
    from brokerage.rule_in_force r
   where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled and r.kind = 'second pass' order by r.position, r.rule limit 1
$$;

comment on function brokerage.second_pass(text, text) is 'The rule that has tasks decided once more, and what is said of them; null = a profile without one.';
-- file: brokerage/engine/sees_assignments.sql
-- Whether rules of a profile look at what the same batch has assigned (their parameter sees_assignments): then its tasks are decided in turn.
create or replace function brokerage.sees_assignments(p_profile text, p_algorithm text) returns boolean
language sql stable
as $$
  select exists (select from brokerage.rule_in_force r
                  where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled and (r.parameters ->> 'sees_assignments')::boolean)
$$;

comment on function brokerage.sees_assignments(text, text) is 'Whether rules of a profile look at jobs that the same batch assigned (the live counter).';
-- file: brokerage/engine/tasks_of_second_pass.sql
-- anal-loops: of tasks that a run has just decided those that it decides once more. What is stored of them is taken back: reasons are those of the last pass.
create or replace function brokerage.tasks_of_second_pass(p_run brokerage.run, p_tasks brokerage.task_facts[]) returns brokerage.task_facts[]
language plpgsql
as $$
declare
  v_query text := brokerage.compose_second_pass(p_run.profile, p_run.algorithm);
  v_again bigint[];
begin
  if v_query is null then
    return '{}'::brokerage.task_facts[];
  end if;
  execute 'with left_with_none as materialized (select s.task_id, s.said from (' || v_query || ') s'
          '  join brokerage.task_decision d on d.setup = $2 and d.run_id = $3 and d.task_id = s.task_id and d.candidates = 0 and d.rejected > 0)'
          ' select coalesce(array_agg(s.task_id), ''{}'') from left_with_none s'
          '  where s.said = ''any'' or not exists (select from brokerage.verdict v cross join unnest(v.queues) u cross join unnest($4) r(begins)'
          '                                         where v.setup = $2 and v.run_id = $3 and v.task_id = s.task_id and u.verdict = ''r'' and starts_with(u.rule || E''\t'' || u.reason, r.begins))'
     into v_again using p_tasks, p_run.setup, p_run.run_id, brokerage.temporary_rules(p_run.profile, p_run.algorithm);
  if cardinality(v_again) = 0 then
    return '{}'::brokerage.task_facts[];
  end if;
  delete from brokerage.verdict v where v.setup = p_run.setup and v.run_id = p_run.run_id and v.task_id = any (v_again);
  delete from brokerage.task_decision d where d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = any (v_again);
  return array(select brokerage.in_second_pass(f) from unnest(p_tasks) f where f.task_id = any (v_again) order by f.task_id);
end $$;

comment on function brokerage.tasks_of_second_pass(brokerage.run, brokerage.task_facts[]) is
'Those tasks, just decided in a run, that are decided once more; takes back what the run stored of them. Errors: PB001, PB002 (a rule that does not fit).';
-- file: brokerage/engine/temporary_rules.sql
-- Rules may go by one name, of which one is temporary and one is not (parameter as): they differ by the tag.
create or replace function brokerage.temporary_rules(p_profile text, p_algorithm text) returns text[]
language sql stable
as $$
  select coalesce(array_agg(case when r.parameters ? 'as' then (r.parameters ->> 'as') || E'\t' || coalesce(r.criteria || ': ', '') else r.rule || E'\t' end), '{}')
    from brokerage.rule_in_force r where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled and r.temporary
$$;

comment on function brokerage.temporary_rules(text, text) is 'How decisions begin (rule, tab, reason) that reject for a problem that passes by itself.';
-- file: brokerage/engine/wait_of.sql
-- When a task that found nothing is tried again: {"wait": "1 hour", "950": "10 minutes", "900": "30 minutes"} waits the time of the highest priority
-- that the task reaches, else the general one.
create or replace function brokerage.wait_of(p_parameters jsonb, p_priority int) returns interval
language sql stable parallel safe
as $$
  select coalesce((select w.value::interval from jsonb_each_text(p_parameters) w(key, value)
                    where w.key ~ '^[0-9]{1,9}$' and w.key::int <= p_priority order by w.key::int desc limit 1),
                  (p_parameters ->> 'wait')::interval, interval '1 hour')
$$;

comment on function brokerage.wait_of(jsonb, int) is 'How long a task of a priority waits before it is brokered again, by the parameters of a pending rule; an hour where they say nothing.';
-- file: brokerage/engine/weighs_terms.sql
create or replace function brokerage.weighs_terms(p_rule brokerage.profile_rule) returns boolean
language sql stable
as $$
  select exists (select from pg_proc p join pg_namespace n on n.oid = p.pronamespace
                  where array[n.nspname, p.proname]::text[] = parse_ident(p_rule.function) and p.prorettype = 'float8[]'::regtype)
$$;

comment on function brokerage.weighs_terms(brokerage.profile_rule) is 'Whether a weight looks at the other candidates of a task: its function returns terms (float8[]).';
-- file: brokerage/engine/with_assigned.sql
-- The text that brokerage.assigned_before reads, after one more turn.
create or replace function brokerage.with_assigned(p_assigned text, p_numbers bigint[], p_given float8[]) returns text
language plpgsql immutable parallel safe
as $$
declare
  v_assigned float8[] := p_assigned::float8[];
begin
  for i in 1 .. cardinality(p_numbers) loop
    if p_given[i] > 0 then
      v_assigned[p_numbers[i]] := coalesce(v_assigned[p_numbers[i]], 0) + p_given[i];
    end if;
  end loop;
  return v_assigned::text;
end $$;

comment on function brokerage.with_assigned(text, bigint[], float8[]) is 'What queues or nuclei were assigned in a batch, by their numbers, with what those of one task got.';
-- file: brokerage/engine/with_assignments.sql
-- Facts of queues for the rest of a batch that was cut in two: its first part has assigned jobs that the live counter does not hold yet.
create or replace function brokerage.with_assignments(p_run brokerage.run, p_task_ids bigint[], p_queues brokerage.queue_facts[]) returns brokerage.queue_facts[]
language sql stable
as $$
  with queue as materialized (
    select f.ordinality as number, f.queue, f.unified_name from unnest(p_queues) with ordinality f
  ), assigned as materialized (
    select q.unified_name, sum(a.jobs)::bigint as jobs
      from brokerage.assignment a
      join queue q on q.queue = a.queue
     where a.setup = p_run.setup and a.run_id = p_run.run_id and a.task_id = any (p_task_ids)
     group by q.unified_name
  )
  select array_agg(brokerage.with_live(p_queues[q.number], coalesce(a.jobs, 0)) order by q.number)
    from queue q
    left join assigned a on a.unified_name = q.unified_name
$$;

comment on function brokerage.with_assignments(brokerage.run, bigint[], brokerage.queue_facts[]) is
'Facts of queues to whose live counters the jobs were added that a run assigned for the tasks listed.';
-- file: brokerage/engine/with_job_check.sql
-- task-job-check (brokerage-rules 1.1, D-07): the job broker of the same profile says at which nuclei some queue could run the jobs of each task, as
-- the parameters of the rule say: rules left out, and the last that is asked.
create or replace function brokerage.with_job_check(p_setup text, p_profile text, p_algorithm text, p_tasks brokerage.task_facts[]) returns brokerage.task_facts[]
language plpgsql stable
as $$
declare
  v_hint jsonb := (select r.parameters from brokerage.rule_in_force r
                    where r.profile = p_profile and r.algorithm = p_algorithm and r.function = 'brokerage.rule_task_job_check' and r.enabled);
  v_flavour text := brokerage.flavour(p_profile);
  v_tasks brokerage.task_facts[];
  v_queues brokerage.queue_facts[];
  v_runnable jsonb;
begin
  if v_hint is null or cardinality(p_tasks) = 0 then
    return p_tasks;
  end if;
  v_tasks := array(select f from brokerage.facts_of_tasks(p_setup, array(select t.task_id from unnest(p_tasks) t), v_flavour, 'production_job') f order by f.task_id);
  v_queues := array(select f from brokerage.facts_of_queues(p_setup) f where f.is_nucleus or f.bare_nucleus is not null order by f.queue);
  execute brokerage.compose(p_profile, 'production_job', cardinality(v_tasks) * cardinality(v_queues) > 5000, false, false, v_hint)
          || ' select coalesce(jsonb_object_agg(s.task_id, s.nuclei), ''{}'') from (select j.task_id, jsonb_agg(distinct q.panda_site) as nuclei'
             '   from judged j join unnest($3) q on q.queue = j.queue where j.failed is null and q.panda_site is not null group by j.task_id) s'
     into v_runnable using p_setup, v_tasks, v_queues, v_flavour;
  return array(select brokerage.with_runnable(p_tasks[n], array(select jsonb_array_elements_text(v_runnable -> p_tasks[n].task_id::text))) from generate_subscripts(p_tasks, 1) n order by n);
end $$;

comment on function brokerage.with_job_check(text, text, text, brokerage.task_facts[]) is
'Facts of tasks with the nuclei where some queue could run their jobs, if the profile asks for it (task-job-check). Errors: PB001, PB002 (a rule that does not fit).';
-- file: brokerage/engine/with_live.sql
-- A queue with the jobs that this batch assigned to it since its facts were made.
create or replace function brokerage.with_live(q brokerage.queue_facts, p_jobs bigint) returns brokerage.queue_facts
language plpgsql immutable parallel safe
as $$
begin
  q.live_jobs := q.live_jobs + p_jobs;
  return q;
end $$;

comment on function brokerage.with_live(brokerage.queue_facts, bigint) is 'Facts of a queue to whose live counter jobs were added.';
-- file: brokerage/engine/with_runnable.sql
-- A task with the nuclei where some queue could run its jobs (task-job-check).
create or replace function brokerage.with_runnable(t brokerage.task_facts, p_nuclei text[]) returns brokerage.task_facts
language plpgsql immutable parallel safe
as $$
begin
  t.runnable_at := p_nuclei;
  return t;
end $$;

comment on function brokerage.with_runnable(brokerage.task_facts, text[]) is 'Facts of a task, with the nuclei where some queue could run its jobs.';
-- file: brokerage/facts/bare_nucleus.sql
create or replace function brokerage.bare_nucleus(p_said text, p_attributes jsonb) returns text
language sql immutable parallel safe
as $$
  select coalesce(p_said, case when p_attributes ->> 'bareNucleus' in ('only', 'allow') then p_attributes ->> 'bareNucleus' end)
$$;

comment on function brokerage.bare_nucleus(text, jsonb) is
'Mode of a bare nucleus, only or allow; null = none: what the table of nuclei says, else the attributes (catchall, params) of the queue that speaks for it.';
-- file: brokerage/facts/facts_of_analysis.sql
-- What only the analysis broker reads of a task: its user or group, the share, where it may go, its configuration (brokerage-rules 1.4, brokerage-doc-profile
-- 2). Who is counted: caps are those of the working group where there is one; the quota is the group's if it has one, in panda2026 always the user's.
create or replace function brokerage.facts_of_analysis(p_setup text, p_task_ids bigint[], p_flavour text)
returns table (task_id bigint, account_running_jobs bigint, account_queued_jobs bigint, account_running_cores bigint, account_queued_cores bigint,
               cap_jobs float8, cap_cores float8, quota_used float8, quota_limit float8, quota_is_kept boolean, quota_is_near boolean, over_local text[],
               share_usage float8, share_usage_above float8, share_queued bigint, share_running bigint, task_class int, rem_slots_a float8,
               user_usage_threshold_a float8, included_sites text[], excluded_sites text[], sites text[], preassigned text[], limited_sites boolean, sites_used text[],
               avoid_vp boolean, cloud text, n_gb_per_job float8, is_distributed boolean, has_platform boolean, input_problem text, wan_problem text, io_intensity_cutoff_user float8,
               data_check_timeout_user float8, min_bad_jobs_to_skip_pq float8, overload_min_queue float8, overload_ratio_offset float8,
               base_queue_length_per_pq float8, base_expected_wait_hour_on_pq float8, base_default_queue_length_per_pq_user float8,
               base_queue_ratio_on_pq float8, static_max_queue_running_ratio float8, max_expected_wait_hour float8, storage_min_free_size_output float8)
language sql stable
as $$
  with config as materialized (
    select c.all_keys -> 'anal_jobbroker' as keys, c.all_keys -> 'prio_mgr' as caps, c.all_keys -> 'analy_eval' as classes
      from (select resource.configuration(p_setup)) c(all_keys)
  ), moment as materialized (
    select resource.clock(p_setup) as now
  ), task as materialized (
    select t.task_id, t.gshare, t.user_name, nullif(t.working_group, '') as working_group, case when brokerage.is_current(t.task_classified, c.now, interval '15 minutes') then t.task_class end as task_class,
           t.included_site, t.excluded_site, t.site, t.limited_sites,
           t.sites_used, t.avoid_vp, t.cloud, t.n_gb_per_job, t.allow_incomplete_in_ds, t.architecture
      from workload.task t cross join moment c where t.setup = p_setup and t.task_id = any (p_task_ids)
  ), count_of_share as materialized (
    select c.gshare, sum(c.defined + c.assigned + c.activated + c.starting)::bigint as queued, sum(c.running)::bigint as running
      from workload.job_count c where c.setup = p_setup and c.gshare in (select t.gshare from task t) group by c.gshare
  ), input as materialized (
    select t.task_id, i.dataset, t.allow_incomplete_in_ds, d.distributed
      from task t
      join workload.task_dataset i on i.setup = p_setup and i.task_id = t.task_id and i.direction = 'input'
      join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
     where not workload.is_pseudo(d)
  ), source as materialized (  -- input-completeness, by the limits of this broker
    select r.dataset, bool_or(brokerage.is_usable(s.read_lan)) as can_read_lan, bool_or(brokerage.is_usable(s.read_wan)) as can_read_wan
      from workload.replica_state r
     cross join config c
      left join resource.storage s on s.setup = r.setup and s.storage = r.storage
     where p_flavour <> 'doc' and r.setup = p_setup and r.dataset in (select i.dataset from input i)
       and (r.is_complete or r.found > 0 and r.total > 0 and (r.total - r.found <= (c.keys ->> 'MAX_MISSING_INPUT_FILES')::float8
                                                              or r.found * 100 >= r.total * (c.keys ->> 'MIN_INPUT_COMPLETENESS')::float8))
     group by r.dataset
  ), data as materialized (
    select i.task_id, bool_or(i.distributed) as is_distributed,
           min(format('dataset %s is complete at no readable storage', i.dataset))
             filter (where not coalesce(i.allow_incomplete_in_ds, false) and not coalesce(i.distributed, false) and (s.can_read_lan or s.can_read_wan) is not true) as input_problem,
           min(format('dataset %s can be read over WAN nowhere', i.dataset)) filter (where s.can_read_wan is not true) as wan_problem
      from input i
      left join source s on s.dataset = i.dataset
     group by i.task_id
  )
  select t.task_id,
         coalesce(a.running_jobs, 0), coalesce(a.queued_jobs, 0), coalesce(a.running_cores, 0), coalesce(a.queued_cores, 0),
         (c.caps ->> case when t.working_group is null then 'CAP_RUNNING_USER_JOBS' else 'CAP_RUNNING_GROUP_JOBS' end)::float8,
         (c.caps ->> case when t.working_group is null then 'CAP_RUNNING_USER_CORES' else 'CAP_RUNNING_GROUP_CORES' end)::float8,
         k.used, k.quota_limit,
         case when jsonb_typeof(k.quota) = 'object'
              then coalesce((nullif(k.quota -> 'ok', 'null')) = 'true', not (k.quota_limit > 0 and k.used > k.quota_limit), true) end,
         coalesce((nullif(k.quota -> 'near_limit', 'null')) = 'true', k.quota_limit > 0 and k.used > 0.9 * k.quota_limit, false),
         case when jsonb_typeof(u.quota -> 'over_local') = 'array' then array(select jsonb_array_elements_text(u.quota -> 'over_local')) end,
         coalesce(s.usage_percent, s.running / nullif(s.target, 0)), coalesce(l.equivalent_usage_percent, s.equivalent_usage_percent),
         coalesce(n.queued, 0), coalesce(n.running, 0),
         t.task_class::int, case when brokerage.is_current(u.evaluated, m.now, interval '20 minutes') then u.rem_slots_a end, (c.classes ->> 'USER_USAGE_THRESHOLD_A')::float8,
         brokerage.name_patterns(p_setup, t.included_site || p.storage_queues, p_flavour <> 'doc'), brokerage.name_patterns(p_setup, t.excluded_site, p_flavour <> 'doc'),
         brokerage.name_patterns(p_setup, p.names, false), p.names,
         coalesce(t.limited_sites, false) or cardinality(p.storage_queues) > 0, coalesce(t.sites_used, '{}'), coalesce(t.avoid_vp, false), t.cloud, t.n_gb_per_job,
         coalesce(d.is_distributed, false), p_flavour <> 'doc' and coalesce(brokerage.read_architecture(t.architecture, p_flavour) ->> 'sw_platform', '') <> '',
         case when p_flavour <> 'doc' then d.input_problem end, case when p_flavour <> 'doc' then d.wan_problem end,
         (c.keys ->> 'IO_INTENSITY_CUTOFF_USER')::float8, (c.keys ->> 'DATA_CHECK_TIMEOUT_USER')::float8, (c.keys ->> 'MIN_BAD_JOBS_TO_SKIP_PQ')::float8,
         (c.keys ->> 'OVERLOAD_MIN_QUEUE')::float8, (c.keys ->> 'OVERLOAD_RATIO_OFFSET')::float8, (c.keys ->> 'BASE_QUEUE_LENGTH_PER_PQ')::float8,
         (c.keys ->> 'BASE_EXPECTED_WAIT_HOUR_ON_PQ')::float8, (c.keys ->> 'BASE_DEFAULT_QUEUE_LENGTH_PER_PQ_USER')::float8, (c.keys ->> 'BASE_QUEUE_RATIO_ON_PQ')::float8,
         (c.keys ->> 'STATIC_MAX_QUEUE_RUNNING_RATIO')::float8, (c.keys ->> 'MAX_EXPECTED_WAIT_HOUR')::float8, (c.keys ->> 'STORAGE_MIN_FREE_SIZE_OUTPUT')::float8
    from task t
   cross join config c
   cross join moment m
    left join resource.account u on u.setup = p_setup and u.kind = 'user' and u.name = t.user_name
    left join resource.account g on g.setup = p_setup and g.kind = 'group' and g.name = t.working_group
   cross join lateral (select case when p_flavour = 'doc' then coalesce(nullif(g.quota, 'null'), u.quota) else u.quota end) o(quota)
   cross join lateral (select o.quota, case when jsonb_typeof(o.quota -> 'used') = 'number' then (o.quota ->> 'used')::float8 end,
                              case when jsonb_typeof(o.quota -> 'limit') = 'number' then (o.quota ->> 'limit')::float8 end) k(quota, used, quota_limit)
   cross join lateral (select case when t.working_group is null then u.running_jobs else g.running_jobs end, case when t.working_group is null then u.queued_jobs else g.queued_jobs end,
                              case when t.working_group is null then u.running_cores else g.running_cores end,
                              case when t.working_group is null then u.queued_cores else g.queued_cores end) a(running_jobs, queued_jobs, running_cores, queued_cores)
    left join resource.share s on s.setup = p_setup and s.gshare = t.gshare and brokerage.is_current(s.measured, m.now, interval '15 minutes')
    left join resource.share l on l.setup = p_setup and l.gshare = 'L1 User Analysis' and brokerage.is_current(l.measured, m.now, interval '15 minutes')
    left join count_of_share n on n.gshare = t.gshare
    left join data d on d.task_id = t.task_id
   cross join lateral (  -- a site that is no queue, but a storage, stands for the queues that read it (panda2026)
         select nullif(array_agg(m.name) filter (where not m.is_storage), '{}'), array_remove(array_agg(r.queue), null)
           from (select n.name, p_flavour <> 'doc' and not exists (select from resource.queue q where q.setup = p_setup and q.queue = split_part(n.name, '/', 1))
                                and exists (select from resource.queue_storage x where x.setup = p_setup and x.storage = n.name and x.direction = 'read_lan') as is_storage
                   from unnest(resource.names_of_list(t.site)) n(name)) m
           left join resource.queue_storage r on m.is_storage and r.setup = p_setup and r.storage = m.name and r.direction = 'read_lan') p(names, storage_queues)
$$;

comment on function brokerage.facts_of_analysis(text, bigint[], text) is 'What only analysis_job reads of tasks, one row each (flavour doc or panda2026); the columns are those of brokerage.task_facts.';
-- file: brokerage/facts/facts_of_analysis_pairs.sql
-- after: brokerage.facts_of_pairs
-- What analysis reads of tasks and queues: brokerage.facts_of_pairs, where the input is as anal-locality sees it, how jobs of the task ended there, and what
-- its user and all users have there (brokerage-rules 1.4 and 1.5, brokerage-doc-profile 2 and 4.4). Lists of datasets, shares and users are looked at once each.
create or replace function brokerage.facts_of_analysis_pairs(p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_flavour text)
returns table (task_number bigint, queue_number bigint, is_preassigned boolean, preassigned_alone boolean, is_nucleus_queue boolean, is_near boolean, is_own boolean,
               closeness float8, queued float8, queued_express float8, mbps float8, running bigint, starting bigint, activated bigint, assigned bigint,
               defined bigint, numslots bigint, type_running bigint, type_starting bigint, type_activated bigint, type_assigned bigint, type_defined bigint,
               available_files bigint, available_bytes bigint, reachable_files bigint, reachable_bytes bigint, input_is_local boolean,
               has_readable_source boolean, zero_share text, software text, platform_level_percent float8,
               input_problem text, input_copies float8, failed bigint, closed bigint, finished bigint,
               user_queued bigint, user_running bigint, users bigint, users_running bigint, to_running_rate float8)
language sql stable
as $$
  with task as materialized (
    select f.ordinality as number, f.task_id, f.gshare, f.user_name, f.included_sites, f.sites, f.preassigned, i.datasets, i.nothing_there,
           dense_rank() over (order by f.gshare) as share_number, dense_rank() over (order by f.gshare, f.user_name) as user_number,
           dense_rank() over (order by i.datasets, f.preassigned) as input_number
      from unnest(p_tasks) with ordinality f
      left join (select i.task_id, array_agg(i.dataset order by i.position) as datasets, format('dataset %s is not there', min(i.dataset)) as nothing_there
                   from workload.task_dataset i
                   join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
                  where i.setup = p_setup and i.task_id in (select u.task_id from unnest(p_tasks) u) and i.direction = 'input' and not workload.is_pseudo(d)
                  group by i.task_id) i on i.task_id = f.task_id
  ), queue as materialized (
    select f.ordinality as number, dense_rank() over (order by f.unified_name) as unified, f.queue, f.unified_name, f.running_all,
           coalesce(f.type in ('analysis', 'unified') or f.attributes ? 'grandly_unified', false) as is_listed
      from unnest(p_queues) with ordinality f
  ), unified as materialized (
    select distinct on (q.unified) q.unified as number, q.unified_name as queue, q.running_all, q.is_listed from queue q order by q.unified
  ), input as materialized (
    select distinct t.input_number as number, t.preassigned, i.dataset, i.position, d.distributed
      from task t
     cross join unnest(t.datasets) with ordinality i(dataset, position)
      join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
  ), replica as materialized (  -- in panda2026 a copy that misses little is regarded as complete
    select r.dataset, r.storage, r.vp, r.found, r.total, r.found > 0 as has_files, coalesce(s.is_tape, false) as is_tape,
           r.is_complete or p_flavour <> 'doc' and r.found > 0 and r.total > 0 and (r.total - r.found <= c.missing or r.found * 100 >= r.total * c.percent) as is_complete
      from workload.replica_state r
     cross join (select (resource.config_value(p_setup, 'jedi', 'anal_jobbroker', 'MAX_MISSING_INPUT_FILES') #>> '{}')::float8,
                        (resource.config_value(p_setup, 'jedi', 'anal_jobbroker', 'MIN_INPUT_COMPLETENESS') #>> '{}')::float8) c(missing, percent)
      left join resource.storage s on s.setup = r.setup and s.storage = r.storage
     where r.setup = p_setup and r.dataset in (select i.dataset from input i)
  ), dataset as materialized (  -- whether parts of it count; whether virtual placements do
    select i.dataset, not coalesce(bool_or(r.is_complete and (p_flavour = 'doc' or not r.is_tape)), false) or p_flavour <> 'doc' and bool_or(i.distributed) as parts_count,
           p_flavour = 'doc' or not coalesce(bool_or(not r.vp and not r.is_tape and (r.is_complete or i.distributed)), false) as vp_counts
      from input i
      left join replica r on r.dataset = i.dataset
     group by i.dataset
  ), there as materialized (  -- on_disk: of copies that count, null where none does; found, total: files of the largest part
    select d.dataset, u.number as queue, bool_or(not r.is_tape) filter (where (r.is_complete or d.parts_count and r.has_files) and (d.vp_counts or not coalesce(r.vp, false))) as on_disk,
           max(r.found) filter (where r.vp is not true and not r.is_complete) as found, max(r.total) filter (where r.vp is not true and not r.is_complete) as total
      from dataset d
      join replica r on r.dataset = d.dataset
      join resource.storage_for_analysis s on s.setup = p_setup and s.storage = r.storage and s.direction = 'read_lan'
      join unified u on u.queue = s.queue
     group by d.dataset, u.number
  ), copy as materialized (
    select t.dataset, t.queue, t.on_disk from there t where t.on_disk is not null
  ), placed as materialized (  -- how near a queue is to all of an input: 4 all on disk, 3 all there, 2 some on disk, 1 some there, 0 parts that do not count; without a row nothing is
    select i.number as input, u.queue, min(i.dataset) filter (where c.dataset is null) as missing,
           case when bool_and(c.on_disk is true) then 4 when bool_and(c.dataset is not null) then 3 when bool_or(c.on_disk) then 2 when bool_or(c.dataset is not null) then 1 else 0 end as level,
           sum(case when c.on_disk then 1 when not c.on_disk then 0.001 else 0 end) as copies,
           n.is_listed or coalesce(n.queue = any (i.preassigned), false) as is_candidate
      from (select distinct i.number, c.queue from input i join there c on c.dataset = i.dataset) u
      join unified n on n.number = u.queue
      join input i on i.number = u.number
      left join copy c on c.dataset = i.dataset and c.queue = u.queue
     group by i.number, i.preassigned, u.queue, n.queue, n.is_listed
  ), best as materialized (  -- of the candidates (anal-initial): what others have is out of reach
    select p.input, max(p.level) as level from placed p where p.is_candidate group by p.input
  ), input_of_queue as materialized (
    select p.input, p.queue,
           case when p_flavour = 'doc' then case when p.level < 3 then m.said end
                when p.level = 0 then m.said
                when p.level < b.level then case when p.missing is null then 'its input is there on tape, elsewhere on disk'
                                                 else m.said || case when b.level < 3 then ', other queues have more on disk' else '' end end end as problem,
           case when p_flavour = 'doc' or b.level > 2 then p.copies end as copies
      from placed p
      left join best b on b.input = p.input
      left join there t on t.dataset = p.missing and t.queue = p.queue
     cross join lateral (select case when t.found > 0 then format('%s of %s files of dataset %s are there', t.found, t.total, p.missing) else format('dataset %s is not there', p.missing) end) m(said)
  ), result as materialized (
    select t.number as task, q.number as queue, sum(r.failed)::bigint as failed, sum(r.closed)::bigint as closed, sum(r.finished)::bigint as finished
      from task t
      join workload.task_result r on r.setup = p_setup and r.task_id = t.task_id
      join queue q on r.queue in (q.queue, q.unified_name)
     group by t.number, q.number
  ), share as materialized (
    select distinct t.share_number as number, t.gshare from task t
  ), users as materialized (
    select s.number as share, u.number as queue, count(*) filter (where x.user_name <> '_total') as listed,
           coalesce(max(x.running) filter (where x.user_name = '_total'), sum(x.running)) as running
      from share s
      join workload.user_queue_statistic x on x.setup = p_setup and x.gshare = s.gshare
      join unified u on u.queue = x.queue
     group by s.number, u.number
  ), own as materialized (
    select o.number as owner, u.number as queue, coalesce(x.queued, 0) as queued, coalesce(x.running, 0) as running
      from (select distinct t.user_number as number, t.gshare, t.user_name from task t) o
      join workload.user_queue_statistic x on x.setup = p_setup and x.gshare = o.gshare and x.user_name = o.user_name
      join unified u on u.queue = x.queue
  ), rate as materialized (
    select s.number as share, u.number as queue, max(r.rate) filter (where r.gshare <> '') as of_share, max(r.rate) filter (where r.gshare = '') as of_all
      from workload.to_running_rate r
      join unified u on u.queue = r.queue
      join share s on r.gshare in ('', s.gshare)
     where r.setup = p_setup
     group by s.number, u.number
  )
  select f.task_number, f.queue_number,
         case when p_flavour = 'doc' then coalesce(q.queue like any (t.included_sites || t.sites) or q.unified_name like any (t.included_sites || t.sites), false) else f.is_preassigned end,
         f.preassigned_alone, f.is_nucleus_queue, f.is_near, f.is_own, f.closeness, f.queued, f.queued_express, f.mbps, f.running, f.starting,
         f.activated, f.assigned, f.defined, f.numslots, f.type_running, f.type_starting, f.type_activated, f.type_assigned, f.type_defined,
         f.available_files, f.available_bytes, f.reachable_files, f.reachable_bytes, f.input_is_local, f.has_readable_source, f.zero_share, f.software,
         f.platform_level_percent,
         case when i.input is null then t.nothing_there else i.problem end, case when t.datasets is null then 1 when i.input is not null then i.copies when p_flavour = 'doc' or t.level > 2 then 0 end,
         coalesce(r.failed, 0), coalesce(r.closed, 0), coalesce(r.finished, 0),
         o.queued, o.running,
         case when u.share is null then 1 when p_flavour = 'doc' then greatest(u.listed, 1) else u.listed + 1 end,
         coalesce(u.running, f.running)::bigint,
         coalesce(x.of_share, x.of_all * f.running / nullif(q.running_all, 0), 0)
    from brokerage.facts_of_pairs(p_setup, p_tasks, p_queues, p_flavour, true) f
    join (select t.*, b.level from task t left join best b on b.input = t.input_number) t on t.number = f.task_number
    join queue q on q.number = f.queue_number
    left join input_of_queue i on i.input = t.input_number and i.queue = q.unified
    left join result r on r.task = t.number and r.queue = q.number
    left join users u on u.share = t.share_number and u.queue = q.unified
    left join own o on o.owner = t.user_number and o.queue = q.unified
    left join rate x on x.share = t.share_number and x.queue = q.unified
$$;

comment on function brokerage.facts_of_analysis_pairs(text, brokerage.task_facts[], brokerage.queue_facts[], text) is
'What tasks and queues have with each other, as rules of analysis_job see it: one row for each task and queue, by their places in the two arrays.';
-- file: brokerage/facts/facts_of_candidates.sql
-- after: brokerage.nucleus_site
-- What an algorithm chooses among: nuclei for tasks, queues for jobs.
create or replace function brokerage.facts_of_candidates(p_setup text, p_algorithm text) returns brokerage.queue_facts[]
language plpgsql stable
as $$
begin
  return case when p_algorithm = 'production_task' then array(select f from brokerage.facts_of_nuclei(p_setup) f order by f.queue)
              else array(select f from brokerage.facts_of_queues(p_setup, p_algorithm = 'analysis_job') f order by f.queue) end;
end $$;

comment on function brokerage.facts_of_candidates(text, text) is 'The candidates of an algorithm as rules see them, by name: nuclei (production_task) or queues.';
-- file: brokerage/facts/facts_of_few_analysis_pairs.sql
-- brokerage.facts_of_analysis_pairs with a plan that a session keeps (brokerage.facts_of_few_pairs).
create or replace function brokerage.facts_of_few_analysis_pairs(p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_flavour text)
returns table (task_number bigint, queue_number bigint, is_preassigned boolean, preassigned_alone boolean, is_nucleus_queue boolean, is_near boolean, is_own boolean,
               closeness float8, queued float8, queued_express float8, mbps float8, running bigint, starting bigint, activated bigint, assigned bigint,
               defined bigint, numslots bigint, type_running bigint, type_starting bigint, type_activated bigint, type_assigned bigint, type_defined bigint,
               available_files bigint, available_bytes bigint, reachable_files bigint, reachable_bytes bigint, input_is_local boolean,
               has_readable_source boolean, zero_share text, software text, platform_level_percent float8,
               input_problem text, input_copies float8, failed bigint, closed bigint, finished bigint,
               user_queued bigint, user_running bigint, users bigint, users_running bigint, to_running_rate float8)
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query select f.* from brokerage.facts_of_analysis_pairs(p_setup, p_tasks, p_queues, p_flavour) f;
end $$;

comment on function brokerage.facts_of_few_analysis_pairs(text, brokerage.task_facts[], brokerage.queue_facts[], text) is
'The same as brokerage.facts_of_analysis_pairs, quicker for some hundred pairs: its plan is kept.';
-- file: brokerage/facts/facts_of_few_pairs.sql
-- brokerage.facts_of_pairs with a plan that a session keeps: planning it anew costs 20 ms, which counts where a task is decided at a time. All rows go
-- through a buffer, which counts where there are many.
create or replace function brokerage.facts_of_few_pairs(p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_flavour text)
returns table (task_number bigint, queue_number bigint, is_preassigned boolean, preassigned_alone boolean, is_nucleus_queue boolean, is_near boolean, is_own boolean,
               closeness float8, queued float8, queued_express float8, mbps float8, running bigint, starting bigint, activated bigint, assigned bigint,
               defined bigint, numslots bigint, type_running bigint, type_starting bigint, type_activated bigint, type_assigned bigint, type_defined bigint,
               available_files bigint, available_bytes bigint, reachable_files bigint, reachable_bytes bigint, input_is_local boolean,
               has_readable_source boolean, zero_share text, software text, platform_level_percent float8)
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query select f.* from brokerage.facts_of_pairs(p_setup, p_tasks, p_queues, p_flavour) f;
end $$;

comment on function brokerage.facts_of_few_pairs(text, brokerage.task_facts[], brokerage.queue_facts[], text) is
'The same as brokerage.facts_of_pairs, quicker for some hundred pairs: its plan is kept.';
-- file: brokerage/facts/facts_of_nuclei.sql
-- after: brokerage.nucleus_site
-- Nuclei as rules of production_task see them: candidates like queues, of which only what is said here holds (brokerage-rules 1.1).
create or replace function brokerage.facts_of_nuclei(p_setup text) returns setof brokerage.queue_facts
language sql stable
as $$
  with nucleus as materialized (
    select s.nucleus from brokerage.nucleus_site s where s.setup = p_setup
    union
    select n.nucleus from resource.nucleus n where n.setup = p_setup
  ), backlog as materialized (
    select l.dst as nucleus, sum(coalesce(l.queued, 0)) as queued from resource.link l where l.setup = p_setup group by l.dst
  ), work as materialized (
    select w.nucleus, sum(w.work) as work from brokerage.work_at_nucleus w where w.setup = p_setup and w.gshare = '' group by w.nucleus
  ), storage as materialized (
    select distinct s.panda_site as nucleus
      from resource.queue s
      join resource.queue_storage o on o.setup = s.setup and o.queue = s.queue and o.direction = 'write_lan' and o.scope = 'default'
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
           'queued_into', case k.backlogged when true then 'Infinity' when false then '0' else coalesce(b.queued, 0)::text end,
           'remaining_work', coalesce(w.work, 0),
           'has_output_storage', o.nucleus is not null,
           'attributes', coalesce(s.attributes, '{}'))) r
$$;

comment on function brokerage.facts_of_nuclei(text) is
'The nuclei of a setup as rules of production_task see them, satellites with a bareNucleus mode and sites of resource.nucleus among them; one row each.';
-- file: brokerage/facts/facts_of_nucleus_pairs.sql
-- What each task has with each nucleus, a row a pair: how much of the input is there, what space, what work is left (brokerage-rules 1.1,
-- brokerage-doc-profile 3). What depends on datasets, tokens or share and priority is found once each.
create or replace function brokerage.facts_of_nucleus_pairs(p_setup text, p_tasks brokerage.task_facts[], p_nuclei brokerage.queue_facts[], p_flavour text)
returns table (task_number bigint, queue_number bigint, is_preassigned boolean, remaining_work float8, located_files bigint, located_bytes bigint,
               located_disk_files bigint, located_disk_bytes bigint, space float8, weighed_space float8, space_total float8, output_problem text, wan_problem text)
language sql stable
as $$
  with task as materialized (
    select f.ordinality as number, f.task_id, f.gshare, f.current_priority, f.nucleus, f.is_preset, t.task_broker_on_master,
           dense_rank() over (order by f.gshare, f.current_priority) as rung_number,
           p_flavour <> 'doc' and f.full_chain is not null as is_chained
      from unnest(p_tasks) with ordinality f
      join workload.task t on t.setup = p_setup and t.task_id = f.task_id
  ), nucleus as materialized (
    select f.ordinality as number, f.queue as nucleus, f.remaining_work from unnest(p_nuclei) with ordinality f
  ), rung as materialized (
    select distinct t.rung_number as number, t.gshare, t.current_priority from task t
  ), work as materialized (
    select r.number as rung, n.number as nucleus, sum(w.work) as work
      from brokerage.work_at_nucleus w
      join nucleus n on n.nucleus = w.nucleus
      join rung r on r.gshare = w.gshare and r.current_priority <= w.priority
     where w.setup = p_setup
     group by r.number, n.number
  ), site as materialized (  -- storages of the nuclei's queues; of a full-chain task those of the secondary nucleus
    select n.number as nucleus, c.is_chained, q.queue
      from nucleus n
     cross join (values (false), (true)) c(is_chained)
      left join resource.nucleus k on k.setup = p_setup and k.nucleus = n.nucleus
      left join brokerage.nucleus_site own on own.setup = p_setup and own.nucleus = n.nucleus
      join brokerage.nucleus_site s on s.setup = p_setup
       and s.nucleus = case when c.is_chained then coalesce(k.secondary_nucleus, own.attributes ->> 'secondaryNucleus', n.nucleus) else n.nucleus end
      join resource.queue q on q.setup = p_setup and q.panda_site = s.nucleus and (q.role = 'nucleus' or q.queue = s.queue)
  ), input as materialized (
    select t.number as task, i.dataset
      from task t
      join workload.task_dataset i on i.setup = p_setup and i.task_id = t.task_id and i.direction = 'input'
      join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
     where not workload.is_pseudo(d) and (i.position = 1 or not coalesce(t.task_broker_on_master, false))
       and (p_flavour = 'doc' or brokerage.is_scanned(i.dataset))
  ), dataset as materialized (
    select i.dataset, count(f.lfn) as files, coalesce(sum(f.size), 0) as bytes
      from (select distinct dataset from input) i
      left join workload.dataset_file f on f.setup = p_setup and f.dataset = i.dataset
     group by i.dataset
  ), held as materialized (
    select n.nucleus, d.dataset, s.is_tape, case when r.is_complete then d.files else r.found end as files,
           case when r.is_complete then d.bytes else coalesce(c.asize, p.bytes) end as bytes
      from (select distinct site.nucleus, site.queue from site where not site.is_chained) n
      join resource.storage_of_queue s on s.setup = p_setup and s.queue = n.queue and s.direction = 'read_lan' and s.scope = 'default'
      join workload.replica_state r on r.setup = p_setup and r.storage = s.storage and not coalesce(r.vp, false)
      join workload.replica c on c.setup = p_setup and c.dataset = r.dataset and c.storage = r.storage
      join dataset d on d.dataset = r.dataset
     cross join lateral (select case when not r.is_complete and c.asize is null then
                                       coalesce((select sum(f.size) from workload.dataset_file f
                                                  where f.setup = p_setup and f.dataset = r.dataset
                                                    and case when r.lfns is null then f.position <= r.found else f.lfn = any (r.lfns) end), 0) end offset 0) p(bytes)
  ), best as materialized (
    select h.nucleus, h.dataset, max(h.files) as files, max(h.bytes) as bytes,
           max(h.files) filter (where not h.is_tape) as disk_files, max(h.bytes) filter (where not h.is_tape) as disk_bytes
      from held h
     group by h.nucleus, h.dataset
  ), located as materialized (
    select i.task, b.nucleus, sum(b.files)::bigint as files, sum(b.bytes)::bigint as bytes,
           coalesce(sum(b.disk_files), 0)::bigint as disk_files, coalesce(sum(b.disk_bytes), 0)::bigint as disk_bytes
      from input i
      join best b on b.dataset = i.dataset
     group by i.task, b.nucleus
  ), output as materialized (
    select distinct on (n.nucleus, n.is_chained, o.storage) n.nucleus, n.is_chained, o.storage, o.position = 1 and n.queue = min(n.queue collate "C") over (partition by n.nucleus, n.is_chained) as is_default,
           s.type, s.read_wan, s.write_wan, s.space_total,
           coalesce(s.space_free, 0) + coalesce(s.space_expired, 0)
           - case when p_flavour = 'doc' then 0 else coalesce(s.space_min_free, 0) + coalesce(s.space_unavailable, 0) end as space
      from site n
      join resource.queue_storage o on o.setup = p_setup and o.queue = n.queue and o.direction = 'write_lan' and o.scope = 'default'
      left join resource.storage s on s.setup = p_setup and s.storage = o.storage
     order by n.nucleus, n.is_chained, o.storage, 4 desc
  ), outlet as materialized (  -- output tokens of each task; tasks with the same ones share what follows
    select o.task, dense_rank() over (order by o.is_chained, o.tokens) as number, o.is_chained, o.tokens
      from (select t.number as task, t.is_chained, array_agg(distinct coalesce(d.token, '')) as tokens
              from task t
              left join workload.task_dataset d on p_flavour <> 'doc' and d.setup = p_setup and d.task_id = t.task_id and d.direction = 'output'
             where coalesce(d.token, '') not like 'ddd:%'
             group by t.number, t.is_chained) o
  ), token as materialized (
    select o.number as outlet, o.is_chained, k.token
      from (select distinct on (outlet.number) outlet.number, outlet.is_chained, outlet.tokens from outlet order by outlet.number) o
     cross join unnest(o.tokens) k(token)
  ), place as materialized (  -- of each token the storage of each nucleus
    select distinct on (k.token, k.is_chained, o.nucleus) k.token, k.is_chained, o.nucleus, o.storage, o.space, o.space_total, o.read_wan, o.write_wan
      from (select distinct token.token, token.is_chained from token) k
      join output o on o.is_chained = k.is_chained and case when k.token = '' then o.is_default else brokerage.token_fit(k.token, o.storage, o.type) is not null end
     order by k.token, k.is_chained, o.nucleus, brokerage.token_fit(k.token, o.storage, o.type), o.is_default desc, o.storage collate "C"
  ), room as materialized (
    select k.outlet, n.number as nucleus, coalesce(min(p.space), 0) as space,
           (array_agg(p.space order by (p.space - trunc(brokerage.space_for(n.remaining_work))) / p.space_total, p.storage) filter (where p.space_total > 0))[1] as weighed_space,
           (array_agg(p.space_total order by (p.space - trunc(brokerage.space_for(n.remaining_work))) / p.space_total, p.storage) filter (where p.space_total > 0))[1] as space_total,
           min(case k.token when '' then 'it has no output storage' else format('no storage there fits its output token %s', k.token) end) filter (where p.storage is null) as output_problem,
           coalesce(min(format('-source_blacklist: read_wan of %s is %s', p.storage, p.read_wan)) filter (where p.read_wan in ('OFF', 'TEST')),
                    min(format('-destination_blacklist: write_wan of %s is %s', p.storage, p.write_wan)) filter (where p.write_wan in ('OFF', 'TEST'))) as wan_problem
      from token k
     cross join nucleus n
      left join place p on p.token = k.token and p.is_chained = k.is_chained and p.nucleus = n.number
     group by k.outlet, n.number
  )
  select t.number, n.number, t.is_preset and t.nucleus = n.nucleus, coalesce(w.work, 0),
         coalesce(l.files, 0), coalesce(l.bytes, 0), coalesce(l.disk_files, 0), coalesce(l.disk_bytes, 0),
         r.space, r.weighed_space, r.space_total, r.output_problem, r.wan_problem
    from task t
   cross join nucleus n
    left join work w on w.rung = t.rung_number and w.nucleus = n.number
    left join located l on l.task = t.number and l.nucleus = n.number
    left join outlet o on o.task = t.number
    left join room r on r.outlet = o.number and r.nucleus = n.number
$$;

comment on function brokerage.facts_of_nucleus_pairs(text, brokerage.task_facts[], brokerage.queue_facts[], text) is
'What tasks and nuclei have with each other, as rules of production_task see it: one row for each task and nucleus, by their places in the two arrays.';
-- file: brokerage/facts/facts_of_pairs.sql
-- What each task has with each queue, a row a pair, none missing: whose link, whose counts, how much of the input (G9, G11, G12). Planned
-- into the query of the profile (one SELECT, no SET). Joins go by numbers of tasks and unified queues; what depends on nucleus, share, software
-- or dataset is found once each, not once a task. p_flavour: doc leaves out what only panda2026 reads.
create or replace function brokerage.facts_of_pairs(p_setup text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_flavour text,
                                                    p_analysis boolean default null)
returns table (task_number bigint, queue_number bigint, is_preassigned boolean, preassigned_alone boolean, is_nucleus_queue boolean, is_near boolean, is_own boolean,
               closeness float8, queued float8, queued_express float8, mbps float8, running bigint, starting bigint, activated bigint, assigned bigint,
               defined bigint, numslots bigint, type_running bigint, type_starting bigint, type_activated bigint, type_assigned bigint, type_defined bigint,
               available_files bigint, available_bytes bigint, reachable_files bigint, reachable_bytes bigint, input_is_local boolean,
               has_readable_source boolean, zero_share text, software text, platform_level_percent float8)
language sql stable
as $$
  with task as materialized (
    select f.ordinality as number, f.task_id, f.nucleus, f.preassigned, f.preassigned_by, f.is_merging, f.input_bytes, f.input_pre_staging,
           coalesce(f.io_intensity > f.io_intensity_cutoff and not f.input_pre_staging, false) as only_complete,
           coalesce(d.shared_files, false) as shared_files,
           dense_rank() over (order by f.nucleus) as nucleus_number,
           dense_rank() over (order by f.gshare, f.resource_type) as share_number, f.gshare, f.resource_type,
           dense_rank() over (order by k.share_key) as policy_number, k.share_key,
           dense_rank() over (order by k.software_key) as software_number, k.software_key, k.level,
           dense_rank() over (order by f.gshare, f.resource_type, r.resource_types_at) as mix_number, r.resource_types_at
      from unnest(p_tasks) with ordinality f
      join workload.task t on t.setup = p_setup and t.task_id = f.task_id
      left join workload.input_digest d on d.setup = p_setup and d.task_id = f.task_id
     cross join lateral (select brokerage.share_key(t), brokerage.software_key(t), brokerage.platform_level(t.architecture) offset 0) k(share_key, software_key, level)
     cross join lateral (select case when p_flavour <> 'doc' then t.resource_types_at end) r(resource_types_at)
  ), queue as materialized (
    select f.ordinality as number, dense_rank() over (order by f.unified_name) as unified, f.queue, f.unified_name, f.storage_site, f.panda_site, f.is_nucleus, f.is_production, f.status
      from unnest(p_queues) with ordinality f
  ), unified as materialized (
    select distinct on (q.unified) q.unified as number, q.unified_name as queue, q.storage_site, q.panda_site, q.is_nucleus, q.status from queue q order by q.unified
  ), reader as materialized (  -- queues that read where another one writes
    select distinct w.queue, r.queue as reader
      from resource.queue_storage w
      join resource.queue_storage r on r.setup = w.setup and r.storage = w.storage and r.direction = 'read_lan' and r.scope = 'default'
     where w.setup = p_setup and p_flavour <> 'doc' and w.direction = 'write_lan' and w.scope = 'default' and w.position = 1
  ), chosen as materialized (  -- queues that tasks are pre-assigned to
    select x.task, x.queue, count(*) over (partition by x.task) = 1 as alone
      from (select t.number as task, q.number as queue
              from task t join queue q on q.queue = any (t.preassigned) or q.unified_name = any (t.preassigned)
            union
            select t.number, q.number
              from task t
              join reader r on r.queue = any (t.preassigned)
              join queue q on q.unified_name = r.reader and q.status = 'online' and q.is_production
             where t.preassigned_by = 'preassigned-merge') x
  ), nucleus as materialized (
    select distinct t.nucleus_number as number, t.nucleus from task t where t.nucleus is not null
  ), sharing as materialized (  -- queues whose default output storage is an input storage of the nucleus
    select distinct f.nucleus, w.queue
      from brokerage.first_nucleus_queue f
      join resource.queue_storage r on r.setup = p_setup and r.queue = f.queue and r.direction = 'read_lan' and r.scope = 'default'
      join resource.queue_storage w on w.setup = p_setup and w.storage = r.storage and w.direction = 'write_lan' and w.scope = 'default' and w.position = 1
     where f.setup = p_setup
  ), near as materialized (
    select n.number as nucleus, u.number as queue, u.is_nucleus and u.panda_site is not distinct from n.nucleus as is_nucleus_queue,
           coalesce(u.storage_site = n.nucleus, false) as is_own,
           coalesce(u.is_nucleus and u.panda_site = n.nucleus or u.status = 'online' and o.queue is not null, false) as is_near,
           l.closeness, case when l.src is not null then coalesce(l.queued, 0) end as queued, case when l.src is not null then coalesce(l.queued_express, 0) end as queued_express,
           coalesce(l.mbps_1h, l.mbps_1d, l.mbps_1w) as mbps
      from nucleus n
     cross join unified u
      left join resource.link l on l.setup = p_setup and l.dst = n.nucleus and l.src = u.storage_site
      left join sharing o on o.nucleus = n.nucleus and o.queue = u.queue
  ), share as materialized (
    select distinct t.share_number as number, t.gshare, t.resource_type from task t
  ), slot as materialized (
    select s.number as share, u.number as queue,
           case when s.resource_type is null then sum(l.numslots)
                else coalesce(min(l.numslots) filter (where l.resource_type = s.resource_type), min(l.numslots) filter (where l.resource_type is null)) end::bigint as numslots
      from (select o.queue, o.gshare, o.resource_type, o.numslots from resource.slot o where o.setup = p_setup) l
      join unified u on u.queue = l.queue
      join share s on l.gshare is not distinct from s.gshare
                   or l.gshare is null and not exists (select from resource.slot x where x.setup = p_setup and x.queue = l.queue and x.gshare = s.gshare)
     group by s.number, s.resource_type, u.number
  ), counted as materialized (
    select s.number as share, u.number as queue, c.running, c.starting, c.activated, c.assigned, c.defined
      from workload.job_count c
      join unified u on u.queue = c.queue
      join share s on s.gshare = c.gshare
     where c.setup = p_setup
  ), typed as materialized (
    select s.queue, s.gshare, s.resource_type,
           coalesce(sum(s.njobs) filter (where s.status = 'running'), 0) as running, coalesce(sum(s.njobs) filter (where s.status = 'starting'), 0) as starting,
           coalesce(sum(s.njobs) filter (where s.status = 'activated'), 0) as activated, coalesce(sum(s.njobs) filter (where s.status = 'assigned'), 0) as assigned,
           coalesce(sum(s.njobs) filter (where s.status = 'defined'), 0) as defined
      from workload.job_statistic s
     where s.setup = p_setup and p_flavour <> 'doc'
     group by s.queue, s.gshare, s.resource_type
  ), mix as materialized (  -- of which types the jobs of a task are, where
    select distinct t.mix_number as number, t.gshare, t.resource_type, t.resource_types_at from task t
  ), type_count as materialized (
    select m.number as mix, u.number as queue, sum(c.running)::bigint as running, sum(c.starting)::bigint as starting, sum(c.activated)::bigint as activated,
           sum(c.assigned)::bigint as assigned, sum(c.defined)::bigint as defined
      from typed c
      join unified u on u.queue = c.queue
      join mix m on m.gshare = c.gshare
                and case when m.resource_types_at ? c.queue then m.resource_types_at -> c.queue ? c.resource_type else c.resource_type = m.resource_type end
     group by m.number, u.number
  ), input as materialized (
    select t.number as task, i.position, i.dataset, t.is_merging, t.only_complete, t.shared_files, t.input_pre_staging or coalesce(d.distributed, false) as comes_anyway
      from task t
      join workload.task_dataset i on i.setup = p_setup and i.task_id = t.task_id and i.direction = 'input'
      join workload.dataset d on d.setup = p_setup and d.dataset = i.dataset
     where not workload.is_pseudo(d)
  ), dataset as materialized (
    select i.dataset, count(f.lfn) as files, coalesce(sum(f.size), 0) as bytes
      from (select distinct dataset from input) i
      left join workload.dataset_file f on f.setup = p_setup and f.dataset = i.dataset
     group by i.dataset
  ), cover as materialized (  -- what of a dataset a queue has: all of it, or something, on disk or with tape
    select r.dataset, u.number as queue,
           coalesce(bool_or(r.is_complete) filter (where not s.is_tape), false) as all_on_disk, coalesce(bool_or(r.is_complete), false) as all_there,
           coalesce(bool_or(true) filter (where not s.is_tape), false) as some_on_disk
      from workload.replica_state r
      join resource.storage_of_queue s on s.setup = p_setup and s.storage = r.storage and s.direction = 'read_lan'
       and case when p_analysis then exists (select from resource.storage_for_analysis a where a.setup = s.setup and a.queue = s.queue and a.direction = s.direction and a.scope = s.scope)
                else s.scope = 'default' end
      join unified u on u.queue = s.queue
     where r.setup = p_setup and r.dataset in (select dataset from dataset)
     group by r.dataset, u.number
  ), partly as materialized (  -- files of incomplete replicas, each once
    select c.dataset, c.queue, f.lfn, min(f.size) as size, bool_or(not s.is_tape) as on_disk
      from cover c
      join unified u on u.number = c.queue
      join resource.storage_of_queue s on s.setup = p_setup and s.queue = u.queue and s.direction = 'read_lan'
       and case when p_analysis then exists (select from resource.storage_for_analysis a where a.setup = s.setup and a.queue = s.queue and a.direction = s.direction and a.scope = s.scope)
                else s.scope = 'default' end
      join workload.replica_state r on r.setup = p_setup and r.dataset = c.dataset and r.storage = s.storage and not r.is_complete
      join workload.dataset_file f on f.setup = p_setup and f.dataset = c.dataset and case when r.lfns is null then f.position <= r.found else f.lfn = any (r.lfns) end
     where not c.all_there
     group by c.dataset, c.queue, f.lfn
  ), partial as materialized (
    select p.dataset, p.queue, count(*) filter (where p.on_disk) as disk_files, coalesce(sum(p.size) filter (where p.on_disk), 0) as disk_bytes,
           count(*) as files, coalesce(sum(p.size), 0) as bytes
      from partly p group by p.dataset, p.queue
  ), held as materialized (  -- which part of an input dataset counts for a task at a queue
    select i.task, c.queue, i.dataset, i.shared_files,
           c.all_on_disk or i.is_merging and c.some_on_disk as disk_whole, c.all_there or i.is_merging as reach_whole,
           i.position = 1 and not i.only_complete and not c.all_there as parts_count
      from input i
      join cover c on c.dataset = i.dataset
  ), available as materialized (
    select h.task, h.queue,
           sum(case when h.disk_whole then d.files when h.parts_count then coalesce(p.disk_files, 0) else 0 end)::bigint as disk_files,
           sum(case when h.disk_whole then d.bytes when h.parts_count then coalesce(p.disk_bytes, 0) else 0 end)::bigint as disk_bytes,
           sum(case when h.reach_whole then d.files when h.parts_count then coalesce(p.files, 0) else 0 end)::bigint as files,
           sum(case when h.reach_whole then d.bytes when h.parts_count then coalesce(p.bytes, 0) else 0 end)::bigint as bytes
      from held h
      join dataset d on d.dataset = h.dataset
      left join partial p on p.dataset = h.dataset and p.queue = h.queue
     where not h.shared_files
     group by h.task, h.queue
    union all
    select l.task, l.queue, count(*) filter (where l.on_disk), coalesce(sum(l.size) filter (where l.on_disk), 0)::bigint, count(*), sum(l.size)::bigint
      from (select h.task, h.queue, f.lfn, min(f.size) as size, bool_or(h.disk_whole or h.parts_count and coalesce(p.on_disk, false)) as on_disk
              from held h
              join workload.dataset_file f on f.setup = p_setup and f.dataset = h.dataset
              left join partly p on p.dataset = h.dataset and p.queue = h.queue and p.lfn = f.lfn
             where h.shared_files and (h.disk_whole or h.reach_whole or h.parts_count and p.lfn is not null)
             group by h.task, h.queue, f.lfn) l
     group by l.task, l.queue
  ), unreadable as materialized (  -- tasks of which an input dataset cannot be read over WAN anywhere (input-completeness)
    select distinct i.task
      from input i
     where p_flavour <> 'doc'
       and not i.comes_anyway
       and not exists (select from brokerage.input_source r where r.setup = p_setup and r.dataset = i.dataset and r.can_read_wan)
  ), refusal as materialized (
    select k.number as policy, u.number as queue, r.refusal
      from brokerage.zero_share_refusals(p_setup, (select array_agg(t.task_id) from task t), p_flavour) r
      join (select distinct t.policy_number as number, t.share_key from task t) k on k.share_key = r.share_key
      join unified u on u.queue = r.queue
  ), problem as materialized (
    select k.number as software, u.number as queue, r.problem
      from brokerage.software_problems(p_setup, (select array_agg(t.task_id) from task t), p_flavour, p_analysis) r
      join (select distinct t.software_number as number, t.software_key from task t) k on k.software_key = r.software_key
      join unified u on u.queue = r.queue
  )
  select t.number, q.number,
         h.task is not null, coalesce(h.alone, false),
         coalesce(n.is_nucleus_queue, false), coalesce(n.is_near, false), coalesce(n.is_own, false),
         n.closeness, n.queued::float8, n.queued_express::float8, n.mbps,
         coalesce(c.running, 0), coalesce(c.starting, 0), coalesce(c.activated, 0), coalesce(c.assigned, 0), coalesce(c.defined, 0),
         s.numslots,
         y.running, y.starting, y.activated, y.assigned, y.defined,
         coalesce(a.disk_files, 0), coalesce(a.disk_bytes, 0), coalesce(a.files, 0), coalesce(a.bytes, 0),
         coalesce(a.disk_bytes, 0) >= t.input_bytes,
         w.task is null,
         z.refusal, b.problem, v.percent
    from task t
   cross join queue q
    left join chosen h on h.task = t.number and h.queue = q.number
    left join near n on n.nucleus = t.nucleus_number and n.queue = q.unified
    left join counted c on c.share = t.share_number and c.queue = q.unified
    left join slot s on s.share = t.share_number and s.queue = q.unified
    left join type_count y on y.mix = t.mix_number and y.queue = q.unified
    left join available a on a.task = t.number and a.queue = q.unified
    left join unreadable w on w.task = t.number
    left join refusal z on z.policy = t.policy_number and z.queue = q.unified
    left join problem b on b.software = t.software_number and b.queue = q.unified
    left join resource.architecture_level v on v.setup = p_setup and v.queue = q.unified_name and v.level = t.level
$$;

comment on function brokerage.facts_of_pairs(text, brokerage.task_facts[], brokerage.queue_facts[], text, boolean) is
'What tasks and queues have with each other, as rules see it: one row for each task and queue, by their places in the two arrays. p_analysis: software is looked at as for analysis; null = as the label of each task says.';
-- file: brokerage/facts/facts_of_queues.sql
-- The candidates of a setup as rules see them, made once a run: limits with their defaults, texts parsed, counts of all shares (G7, G9, G11).
-- Columns stand in the order of the type; tests/brokerage/test_facts.py compares the names.
create or replace function brokerage.facts_of_queues(p_setup text, p_analysis boolean default false) returns setof brokerage.queue_facts
language sql stable
as $$
  with storage as materialized (
    select s.queue,
           min(s.site) filter (where s.direction = 'write_lan' and s.position = 1) as output_site,
           bool_or(s.direction = 'write_lan' and s.position = 1) as has_output,
           min(s.space_free) filter (where s.direction = 'write_lan' and s.position = 1) as space_free,
           min(s.space_usable) filter (where s.direction = 'write_lan' and s.position = 1) as space_usable,
           min(s.storage) filter (where s.direction = 'write_lan' and s.position = 1) as output_storage,
           min(s.storage) filter (where s.direction = 'read_lan' and s.position = 1) as input_storage,
           min(s.space_usable) filter (where s.direction = 'read_lan' and s.position = 1) as input_space_usable,
           coalesce(bool_or(s.storage like '%\_VP\_DISK') filter (where s.direction = 'read_lan'), false) as has_vp_input,
           count(*) filter (where s.direction = 'read_lan' and s.can_write_wan) as inputs_writable_wan,
           count(*) filter (where s.direction = 'write_lan' and s.can_read_wan) as outputs_readable_wan,
           count(*) filter (where s.direction = 'read_lan') as inputs,
           count(*) filter (where s.direction = 'read_lan' and s.can_read_lan) as inputs_readable,
           count(*) filter (where s.direction = 'write_lan') as outputs,
           count(*) filter (where s.direction = 'write_lan' and s.can_write_lan) as outputs_writable,
           coalesce(bool_or(s.can_read_lan) filter (where s.direction = 'read_lan' and s.is_datadisk), false) as datadisk_read_lan,
           coalesce(bool_or(s.can_write_lan) filter (where s.direction = 'write_lan' and s.is_datadisk), false) as datadisk_write_lan,
           coalesce(bool_or(s.can_write_wan) filter (where s.direction = 'read_lan' and s.is_datadisk), false) as datadisk_write_wan,
           coalesce(bool_or(s.can_read_wan) filter (where s.direction = 'write_lan' and s.is_datadisk), false) as datadisk_read_wan
      from resource.storage_of_queue s
     where s.setup = p_setup
       and case when p_analysis then exists (select from resource.storage_for_analysis a where a.setup = s.setup and a.queue = s.queue and a.direction = s.direction and a.scope = s.scope)
                else s.scope = 'default' end
     group by s.queue
  ), count_of_all as materialized (
    select c.queue, sum(c.running) as running, sum(c.activated) as activated, sum(c.starting) as starting, sum(c.transferring) as transferring,
           sum(c.diskio) / nullif(sum(c.diskio_jobs), 0) as diskio
      from workload.job_count c
     where c.setup = p_setup
     group by c.queue
  ), transferring as materialized (
    select s.queue, sum(s.njobs) as jobs
      from workload.job_statistic s
      join brokerage.unwritable_nucleus u on u.setup = s.setup and u.nucleus = s.nucleus
     where s.setup = p_setup and s.status = 'transferring'
     group by s.queue
  ), live as materialized (
    select l.queue, sum(l.jobs) as jobs from brokerage.live_count l where l.setup = p_setup group by l.queue
  ), slot as materialized (
    select distinct s.queue from resource.slot s where s.setup = p_setup
  )
  select q.queue as queue,
         q.unified_name as unified_name,
         q.child_type as child_type,
         q.panda_site as panda_site,
         q.role is not distinct from 'nucleus' as is_nucleus,
         q.type as type,
         coalesce(q.type in ('production', 'unified'), false) or q.attributes ? 'grandly_unified' as is_production,
         q.cloud as cloud,
         q.status as status,
         coalesce(q.storage_site, s.output_site) as storage_site,
         q.corecount as corecount,
         q.unified_corecount as unified_corecount,
         coalesce(nullif(q.corepower, 0), 10) as corepower,
         nullif(q.maxrss, 0) as maxrss,
         nullif(q.minrss, 0) as minrss,
         nullif(q.maxtime, 0) as maxtime,
         nullif(q.mintime, 0) as mintime,
         nullif(q.maxwdir, 0) as maxwdir,
         coalesce(q.maxinputsize = -1, false) as reads_always_directly,
         coalesce(q.direct_access_lan, false) as direct_access_lan,
         q.pledgedcpu as pledgedcpu,
         coalesce(nullif(q.transferringlimit, 0), 2000) as transferringlimit,
         nullif(lower(btrim(split_part(q.wnconnectivity, '#', 1))), '') as connectivity,
         nullif(btrim(split_part(q.wnconnectivity, '#', 2)), '') as ip_stack,
         coalesce(q.jobseed, 'std') as jobseed,
         case when q.maxdiskio > 0 then q.maxdiskio end as maxdiskio,
         coalesce(a.average_diskio, c.diskio) as average_diskio,
         resource.number_or_null(q.attributes, 'max_io_intensity') as max_io_intensity,
         brokerage.bare_nucleus(null, q.attributes) as bare_nucleus,
         q.attributes ? 'useJumboJobs' as uses_jumbo,
         resource.number_or_null(q.attributes, 'minEventsForJumbo') as min_events_for_jumbo,
         q.attributes ? 'use_only_local_data' as uses_only_local_data,
         nullif(least(greatest(coalesce(resource.number_or_null(q.attributes, 'jobChunkSize'), 0), 0), 1000000), 0)::int as job_chunk_size,
         coalesce('ANY' = any (q.releases), false) as releases_any,
         coalesce('AUTO' = any (q.releases), false) as releases_auto,
         w.queue is not null as publishes_software,
         coalesce(a.getjob, 0) + coalesce(a.updatejob, 0) as pilots,
         a.laststart as laststart,
         coalesce(a.workers_running, 0) + coalesce(a.workers_submitted, 0) as workers,
         coalesce(a.ups, false) as ups,
         l.queue is not null as has_slots,
         coalesce(a.core_running, 0) + coalesce(a.core_starting, 0) as core_running,
         coalesce(c.running, 0)::bigint as running_all,
         coalesce(c.activated, 0)::bigint as activated_all,
         coalesce(c.starting, 0)::bigint as starting_all,
         coalesce(c.transferring, 0)::bigint as transferring_all,
         coalesce(t.jobs, 0)::bigint as transferring_to_unwritable,
         coalesce(s.has_output, false) as has_output_storage,
         coalesce(s.space_free, 0) as space_free,
         coalesce(s.space_usable, 0) as space_usable,
         coalesce(s.inputs, 0)::int as input_storages,
         coalesce(s.inputs_readable, 0)::int as inputs_readable,
         coalesce(s.outputs, 0)::int as output_storages,
         coalesce(s.outputs_writable, 0)::int as outputs_writable,
         coalesce(s.datadisk_read_lan, false) as datadisk_read_lan,
         coalesce(s.datadisk_write_lan, false) as datadisk_write_lan,
         coalesce(s.datadisk_write_wan, false) as datadisk_write_wan,
         coalesce(s.datadisk_read_wan, false) as datadisk_read_wan,
         case when k.queue is not null then resource.clock(p_setup) - coalesce(k.locked_at, resource.clock(p_setup)) end as lock_age,
         coalesce(v.jobs, 0)::bigint as live_jobs,
         q.attributes as attributes,
         null::float8 as queued_into,
         null::float8 as remaining_work,
         case when brokerage.is_current(a.site_classified, (select resource.clock(p_setup)), interval '1 hour') then a.site_class::int end as site_class,
         coalesce(s.has_vp_input, false) as has_vp_input,
         s.output_storage as output_storage,
         case when s.input_storage is distinct from s.output_storage then s.input_space_usable end as input_space_usable,
         coalesce(s.inputs_writable_wan, 0)::int as inputs_writable_wan,
         coalesce(s.outputs_readable_wan, 0)::int as outputs_readable_wan
    from resource.candidate_queue q
    left join resource.queue_activity a on a.setup = q.setup and a.queue = q.unified_name
    left join storage s on s.queue = q.unified_name
    left join count_of_all c on c.queue = q.unified_name
    left join transferring t on t.queue = q.unified_name
    left join live v on v.queue = q.unified_name
    left join slot l on l.queue = q.unified_name
    left join resource.software w on w.setup = q.setup and w.queue = q.unified_name
    left join resource.queue_lock k on k.setup = q.setup and k.queue = q.unified_name
   where q.setup = p_setup
$$;

comment on function brokerage.facts_of_queues(text, boolean) is
'The queues of a setup as rules see them, pseudo-queues in place of unified ones; one row a candidate. p_analysis: with the storages that analysis uses.';
-- file: brokerage/facts/facts_of_tasks.sql
-- after: brokerage.facts_of_analysis
-- Tasks as rules see them, made once a run: units and defaults resolved, configuration looked up, the nucleus and its links summed up (G6,
-- G7, G10, G13; sections memory, walltime, scratch-disk). Columns stand in the order of the type; tests/brokerage/test_facts.py compares the names.
create or replace function brokerage.facts_of_tasks(p_setup text, p_task_ids bigint[], p_flavour text, p_algorithm text) returns setof brokerage.task_facts
language sql stable
as $$
  with config as materialized (
    select resource.configuration(p_setup) as all_keys, resource.clock(p_setup) as now
  ), share as materialized (
    select s.label, s.gshare,
           resource.config_value(p_setup, 'jedi', 'jobbroker', 'NQUEUELIMITSITE_' || s.gshare) as nqueuelimitsite,
           resource.config_value(p_setup, 'jedi', 'taskbrokerage', 'DISK_THRESHOLD_' || s.gshare) as disk_threshold,
           coalesce(resource.config_value(p_setup, 'jedi', 'jobbroker', 'MIN_WEIGHT_' || s.label || '_' || s.gshare),
                    resource.config_value(p_setup, 'jedi', 'jobbroker', 'MIN_WEIGHT_' || s.label)) as min_weight
      from (select distinct t.label, t.gshare from workload.task t where t.setup = p_setup and t.task_id = any (p_task_ids)) s
  ), link as materialized (
    select l.dst, sum(coalesce(l.queued, 0)) as queued, sum(coalesce(l.queued_express, 0)) as queued_express
      from resource.link l where l.setup = p_setup group by l.dst
  ), located as materialized (  -- the input whose place counts for a nucleus
    select i.task_id, count(f.lfn) as files, sum(f.size) as bytes
      from workload.task_dataset i
      join workload.task t on t.setup = i.setup and t.task_id = i.task_id
      join workload.dataset d on d.setup = i.setup and d.dataset = i.dataset
      join workload.dataset_file f on f.setup = i.setup and f.dataset = i.dataset
     where p_algorithm = 'production_task' and i.setup = p_setup and i.task_id = any (p_task_ids) and i.direction = 'input' and not workload.is_pseudo(d)
       and (i.position = 1 or not coalesce(t.task_broker_on_master, false)) and (p_flavour = 'doc' or brokerage.is_scanned(i.dataset))
     group by i.task_id
  ), problem as materialized (
    select i.task_id, i.problem from brokerage.input_problem i
     where p_flavour <> 'doc' and p_algorithm = 'production_job' and i.setup = p_setup and i.task_id = any (p_task_ids)
    union all
    select s.task_id, s.problem from brokerage.scan_problem s
     where p_flavour <> 'doc' and p_algorithm = 'production_task' and s.setup = p_setup and s.task_id = any (p_task_ids)
  ), analysis as materialized (
    select f.* from brokerage.facts_of_analysis(p_setup, p_task_ids, p_flavour) f where p_algorithm = 'analysis_job'
  )
  select t.task_id as task_id,
         c.now as now,
         t.label as label,
         t.gshare as gshare,
         coalesce(t.processing_type, '') as processing_type,
         t.working_group as working_group,
         t.user_name as user_name,
         t.resource_type as resource_type,
         coalesce(t.task_priority, 0) as task_priority,
         coalesce(t.current_priority, 0) as current_priority,
         coalesce(t.use_scout, false) as is_scout,
         coalesce(t.is_merging, false) as is_merging,
         coalesce(t.event_service, 0)::int as event_service,
         coalesce(t.merge_output, false) as merge_output,
         case when p_algorithm = 'analysis_job' then a.preassigned else p.queues end as preassigned,
         case when p_algorithm = 'analysis_job' then case when a.preassigned is not null then 'preassigned' end else p.by end as preassigned_by,
         case when t.is_merging and t.merge_core_count is not null then t.merge_core_count else t.core_count end as core_count,
         t.core_count as task_core_count,
         t.max_core_count as max_core_count,
         case when not coalesce(t.is_merging, false) then greatest(t.ram_count, t.chunk_ram_count)
              when t.merge_ram_count is not null then greatest(t.merge_ram_count, t.chunk_ram_count, 2000)
              else t.chunk_ram_count end as ram_count,
         coalesce(t.ram_unit in ('MBPerCore', 'MBPerCoreFixed'), false) and not coalesce(t.is_merging, false) as ram_per_core,
         case when t.is_merging or p_algorithm = 'analysis_job' and p_flavour <> 'doc' then 0 else coalesce(t.base_ram_count, 0) end as base_ram_count,
         case when t.cpu_time_unit like 'm%HS06%' then (t.cpu_time::numeric / 1000)::float8 when t.cpu_time_unit like '%HS06%' then t.cpu_time end as cpu_time,
         coalesce(t.cpu_time_unit like '%HS06%', false) as cpu_time_is_hs06,
         coalesce(t.cpu_efficiency, 90) as cpu_efficiency,
         coalesce(t.base_walltime, 0) as base_walltime,
         t.walltime as walltime,
         case when coalesce(t.cpu_time_unit, '') <> '' then coalesce(t.cpu_time, 0) = 0
              else coalesce(t.walltime, 0) = 0 and coalesce(t.walltime_unit, '') = '' end as walltime_is_undefined,
         greatest(coalesce(t.out_disk_count, 0), 0) * resource.bytes_of_unit(t.out_disk_unit) as out_disk_bytes,
         coalesce(t.out_disk_unit like '%PerEvent%', false) as out_disk_per_event,
         t.work_disk_count * resource.bytes_of_unit(t.work_disk_unit) as work_disk_bytes,
         t.io_intensity as io_intensity,
         t.disk_io as disk_io,
         coalesce(d.files, 0) as input_files,
         coalesce(d.size, 0) as input_bytes,
         coalesce(d.job_events, 0) as job_events,
         coalesce(d.job_input_mb, 0) as job_input_mb,
         coalesce(d.job_input_bytes, 0) as job_input_bytes,
         coalesce(d.jobs, 0) as jobs,
         coalesce(d.events, 0) as events,
         t.dynamic_num_events as dynamic_num_events,
         t.max_events_per_job as max_events_per_job,
         p_algorithm = 'analysis_job' or coalesce(t.trans_home, '') <> '' or coalesce(t.container_name, '') <> '' as has_software,
         t.allow_input_lan::int as allow_input_lan,
         coalesce(t.use_local_io, false) as use_local_io,
         coalesce(t.input_pre_staging, false) as input_pre_staging,
         t.t1_weight as t1_weight,
         t.full_chain::int as full_chain,
         case t.ip_connectivity when 1 then 'full' when 2 then 'http' when 3 then 'none' end as ip_connectivity,
         case t.ip_stack when 4 then 'IPv4' when 6 then 'IPv6' end as ip_stack,
         t.n_jumbo_jobs as n_jumbo_jobs,
         coalesce(t.hpo_workflow, false) as hpo_workflow,
         t.nucleus as nucleus,
         m.mode as nucleus_mode,
         coalesce(l.queued, 0)::bigint as nucleus_queued,
         coalesce(l.queued_express, 0)::bigint as nucleus_queued_express,
         u.nucleus is null as nucleus_is_writable,
         coalesce(i.problem, a.input_problem) as input_problem,
         (k.keys ->> 'NQUEUED_SAT_CAP')::float8 as nqueued_sat_cap,
         (k.keys ->> 'NQUEUED_NUC_CAP_FOR_JOBS')::float8 as nqueued_nuc_cap_for_jobs,
         (k.keys ->> 'IO_INTENSITY_CUTOFF')::float8 as io_intensity_cutoff,
         (k.keys ->> 'SIZE_CUTOFF_TO_MOVE_INPUT')::float8 as size_cutoff_to_move_input,
         (k.keys ->> 'NUM_CUTOFF_TO_MOVE_INPUT')::float8 as num_cutoff_to_move_input,
         nullif((k.keys ->> 'MAX_DISKIO_DEFAULT')::float8, 0) as max_diskio_default,
         (k.keys ->> 'NW_THRESHOLD')::float8 as nw_threshold,
         (k.keys ->> 'NW_WEIGHT_MULTIPLIER')::float8 as nw_weight_multiplier,
         (k.keys ->> 'NW_ACTIVE')::boolean as nw_active,
         (k.keys ->> 'NW_QUEUE_IMPORTANCE')::float8 as nw_queue_importance,
         (k.keys ->> 'STORAGE_MIN_FREE_SIZE')::float8 as storage_min_free_size,
         coalesce((c.all_keys -> 'core' ->> 'WORK_SHORTAGE')::boolean, false) as work_shortage,
         (k.keys ->> 'MAX_PRIO_TO_BOOTSTRAP')::float8 as max_prio_to_bootstrap,
         coalesce((s.nqueuelimitsite #>> '{}')::float8, 20) as nqueuelimitsite,
         coalesce((s.min_weight #>> '{}')::float8, 0) as min_weight,
         c.all_keys as config,
         coalesce(d.events, 0) * case when t.cpu_time is null then 300 when t.cpu_time_unit like 'm%HS06%' then t.cpu_time / 1000 else t.cpu_time end as work,
         coalesce(w.files, 0)::bigint as located_files,
         coalesce(w.bytes, 0)::bigint as located_bytes,
         n.nucleus is not null or f.nucleus is not null or o.nucleus is not null as is_preset,
         pt.nucleus as parent_nucleus,
         pt.full_chain::int as parent_full_chain,
         pm.mode as parent_nucleus_mode,
         t.frozen as frozen,
         (b.keys ->> 'NQUEUED_NUC_CAP')::float8 as nqueued_nuc_cap,
         coalesce((s.disk_threshold #>> '{}')::float8, (b.keys ->> 'DISK_THRESHOLD')::float8) as disk_threshold,
         (b.keys ->> 'INPUT_SIZE_THRESHOLD')::float8 as input_size_threshold,
         (b.keys ->> 'INPUT_SIZE_FRACTION')::float8 as input_size_fraction,
         (b.keys ->> 'INPUT_NUM_THRESHOLD')::float8 as input_num_threshold,
         (b.keys ->> 'INPUT_NUM_FRACTION')::float8 as input_num_fraction,
         (b.keys ->> 'MIN_IO_INTENSITY_WITH_LOCAL_DATA')::float8 as min_io_intensity_with_local_data,
         (b.keys ->> 'MIN_INPUT_SIZE_WITH_LOCAL_DATA')::float8 as min_input_size_with_local_data,
         (b.keys ->> 'MAX_TASK_PRIO_WITH_LOCAL_DATA')::float8 as max_task_prio_with_local_data,
         (b.keys ->> 'DATA_LOCATION_CHECK_PERIOD')::float8 as data_location_check_period,
         (b.keys ->> 'FREE_DISK_CUTOFF')::float8 as free_disk_cutoff,
         null::text[] as runnable_at,
         a.account_running_jobs as account_running_jobs,
         a.account_queued_jobs as account_queued_jobs,
         a.account_running_cores as account_running_cores,
         a.account_queued_cores as account_queued_cores,
         a.cap_jobs as cap_jobs,
         a.cap_cores as cap_cores,
         a.quota_used as quota_used,
         a.quota_limit as quota_limit,
         a.quota_is_kept as quota_is_kept,
         a.quota_is_near as quota_is_near,
         a.over_local as over_local,
         a.share_usage as share_usage,
         a.share_usage_above as share_usage_above,
         a.share_queued as share_queued,
         a.share_running as share_running,
         a.task_class as task_class,
         a.rem_slots_a as rem_slots_a,
         a.user_usage_threshold_a as user_usage_threshold_a,
         a.included_sites as included_sites,
         a.excluded_sites as excluded_sites,
         a.sites as sites,
         a.limited_sites as limited_sites,
         a.sites_used as sites_used,
         a.avoid_vp as avoid_vp,
         a.cloud as cloud,
         a.n_gb_per_job as n_gb_per_job,
         a.is_distributed as is_distributed,
         a.has_platform as has_platform,
         a.wan_problem as wan_problem,
         case when p_algorithm = 'analysis_job' then false end as second_pass,
         a.io_intensity_cutoff_user as io_intensity_cutoff_user,
         a.data_check_timeout_user as data_check_timeout_user,
         a.min_bad_jobs_to_skip_pq as min_bad_jobs_to_skip_pq,
         a.overload_min_queue as overload_min_queue,
         a.overload_ratio_offset as overload_ratio_offset,
         a.base_queue_length_per_pq as base_queue_length_per_pq,
         a.base_expected_wait_hour_on_pq as base_expected_wait_hour_on_pq,
         a.base_default_queue_length_per_pq_user as base_default_queue_length_per_pq_user,
         a.base_queue_ratio_on_pq as base_queue_ratio_on_pq,
         a.static_max_queue_running_ratio as static_max_queue_running_ratio,
         a.max_expected_wait_hour as max_expected_wait_hour,
         a.storage_min_free_size_output as storage_min_free_size_output
    from workload.task t
   cross join config c
   cross join lateral (select c.all_keys -> 'jobbroker' offset 0) k(keys)
   cross join lateral (select c.all_keys -> 'taskbrokerage' offset 0) b(keys)
    left join workload.input_digest d on d.setup = t.setup and d.task_id = t.task_id
    left join workload.task_dataset i1 on i1.setup = t.setup and i1.task_id = t.task_id and i1.direction = 'input' and i1.position = 1
    left join workload.dataset d1 on d1.setup = i1.setup and d1.dataset = i1.dataset
    left join share s on s.label is not distinct from t.label and s.gshare is not distinct from t.gshare
    left join link l on l.dst = t.nucleus
    left join resource.nucleus n on n.setup = t.setup and n.nucleus = t.nucleus
    left join brokerage.first_nucleus_queue f on f.setup = t.setup and f.nucleus = t.nucleus
    left join brokerage.nucleus_site o on p_algorithm = 'production_task' and p_flavour <> 'doc' and o.setup = t.setup and o.nucleus = t.nucleus  -- or a satellite with a mode
    left join brokerage.unwritable_nucleus u on u.setup = t.setup and u.nucleus = t.nucleus
   cross join lateral (select brokerage.bare_nucleus(n.bare_nucleus, f.attributes)) m(mode)
   cross join lateral (select * from brokerage.preassignment(t, d1, c.now, p_flavour)) p
    left join analysis a on a.task_id = t.task_id
    left join problem i on i.task_id = t.task_id
    left join located w on w.task_id = t.task_id
    left join workload.task pt on p_algorithm = 'production_task' and pt.setup = t.setup and pt.task_id = t.parent and pt.task_id <> t.task_id
    left join resource.nucleus pn on pn.setup = t.setup and pn.nucleus = pt.nucleus
    left join brokerage.nucleus_site ps on ps.setup = t.setup and ps.nucleus = pt.nucleus
   cross join lateral (select brokerage.bare_nucleus(pn.bare_nucleus, ps.attributes)) pm(mode)
   where t.setup = p_setup and t.task_id = any (p_task_ids)
$$;

comment on function brokerage.facts_of_tasks(text, bigint[], text, text) is 'Tasks of a setup as rules of an algorithm and flavour (doc, panda2026) see them; one row a task that is there.';
-- file: brokerage/facts/first_nucleus_queue.sql
-- The first queue of a nucleus, by name, speaks for it (G11; decided, where the words leave room).
create or replace view brokerage.first_nucleus_queue as
select distinct on (q.setup, q.panda_site) q.setup, q.panda_site as nucleus, q.queue, resource.catchall(q.catchall) || q.params as attributes
  from resource.queue q
 where q.role = 'nucleus' and q.panda_site is not null
 order by q.setup, q.panda_site, q.queue collate "C";

comment on view brokerage.first_nucleus_queue is 'The first queue of each nucleus, by name: its catchall and its storages are those of the nucleus.';
comment on column brokerage.first_nucleus_queue.setup is 'Tenant.';
comment on column brokerage.first_nucleus_queue.nucleus is 'Nucleus, a PanDA site.';
comment on column brokerage.first_nucleus_queue.queue is 'Its first queue of role nucleus.';
comment on column brokerage.first_nucleus_queue.attributes is 'catchall and params of that queue.';
-- file: brokerage/facts/input_problem.sql
-- after: brokerage.input_source
-- Input that nobody can use (brokerage-rules 1.2, input-completeness): each dataset that is neither distributed nor staged while the task runs
-- must be regarded as complete at some readable storage.
create or replace view brokerage.input_problem as
select i.setup, i.task_id, format('dataset %s is complete at no readable storage', min(i.dataset)) as problem
  from workload.task_dataset i
  join workload.task t on t.setup = i.setup and t.task_id = i.task_id
  join workload.dataset d on d.setup = i.setup and d.dataset = i.dataset
 where i.direction = 'input' and not coalesce(d.distributed, false) and not coalesce(t.input_pre_staging, false) and not workload.is_pseudo(d)
   and not exists (select from brokerage.input_source r where r.setup = i.setup and r.dataset = i.dataset and (r.can_read_lan or r.can_read_wan))
 group by i.setup, i.task_id;

comment on view brokerage.input_problem is 'Tasks of which an input dataset is complete nowhere that it can be read from (input-completeness, panda2026 only).';
comment on column brokerage.input_problem.setup is 'Tenant.';
comment on column brokerage.input_problem.task_id is 'Task.';
comment on column brokerage.input_problem.problem is 'Which dataset.';
-- file: brokerage/facts/input_source.sql
-- Copies that are regarded as complete (brokerage-rules 1.2, input-completeness): all of the files, or all but MAX_MISSING_INPUT_FILES, or
-- MIN_INPUT_COMPLETENESS percent of them; on tape, too.
create or replace view brokerage.input_source as
select r.setup, r.dataset, r.storage,
       coalesce(s.read_lan, '') not in ('OFF', 'TEST') as can_read_lan,
       coalesce(s.read_wan, '') not in ('OFF', 'TEST') as can_read_wan
  from workload.replica_state r
  left join resource.storage s on s.setup = r.setup and s.storage = r.storage
 where r.is_complete
    or r.found > 0 and r.total > 0
       and (r.total - r.found <= coalesce((resource.config_value(r.setup, 'jedi', 'jobbroker', 'MAX_MISSING_INPUT_FILES') #>> '{}')::float8, 10)
            or r.found * 100 >= r.total * coalesce((resource.config_value(r.setup, 'jedi', 'jobbroker', 'MIN_INPUT_COMPLETENESS') #>> '{}')::float8, 90));

comment on view brokerage.input_source is 'Storages from which a dataset can come, complete or nearly so (panda2026 only).';
comment on column brokerage.input_source.setup is 'Tenant.';
comment on column brokerage.input_source.dataset is 'Dataset.';
comment on column brokerage.input_source.storage is 'Storage.';
comment on column brokerage.input_source.can_read_lan is 'It can be read over LAN.';
comment on column brokerage.input_source.can_read_wan is 'It can be read over WAN.';
-- file: brokerage/facts/is_scanned.sql
-- brokerage-rules 1.1, task-input-scan: database releases and logs are no data that a task would follow.
create or replace function brokerage.is_scanned(p_dataset text) returns boolean
language sql immutable parallel safe
as $$
  select p_dataset not like 'ddo%' and split_part(p_dataset, '.', 5) <> 'log'
$$;

comment on function brokerage.is_scanned(text) is 'Whether the place of an input dataset counts for panda2026: database releases and logs are left out.';
-- file: brokerage/facts/is_usable.sql
create or replace function brokerage.is_usable(p_state text) returns boolean
language sql immutable parallel safe
as $$
  select coalesce(p_state, '') not in ('OFF', 'TEST')
$$;

comment on function brokerage.is_usable(text) is 'Whether a state of a storage (read_lan, ...) lets it be used: not OFF and not TEST; null does.';
-- file: brokerage/facts/like_text.sql
create or replace function brokerage.like_text(p_text text) returns text
language sql immutable parallel safe
as $$
  select replace(replace(replace(p_text, '\', '\\'), '%', '\%'), '_', '\_')
$$;

comment on function brokerage.like_text(text) is 'A text as like has to have it to find just this text.';
-- file: brokerage/facts/live_count.sql
-- The live counter (brokerage-rules 1.3): what brokers assigned lately and no statistics count yet.
create or replace view brokerage.live_count as
select c.setup, c.queue, c.jobs
  from brokerage.live_counter c
  left join brokerage.setting s on s.setup = c.setup
 where c.counted_at is null or c.counted_at > resource.clock(c.setup) - coalesce(s.assignments_count, interval '15 minutes');

comment on view brokerage.live_count is 'Rows of the live counter that count now; their sum by queue is the counter.';
comment on column brokerage.live_count.setup is 'Tenant.';
comment on column brokerage.live_count.queue is 'Unified queue.';
comment on column brokerage.live_count.jobs is 'Jobs.';
-- file: brokerage/facts/name_expression.sql
-- PanDA's code searches for a name with * as for a regular expression, * standing for .* (D-35). What has no other characters of expressions, the point
-- apart, like finds as well and for less (brokerage.name_patterns).
create or replace function brokerage.name_expression(p_name text) returns text
language sql immutable parallel safe
as $$
  select case when p_name like '%*%' and p_name ~ '[][\\^$|?+(){}]' then replace(p_name, '*', '.*') end
$$;

comment on function brokerage.name_expression(text) is 'The regular expression that a name of queues with * is in PanDA''s code; null where like does.';
-- file: brokerage/facts/name_patterns.sql
-- Names of queues as like reads them: * stands for anything. Only PanDA's code looks for a pattern anywhere in a name, and reads it as a regular expression
-- (D-35): the point stands for any character, and where there are others of an expression the queues are named that it finds. One that cannot be read
-- finds none; brokerage.task_problem says so.
create or replace function brokerage.name_patterns(p_setup text, p_names text[], p_anywhere boolean) returns text[]
language sql stable
as $$
  select coalesce(array_agg(u.pattern order by n.number, u.pattern) filter (where u.pattern is not null), case when count(*) > 0 then '{}'::text[] end)
    from unnest(p_names) with ordinality n(name, number)
   cross join lateral (select brokerage.like_text(n.name), case when p_anywhere then brokerage.name_expression(n.name) end) e(escaped, expression)
    left join lateral unnest(case
                when e.expression is null then array[case when not p_anywhere then replace(e.escaped, '*', '%')
                                                          when n.name like '%*%' then '%' || replace(replace(e.escaped, '.', '_'), '*', '%') || '%'
                                                          else e.escaped end]
                when brokerage.pattern_problem(e.expression) is null
                then array(select distinct brokerage.like_text(m.name)
                             from resource.queue q
                             left join resource.resource_type_in_force r on r.setup = q.setup and q.capability = 'ucore'
                            cross join lateral (select case when q.queue ~ e.expression then q.queue when q.queue || '/' || r.name ~ e.expression then q.queue || '/' || r.name end) m(name)
                            where q.setup = p_setup and m.name is not null) end) u(pattern) on true
   where n.name <> ''
$$;

comment on function brokerage.name_patterns(text, text[], boolean) is
'Patterns (like) for names with *; null = no name. p_anywhere: as PanDA''s code, a regular expression that may be found anywhere in what is compared.';
-- file: brokerage/facts/nucleus_site.sql
-- after: brokerage.first_nucleus_queue
-- Sites that tasks may go to, with the queue that speaks for each: the first of role nucleus, by name (G11), else the first with a bareNucleus mode
-- (brokerage-rules 1.1, task-nucleus-list: satellites for full-chain tasks).
create or replace view brokerage.nucleus_site as
select f.setup, f.nucleus, f.queue, true as is_nucleus, f.attributes from brokerage.first_nucleus_queue f
union all
(select distinct on (q.setup, q.panda_site) q.setup, q.panda_site, q.queue, false, a.attributes
   from resource.queue q
  cross join lateral (select resource.catchall(q.catchall) || q.params offset 0) a(attributes)
  where q.panda_site is not null and brokerage.bare_nucleus(null, a.attributes) is not null
    and not exists (select from resource.queue f where f.setup = q.setup and f.panda_site = q.panda_site and f.role = 'nucleus')
  order by q.setup, q.panda_site, q.queue collate "C");

comment on view brokerage.nucleus_site is 'Nuclei by their queues, and satellites with a bareNucleus mode: each with the queue that speaks for it.';
comment on column brokerage.nucleus_site.setup is 'Tenant.';
comment on column brokerage.nucleus_site.nucleus is 'PanDA site.';
comment on column brokerage.nucleus_site.queue is 'Its first queue, by name.';
comment on column brokerage.nucleus_site.is_nucleus is 'That queue has the role nucleus.';
comment on column brokerage.nucleus_site.attributes is 'catchall and params of that queue.';
-- file: brokerage/facts/preassignment.sql
-- Which queues a task is pre-assigned to, as named (prod-initial-preassigned, preassigned-merge). A master dataset with a site goes first; its
-- pre-assignment is ignored when it was made at another time than it was last changed, and that is over 24 h ago;
-- in panda2026 the task must have been frozen for 6 h, too (D-76).
create or replace function brokerage.preassignment(p_task workload.task, p_master workload.dataset, p_now timestamptz, p_flavour text, out queues text[], out by text)
language sql stable parallel safe
as $$
  select case when m.site <> '' then case when not m.ignored then resource.names_of_list(m.site) end
              when coalesce((p_task).site, '') <> '' then resource.names_of_list((p_task).site) end,
         case when m.site <> '' then case when not m.ignored then 'preassigned-merge' end
              when coalesce((p_task).site, '') <> '' then 'prod-initial-preassigned' end
    from (select coalesce((p_master).site, '') as site,
                 coalesce((p_master).modified < p_now - interval '24 hours' and (p_master).created <> (p_master).modified
                          and (p_flavour = 'doc' or (p_task).frozen < p_now - interval '6 hours'), false) as ignored) m
$$;

comment on function brokerage.preassignment(workload.task, workload.dataset, timestamptz, text) is
'Queues that a task is pre-assigned to, by its master dataset or its own site, and the rule that says so; null = it is not.';
-- file: brokerage/facts/scan_problem.sql
-- Input that no nucleus can get (brokerage-rules 1.1, task-input-scan): a dataset of which no storage that can be read over WAN has all files.
create or replace view brokerage.scan_problem as
select i.setup, i.task_id, format('no storage that can be read over WAN has all of dataset %s', min(i.dataset)) as problem
  from workload.task_dataset i
  join workload.task t on t.setup = i.setup and t.task_id = i.task_id
  join workload.dataset d on d.setup = i.setup and d.dataset = i.dataset
 where i.direction = 'input' and not workload.is_pseudo(d) and brokerage.is_scanned(i.dataset) and (i.position = 1 or not coalesce(t.task_broker_on_master, false))
   and not exists (select from workload.replica_state r
                     left join resource.storage s on s.setup = r.setup and s.storage = r.storage
                    where r.setup = i.setup and r.dataset = i.dataset and r.is_complete and r.total > 0 and not coalesce(r.vp, false) and coalesce(s.read_wan, '') not in ('OFF', 'TEST'))
 group by i.setup, i.task_id;

comment on view brokerage.scan_problem is 'Tasks of which an input dataset is nowhere complete where it can be read over WAN (task-input-scan, panda2026 only).';
comment on column brokerage.scan_problem.setup is 'Tenant.';
comment on column brokerage.scan_problem.task_id is 'Task.';
comment on column brokerage.scan_problem.problem is 'Which dataset.';
-- file: brokerage/facts/space_for.sql
create or replace function brokerage.space_for(p_work float8) returns float8
language sql immutable parallel safe
as $$
  select 0.25 * p_work / (10 * 86400)
$$;

comment on function brokerage.space_for(float8) is
'Output that work (HS06 s) makes, in GB: 0.25 GB a day of a core of 10 HS06 (seed 000, normalizedExpOutSize).';
-- file: brokerage/facts/task_problem.sql
-- What of a task cannot be read: such a task leaves with this error before any rule runs, and no other task suffers.
create or replace function brokerage.task_problem(t workload.task, p_flavour text, p_algorithm text) returns text
language sql stable
as $$
  select coalesce('architecture: ' || brokerage.architecture_problem(t.architecture),
                  case when jsonb_typeof(t.resource_types_at) <> 'object' then 'resource_types_at is no object' end,
                  case when p_flavour <> 'doc' and p_algorithm = 'analysis_job' then
                    (select format('%s: the pattern %s is %s', s.field, to_json(n.name), x.problem)
                       from (values ('included_site', t.included_site), ('excluded_site', t.excluded_site)) s(field, names)
                      cross join lateral unnest(s.names) with ordinality n(name, number)
                      cross join lateral (select brokerage.pattern_problem(brokerage.name_expression(n.name))) x(problem)
                      where x.problem is not null
                      order by s.field desc, n.number limit 1) end)
$$;

comment on function brokerage.task_problem(workload.task, text, text) is
'Which text of a task cannot be read by an algorithm in a flavour (doc, panda2026), and why; null = all can.';
-- file: brokerage/facts/token_fit.sql
-- How an output token fits a storage (brokerage-rules 1.1, nucleus-has-storage; D-04): its name, a regular expression found in the name, or the type
-- without ATLAS. A token that is no regular expression fits by name or type alone.
create or replace function brokerage.token_fit(p_token text, p_storage text, p_type text) returns int
language plpgsql immutable parallel safe
as $$
begin
  if p_token = p_storage then
    return 1;
  end if;
  begin
    if p_storage ~ p_token then
      return 2;
    end if;
  exception when invalid_regular_expression then
    null;
  end;
  return case when replace(p_token, 'ATLAS', '') = p_type then 3 end;
end $$;

comment on function brokerage.token_fit(text, text, text) is
'How well a storage fits an output token: 1 by its name, 2 by the token as a regular expression, 3 by its type; null = not at all.';
-- file: brokerage/facts/unwritable_nucleus.sql
-- after: brokerage.first_nucleus_queue
-- Nuclei whose default output storage cannot be written over WAN (brokerage-rules 1.2, nucleus-unwritable and transferring-limit).
create or replace view brokerage.unwritable_nucleus as
select n.setup, n.nucleus
  from brokerage.first_nucleus_queue n
  join resource.storage_of_queue s on s.setup = n.setup and s.queue = n.queue
 where s.direction = 'write_lan' and s.scope = 'default' and s.position = 1 and not s.can_write_wan;

comment on view brokerage.unwritable_nucleus is 'Nuclei whose default output storage has write_wan OFF or TEST.';
comment on column brokerage.unwritable_nucleus.setup is 'Tenant.';
comment on column brokerage.unwritable_nucleus.nucleus is 'Nucleus.';
-- file: brokerage/facts/work_at_nucleus.sql
-- Remaining work (brokerage-rules 1.1, RW): what the world says, and what tasks brought that were assigned since (task-weight-rw, within a batch
-- and between batches, as long as assignments count: brokerage.setting).
create or replace view brokerage.work_at_nucleus as
select w.setup, w.nucleus, w.gshare, w.priority, w.work from workload.remaining_work w
union all
select a.setup, a.nucleus, g.gshare, g.priority, a.work
  from brokerage.nucleus_assignment a
  left join brokerage.setting s on s.setup = a.setup
 cross join lateral (values (a.gshare, a.priority), ('', 0)) g(gshare, priority)
 where a.assigned_at > resource.clock(a.setup) - coalesce(s.assignments_count, interval '15 minutes');

comment on view brokerage.work_at_nucleus is 'Work that is left at nuclei, with that of tasks assigned lately; its sum by nucleus and share from a priority on is RW.';
comment on column brokerage.work_at_nucleus.setup is 'Tenant.';
comment on column brokerage.work_at_nucleus.nucleus is 'Nucleus.';
comment on column brokerage.work_at_nucleus.gshare is 'Global share; empty = of all shares.';
comment on column brokerage.work_at_nucleus.priority is 'Priority of the tasks.';
comment on column brokerage.work_at_nucleus.work is 'HS06 s.';
-- file: brokerage/is_express.sql
-- brokerage-doc-profile, G10: the word urgent anywhere in the processing type. panda2026: that word alone, and over 1000 (D-28).
create or replace function brokerage.is_express(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns boolean
language sql stable parallel safe
as $$
  select case
    when (x ->> 'urgent_alone')::boolean then coalesce(t.processing_type = 'urgent', false) or coalesce(t.current_priority > 1000, false)
    else coalesce(t.processing_type like '%urgent%', false) or coalesce(t.current_priority >= 1000, false)
  end
$$;

comment on function brokerage.is_express(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'Whether a task is express: urgent, or of priority 1000 or more. Parameter urgent_alone (boolean): as PanDA''s code.';
-- file: brokerage/is_high.sql
-- brokerage-doc-profile, G10.
create or replace function brokerage.is_high(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns boolean
language sql stable parallel safe
as $$
  select coalesce(t.current_priority >= 800, false) or coalesce(t.is_scout, false)
$$;

comment on function brokerage.is_high(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Whether a task is high: current priority of 800 or more, or scouts.';
-- file: brokerage/is_named.sql
create or replace function brokerage.is_named(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_patterns text[]) returns boolean
language sql stable parallel safe
as $$
  select coalesce(q.queue like any (p_patterns) or q.unified_name like any (p_patterns), false)
$$;

comment on function brokerage.is_named(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, text[]) is
'Whether patterns (like) name a queue, by its own name or that of the unified queue; null = they name none.';
-- file: brokerage/is_only_site.sql
-- brokerage-rules 1.0: sitePreAssigned of PanDA's code, one queue by the task's own site; a merge pre-assignment counts as a list.
create or replace function brokerage.is_only_site(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns boolean
language sql stable parallel safe
as $$
  select p.preassigned_alone is true and t.preassigned_by is distinct from 'preassigned-merge'
$$;

comment on function brokerage.is_only_site(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Whether the task names this queue as its only site: panda2026 leaves out some rules then.';
-- file: brokerage/is_overloaded.sql
-- brokerage-rules 1.4c, overloaded: queued per running job, against the same of all queues; cross-multiplied (G5).
create or replace function brokerage.is_overloaded(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns boolean
language sql stable parallel safe
as $$
  select coalesce(
    brokerage.queued_of_share(t, q, p) > t.overload_min_queue
    and (coalesce(p.running, 0) = 0
         or brokerage.queued_of_share(t, q, p)::numeric * t.share_running > t.share_queued * t.overload_ratio_offset::numeric * p.running), false)
$$;

comment on function brokerage.is_overloaded(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Whether a queue has many jobs of the share waiting, against those that run there and against the other queues.';
-- file: brokerage/jobs_of_classes.sql
-- brokerage-rules 1.5, W: jobs go to the class of queues that suits the task as long as there is room, the rest to lower classes; small numbers keep
-- others from 0.
create or replace function brokerage.jobs_of_classes(p_jobs float8, p_class float8, p_sums float8[]) returns float8[]
language plpgsql immutable parallel safe
as $$
declare
  v_jobs float8 := least(p_jobs, p_sums[1] + p_sums[2] + p_sums[3]);
  v_hi float8 := least(v_jobs, p_sums[1]);
  v_mid float8;
begin
  if p_class <= -1 then
    return array[0.001, 0.001, v_jobs];
  elsif p_class = 0 then
    v_mid := least(v_jobs, p_sums[2]);
    return case when v_mid > 0 then array[0.001, v_mid - 0.1, v_jobs - v_mid + 0.1] else array[0.001, v_mid, v_jobs - v_mid] end;
  end if;
  v_mid := least(v_jobs - v_hi, p_sums[2]);
  return case when v_hi > 0 then array[v_hi - 0.052, v_mid + 0.05, v_jobs - v_hi - v_mid + 0.002] else array[v_hi, v_mid, v_jobs - v_hi - v_mid] end;
end $$;

comment on function brokerage.jobs_of_classes(float8, float8, float8[]) is
'Jobs of a task of a class for queues of class hi, mid and lo, as there is room (sums of brokerage.weight_room).';
-- file: brokerage/maintain.sql
create or replace function brokerage.maintain() returns table (step text, changed bigint)
language plpgsql
security definer set search_path = brokerage, pg_temp
as $$
begin
  step := 'decision partitions';
  changed := 0;
  begin
    changed := brokerage.keep_decisions();
  exception when lock_not_available then
    null;  -- somebody reads the decisions for long: next time
  end;
  return next;
end $$;

comment on function brokerage.maintain() is
'Background work of brokerage: makes and drops partitions of the decisions, keeps counts of what goes, forgets old runs. Safe to run twice at once.';
-- file: brokerage/may_be_elsewhere.sql
-- brokerage-doc-profile 3, task-locality-disable (D-08: panda2026 asks the current priority; D-09: its period drops the check as a whole).
create or replace function brokerage.may_be_elsewhere(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns boolean
language sql stable parallel safe
as $$
  select (t.io_intensity is null or t.io_intensity <= t.min_io_intensity_with_local_data) and t.located_bytes <= t.min_input_size_with_local_data * 1073741824
         or case when (x ->> 'current_priority')::boolean then t.current_priority else t.task_priority end >= t.max_task_prio_with_local_data
$$;

comment on function brokerage.may_be_elsewhere(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'Whether a task may go where its input is not, when no nucleus has it. Parameter current_priority: that counts, not the task''s own.';
-- file: brokerage/may_be_stabilized.sql
-- Seed 000, Analysis Stabilizer: queues with few jobs waiting are left alone. PanDA's code leaves merging and users without jobs there alone, too.
create or replace function brokerage.may_be_stabilized(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns boolean
language sql stable parallel safe
as $$
  select coalesce(
    brokerage.queued_of_share(t, q, p) >= t.base_queue_length_per_pq
    and brokerage.queued_of_share(t, q, p) >= t.base_expected_wait_hour_on_pq::numeric * p.to_running_rate::numeric
    and not coalesce((x ->> 'spares_merging')::boolean and t.is_merging, false)
    and not coalesce((x ->> 'spares_absent')::boolean and p.user_queued is null, false), false)
$$;

comment on function brokerage.may_be_stabilized(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'Whether the queue of a user may be limited there. Parameters spares_merging, spares_absent (boolean).';
-- file: brokerage/memory_need_panda2026.sql
-- brokerage-rules 1.2, memory: base memory only where R is per core (D-18), truncated (D-67).
create or replace function brokerage.memory_need_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select trunc(0.9::float8 * case when t.ram_per_core and t.is_merging is not true then brokerage.memory_use(t, q, p) else t.ram_count end)
$$;

comment on function brokerage.memory_need_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Memory that a job of the task needs in a slot of the queue (MB), as PanDA''s code compares it; null or 0 = not known.';
-- file: brokerage/memory_use.sql
-- brokerage-doc-profile, memory: base + R * cores where R is per core, base + R where it is per job, R of merge jobs.
create or replace function brokerage.memory_use(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case when t.is_merging then 0 else coalesce(t.base_ram_count, 0) end
         + t.ram_count * case when t.ram_per_core and t.is_merging is not true then brokerage.slot_cores(t, q, p) else 1 end
$$;

comment on function brokerage.memory_use(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Memory of a job of the task in a slot of the queue (MB), before compensation; null or 0 = not known.';
-- file: brokerage/most_events.sql
-- brokerage-doc-profile, walltime: with a dynamic number of events the lower bound fails only if the smallest job and all events of the primary dataset are too little.
create or replace function brokerage.most_events(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select coalesce(case when t.dynamic_num_events is null then t.job_events else greatest(t.dynamic_num_events, t.events) end, 0)::float8
$$;

comment on function brokerage.most_events(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Events of the job that must not be too short for a queue with mintime.';
-- file: brokerage/most_events_panda2026.sql
-- brokerage-rules 1.2, walltime: with a dynamic number of events the lower limit asks the smallest job and the largest one.
create or replace function brokerage.most_events_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select coalesce(case when t.dynamic_num_events is null then t.job_events
                       else greatest(t.dynamic_num_events, least(t.events, t.max_events_per_job)) end, 0)::float8
$$;

comment on function brokerage.most_events_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Events of the job that must not be too short for a queue with mintime, in PanDA''s code.';
-- file: brokerage/needs_no_data_weight.sql
-- brokerage-rules 1.1, task-locality-period (D-09).
create or replace function brokerage.needs_no_data_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns boolean
language sql stable parallel safe
as $$
  select coalesce((x ->> 'period')::boolean and t.frozen < t.now - t.data_location_check_period * interval '1 day', false)
$$;

comment on function brokerage.needs_no_data_weight(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'Whether data terms of the weight are dropped: the task is frozen for longer than DATA_LOCATION_CHECK_PERIOD (parameter period).';
-- file: brokerage/needs_no_input_there.sql
-- Seed 000, ATLAS Analysis Job Brokerage, 3: the locality check is suppressed.
create or replace function brokerage.needs_no_input_there(t brokerage.task_facts) returns boolean
language sql stable parallel safe
as $$
  select coalesce(t.task_priority >= 2000, false) or coalesce(t.io_intensity <= t.io_intensity_cutoff_user, false)
$$;

comment on function brokerage.needs_no_input_there(brokerage.task_facts) is
'Whether an analysis task may run where its input is not: taskPriority of 2000 or more, or ioIntensity up to IO_INTENSITY_CUTOFF_USER.';
-- file: brokerage/needs_no_local_input.sql
-- brokerage-doc-profile 3, task-locality-size: data carousel; brokerage-rules 1.1, task-locality-period (D-09).
create or replace function brokerage.needs_no_local_input(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns boolean
language sql stable parallel safe
as $$
  select p.is_preassigned or t.input_pre_staging and p.located_files >= 1
         or coalesce((x ->> 'period')::boolean and t.frozen < t.now - t.data_location_check_period * interval '1 day', false)
$$;

comment on function brokerage.needs_no_local_input(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'Whether the locality of input does not matter at a nucleus: some of it is there and the rest is staged, or, with parameter period, the task is frozen for longer than DATA_LOCATION_CHECK_PERIOD.';
-- file: brokerage/network_weight_panda2026.sql
-- brokerage-rules 1.6: queuedWeight falls by NQUEUED_SAT_CAP without end (D-66), 1.6 above 50 MB/s (D-50). Where the cap is 0 only links with none queued come here.
create or replace function brokerage.network_weight_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case
    when p.is_own then 2.5
    else t.nw_queue_importance * (2 - coalesce(brokerage.queued_on_link(t, q, p, '{"urgent_alone": true}') / nullif(t.nqueued_sat_cap, 0), 0))
         + (1 - t.nw_queue_importance) * brokerage.throughput_weight(t, q, p, 1.6)
  end
$$;

comment on function brokerage.network_weight_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Network weight as PanDA''s code has it, whether or not it is active.';
-- file: brokerage/profile/is_wait.sql
create or replace function brokerage.is_wait(p_value jsonb) returns boolean
language plpgsql stable
as $$
begin
  return jsonb_typeof(p_value) = 'string' and (p_value #>> '{}')::interval > interval '0';
exception when data_exception then
  return false;
end $$;

comment on function brokerage.is_wait(jsonb) is 'Whether a JSON value is a time to wait: a text that is an interval longer than 0.';
-- file: brokerage/profile/nearest_rule.sql
-- after: brokerage.rule_in_force
-- A rule that another broker has was meant for that one; else the name may be misspelt.
create or replace function brokerage.nearest_rule(p_profile text, p_algorithm text, p_rule text) returns text
language sql stable
as $$
  select concat_ws(' ', coalesce((select format('%s has it: give that as p_algorithm.', string_agg(r.algorithm, ', ' order by r.algorithm))
                                    from brokerage.rule_in_force r where r.profile = p_profile and r.rule = p_rule having count(*) > 0),
                                 (select format('The nearest is %s.', l.rule)
                                    from (select r.rule, resource.likeness(p_rule, r.rule) as likeness from brokerage.rule_in_force r where r.profile = p_profile and r.algorithm = p_algorithm) l
                                   where l.likeness > 0.4 order by l.likeness desc, l.rule limit 1)),
                   'A rule of your own needs kind, position and function.')
$$;

comment on function brokerage.nearest_rule(text, text, text) is 'A hint for a rule that a profile does not have of an algorithm: the algorithms that have it, else the rule that is most like it.';
-- file: brokerage/profile/remove_profile.sql
create or replace function brokerage.remove_profile(p_profile text) returns boolean
language plpgsql
security definer set search_path = brokerage, pg_temp
as $$
declare
  v_user text;
begin
  if exists (select from brokerage.shipped_profile s where s.profile = p_profile) then
    raise exception 'profile % comes with the program', p_profile using errcode = 'PB001', hint = 'Only profiles of your own can be removed.';
  end if;
  select coalesce((select format('profile %s is based on it', p.profile) from brokerage.profile p where p.based_on = p_profile limit 1),
                  (select format('setup %s uses it', s.setup) from brokerage.setting s where s.profile = p_profile limit 1)) into v_user;
  if v_user is not null then
    raise exception 'profile % is in use: %', p_profile, v_user using errcode = 'PB005', hint = 'Change that first.';
  end if;
  delete from brokerage.profile_rule r where r.profile = p_profile and exists (select from brokerage.profile p where p.profile = p_profile);
  delete from brokerage.profile p where p.profile = p_profile;
  return found;
end $$;

comment on function brokerage.remove_profile(text) is 'Removes a profile of your own with its rules; false when there is none. Errors: PB001 (it comes with the program), PB005 (it is in use).';
-- file: brokerage/profile/remove_rule.sql
create or replace function brokerage.remove_rule(p_profile text, p_rule text, p_algorithm text default 'production_job') returns boolean
language plpgsql
security definer set search_path = brokerage, pg_temp
as $$
begin
  delete from brokerage.profile_rule r where r.profile = p_profile and r.algorithm = p_algorithm and r.rule = p_rule;
  return found;
end $$;

comment on function brokerage.remove_rule(text, text, text) is
'Takes back what brokerage.set_rule said of a rule: one of your own goes, a shipped one is as it came. False when nothing was said.';
-- file: brokerage/profile/require_composable.sql
-- Composes every profile that has the rules of this one, and plans it: what does not fit is found when it is said, not when tasks wait.
create or replace function brokerage.require_composable(p_profile text, p_algorithm text) returns void
language plpgsql
as $$
declare
  v_profile text;
  v_rule brokerage.profile_rule;
begin
  for v_rule in
    select r.*
      from brokerage.profile_line l
      join brokerage.rule_in_force r on r.profile = l.profile
     where l.of_profile = p_profile and r.algorithm = p_algorithm and (r.enabled or r.kind is not null)  -- off, of a rule that is gone: nothing
  loop
    if v_rule.kind is null or v_rule.position is null then
      raise exception 'rule % of profile % has no %', v_rule.rule, v_rule.profile, case when v_rule.kind is null then 'kind' else 'position' end
        using errcode = 'PB001', hint = 'A rule of your own needs kind, position and function.';
    end if;
    perform brokerage.require_parameters(v_rule);
  end loop;
  for v_profile in select l.profile from brokerage.profile_line l where l.of_profile = p_profile loop
    perform brokerage.compose_task_rules(v_profile, p_algorithm);
    perform brokerage.compose_second_pass(v_profile, p_algorithm);
    execute 'explain ' || brokerage.compose(v_profile, p_algorithm, false) || ' select from judged left join ranked using (task_number)'
      using 'default'::text, '{}'::brokerage.task_facts[], '{}'::brokerage.queue_facts[], brokerage.flavour(v_profile);
  end loop;
end $$;

comment on function brokerage.require_composable(text, text) is
'Refuses a profile of which no query can be made. Errors: PB001, PB002.';
-- file: brokerage/profile/require_parameters.sql
-- What a rule of the program's own reads is what some shipped rule of the same function has, of the same type; brokerage.weight_room is in no shipped rule
-- (brokerage-doc-profile 4.5: off by default), so that its parameters stand here. Functions of others read what they like.
-- after: brokerage.shipped_rule
create or replace function brokerage.require_parameters(p_rule brokerage.profile_rule) returns void
language plpgsql stable
as $$
declare
  v_known jsonb := (select jsonb_object_agg(k.key, k.type)
                      from (select distinct e.key, jsonb_typeof(e.value) as type from brokerage.shipped_rule s cross join jsonb_each(s.parameters) e(key, value)
                             where s.function = p_rule.function or s.function is null and p_rule.function is null and s.kind = p_rule.kind
                            union
                            select v.key, v.type from (values ('as', 'string'), ('sees_assignments', 'boolean')) v(key, type) where p_rule.function is not null
                            union
                            select v.key, v.type from (values ('epsilon_1', 'number'), ('epsilon_2', 'number')) v(key, type) where p_rule.function = 'brokerage.weight_room') k);
  v_key text;
  v_value jsonb;
  v_wanted text;
begin
  if p_rule.function <> 'brokerage.weight_room' and not exists (select from brokerage.shipped_rule s where s.function = p_rule.function) then
    return;
  end if;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_rule.parameters) e(key, value) order by e.key loop
    v_wanted := null;
    if p_rule.kind = 'pending' then
      if v_key <> 'wait' and v_key !~ '^[0-9]{1,9}$' then
        v_wanted := 'known';
      elsif not brokerage.is_wait(v_value) then
        v_wanted := 'a time such as "30 minutes"';
      end if;
    elsif not coalesce(v_known ? v_key, false) then
      v_wanted := 'known';
    elsif jsonb_typeof(v_value) <> v_known ->> v_key then
      v_wanted := format('of type %s', v_known ->> v_key);
    elsif p_rule.kind = 'choice' and v_key = 'best' and (v_value::numeric < 1 or v_value::numeric > 1e6 or v_value::numeric % 1 <> 0) then
      v_wanted := 'a number of queues from 1 to 1000000';
    end if;
    if v_wanted is not null then
      raise exception 'rule % of profile %: parameter % is %, not %', p_rule.rule, p_rule.profile, v_key, left(v_value::text, 100), v_wanted
        using errcode = 'PB001', hint = case when p_rule.kind = 'pending' then 'It reads wait, and for tasks from a priority on that priority: {"wait": "1 hour", "900": "30 minutes"}.'
                                             else coalesce(format('It reads %s.', (select string_agg(k.key, ', ' order by k.key) from jsonb_object_keys(v_known) k(key))), 'It reads none.') end;
    end if;
  end loop;
end $$;

comment on function brokerage.require_parameters(brokerage.profile_rule) is
'Refuses a parameter that the function of a rule does not read, or a value that it cannot read. Errors: PB001.';
-- file: brokerage/profile/require_profile.sql
-- A profile without rules for an algorithm would take every queue: it is refused like one that is not there.
create or replace function brokerage.require_profile(p_profile text, p_algorithm text default null) returns void
language plpgsql stable
as $$
begin
  if brokerage.flavour(p_profile) is null then
    raise exception 'profile is %', coalesce(quote_literal(p_profile), 'null')
      using errcode = 'PB001', hint = format('Profiles are %s; brokerage.set_profile makes your own.', (select string_agg(distinct l.profile, ', ') from brokerage.profile_line l));
  elsif p_algorithm is not null and not exists (select from brokerage.rule_in_force r where r.profile = p_profile and r.algorithm = p_algorithm) then
    raise exception 'algorithm is %, for which profile % has no rules', quote_literal(p_algorithm), p_profile
      using errcode = 'PB001', hint = format('Algorithms are %s; brokerage.rule_in_force has all rules.', (select string_agg(distinct r.algorithm, ', ') from brokerage.rule_in_force r where r.profile = p_profile));
  end if;
end $$;

comment on function brokerage.require_profile(text, text) is
'Refuses a profile that is not there, or that has no rules for an algorithm. Errors: PB001.';
-- file: brokerage/profile/set_profile.sql
-- A profile of an organisation's own begins as one that is there.
create or replace function brokerage.set_profile(p_profile text, p_based_on text default 'doc', p_description text default '') returns void
language plpgsql
security definer set search_path = brokerage, pg_temp
as $$
begin
  if coalesce(p_profile, '') = '' or exists (select from brokerage.shipped_profile s where s.profile = p_profile) then
    raise exception 'profile is %', coalesce(quote_literal(p_profile), 'null')
      using errcode = 'PB001', hint = 'doc and panda2026 come with the program: give your own another name.';
  end if;
  if not exists (select from brokerage.profile_line l where l.profile = p_based_on) then
    raise exception 'profile % is to be based on %, which is not there', p_profile, coalesce(quote_literal(p_based_on), 'null')
      using errcode = 'PB001', hint = format('Profiles are %s.', (select string_agg(distinct l.profile, ', ') from brokerage.profile_line l));
  end if;
  if exists (select from brokerage.profile_line l where l.profile = p_based_on and l.of_profile = p_profile) then
    raise exception 'profile % is to be based on %, which is based on it', p_profile, p_based_on using errcode = 'PB001', hint = 'Base it on another.';
  end if;
  insert into brokerage.profile (profile, based_on, description) values (p_profile, p_based_on, coalesce(p_description, ''))
  on conflict (profile) do update set based_on = excluded.based_on, description = excluded.description;
end $$;

comment on function brokerage.set_profile(text, text, text) is
'Makes or changes a profile of your own: it has the rules of the one that it is based on, where brokerage.set_rule says nothing else. Errors: PB001 (a name that is taken, no such profile).';
-- file: brokerage/profile/set_rule.sql
-- One row of a profile. The whole profile is composed once before the row stays: a rule that does not fit never gets into a run.
create or replace function brokerage.set_rule(p_profile text, p_rule text, p_changes jsonb, p_algorithm text default 'production_job') returns void
language plpgsql
security definer set search_path = brokerage, pg_temp
as $$
declare
  v_constraint text;
  v_unknown text;
  v_rule brokerage.profile_rule;
begin
  perform brokerage.require_profile(p_profile, coalesce(p_algorithm, ''));
  if exists (select from brokerage.shipped_profile s where s.profile = p_profile) then
    raise exception 'profile % comes with the program', p_profile
      using errcode = 'PB001', hint = format('Make one of your own on it: select brokerage.set_profile(%L, %L); then select brokerage.set_settings(setup, %L).', 'acme', p_profile, '{"profile": "acme"}');
  end if;
  if jsonb_typeof(p_changes) is distinct from 'object' then
    raise exception 'changes of rule % are %', p_rule, coalesce(p_changes::text, 'null') using errcode = 'PB001', hint = 'Give an object: {"kind": "row rule", "function": "acme.rule_x", "position": 225}.';
  end if;
  select k.key into v_unknown from jsonb_object_keys(p_changes) k(key)
   where k.key not in ('kind', 'position', 'function', 'criteria', 'temporary', 'enabled', 'parameters', 'source') limit 1;
  if found then
    raise exception 'rule %: key % is not known', p_rule, v_unknown using errcode = 'PB001', hint = 'Keys are kind, position, function, criteria, temporary, enabled, parameters, source.';
  end if;
  perform resource.check_rows('brokerage.profile_rule', jsonb_build_array(p_changes || jsonb_build_object('rule', p_rule)));
  if not exists (select from brokerage.rule_in_force r where r.profile = p_profile and r.algorithm = p_algorithm and r.rule = p_rule) and not p_changes ? 'kind' then
    raise exception 'profile % has no rule % of %', p_profile, coalesce(quote_literal(p_rule), 'null'), p_algorithm
      using errcode = 'PB001', hint = brokerage.nearest_rule(p_profile, p_algorithm, p_rule);
  end if;
  select r.* into v_rule from brokerage.profile_rule r where r.profile = p_profile and r.algorithm = p_algorithm and r.rule = p_rule;
  v_rule := jsonb_populate_record(v_rule, p_changes || jsonb_build_object('profile', p_profile, 'algorithm', p_algorithm, 'rule', p_rule));
  insert into brokerage.profile_rule as r select v_rule.*
  on conflict (profile, algorithm, rule) do update
     set kind = excluded.kind, position = excluded.position, function = excluded.function, criteria = excluded.criteria, temporary = excluded.temporary,
         enabled = excluded.enabled, parameters = excluded.parameters, source = excluded.source;
  perform brokerage.require_composable(p_profile, p_algorithm);
exception
  when check_violation or not_null_violation or invalid_text_representation or invalid_parameter_value or numeric_value_out_of_range then
    get stacked diagnostics v_constraint = constraint_name;
    raise exception 'rule % of profile %: %', coalesce(p_rule, 'null'), p_profile, coalesce((resource.refusal('brokerage.profile_rule', v_constraint, null, to_jsonb(v_rule) || p_changes)).reason, sqlerrm)
      using errcode = 'PB001', hint = 'See the comments on brokerage.profile_rule: \d+ brokerage.profile_rule.';
end $$;

comment on function brokerage.set_rule(text, text, jsonb, text) is
'Adds a rule to a profile, or changes what the row says of one that it has (an object of columns of brokerage.profile_rule; null = as in the profile it is based on). The profile is composed to see that it fits. Errors: PB001 (no such algorithm, an unknown key, a value or function that does not fit), PB002 (the owner of the function is not trusted).';
-- file: brokerage/profile/set_settings.sql
-- The profile that decides in a setup, and how long decisions are kept.
create or replace function brokerage.set_settings(p_setup text, p_settings jsonb) returns void
language plpgsql
security definer set search_path = brokerage, pg_temp
as $$
declare
  v_unknown text;
  v_bad record;
  v_setting brokerage.setting;
begin
  perform resource.identify(p_setup);
  if jsonb_typeof(p_settings) is distinct from 'object' then
    raise exception 'settings are %', coalesce(p_settings::text, 'null') using errcode = 'PB001', hint = 'Give an object: {"profile": "doc"}.';
  end if;
  select k.key into v_unknown from jsonb_object_keys(p_settings) k(key) where k.key not in ('profile', 'decisions_kept', 'counts_kept', 'assignments_count') limit 1;
  if found then
    raise exception 'setting % is not known', v_unknown using errcode = 'PB001', hint = 'Settings are profile, decisions_kept, counts_kept, assignments_count.';
  end if;
  select s.key, s.value into v_bad from jsonb_each(p_settings) s where s.key <> 'profile' and not brokerage.is_wait(s.value) order by s.key limit 1;
  if found then
    raise exception 'setting % is %, not a time such as "2 days"', v_bad.key, v_bad.value using errcode = 'PB001', hint = 'Times are texts such as "2 days", longer than 0.';
  end if;
  if p_settings ? 'profile' then
    perform brokerage.require_profile(p_settings ->> 'profile');
  end if;
  perform resource.require_setup(p_setup);
  insert into brokerage.setting (setup) values (p_setup) on conflict do nothing;
  select s.* into v_setting from brokerage.setting s where s.setup = p_setup for update;
  v_setting := jsonb_populate_record(v_setting, p_settings);
  update brokerage.setting s
     set profile = v_setting.profile, decisions_kept = v_setting.decisions_kept, counts_kept = v_setting.counts_kept, assignments_count = v_setting.assignments_count
   where s.setup = p_setup;
end $$;

comment on function brokerage.set_settings(text, jsonb) is
'Changes settings of brokerage in a setup: profile, and decisions_kept, counts_kept, assignments_count (times longer than 0 as text, "2 days"). All or none. Errors: PB001 (an unknown setting or profile, no such time), PB002 (setup not granted).';
-- file: brokerage/profile_line.sql
-- after: brokerage.shipped_profile
-- Each profile with those it is based on, nearest first.
create or replace view brokerage.profile_line as
with recursive line as (
  select p.profile, p.profile as of_profile, 0 as depth
    from (select profile from brokerage.shipped_profile union select profile from brokerage.profile) p
  union all
  select l.profile, o.based_on, l.depth + 1
    from line l
    join brokerage.profile o on o.profile = l.of_profile
   where l.depth < 20
)
select l.profile, l.of_profile, l.depth from line l;

comment on view brokerage.profile_line is 'Each profile with itself and the profiles it is based on.';
comment on column brokerage.profile_line.profile is 'Profile.';
comment on column brokerage.profile_line.of_profile is 'The profile itself, or one that it is based on.';
comment on column brokerage.profile_line.depth is '0 = itself, 1 = what it is based on, and so on.';
-- file: brokerage/queue_length_limit.sql
-- Seed 000, Analysis Stabilizer, nQ_max.
create or replace function brokerage.queue_length_limit(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns numeric
language sql stable parallel safe
as $$
  select greatest(
    t.base_queue_length_per_pq::numeric,
    t.static_max_queue_running_ratio::numeric * p.users_running,
    t.max_expected_wait_hour::numeric * p.to_running_rate::numeric)
$$;

comment on function brokerage.queue_length_limit(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'nQ_max: jobs of the share that may be queued there.';
-- file: brokerage/queued_into_nucleus.sql
-- brokerage-doc-profile, nucleus-queue-cap: all links into the nucleus, of the same activity as in brokerage.queued_on_link.
create or replace function brokerage.queued_into_nucleus(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns float8
language sql stable parallel safe
as $$
  select coalesce(case when brokerage.is_express(t, q, p, x) then t.nucleus_queued_express else t.nucleus_queued end, 0)::float8
$$;

comment on function brokerage.queued_into_nucleus(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'Files queued on all links into the task''s nucleus, of the activity that its outputs have. Parameters: brokerage.is_express.';
-- file: brokerage/queued_of_share.sql
create or replace function brokerage.queued_of_share(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns bigint
language sql stable parallel safe
as $$
  select coalesce(p.defined, 0) + coalesce(p.activated, 0) + coalesce(p.assigned, 0) + coalesce(p.starting, 0)
$$;

comment on function brokerage.queued_of_share(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'nQ: jobs of the share that are defined, assigned, activated or starting at the queue.';
-- file: brokerage/queued_on_link.sql
-- brokerage-doc-profile: queued files are those of activity Express for express tasks, else of Production Output.
create or replace function brokerage.queued_on_link(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns float8
language sql stable parallel safe
as $$
  select coalesce(case when brokerage.is_express(t, q, p, x) then p.queued_express else p.queued end, 0)
$$;

comment on function brokerage.queued_on_link(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'Files queued on the link from the queue to the task''s nucleus, of the activity that the task''s outputs have. Parameters: brokerage.is_express.';
-- file: brokerage/reads_directly.sql
-- brokerage-rules 1.2, direct-io-used; seed 000: the input takes no scratch then.
create or replace function brokerage.reads_directly(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns boolean
language sql stable parallel safe
as $$
  select t.is_merging is not true and (
    q.reads_always_directly is true
    or t.use_local_io is not true and t.allow_input_lan is not null and q.direct_access_lan is true)
$$;

comment on function brokerage.reads_directly(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Whether jobs of the task read their input from the storage at the queue, without a copy in scratch.';
-- file: brokerage/refresh_statistics.sql
-- Without statistics of a world just loaded the planner takes it for a handful of rows, and a batch that takes seconds takes minutes.
create or replace function brokerage.refresh_statistics() returns void
language plpgsql
security definer set search_path = brokerage, pg_temp
as $$
begin
  analyze (skip_locked) resource.queue, resource.queue_activity, resource.queue_storage, resource.slot, resource.storage, resource.link, resource.software, resource.software_tag,
    resource.architecture_level, resource.worker_gpu, workload.dataset, workload.dataset_file, workload.replica, workload.task, workload.task_dataset, workload.input_digest,
    workload.statistic, workload.job;
end $$;

comment on function brokerage.refresh_statistics() is
'Tells the planner about rows that were just loaded, as autovacuum would within minutes. For large loads.';
-- file: brokerage/rule/candidate_all.sql
-- brokerage-doc-profile, prod-initial-all; seed 000: case-insensitive test in the name.
create or replace function brokerage.candidate_all(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.preassigned is not null then null
    when q.type is null or q.type not in ('production', 'unified') then format('type is %s, not production or unified', coalesce(q.type, 'not set'))
    when q.queue ilike '%test%' then 'its name contains test'
  end
$$;

comment on function brokerage.candidate_all(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'prod-initial-all: without pre-assignment all queues of production or unified type are candidates, except those with test in their name.';
-- file: brokerage/rule/candidate_all_panda2026.sql
-- brokerage-rules 1.0, prod-initial-all: queues that run production, of some cloud; any name (D-01).
create or replace function brokerage.candidate_all_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.preassigned is not null then null
    when q.is_production is not true then format('type is %s: it runs no production', coalesce(q.type, 'not set'))
    when coalesce(q.cloud, '') = '' then 'it has no cloud'
  end
$$;

comment on function brokerage.candidate_all_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'prod-initial-all of panda2026: without pre-assignment all queues that run production and have a cloud are candidates.';
-- file: brokerage/rule/candidate_analysis.sql
-- Seed 000, ATLAS Analysis Job Brokerage, 2. PanDA's code takes grandly_unified queues and those that the task's site names, too.
create or replace function brokerage.candidate_analysis(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when q.type in ('analysis', 'unified') or (x ->> 'code')::boolean and (q.attributes ? 'grandly_unified' or p.is_preassigned) then null
    else format('type is %s, not analysis or unified', coalesce(q.type, 'not set'))
  end
$$;

comment on function brokerage.candidate_analysis(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'anal-initial: queues of analysis or unified type are candidates. Parameter code (boolean): as PanDA''s code, grandly_unified and pre-assigned ones, too.';
-- file: brokerage/rule/candidate_nucleus.sql
-- brokerage-doc-profile 3, task-nucleus-list and task-preset-nucleus: sites with a queue of role nucleus; where a task has its nucleus already, that
-- one and no other. satellites: of a full-chain task those with a bareNucleus mode, too (D-62).
create or replace function brokerage.candidate_nucleus(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when t.is_preset then case when not p.is_preassigned then format('the nucleus of the task is %s', t.nucleus) end
    when q.is_nucleus or (x ->> 'satellites')::boolean and t.full_chain is not null and q.bare_nucleus is not null then null
    else 'it has no queue of role nucleus'
  end
$$;

comment on function brokerage.candidate_nucleus(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'task-nucleus-list, task-preset-nucleus: which nuclei enter the list of a task. Parameter satellites.';
-- file: brokerage/rule/candidate_preassigned.sql
-- brokerage-doc-profile, prod-initial-preassigned and preassigned-merge; parameter by: which of them.
create or replace function brokerage.candidate_preassigned(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when t.preassigned is not null and p.is_preassigned is not true and coalesce(t.preassigned_by = x ->> 'by', true)
    then 'not among the pre-assigned queues'
  end
$$;

comment on function brokerage.candidate_preassigned(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'prod-initial-preassigned, preassigned-merge: of a pre-assigned task exactly the queues listed are candidates. Parameter by: the rule that must have pre-assigned it; none = either.';
-- file: brokerage/rule/rule_anal_locality.sql
-- Seed 000, ATLAS Analysis Job Brokerage, 3; brokerage-doc-profile, anal-locality and anal-loops. PanDA's code always tries with locality first (D-30).
create or replace function brokerage.rule_anal_locality(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when t.second_pass or (x ->> 'may_be_suppressed')::boolean and brokerage.needs_no_input_there(t) then null
    else p.input_problem
  end
$$;

comment on function brokerage.rule_anal_locality(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'anal-locality: all of the input is at the queue; not asked in a second pass. Parameter may_be_suppressed (boolean): nor of tasks of high priority or low ioIntensity.';
-- file: brokerage/rule/rule_anal_loops.sql
-- brokerage-doc-profile, anal-loops. Without input, or where locality is not asked for, a second pass decides the same.
create or replace function brokerage.rule_anal_loops(t brokerage.task_facts) returns text
language sql stable parallel safe
as $$
  select case when not brokerage.needs_no_input_there(t) then 'persistent' end
$$;

comment on function brokerage.rule_anal_loops(brokerage.task_facts) is
'anal-loops: a task is decided once more, without anal-locality, where every candidate fell to a persistent rule.';
-- file: brokerage/rule/rule_anal_loops_panda2026.sql
-- brokerage-rules 1.4b and its Decided part: a pass without locality, if all of the input can be had over WAN. Where queues are left that only the user's jobs
-- there speak against, it needs a reason of its own (D-30).
create or replace function brokerage.rule_anal_loops_panda2026(t brokerage.task_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.wan_problem is not null then null
    when t.task_priority >= 2000 or t.io_intensity <> 0 and t.io_intensity_cutoff_user <> 0 and t.io_intensity <= t.io_intensity_cutoff_user
         or t.now - t.frozen > t.data_check_timeout_user * interval '1 hour' then 'any'
    else 'persistent'
  end
$$;

comment on function brokerage.rule_anal_loops_panda2026(brokerage.task_facts) is
'anal-loops of panda2026: a task is decided once more, without anal-locality, where its input can be had over WAN.';
-- file: brokerage/rule/rule_avoid_vp.sql
-- Seed 000, ATLAS Analysis Job Brokerage, 3; brokerage-doc-profile, avoid-vp.
create or replace function brokerage.rule_avoid_vp(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.has_vp_input is not true then null
    when t.avoid_vp then 'the task avoids queues of virtual placement'
    when brokerage.is_overloaded(t, q, p)
    then format('a queue of virtual placement, overloaded: %s queued and %s running jobs, of the share %s and %s', brokerage.queued_of_share(t, q, p), p.running, t.share_queued, t.share_running)
  end
$$;

comment on function brokerage.rule_avoid_vp(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'avoid-vp: no queue of virtual placement where the task avoids them, or where it is overloaded.';
-- file: brokerage/rule/rule_avoid_vp_panda2026.sql
-- brokerage-rules 1.4c: the union of queues, and a second pass, go without them.
create or replace function brokerage.rule_avoid_vp_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.has_vp_input is not true then null
    when t.avoid_vp then 'the task avoids queues of virtual placement'
    when t.is_merging then 'merge jobs avoid queues of virtual placement'
    when t.is_distributed then 'distributed input: queues of virtual placement are avoided'
    when t.second_pass or p.input_copies is null then 'no queue has all of the input: queues of virtual placement are avoided'
  end
$$;

comment on function brokerage.rule_avoid_vp_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'avoid-vp of panda2026: no queue of virtual placement where the task avoids them, or where its input cannot be had whole.';
-- file: brokerage/rule/rule_cap.sql
-- brokerage-doc-profile, cap: both inequalities of the seed; R = 0 allows only an empty queue (D-27, D-72).
create or replace function brokerage.rule_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when coalesce(p.activated, 0) + coalesce(p.starting, 0) > 2 * brokerage.running_workers(t, q, p)
    then format('activated + starting = %s, more than twice the running %s', coalesce(p.activated, 0) + coalesce(p.starting, 0), brokerage.running_workers(t, q, p))
    when coalesce(p.defined, 0) + coalesce(p.activated, 0) + brokerage.waiting_assigned(t, q, p) + coalesce(p.starting, 0) > 2 * brokerage.running_workers(t, q, p)
    then format('defined + activated + assigned + starting = %s, more than twice the running %s',
                coalesce(p.defined, 0) + coalesce(p.activated, 0) + brokerage.waiting_assigned(t, q, p) + coalesce(p.starting, 0), brokerage.running_workers(t, q, p))
  end
$$;

comment on function brokerage.rule_cap(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'cap: not more jobs waiting than twice the running ones, of the share at the queue.';
-- file: brokerage/rule/rule_cap_panda2026.sql
-- brokerage-rules 1.2, cap: with NQUEUELIMITSITE as the floor; not for express tasks and pseudo-queues (D-27, D-72).
create or replace function brokerage.rule_cap_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.child_type is null and not brokerage.is_express(t, q, p, '{"urgent_alone": true}')
         and brokerage.waiting_panda2026(t, q, p) > greatest(t.nqueuelimitsite, 2 * brokerage.running_workers_panda2026(t, q, p))
    then format('%s jobs are waiting, more than %s and than twice the running %s', brokerage.waiting_panda2026(t, q, p), t.nqueuelimitsite, brokerage.running_workers_panda2026(t, q, p))
  end
$$;

comment on function brokerage.rule_cap_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'cap of panda2026: not more jobs waiting than twice the running ones or NQUEUELIMITSITE, of the share at the queue.';
-- file: brokerage/rule/rule_cap_rt.sql
-- brokerage-rules 1.2, cap-rt: every queue with statistics of the task's resource types, the share's running jobs where they are more.
create or replace function brokerage.rule_cap_rt(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when not brokerage.is_express(t, q, p, '{"urgent_alone": true}')
         and brokerage.type_waiting(t, q, p) > greatest(t.nqueuelimitsite, 2 * greatest(p.type_running, brokerage.running_workers_panda2026(t, q, p)))
    then format('%s jobs of its resource types are waiting, more than %s and than twice the running %s', brokerage.type_waiting(t, q, p), t.nqueuelimitsite,
                greatest(p.type_running, brokerage.running_workers_panda2026(t, q, p)))
  end
$$;

comment on function brokerage.rule_cap_rt(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'cap-rt: not more jobs of the task''s resource types waiting than twice the running ones or NQUEUELIMITSITE.';
-- file: brokerage/rule/rule_cap_rt_analysis.sql
-- Seed 000, ATLAS Analysis Job Brokerage, 3 (D-36).
create or replace function brokerage.rule_cap_rt_analysis(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when brokerage.queued_of_share(t, q, p) > 2 * greatest(20, brokerage.running_workers(t, q, p))
    then format('%s jobs of the share are queued, twice the running %s (20 at least) is %s', brokerage.queued_of_share(t, q, p), brokerage.running_workers(t, q, p),
                2 * greatest(20, brokerage.running_workers(t, q, p)))
  end
$$;

comment on function brokerage.rule_cap_rt_analysis(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'cap-rt of analysis: not more jobs of the share queued than twice the running ones, or 40.';
-- file: brokerage/rule/rule_closed_jobs.sql
-- brokerage-rules 1.4c (D-33).
create or replace function brokerage.rule_closed_jobs(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when p.closed > 0 and p.is_preassigned is not true and t.is_merging is not true then format('%s jobs of the task were closed there, to run elsewhere', p.closed)
  end
$$;

comment on function brokerage.rule_closed_jobs(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'closed-jobs: no job of the task was closed there lately, unless it is merging or pre-assigned.';
-- file: brokerage/rule/rule_cloud_mismatch.sql
-- brokerage-rules 1.4c.
create or replace function brokerage.rule_cloud_mismatch(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when coalesce(t.cloud, '') not in ('', 'any') and t.cloud is distinct from q.cloud then format('cloud is %s, the task''s is %s', coalesce(q.cloud, 'not set'), t.cloud)
  end
$$;

comment on function brokerage.rule_cloud_mismatch(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'cloud-mismatch: a task that names a cloud runs there.';
-- file: brokerage/rule/rule_core_count.sql
-- brokerage-doc-profile, core-count. panda2026: urgent tasks of any core count want several (priority 900, scouts), and a task pre-assigned to one queue is not asked.
create or replace function brokerage.rule_core_count(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when (x ->> 'spares_preassigned_alone')::boolean and brokerage.is_only_site(t, q, p) then null
    when t.core_count > 1 and brokerage.slot_cores(t, q, p) = 1 then format('needs %s cores, the queue has 1', t.core_count)
    when coalesce(t.core_count, 1) = 1 and brokerage.slot_cores(t, q, p) > 1 then format('needs 1 core, a slot of the queue has %s', q.corecount)
    when t.core_count = 0 and brokerage.slot_cores(t, q, p) = 1 and (x ->> 'urgent_wants_several')::boolean and (t.current_priority >= 900 or t.is_scout)
    then format('priority %s%s wants several cores, the queue has 1', t.current_priority, case when t.is_scout then ', scouts' end)
  end
$$;

comment on function brokerage.rule_core_count(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'core-count: jobs of one core to queues of one core, others to queues of several, 0 to all. Parameters: urgent_wants_several, spares_preassigned_alone (boolean).';
-- file: brokerage/rule/rule_direct_io_only.sql
-- brokerage-doc-profile, direct-io-only. panda2026: not for merging (D-75).
create or replace function brokerage.rule_direct_io_only(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when t.allow_input_lan = 2 and q.direct_access_lan is not true and q.reads_always_directly is not true
         and not coalesce((x ->> 'spares_merging')::boolean and t.is_merging, false)
    then 'the task only reads its input directly, the queue has no direct access'
  end
$$;

comment on function brokerage.rule_direct_io_only(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'direct-io-only: a task that only reads directly needs direct access to the local storage. Parameter spares_merging (boolean).';
-- file: brokerage/rule/rule_disk_io.sql
-- brokerage-doc-profile, disk-io. The task's value is per core of the whole queue's slot, unless its jobs have one core; compared with the
-- limit times the cores, exactly (D-55).
create or replace function brokerage.rule_disk_io(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.disk_io > 0 and q.average_diskio > 0 and coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default) > 0
         and q.average_diskio > coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default)
         and brokerage.compare(
               t.disk_io, coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default) * brokerage.disk_io_cores(t, q, p),
               t.disk_io::numeric, coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default)::numeric * brokerage.disk_io_cores(t, q, p)) > 0
    then format('the task''s diskIO of %s kB/s per core and the queue''s average of %s are over the limit of %s',
                t.disk_io / brokerage.disk_io_cores(t, q, p), q.average_diskio, coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default))
  end
$$;

comment on function brokerage.rule_disk_io(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'disk-io: no task of high diskIO where the running jobs are over the limit (kB/s per core).';
-- file: brokerage/rule/rule_disk_io_panda2026.sql
-- brokerage-rules 1.2, disk-io: as in doc, with the task's value divided in whole numbers (D-55).
create or replace function brokerage.rule_disk_io_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.disk_io > 0 and q.average_diskio > coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default)
         and case when coalesce(t.task_core_count, 1) in (0, 1) or coalesce(q.unified_corecount, 0) = 0 then t.disk_io
                  else floor(t.disk_io / q.unified_corecount) end > coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default)
    then format('the task''s diskIO of %s kB/s for %s cores and the queue''s average of %s are over the limit of %s',
                t.disk_io, brokerage.disk_io_cores(t, q, p), q.average_diskio, coalesce(nullif(q.maxdiskio, 0), t.max_diskio_default))
  end
$$;

comment on function brokerage.rule_disk_io_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'disk-io of panda2026: no task of high diskIO where the running jobs are over the limit (kB/s per core).';
-- file: brokerage/rule/rule_event_service.sql
-- brokerage-doc-profile, event-service. panda2026: a task pre-assigned to one queue is not asked.
create or replace function brokerage.rule_event_service(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when (x ->> 'spares_preassigned_alone')::boolean and brokerage.is_only_site(t, q, p) then null
    when coalesce(t.event_service, 0) = 0 then case when q.jobseed = 'es' then '-nones: the queue only takes event service' end
    when coalesce(q.jobseed, 'std') = 'std' then '-es: the queue takes no event service'
    when q.jobseed = 'eshigh' and coalesce(t.current_priority, 0) < 900 and t.is_scout is not true
    then format('-eshigh: priority is %s, the queue takes event service from 900 or as scouts', t.current_priority)
    when q.child_type is not null and brokerage.slot_cores(t, q, p) = 1 then '-es_ucore: a pseudo-queue of one core takes no event service'
  end
$$;

comment on function brokerage.rule_event_service(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'event-service: the queue takes jobs of event service, or others, as its jobseed says. Parameter spares_preassigned_alone (boolean).';
-- file: brokerage/rule/rule_express_network_threshold.sql
-- brokerage-doc-profile, express-network-threshold, to an absolute 1e-12 (G5).
create or replace function brokerage.rule_express_network_threshold(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when brokerage.is_express(t, q, p, null) and brokerage.weight_network(t, q, p) < t.nw_threshold * t.nw_weight_multiplier - 1e-12
    then format('network weight is %s, express needs %s', brokerage.weight_network(t, q, p), t.nw_threshold * t.nw_weight_multiplier)
  end
$$;

comment on function brokerage.rule_express_network_threshold(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'express-network-threshold: express tasks need a good network to the nucleus.';
-- file: brokerage/rule/rule_express_network_threshold_panda2026.sql
-- brokerage-rules 1.2, express-network-threshold: where NW_ACTIVE (D-26, D-28), to an absolute 1e-12 as in doc.
create or replace function brokerage.rule_express_network_threshold_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.nw_active and brokerage.is_express(t, q, p, '{"urgent_alone": true}') and brokerage.network_weight_panda2026(t, q, p) < t.nw_threshold * t.nw_weight_multiplier - 1e-12
    then format('network weight is %s, express needs %s', brokerage.network_weight_panda2026(t, q, p), t.nw_threshold * t.nw_weight_multiplier)
  end
$$;

comment on function brokerage.rule_express_network_threshold_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'express-network-threshold of panda2026: express tasks need a good network to the nucleus, where network weights are active.';
-- file: brokerage/rule/rule_failed_jobs.sql
-- Seed 000, ATLAS Analysis Job Brokerage, 3; brokerage-doc-profile, failed-jobs. PanDA's code takes equality, and looks only where the stabilizer does (D-37).
create or replace function brokerage.rule_failed_jobs(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when (x ->> 'stabilized_alone')::boolean and not brokerage.may_be_stabilized(t, q, p, x) then null
    when p.failed + p.closed > greatest(2 * p.finished, t.min_bad_jobs_to_skip_pq)
         or p.failed + p.closed = greatest(2 * p.finished, t.min_bad_jobs_to_skip_pq) and not coalesce((x ->> 'inclusive')::boolean, false)
    then format('%s jobs of the task failed and %s were closed, %s finished: %s %s may', p.failed, p.closed, p.finished,
                case when (x ->> 'inclusive')::boolean then 'at most' else 'less than' end, greatest(2 * p.finished, t.min_bad_jobs_to_skip_pq))
  end
$$;

comment on function brokerage.rule_failed_jobs(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'failed-jobs: fewer jobs of the task failed or were closed than twice those that finished, or MIN_BAD_JOBS_TO_SKIP_PQ. Parameters: inclusive (as many are accepted), stabilized_alone (only where the queue of the user may be limited), spares_merging, spares_absent (boolean).';
-- file: brokerage/rule/rule_full_chain_job.sql
-- brokerage-doc-profile, full-chain-job; seed 000, Special Brokerage for ATLAS Full-chain.
create or replace function brokerage.rule_full_chain_job(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.full_chain is not null and t.nucleus_mode is not null then
      case when p.is_nucleus_queue is not true then format('-full_chain: the task stays at %s, a bare nucleus', coalesce(t.nucleus, 'the nucleus')) end
    when q.bare_nucleus = 'only' then '-not_full_chain: the queue only takes full chains'
  end
$$;

comment on function brokerage.rule_full_chain_job(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'full-chain-job: a full-chain task at a bare nucleus stays there; queues with bareNucleus=only take nothing else.';
-- file: brokerage/rule/rule_full_chain_task.sql
-- brokerage-doc-profile 3, full-chain-task.
create or replace function brokerage.rule_full_chain_task(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when p.is_preassigned then null
    when t.full_chain = 3 and t.parent_nucleus_mode is not null
    then case when q.queue <> t.parent_nucleus then format('its parent is at the bare nucleus %s', t.parent_nucleus) end
    when t.full_chain = 1 then case when q.bare_nucleus is distinct from 'only' then format('fullChain is only, bareNucleus is %s', coalesce(q.bare_nucleus, 'not set')) end
    when t.full_chain = 2 then case when q.bare_nucleus is null then 'fullChain is require, bareNucleus is not set' end
    when q.bare_nucleus = 'only'
    then 'bareNucleus is only, and ' || case when t.full_chain = 3 then 'fullChain is capable, which is ignored: no parent of it is at a bare nucleus' else 'the task is no full chain' end
  end
$$;

comment on function brokerage.rule_full_chain_task(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'full-chain-task: bareNucleus=only takes nothing but full chain; only, require and capable want what the seed says.';
-- file: brokerage/rule/rule_full_chain_task_panda2026.sql
-- brokerage-rules 1.1, full-chain-task (D-10, D-64).
create or replace function brokerage.rule_full_chain_task_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when p.is_preassigned then null
    when q.bare_nucleus = 'only' and t.full_chain is null then 'bareNucleus is only, and the task is no full chain'
    when t.full_chain in (1, 2) and q.bare_nucleus is null then format('fullChain is %s, bareNucleus is not set', case t.full_chain when 1 then 'only' else 'require' end)
    when t.full_chain is not null and t.parent_full_chain is not null and t.parent_nucleus_mode is not null and q.queue <> t.parent_nucleus
    then format('its parent is at the bare nucleus %s', t.parent_nucleus)
  end
$$;

comment on function brokerage.rule_full_chain_task_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'full-chain-task of panda2026: bare nuclei for full chains, and where the parent went.';
-- file: brokerage/rule/rule_gpu_queue.sql
-- brokerage-rules 1.4c (D-32).
create or replace function brokerage.rule_gpu_queue(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when (q.attributes ? 'gpu') is not true or t.hpo_workflow then null
    when t.has_platform is not true then 'a queue of GPUs, the task names no platform'
    else p.software
  end
$$;

comment on function brokerage.rule_gpu_queue(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'gpu-queue: queues flagged gpu take tasks whose platform and hardware fit what they publish.';
-- file: brokerage/rule/rule_high_prio_opportunistic.sql
-- brokerage-doc-profile, high-prio-opportunistic: the id is historical, no pledge is looked at (D-17).
create or replace function brokerage.rule_high_prio_opportunistic(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when brokerage.is_high(t, q, p) and p.is_near is not true
    then format('priority %s%s: only queues of %s', t.current_priority, case when t.is_scout then ', scouts' end, coalesce(t.nucleus, 'the nucleus'))
  end
$$;

comment on function brokerage.rule_high_prio_opportunistic(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'high-prio-opportunistic: high priority and scouts only go to queues associated with the nucleus.';
-- file: brokerage/rule/rule_high_prio_opportunistic_panda2026.sql
-- brokerage-rules 1.2: pledged queues for high priority and scouts, not associated ones (D-17).
create or replace function brokerage.rule_high_prio_opportunistic_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when brokerage.is_high(t, q, p) and p.is_preassigned is not true and q.pledgedcpu = -1
    then format('priority %s%s: no opportunistic queue', t.current_priority, case when t.is_scout then ', scouts' end)
  end
$$;

comment on function brokerage.rule_high_prio_opportunistic_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'high-prio-opportunistic of panda2026: high priority and scouts do not go to opportunistic queues (pledgedcpu -1).';
-- file: brokerage/rule/rule_hospital.sql
-- brokerage-rules 1.4c: a set rule, so that a hospital is kept where nothing else is left.
create or replace function brokerage.rule_hospital(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case when q.unified_name like '%\_HOSPITAL' then 'a hospital queue, others are left' end
$$;

comment on function brokerage.rule_hospital(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'hospital: hospital queues only where no other queue is left.';
-- file: brokerage/rule/rule_inactive_queue.sql
-- brokerage-doc-profile, inactive-queue: strictly older than 2 h, no record = active. panda2026: starting jobs count, too, and not for pre-assigned queues.
create or replace function brokerage.rule_inactive_queue(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when (brokerage.is_high(t, q, p) or t.is_merging or t.merge_output)
         and q.laststart < t.now - interval '2 hours'
         and coalesce(q.activated_all, 0) + case when (x ->> 'starting')::boolean then coalesce(q.starting_all, 0) else 0 end > 0
         and not coalesce((x ->> 'spares_preassigned')::boolean and p.is_preassigned, false)
    then format('no job has started for %s h though %s are activated', trim_scale(round(extract(epoch from t.now - q.laststart) / 3600, 1)),
                coalesce(q.activated_all, 0) + case when (x ->> 'starting')::boolean then coalesce(q.starting_all, 0) else 0 end)
  end
$$;

comment on function brokerage.rule_inactive_queue(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'inactive-queue: high priority, scouts, merging and pre-merged jobs need a queue where jobs start. Parameters: starting (boolean: starting jobs count), spares_preassigned (boolean).';
-- file: brokerage/rule/rule_include_exclude.sql
-- Seed 000, ATLAS Analysis Job Brokerage, 2; brokerage-doc-profile, include-exclude. PanDA's code: only with limitedSites, the site by a rule of its own, and
-- with AUTO in the list others than the included may do where none of those is left: a set rule, of which a reason with ! holds all the same.
create or replace function brokerage.rule_include_exclude(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when (x ->> 'limited_alone')::boolean and t.limited_sites is not true then null
    when brokerage.is_named(t, q, p, t.excluded_sites) then case when (x ->> 'limited_alone')::boolean then '!' else '' end || '-excluded: it is among excludedSite'
    when t.included_sites is not null and not brokerage.is_named(t, q, p, t.included_sites)
    then case when (x ->> 'limited_alone')::boolean and not 'AUTO' = any (t.included_sites) then '!' else '' end || '-notincluded: it is not among includedSite'
    when (x ->> 'limited_alone')::boolean then null
    when t.sites is not null and not brokerage.is_named(t, q, p, t.sites) then '-nonpreassigned: the task''s site is ' || array_to_string(t.preassigned, ', ')
  end
$$;

comment on function brokerage.rule_include_exclude(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'include-exclude: the queue is among includedSite and site, and not among excludedSite. Parameter limited_alone (boolean): as PanDA''s code.';
-- file: brokerage/rule/rule_input_completeness.sql
-- brokerage-rules 1.2, input-completeness (panda2026): a task whose input is complete nowhere that it can be read from fails as a whole.
create or replace function brokerage.rule_input_completeness(t brokerage.task_facts) returns text
language sql stable parallel safe
as $$
  select t.input_problem
$$;

comment on function brokerage.rule_input_completeness(brokerage.task_facts) is
'input-completeness: each input dataset must be complete, or nearly so, at some storage that can be read.';
-- file: brokerage/rule/rule_io_cutoff.sql
-- brokerage-doc-profile, io-cutoff: missing bytes and files both below their cutoffs (D-23, D-54).
create or replace function brokerage.rule_io_cutoff(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.io_intensity > t.io_intensity_cutoff and t.input_bytes > 0
         and not ((t.input_bytes - coalesce(p.available_bytes, 0))::float8 < t.size_cutoff_to_move_input * 1073741824
                  and (t.input_files - coalesce(p.available_files, 0))::float8 < t.num_cutoff_to_move_input)
    then format('ioIntensity is %s; %s bytes and %s files are missing, the cutoffs are %s GB and %s files', t.io_intensity,
                t.input_bytes - coalesce(p.available_bytes, 0), t.input_files - coalesce(p.available_files, 0),
                t.size_cutoff_to_move_input, t.num_cutoff_to_move_input)
  end
$$;

comment on function brokerage.rule_io_cutoff(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'io-cutoff: a task of high ioIntensity goes where little of its input is missing.';
-- file: brokerage/rule/rule_io_cutoff_panda2026.sql
-- brokerage-rules 1.2, io-cutoff: over the cutoffs in whole MiB (D-23). A set rule: nobody is rejected where nobody passes. Asked first with copies on tape, then without.
create or replace function brokerage.rule_io_cutoff_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when t.io_intensity > t.io_intensity_cutoff and t.input_bytes > 0 and t.is_merging is not true and coalesce(t.event_service, 0) = 0
         and not brokerage.is_only_site(t, q, p)
         and (floor((t.input_bytes - coalesce(case when (x ->> 'tape')::boolean then p.reachable_bytes else p.available_bytes end, 0)) / 1048576::float8)
              > 1024 * t.size_cutoff_to_move_input
              or t.input_files - coalesce(case when (x ->> 'tape')::boolean then p.reachable_files else p.available_files end, 0) > t.num_cutoff_to_move_input)
    then format('ioIntensity is %s; %s bytes and %s files are missing%s, the cutoffs are %s GB and %s files', t.io_intensity,
                t.input_bytes - coalesce(case when (x ->> 'tape')::boolean then p.reachable_bytes else p.available_bytes end, 0),
                t.input_files - coalesce(case when (x ->> 'tape')::boolean then p.reachable_files else p.available_files end, 0),
                case when (x ->> 'tape')::boolean then ' even with tape' end, t.size_cutoff_to_move_input, t.num_cutoff_to_move_input)
  end
$$;

comment on function brokerage.rule_io_cutoff_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'io-cutoff of panda2026: a task of high ioIntensity goes where no more than the cutoffs of its input are missing. Parameter tape (boolean): copies on tape count.';
-- file: brokerage/rule/rule_jumbo_queue.sql
-- brokerage-rules 1.2, jumbo-queue.
create or replace function brokerage.rule_jumbo_queue(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when brokerage.is_only_site(t, q, p) or q.uses_jumbo is not true then null
    when coalesce(t.n_jumbo_jobs, 0) = 0 then '-jumbo: the queue only takes jumbo jobs'
    when t.events < q.min_events_for_jumbo then format('-fewevents: %s events, minEventsForJumbo is %s', t.events, q.min_events_for_jumbo)
  end
$$;

comment on function brokerage.rule_jumbo_queue(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'jumbo-queue: queues with useJumboJobs take tasks with jumbo jobs and enough events.';
-- file: brokerage/rule/rule_link_blocked.sql
-- brokerage-doc-profile, link-blocked: closeness -1. panda2026: once the nucleus is over its cap, links are not looked at.
create or replace function brokerage.rule_link_blocked(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when p.closeness = -1 and p.is_own is not true
         and not coalesce((x ->> 'nucleus_first')::boolean and brokerage.rule_nucleus_queue_cap(t, q, p, x) is not null, false)
    then format('the link to %s is blocked: closeness is -1', coalesce(t.nucleus, 'the nucleus'))
  end
$$;

comment on function brokerage.rule_link_blocked(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'link-blocked: no blocked link to the nucleus; its own queues need none. Parameters: nucleus_first (boolean: not where nucleus-queue-cap rejects), and those of brokerage.rule_nucleus_queue_cap.';
-- file: brokerage/rule/rule_link_queue_cap.sql
-- brokerage-doc-profile, link-queue-cap: over NQUEUED_SAT_CAP. panda2026: at the cap already (D-15), which may be 0; a link that is not known passes.
create or replace function brokerage.rule_link_queue_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when p.is_own is not true and coalesce(p.queued, p.queued_express) is not null
         and (brokerage.queued_on_link(t, q, p, x) > t.nqueued_sat_cap
              or (x ->> 'inclusive')::boolean and brokerage.queued_on_link(t, q, p, x) = t.nqueued_sat_cap)
         and not coalesce((x ->> 'nucleus_first')::boolean and brokerage.rule_nucleus_queue_cap(t, q, p, x) is not null, false)
    then format('%s files are queued on the link to %s, NQUEUED_SAT_CAP is %s',
                brokerage.queued_on_link(t, q, p, x), coalesce(t.nucleus, 'the nucleus'), t.nqueued_sat_cap)
  end
$$;

comment on function brokerage.rule_link_queue_cap(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'link-queue-cap: not too many files queued on the link to the nucleus. Parameters: inclusive (boolean: the cap itself is too many), nucleus_first and urgent_alone as in brokerage.rule_link_blocked.';
-- file: brokerage/rule/rule_local_quota.sql
-- brokerage-rules 1.4a: the user's quota at the storage that the output goes to.
create or replace function brokerage.rule_local_quota(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case when q.output_storage = any (t.over_local) then format('the quota of the user at %s is used up', q.output_storage) end
$$;

comment on function brokerage.rule_local_quota(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'local-quota: the user has quota left at the output storage of the queue.';
-- file: brokerage/rule/rule_lock.sql
-- brokerage-rules 1.2, lock: in the last five minutes.
create or replace function brokerage.rule_lock(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case when q.lock_age < interval '5 minutes' then format('another broker has locked the queue for %s s', round(extract(epoch from q.lock_age))) end
$$;

comment on function brokerage.rule_lock(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'lock: no other broker works on the queue.';
-- file: brokerage/rule/rule_max_core_count.sql
-- brokerage-doc-profile, max-core-count: where both are set.
create or replace function brokerage.rule_max_core_count(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when (x ->> 'spares_preassigned_alone')::boolean and brokerage.is_only_site(t, q, p) then null
    when t.max_core_count <> 0 and q.corecount > t.max_core_count
    then format('corecount is %s, maxCoreCount of the task is %s', q.corecount, t.max_core_count)
  end
$$;

comment on function brokerage.rule_max_core_count(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'max-core-count: the queue has no more cores than the task allows. Parameter spares_preassigned_alone (boolean).';
-- file: brokerage/rule/rule_max_io_intensity.sql
-- brokerage-rules 1.2, max-io-intensity.
create or replace function brokerage.rule_max_io_intensity(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.is_merging is not true and t.io_intensity > q.max_io_intensity
    then format('ioIntensity is %s, max_io_intensity of the queue is %s', t.io_intensity, q.max_io_intensity)
  end
$$;

comment on function brokerage.rule_max_io_intensity(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'max-io-intensity: the task''s ioIntensity is not over the queue''s limit (kB/s).';
-- file: brokerage/rule/rule_memory.sql
-- brokerage-doc-profile, memory: 0.9 of the memory must lie between minrss and maxrss, both of the whole slot; tenths are compared (G5).
create or replace function brokerage.rule_memory(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.ram_count is null or t.ram_count = 0 then null
    when 9 * brokerage.memory_use(t, q, p) > 10 * nullif(q.maxrss, 0)
    then format('-lowmemory: needs %s MB, maxrss is %s', 9 * brokerage.memory_use(t, q, p) / 10, q.maxrss)
    when 9 * brokerage.memory_use(t, q, p) < 10 * nullif(q.minrss, 0)
    then format('-highmemory: needs %s MB, minrss is %s', 9 * brokerage.memory_use(t, q, p) / 10, q.minrss)
  end
$$;

comment on function brokerage.rule_memory(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'memory: nine tenths of the memory of a job lie between minrss and maxrss of the queue.';
-- file: brokerage/rule/rule_memory_panda2026.sql
-- brokerage-rules 1.2, memory.
create or replace function brokerage.rule_memory_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.ram_count is null or t.ram_count = 0 then null
    when brokerage.memory_need_panda2026(t, q, p) > nullif(q.maxrss, 0)
    then format('-lowmemory: needs %s MB, maxrss is %s', brokerage.memory_need_panda2026(t, q, p), q.maxrss)
    when brokerage.memory_need_panda2026(t, q, p) < nullif(q.minrss, 0)
    then format('-highmemory: needs %s MB, minrss is %s', brokerage.memory_need_panda2026(t, q, p), q.minrss)
  end
$$;

comment on function brokerage.rule_memory_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'memory of panda2026: nine tenths of the memory of a job, in whole MB, lie between minrss and maxrss of the queue.';
-- file: brokerage/rule/rule_min_weight.sql
-- brokerage-rules 1.2, min-weight: behind all others; a bootstrap has weight 0 and is exempt. In analysis (1.4c) so is a pre-assigned queue: one that is left is kept.
create or replace function brokerage.rule_min_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when t.min_weight > 0 and p.weight <> 0 and p.weight < t.min_weight and not ((x ->> 'spares_preassigned')::boolean is true and p.is_preassigned is true)
    then format('weight is %s, MIN_WEIGHT is %s', p.weight, t.min_weight)
  end
$$;

comment on function brokerage.rule_min_weight(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'min-weight: the weight is at least MIN_WEIGHT of the label and share. Parameter spares_preassigned (boolean): not of a pre-assigned queue.';
-- file: brokerage/rule/rule_no_pilot.sql
-- brokerage-doc-profile, no-pilot: no request in the last 3 h, or no record (D-70).
create or replace function brokerage.rule_no_pilot(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case when coalesce(q.pilots, 0) = 0 and not coalesce((x ->> 'spares_test')::boolean and t.label = 'test', false) then 'no pilot in the last 3 h' end
$$;

comment on function brokerage.rule_no_pilot(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'no-pilot: pilots asked for jobs there in the last 3 h. Parameter spares_test (boolean): not where the label is test.';
-- file: brokerage/rule/rule_no_pilot_panda2026.sql
-- brokerage-rules 1.2, no-pilot: waived for test labels, jumbo jobs at their queues, slots for the task (num-slots) and pre-assignment (D-70).
create or replace function brokerage.rule_no_pilot_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when coalesce(q.pilots, 0) = 0 and p.is_preassigned is not true and coalesce(t.label, '') not like '%test%'
         and not (coalesce(t.n_jumbo_jobs, 0) > 0 and q.uses_jumbo is true) and p.numslots is null
    then 'no pilot in the last 3 h'
  end
$$;

comment on function brokerage.rule_no_pilot_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'no-pilot of panda2026: pilots asked for jobs there in the last 3 h, or need not.';
-- file: brokerage/rule/rule_nucleus_has_storage.sql
-- brokerage-doc-profile 3, nucleus-has-storage.
create or replace function brokerage.rule_nucleus_has_storage(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case when not p.is_preassigned and not q.has_output_storage then 'it has no output storage' end
$$;

comment on function brokerage.rule_nucleus_has_storage(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'nucleus-has-storage: some queue of the nucleus has an output storage.';
-- file: brokerage/rule/rule_nucleus_has_storage_panda2026.sql
-- brokerage-rules 1.1, nucleus-has-storage: each output token fits a storage (D-04). A task whose outputs are all distributed (ddd:) needs none.
create or replace function brokerage.rule_nucleus_has_storage_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case when not p.is_preassigned then p.output_problem end
$$;

comment on function brokerage.rule_nucleus_has_storage_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'nucleus-has-storage of panda2026: the nucleus has a storage for each output dataset of the task.';
-- file: brokerage/rule/rule_nucleus_queue_cap.sql
-- brokerage-doc-profile, nucleus-queue-cap: all queues, those of the nucleus too. panda2026: its own storage is spared, and at the cap already (D-16).
create or replace function brokerage.rule_nucleus_queue_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when (brokerage.queued_into_nucleus(t, q, p, x) > t.nqueued_nuc_cap_for_jobs
          or (x ->> 'inclusive')::boolean and brokerage.queued_into_nucleus(t, q, p, x) = t.nqueued_nuc_cap_for_jobs)
         and not coalesce((x ->> 'spares_own')::boolean and p.is_own, false)
    then format('%s files are queued on the links into %s, NQUEUED_NUC_CAP_FOR_JOBS is %s',
                brokerage.queued_into_nucleus(t, q, p, x), coalesce(t.nucleus, 'the nucleus'), t.nqueued_nuc_cap_for_jobs)
  end
$$;

comment on function brokerage.rule_nucleus_queue_cap(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'nucleus-queue-cap: not too many files queued into the nucleus, wherever from. Parameters: inclusive (boolean: the cap itself is too many), spares_own (boolean: not for its own queues), urgent_alone.';
-- file: brokerage/rule/rule_nucleus_space.sql
-- brokerage-doc-profile 3, nucleus-space; free - 0.25 * RW / 864000 > threshold, multiplied out (G5).
create or replace function brokerage.rule_nucleus_space(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when not p.is_preassigned and (p.space - t.disk_threshold * 1024) * 3456000 <= q.remaining_work
    then format('%s GB are free, %s will be filled by its remaining work: not over %s GB (DISK_THRESHOLD)',
                round(p.space::numeric, 3), round(brokerage.space_for(q.remaining_work)::numeric, 3), t.disk_threshold * 1024)
  end
$$;

comment on function brokerage.rule_nucleus_space(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'nucleus-space: free and expired space, less what the remaining work will fill, is over DISK_THRESHOLD.';
-- file: brokerage/rule/rule_nucleus_space_panda2026.sql
-- brokerage-rules 1.1, nucleus-space: whole GB of demand, equality passes (D-06).
create or replace function brokerage.rule_nucleus_space_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when not p.is_preassigned and p.space - trunc(brokerage.space_for(q.remaining_work)) < t.disk_threshold * 1024
    then format('%s GB can be used, %s will be filled by its remaining work: less than %s GB (DISK_THRESHOLD)',
                round(p.space::numeric, 3), trunc(brokerage.space_for(q.remaining_work)), t.disk_threshold * 1024)
  end
$$;

comment on function brokerage.rule_nucleus_space_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'nucleus-space of panda2026: usable space, less what the remaining work will fill, is DISK_THRESHOLD or more.';
-- file: brokerage/rule/rule_nucleus_status.sql
-- brokerage-doc-profile 3, task-nucleus-list.
create or replace function brokerage.rule_nucleus_status(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case when not p.is_preassigned and q.status is distinct from 'ACTIVE' then format('state is %s, not ACTIVE', coalesce(q.status, 'not set')) end
$$;

comment on function brokerage.rule_nucleus_status(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'task-nucleus-list: the state of the nucleus is ACTIVE.';
-- file: brokerage/rule/rule_nucleus_unwritable.sql
-- brokerage-rules 1.2: write_wan of the nucleus' default output storage is OFF or TEST.
create or replace function brokerage.rule_nucleus_unwritable(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.nucleus_is_writable is false and p.is_nucleus_queue is not true
    then format('the storage of %s cannot be written over WAN', coalesce(t.nucleus, 'the nucleus'))
  end
$$;

comment on function brokerage.rule_nucleus_unwritable(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'nucleus-unwritable: the nucleus takes outputs from elsewhere; its own queues need not ask.';
-- file: brokerage/rule/rule_nucleus_wan.sql
-- brokerage-rules 1.1, nucleus-wan (D-05).
create or replace function brokerage.rule_nucleus_wan(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case when not p.is_preassigned then p.wan_problem end
$$;

comment on function brokerage.rule_nucleus_wan(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'nucleus-wan: the output storages of the task at the nucleus can be read and written over WAN.';
-- file: brokerage/rule/rule_overloaded.sql
-- brokerage-rules 1.4c: a set rule; virtual placements go all the same.
create or replace function brokerage.rule_overloaded(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when brokerage.is_overloaded(t, q, p) and t.is_merging is not true
    then format('%s: %s queued and %s running jobs, of the share %s and %s', case when q.has_vp_input then '!-overloaded_vp' else '-overloaded' end,
                brokerage.queued_of_share(t, q, p), p.running, t.share_queued, t.share_running)
  end
$$;

comment on function brokerage.rule_overloaded(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'overloaded: overloaded queues only where no other queue is left, those of virtual placement not even then.';
-- file: brokerage/rule/rule_overloaded_idle.sql
-- brokerage-rules 1.4c, overloaded: where nothing runs the user is a problem there, whatever else is left.
create or replace function brokerage.rule_overloaded_idle(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when brokerage.is_overloaded(t, q, p) and coalesce(p.running, 0) = 0 and t.is_merging is not true
    then format('%s jobs of the share are queued, none is running', brokerage.queued_of_share(t, q, p))
  end
$$;

comment on function brokerage.rule_overloaded_idle(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'overloaded: an overloaded queue where no job of the share runs is left in the end.';
-- file: brokerage/rule/rule_preassigned.sql
-- brokerage-rules 1.4c, preassigned.
create or replace function brokerage.rule_preassigned(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case when t.preassigned is not null and p.is_preassigned is not true then 'the task''s site is ' || array_to_string(t.preassigned, ', ') end
$$;

comment on function brokerage.rule_preassigned(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'preassigned: a task that names a site runs there.';
-- file: brokerage/rule/rule_queue_status.sql
-- brokerage-doc-profile, queue-status. panda2026: standby passes (D-14).
create or replace function brokerage.rule_queue_status(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when q.status = 'online' or p.is_preassigned or q.status = 'standby' and (x ->> 'standby')::boolean then null
    else format('status is %s, not online', coalesce(q.status, 'not set'))
  end
$$;

comment on function brokerage.rule_queue_status(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'queue-status: the queue must be online, unless the task is pre-assigned to it. Parameter standby (boolean): standby passes, too.';
-- file: brokerage/rule/rule_queue_status_analysis_panda2026.sql
-- brokerage-rules 1.4c: only offline rejects whoever names the queue, only some states reject at all (D-31). A list counts where include-exclude reads it: with
-- limitedSites.
create or replace function brokerage.rule_queue_status_analysis_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.status = 'offline' then 'status is offline'
    when q.status in ('brokeroff', 'test') and (t.included_sites is null or t.limited_sites is not true) and p.is_preassigned is not true then format('status is %s', q.status)
  end
$$;

comment on function brokerage.rule_queue_status_analysis_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'queue-status of analysis in panda2026: not offline, and brokeroff or test only where the task names queues.';
-- file: brokerage/rule/rule_quota.sql
-- Seed 000, ATLAS Analysis Job Brokerage, 1; brokerage-doc-profile, quota. PanDA's code lets only merge jobs run near the limit (D-29).
create or replace function brokerage.rule_quota(t brokerage.task_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when not t.quota_is_kept
    then case when t.quota_used > t.quota_limit then format('%s bytes of disk are used, the quota is %s', t.quota_used, t.quota_limit) else 'the disk quota is exceeded or cannot be read' end
    when (x ->> 'near_limit')::boolean and t.quota_is_near and t.is_merging is not true
    then format('%s bytes of disk are used, near the quota of %s: only merge jobs run', coalesce(t.quota_used::text, 'some'), coalesce(t.quota_limit::text, 'some'))
  end
$$;

comment on function brokerage.rule_quota(brokerage.task_facts, jsonb) is
'quota: the disk quota is not exceeded. Parameter near_limit (boolean): near it only merge jobs run.';
-- file: brokerage/rule/rule_scratch_disk.sql
-- brokerage-doc-profile, scratch-disk: maxwdir / cores must be larger than the need; both times the cores, in bytes (D-19, D-60, D-68).
create or replace function brokerage.rule_scratch_disk(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.maxwdir > 0 and brokerage.compare(
           brokerage.scratch_need(t, q, p) * brokerage.whole_queue_cores(t, q, p), q.maxwdir * 1048576,
           brokerage.scratch_need_exactly(t, q, p) * brokerage.whole_queue_cores(t, q, p), q.maxwdir::numeric * 1048576) >= 0
    then format('needs %s MiB of scratch a core, maxwdir is %s for %s cores', trim_scale(round(brokerage.scratch_need_exactly(t, q, p) / 1048576, 3)), q.maxwdir,
                brokerage.whole_queue_cores(t, q, p))
  end
$$;

comment on function brokerage.rule_scratch_disk(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'scratch-disk: a job needs less scratch than maxwdir divided by the cores of the whole queue''s slot.';
-- file: brokerage/rule/rule_scratch_disk_analysis.sql
-- brokerage-doc-profile 2, scratch-disk: no smallest output, output by input MB whatever its unit says, merge jobs alike (D-60).
create or replace function brokerage.rule_scratch_disk_analysis(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.maxwdir > 0 and brokerage.compare(
           brokerage.scratch_need_analysis(t, q, p) * brokerage.whole_queue_cores(t, q, p), q.maxwdir * 1048576,
           brokerage.scratch_need_analysis_exactly(t, q, p) * brokerage.whole_queue_cores(t, q, p), q.maxwdir::numeric * 1048576) >= 0
    then format('needs %s MiB of scratch a core, maxwdir is %s for %s cores', trim_scale(round(brokerage.scratch_need_analysis_exactly(t, q, p) / 1048576, 3)), q.maxwdir,
                brokerage.whole_queue_cores(t, q, p))
  end
$$;

comment on function brokerage.rule_scratch_disk_analysis(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'scratch-disk of analysis: a job needs less scratch than maxwdir divided by the cores of the whole queue''s slot.';
-- file: brokerage/rule/rule_scratch_disk_analysis_panda2026.sql
-- brokerage-rules 1.4c, scratch-disk: no smallest output; nGBPerJob gigabytes where they are more.
create or replace function brokerage.rule_scratch_disk_analysis_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.maxwdir > 0 and brokerage.scratch_need_analysis_panda2026(t, q, p) * brokerage.scratch_cores_panda2026(t, q, p) > q.maxwdir
    then format('needs %s MiB of scratch, maxwdir is %s for %s jobs', brokerage.scratch_need_analysis_panda2026(t, q, p), q.maxwdir, brokerage.scratch_cores_panda2026(t, q, p))
  end
$$;

comment on function brokerage.rule_scratch_disk_analysis_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'scratch-disk of analysis in panda2026: a job needs no more scratch than its part of maxwdir.';
-- file: brokerage/rule/rule_scratch_disk_panda2026.sql
-- brokerage-rules 1.2, scratch-disk: equality passes.
create or replace function brokerage.rule_scratch_disk_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.maxwdir > 0 and brokerage.scratch_need_panda2026(t, q, p) * brokerage.scratch_cores_panda2026(t, q, p) > q.maxwdir
    then format('needs %s MiB of scratch, maxwdir is %s for %s jobs', brokerage.scratch_need_panda2026(t, q, p), q.maxwdir, brokerage.scratch_cores_panda2026(t, q, p))
  end
$$;

comment on function brokerage.rule_scratch_disk_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'scratch-disk of panda2026: a job needs no more scratch than its part of maxwdir.';
-- file: brokerage/rule/rule_share_throttle.sql
-- Seed 000, ATLAS Analysis Job Brokerage, 1; brokerage-doc-profile, share-throttle. Running slots in hi-sites are what is missing from the threshold of class A;
-- cross-multiplied (G5).
create or replace function brokerage.rule_share_throttle(t brokerage.task_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.gshare is distinct from 'User Analysis' then null
    when t.task_class = -1 and t.share_usage > 0.9 then format('the task is in class C, the share uses %s of its target, over 0.9', t.share_usage)
    when t.task_class = 0 and t.share_usage > 0.95 then format('the task is in class B, the share uses %s of its target, over 0.95', t.share_usage)
    when t.task_class = 1 and t.rem_slots_a is null and t.share_usage > 2
    then format('the task is in class A, its user was not evaluated, the share uses %s of its target, over 2', t.share_usage)
    when t.task_class = 1 and t.rem_slots_a < t.user_usage_threshold_a and t.share_usage > 1
         and t.share_usage::numeric * (t.user_usage_threshold_a::numeric - t.rem_slots_a::numeric) > t.user_usage_threshold_a
    then format('the task is in class A, its user has %s slots in hi-sites, the share uses %s of its target, over %s', t.user_usage_threshold_a - t.rem_slots_a, t.share_usage,
                greatest(t.user_usage_threshold_a / (t.user_usage_threshold_a - t.rem_slots_a), 1))
  end
$$;

comment on function brokerage.rule_share_throttle(brokerage.task_facts) is
'share-throttle: where User Analysis uses much of its target, tasks of lower classes wait.';
-- file: brokerage/rule/rule_share_throttle_panda2026.sql
-- brokerage-rules 1.4a: usage in percent, reduced by the slots that the user has left; the lower of the usages of the share and of the one above it.
create or replace function brokerage.rule_share_throttle_panda2026(t brokerage.task_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.gshare is distinct from 'User Analysis' or t.share_usage is null then null
    when t.task_class = -1 and least(t.share_usage, t.share_usage_above) * 100 > 90
    then format('the task is in class C, the share uses %s percent of its target, over 90', least(t.share_usage, t.share_usage_above) * 100)
    when t.task_class = 0 and least(t.share_usage, t.share_usage_above) * 100 > 95
    then format('the task is in class B, the share uses %s percent of its target, over 95', least(t.share_usage, t.share_usage_above) * 100)
    when t.task_class = 1 and least(t.share_usage, t.share_usage_above) * coalesce(1 - t.rem_slots_a / nullif(t.user_usage_threshold_a, 0), 0.5) * 100 > 100
    then format('the task is in class A, the share uses %s percent of its target, times %s over 100', least(t.share_usage, t.share_usage_above) * 100,
                coalesce(1 - t.rem_slots_a / nullif(t.user_usage_threshold_a, 0), 0.5))
  end
$$;

comment on function brokerage.rule_share_throttle_panda2026(brokerage.task_facts) is
'share-throttle of panda2026: where User Analysis and the share above it use much of their target, tasks of lower classes wait.';
-- file: brokerage/rule/rule_software.sql
-- brokerage-doc-profile 4.2: what is published is compared when the facts are made; a reason of platform resolution brings its own tag.
-- panda2026: ANY is no pass by itself (D-47), the fact is the whole verdict.
create or replace function brokerage.rule_software(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when t.has_software is not true or (x ->> 'spares_preassigned')::boolean and p.is_preassigned then null
    when (x ->> 'as_prepared')::boolean then p.software
    when q.releases_any then null
    when q.releases_auto is not true then 'neither ANY nor AUTO is among its releases'
    when q.publishes_software is not true then 'AUTO is among its releases, but it publishes no software'
    else p.software
  end
$$;

comment on function brokerage.rule_software(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'software: the queue takes any release, or publishes what the task needs. Parameters: as_prepared (the prepared verdict alone decides), spares_preassigned (boolean).';
-- file: brokerage/rule/rule_stabilizer.sql
-- Seed 000, Analysis Stabilizer; brokerage-doc-profile 4.4.
create or replace function brokerage.rule_stabilizer(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when brokerage.may_be_stabilized(t, q, p, x) and coalesce(p.user_queued, 0) > brokerage.user_queue_limit(t, q, p)
    then format('the user has %s jobs queued, the limit is %s of %s for %s users', p.user_queued, trim_scale(round(brokerage.user_queue_limit(t, q, p), 3)),
                trim_scale(round(brokerage.queue_length_limit(t, q, p), 3)), p.users)
  end
$$;

comment on function brokerage.rule_stabilizer(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'stabilizer: the user has not too many jobs queued there. Parameters: spares_merging, spares_absent (boolean).';
-- file: brokerage/rule/rule_storage_blacklist.sql
-- brokerage-doc-profile, storage-blacklist: LAN states, every type of storage, none in a direction is fine (D-77).
create or replace function brokerage.rule_storage_blacklist(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.input_storages > 0 and coalesce(q.inputs_readable, 0) = 0
    then format('-read_lan_blacklist: none of its %s input storages can be read', q.input_storages)
    when q.output_storages > 0 and coalesce(q.outputs_writable, 0) = 0
    then format('-write_lan_blacklist: none of its %s output storages can be written', q.output_storages)
  end
$$;

comment on function brokerage.rule_storage_blacklist(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'storage-blacklist: an input storage can be read and an output storage written over LAN.';
-- file: brokerage/rule/rule_storage_blacklist_analysis.sql
-- brokerage-doc-profile 7: as in production, under one tag.
create or replace function brokerage.rule_storage_blacklist_analysis(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select regexp_replace(brokerage.rule_storage_blacklist(t, q, p), '^-[a-z_]+: ', '')
$$;

comment on function brokerage.rule_storage_blacklist_analysis(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'storage-blacklist of analysis: an input storage can be read and an output storage written over LAN.';
-- file: brokerage/rule/rule_storage_blacklist_analysis_panda2026.sql
-- brokerage-rules 1.4c: every type of storage; how data come in and go out counts only in a second pass.
create or replace function brokerage.rule_storage_blacklist_analysis_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when coalesce(q.inputs_readable, 0) = 0 then 'no input storage can be read over LAN'
    when coalesce(q.outputs_writable, 0) = 0 then 'no output storage can be written over LAN'
    when t.second_pass is not true then null
    when coalesce(q.inputs_writable_wan, 0) = 0 then 'no input storage can be written over WAN'
    when coalesce(q.outputs_readable_wan, 0) = 0 then 'no output storage can be read over WAN'
  end
$$;

comment on function brokerage.rule_storage_blacklist_analysis_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'storage-blacklist of analysis in panda2026: input can be read and output be written; in a second pass input can come in and output go out.';
-- file: brokerage/rule/rule_storage_blacklist_panda2026.sql
-- brokerage-rules 1.2, storage-blacklist: DATADISKs, four activities, in this order; not where storage-space has failed (D-77).
create or replace function brokerage.rule_storage_blacklist_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when brokerage.rule_storage_space_panda2026(t, q, p) is not null then null
    when q.datadisk_read_lan is not true then '-read_lan_blacklist: no input DATADISK can be read over LAN'
    when q.datadisk_write_lan is not true then '-write_lan_blacklist: no output DATADISK can be written over LAN'
    when (p.is_nucleus_queue is not true or p.input_is_local is not true) and q.datadisk_write_wan is not true
    then '-write_wan_blacklist: no input DATADISK can be written over WAN'
    when p.is_nucleus_queue is not true and q.datadisk_read_wan is not true then '-read_wan_blacklist: no output DATADISK can be read over WAN'
    when p.is_nucleus_queue is not true and p.has_readable_source is not true then '-source_blacklist: the input cannot be read over WAN anywhere'
  end
$$;

comment on function brokerage.rule_storage_blacklist_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'storage-blacklist of panda2026: input can come in and be read, output be written and go out.';
-- file: brokerage/rule/rule_storage_space.sql
-- brokerage-doc-profile, storage-space: raw free space, over 200 GB (D-06, D-80).
create or replace function brokerage.rule_storage_space(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.has_output_storage and coalesce(q.space_free, 0) <= 200
    then format('%s GB are free in its output storage, not over 200', coalesce(q.space_free, 0))
  end
$$;

comment on function brokerage.rule_storage_space(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'storage-space: over 200 GB are free in the default output storage of the queue.';
-- file: brokerage/rule/rule_storage_space_analysis_panda2026.sql
-- brokerage-rules 1.4c: the output storage, in a second pass the input storage, too.
create or replace function brokerage.rule_storage_space_analysis_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.has_output_storage is not true then 'it has no output storage'
    when coalesce(q.space_usable, 0) < t.storage_min_free_size_output
    then format('%s GB can be used in its output storage, STORAGE_MIN_FREE_SIZE_OUTPUT is %s', coalesce(q.space_usable, 0), t.storage_min_free_size_output)
    when t.second_pass and q.input_space_usable < t.storage_min_free_size
    then format('%s GB can be used in its input storage, STORAGE_MIN_FREE_SIZE is %s', q.input_space_usable, t.storage_min_free_size)
  end
$$;

comment on function brokerage.rule_storage_space_analysis_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'storage-space of analysis in panda2026: enough can be used in the output storage, and in the input storage where input has to come.';
-- file: brokerage/rule/rule_storage_space_panda2026.sql
-- brokerage-rules 1.2, storage-space: usable space, equality passes (D-06).
create or replace function brokerage.rule_storage_space_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.has_output_storage and coalesce(q.space_usable, 0) < t.storage_min_free_size
    then format('%s GB can be used in its output storage, STORAGE_MIN_FREE_SIZE is %s', coalesce(q.space_usable, 0), t.storage_min_free_size)
  end
$$;

comment on function brokerage.rule_storage_space_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'storage-space of panda2026: STORAGE_MIN_FREE_SIZE can be used in the default output storage of the queue.';
-- file: brokerage/rule/rule_t1_weight.sql
-- brokerage-doc-profile, t1-weight: -1 and normal jobs. panda2026: any negative weight (D-22).
create or replace function brokerage.rule_t1_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when (t.t1_weight = -1 or (x ->> 'negative')::boolean and t.t1_weight < 0) and t.is_merging is not true and p.is_near is not true
    then format('t1Weight is %s: only queues of %s', t.t1_weight, coalesce(t.nucleus, 'the nucleus'))
  end
$$;

comment on function brokerage.rule_t1_weight(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
't1-weight: a task with t1Weight -1 stays at the nucleus, merging excepted. Parameter negative (boolean): any weight below 0.';
-- file: brokerage/rule/rule_task_input_scan.sql
-- brokerage-rules 1.1, task-input-scan (D-03); a task with its nucleus is not looked at.
create or replace function brokerage.rule_task_input_scan(t brokerage.task_facts) returns text
language sql stable parallel safe
as $$
  select case when not t.is_preset then t.input_problem end
$$;

comment on function brokerage.rule_task_input_scan(brokerage.task_facts) is
'task-input-scan: each input dataset is complete somewhere where it can be read over WAN.';
-- file: brokerage/rule/rule_task_job_check.sql
-- brokerage-rules 1.1, task-job-check (D-07). The parameters are read where the check is made: brokerage.with_job_check.
create or replace function brokerage.rule_task_job_check(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case when not p.is_preassigned and t.runnable_at is not null and not q.queue = any (t.runnable_at) then 'no queue there could run its jobs' end
$$;

comment on function brokerage.rule_task_job_check(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'task-job-check: some queue of the nucleus could run the jobs of the task. Parameters: last rule of the job broker that is asked, and those left out (without).';
-- file: brokerage/rule/rule_task_locality_num.sql
-- brokerage-doc-profile 3, task-locality-num (D-63: strict). A reason with ! before it holds even where no nucleus passes (task-locality-disable).
create or replace function brokerage.rule_task_locality_num(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when brokerage.needs_no_local_input(t, q, p, x) or t.located_files <= t.input_num_threshold then null
    when case when (x ->> 'inclusive')::boolean then 100 * p.located_files::float8 < t.input_num_fraction * t.located_files else 100 * p.located_files::float8 <= t.input_num_fraction * t.located_files end
    then format('%s%s of %s files of its input are there, INPUT_NUM_FRACTION is %s%%', case when not coalesce(brokerage.may_be_elsewhere(t, q, p, x), false) then '!' end,
                p.located_files, t.located_files, t.input_num_fraction)
  end
$$;

comment on function brokerage.rule_task_locality_num(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'task-locality-num: of input over INPUT_NUM_THRESHOLD, more than INPUT_NUM_FRACTION percent are at the nucleus. Parameters inclusive, current_priority, period.';
-- file: brokerage/rule/rule_task_locality_size.sql
-- brokerage-doc-profile 3, task-locality-size (D-63: strict). A reason with ! before it holds even where no nucleus passes (task-locality-disable).
create or replace function brokerage.rule_task_locality_size(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when brokerage.needs_no_local_input(t, q, p, x) or t.located_bytes <= t.input_size_threshold * 1073741824 then null
    when case when (x ->> 'inclusive')::boolean then 100 * p.located_bytes::float8 < t.input_size_fraction * t.located_bytes else 100 * p.located_bytes::float8 <= t.input_size_fraction * t.located_bytes end
    then format('%s%s of %s bytes of its input are there, INPUT_SIZE_FRACTION is %s%%', case when not coalesce(brokerage.may_be_elsewhere(t, q, p, x), false) then '!' end,
                p.located_bytes, t.located_bytes, t.input_size_fraction)
  end
$$;

comment on function brokerage.rule_task_locality_size(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'task-locality-size: of input over INPUT_SIZE_THRESHOLD, more than INPUT_SIZE_FRACTION percent are at the nucleus. Parameters inclusive, current_priority, period.';
-- file: brokerage/rule/rule_transfer_backlog.sql
-- brokerage-doc-profile 3, transfer-backlog.
create or replace function brokerage.rule_transfer_backlog(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when not p.is_preassigned and coalesce(t.t1_weight, 0) >= 0 and q.queued_into > t.nqueued_nuc_cap
    then case when q.queued_into = 'infinity' then 'it is said to be backlogged'
              else format('%s files are queued into it, NQUEUED_NUC_CAP is %s', q.queued_into, t.nqueued_nuc_cap) end
  end
$$;

comment on function brokerage.rule_transfer_backlog(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'transfer-backlog: at most NQUEUED_NUC_CAP files are queued into the nucleus, unless t1Weight is negative.';
-- file: brokerage/rule/rule_transferring_limit.sql
-- brokerage-doc-profile, transferring-limit: over max(limit, 2 * running), all shares, nobody exempt (D-69).
create or replace function brokerage.rule_transferring_limit(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.transferring_all > greatest(coalesce(nullif(q.transferringlimit, 0), 2000), 2 * coalesce(q.running_all, 0))
    then format('%s jobs are transferring, the limit is %s', q.transferring_all,
                greatest(coalesce(nullif(q.transferringlimit, 0), 2000), 2 * coalesce(q.running_all, 0)))
  end
$$;

comment on function brokerage.rule_transferring_limit(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'transferring-limit: not too many jobs are transferring at the queue.';
-- file: brokerage/rule/rule_transferring_limit_panda2026.sql
-- brokerage-rules 1.2, transferring-limit: not for the nucleus and who shares its storage, not for queues without storage; jobs that the nucleus cannot take do not count (D-69).
create or replace function brokerage.rule_transferring_limit_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when p.is_near is not true and p.is_own is not true and q.storage_site is not null
         and coalesce(q.transferring_all, 0) - coalesce(q.transferring_to_unwritable, 0)
             > greatest(coalesce(nullif(q.transferringlimit, 0), 2000), 2 * coalesce(q.running_all, 0))
    then format('%s jobs are transferring, the limit is %s', coalesce(q.transferring_all, 0) - coalesce(q.transferring_to_unwritable, 0),
                greatest(coalesce(nullif(q.transferringlimit, 0), 2000), 2 * coalesce(q.running_all, 0)))
  end
$$;

comment on function brokerage.rule_transferring_limit_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'transferring-limit of panda2026: not too many jobs are transferring at a satellite.';
-- file: brokerage/rule/rule_use_only_local_data.sql
-- brokerage-rules 1.2, use-only-local-data: files of no size count, too, where there is any input.
create or replace function brokerage.rule_use_only_local_data(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.uses_only_local_data and t.input_bytes > 0 and t.input_files > coalesce(p.available_files, 0)
    then format('%s files are missing, the queue only uses local data', coalesce(t.input_files, 0) - coalesce(p.available_files, 0))
  end
$$;

comment on function brokerage.rule_use_only_local_data(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'use-only-local-data: all of the input is at a queue that asks for it.';
-- file: brokerage/rule/rule_user_cap.sql
-- Seed 000, ATLAS Analysis Job Brokerage, 1: queued jobs may be twice as many as running ones. A cap of 0 or null is none.
create or replace function brokerage.rule_user_cap(t brokerage.task_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case
    when (x ->> 'spares_merging')::boolean and t.is_merging then null
    when t.account_running_jobs > nullif(t.cap_jobs, 0)
    then format('%s has %s running jobs, the cap is %s', brokerage.account_of(t), t.account_running_jobs, t.cap_jobs)
    when t.account_queued_jobs > 2 * nullif(t.cap_jobs, 0)
    then format('%s has %s queued jobs, twice the cap is %s', brokerage.account_of(t), t.account_queued_jobs, 2 * t.cap_jobs)
    when t.account_running_cores > nullif(t.cap_cores, 0)
    then format('%s has %s running cores, the cap is %s', brokerage.account_of(t), t.account_running_cores, t.cap_cores)
    when t.account_queued_cores > 2 * nullif(t.cap_cores, 0)
    then format('%s has %s queued cores, twice the cap is %s', brokerage.account_of(t), t.account_queued_cores, 2 * t.cap_cores)
  end
$$;

comment on function brokerage.rule_user_cap(brokerage.task_facts, jsonb) is
'user-cap: the user, or the working group, has not more running jobs and cores than the caps, and not more than twice as many queued. Parameter spares_merging (boolean).';
-- file: brokerage/rule/rule_walltime.sql
-- brokerage-doc-profile, walltime: between mintime and maxtime, inclusive. With a dynamic number of events, at queues with mintime, the smallest job
-- must not be too long, and the largest that can be made not too short.
create or replace function brokerage.rule_walltime(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.maxtime > 0 and brokerage.compare_walltime(t, q, p, brokerage.walltime_events(t, q, p), q.maxtime) > 0
    then format('-shortwalltime: needs %s s, maxtime is %s', trim_scale(round(brokerage.walltime_of(t, q, p, brokerage.walltime_events(t, q, p))::numeric, 1)), q.maxtime)
    when q.mintime > 0 and coalesce(brokerage.compare_walltime(t, q, p, brokerage.most_events(t, q, p), q.mintime) < 0, true)
    then format('-longwalltime: needs %s s, mintime is %s',
                coalesce(trim_scale(round(brokerage.walltime_of(t, q, p, brokerage.most_events(t, q, p))::numeric, 1))::text, 'an unknown number of'), q.mintime)
  end
$$;

comment on function brokerage.rule_walltime(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'walltime: the walltime of a job lies between mintime and maxtime of the queue; where it is not known there must be no mintime.';
-- file: brokerage/rule/rule_walltime_analysis_panda2026.sql
-- brokerage-rules 1.4c: as in production, without the dynamic number of events, for jobs that take some time. The upper limit, then
-- walltime-scout (a rule of its own), then the lower one.
create or replace function brokerage.rule_walltime_analysis_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.is_merging or (brokerage.walltime_work_panda2026(t, q, p, t.job_events) > 0) is not true then null
    when q.maxtime > 0 and brokerage.walltime_work_panda2026(t, q, p, t.job_events) > brokerage.walltime_bound_panda2026(t, q, p, q.maxtime)
    then format('-shortwalltime: takes %s, maxtime of %s s allows %s', brokerage.walltime_work_panda2026(t, q, p, t.job_events), q.maxtime,
                brokerage.walltime_bound_panda2026(t, q, p, q.maxtime))
    when brokerage.rule_walltime_scout_analysis_panda2026(t, q, p) is not null then null
    when q.mintime > 0 and brokerage.walltime_work_panda2026(t, q, p, t.job_events) < brokerage.walltime_bound_panda2026(t, q, p, q.mintime)
    then format('-longwalltime: takes %s, mintime of %s s asks for %s', brokerage.walltime_work_panda2026(t, q, p, t.job_events), q.mintime,
                brokerage.walltime_bound_panda2026(t, q, p, q.mintime))
  end
$$;

comment on function brokerage.rule_walltime_analysis_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'walltime of analysis in panda2026: the work of a job lies between what mintime and maxtime of the queue stand for.';
-- file: brokerage/rule/rule_walltime_panda2026.sql
-- brokerage-rules 1.2, walltime: the upper limit, then walltime-scout (a rule of its own), then the lower one.
create or replace function brokerage.rule_walltime_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when q.maxtime > 0 and brokerage.walltime_work_panda2026(t, q, p, brokerage.walltime_events(t, q, p)) > 0
         and brokerage.walltime_work_panda2026(t, q, p, brokerage.walltime_events(t, q, p)) > brokerage.walltime_bound_panda2026(t, q, p, q.maxtime)
    then format('-shortwalltime: takes %s, maxtime of %s s allows %s', brokerage.walltime_work_panda2026(t, q, p, brokerage.walltime_events(t, q, p)),
                q.maxtime, brokerage.walltime_bound_panda2026(t, q, p, q.maxtime))
    when brokerage.rule_walltime_scout_panda2026(t, q, p) is not null then null
    when q.mintime > 0 and coalesce(
           brokerage.walltime_work_panda2026(t, q, p, brokerage.most_events_panda2026(t, q, p)) < brokerage.walltime_bound_panda2026(t, q, p, q.mintime), true)
    then format('-longwalltime: takes %s, mintime of %s s asks for %s',
                coalesce(brokerage.walltime_work_panda2026(t, q, p, brokerage.most_events_panda2026(t, q, p))::text, 'an unknown time'),
                q.mintime, brokerage.walltime_bound_panda2026(t, q, p, q.mintime))
  end
$$;

comment on function brokerage.rule_walltime_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'walltime of panda2026: the work of a job lies between what mintime and maxtime of the queue stand for.';
-- file: brokerage/rule/rule_walltime_scout.sql
-- brokerage-doc-profile, walltime-scout: maxtime itself (D-20).
create or replace function brokerage.rule_walltime_scout(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when (t.is_scout or t.is_merging) and q.maxtime > 0 and q.maxtime < 86400
    then format('%s: maxtime is %s s, less than a day', case when t.is_scout then '-scout_walltime' else '-min_walltime' end, q.maxtime)
  end
$$;

comment on function brokerage.rule_walltime_scout(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'walltime-scout: scouts and merge jobs need a queue that lets them run for a day.';
-- file: brokerage/rule/rule_walltime_scout_analysis_panda2026.sql
-- brokerage-rules 1.4c: merging alone asks for no day, nor do scouts at their only site.
create or replace function brokerage.rule_walltime_scout_analysis_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case when t.is_scout and not brokerage.is_only_site(t, q, p) or t.walltime_is_undefined then brokerage.rule_walltime_scout_panda2026(t, q, p) end
$$;

comment on function brokerage.rule_walltime_scout_analysis_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'walltime-scout of analysis in panda2026: scouts and tasks of unknown walltime need a queue that lets them take 864000 HS06 s a core.';
-- file: brokerage/rule/rule_walltime_scout_panda2026.sql
-- brokerage-rules 1.2, walltime-scout: a day at 10 HS06 a core; no maxtime = no limit (D-20).
create or replace function brokerage.rule_walltime_scout_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when (t.is_scout and not brokerage.is_only_site(t, q, p) or t.is_merging or t.walltime_is_undefined) and q.maxtime > 0
         and brokerage.walltime_bound_panda2026(t, q, p, q.maxtime) <> 0
         and brokerage.walltime_bound_panda2026(t, q, p, q.maxtime) < 864000::bigint * brokerage.slot_cores(t, q, p)
    then format('%s: maxtime of %s s lets a job take %s, less than %s', case when t.is_scout then '-scout_walltime' else '-min_walltime' end,
                q.maxtime, brokerage.walltime_bound_panda2026(t, q, p, q.maxtime), 864000::bigint * brokerage.slot_cores(t, q, p))
  end
$$;

comment on function brokerage.rule_walltime_scout_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'walltime-scout of panda2026: scouts, merge jobs and tasks of unknown walltime need a queue that lets them take 864000 HS06 s a core.';
-- file: brokerage/rule/rule_wn_connectivity.sql
-- brokerage-doc-profile, wn-connectivity: checked when the task gives connectivity or stack; then the stacks are equal, unset ones too.
create or replace function brokerage.rule_wn_connectivity(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.ip_connectivity is null and t.ip_stack is null then null
    when t.ip_connectivity = 'full' and q.connectivity is distinct from 'full'
         or t.ip_connectivity = 'http' and coalesce(q.connectivity, 'none') not in ('full', 'http')
    then format('needs network %s, the queue has %s', t.ip_connectivity, coalesce(q.connectivity, 'not said'))
    when t.ip_stack is distinct from q.ip_stack
    then format('needs stack %s, the queue has %s', coalesce(t.ip_stack, 'unset'), coalesce(q.ip_stack, 'unset'))
  end
$$;

comment on function brokerage.rule_wn_connectivity(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'wn-connectivity: worker nodes reach what the task needs, by the same IP stack.';
-- file: brokerage/rule/rule_wn_connectivity_panda2026.sql
-- brokerage-rules 1.2, wn-connectivity: a stack of the queue alone refuses nobody (D-21).
create or replace function brokerage.rule_wn_connectivity_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when brokerage.is_only_site(t, q, p) then null
    when t.ip_connectivity in ('full', 'http') and q.connectivity is distinct from 'full' and not (t.ip_connectivity = 'http' and q.connectivity is not distinct from 'http')
    then format('needs network %s, the queue has %s', t.ip_connectivity, coalesce(q.connectivity, 'not said'))
    when t.ip_stack is not null and t.ip_stack is distinct from q.ip_stack
    then format('needs stack %s, the queue has %s', t.ip_stack, coalesce(q.ip_stack, 'unset'))
  end
$$;

comment on function brokerage.rule_wn_connectivity_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'wn-connectivity of panda2026: worker nodes reach what the task needs, by the IP stack that it names.';
-- file: brokerage/rule/rule_work_shortage.sql
-- brokerage-rules 1.2, work-shortage: cores of running and starting jobs.
create or replace function brokerage.rule_work_shortage(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns text
language sql stable parallel safe
as $$
  select case
    when t.work_shortage is not true or brokerage.is_only_site(t, q, p) then null
    when q.pledgedcpu = -1 then '-non_pledged: work is short, the queue is opportunistic'
    when q.pledgedcpu > 0 and q.core_running > q.pledgedcpu then format('-over_pledged: work is short, %s cores are in use, %s pledged', q.core_running, q.pledgedcpu)
  end
$$;

comment on function brokerage.rule_work_shortage(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'work-shortage: when work is short only pledged cores get some (core:WORK_SHORTAGE).';
-- file: brokerage/rule/rule_zero_share.sql
-- brokerage-doc-profile 4.1: which sub-policy decides is a fact.
create or replace function brokerage.rule_zero_share(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns text
language sql stable parallel safe
as $$
  select case when p.zero_share is not null and not coalesce((x ->> 'spares_preassigned')::boolean and p.is_preassigned, false) then format('zero share by fairsharepolicy: %s', p.zero_share) end
$$;

comment on function brokerage.rule_zero_share(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'zero-share: the fair share policy of the queue leaves something for the task. Parameter spares_preassigned (boolean).';
-- file: brokerage/rule_in_force.sql
-- after: brokerage.shipped_rule, brokerage.profile_line
-- The rules of every profile as they hold: the nearest row that says something counts, an organisation's own before the shipped one.
create or replace view brokerage.rule_in_force as
with said as (
  select l.profile, l.depth, 0 as shipped, r.algorithm, r.rule, r.kind, r.position, r.function, r.criteria, r.temporary, r.enabled, r.parameters, r.source
    from brokerage.profile_line l
    join brokerage.profile_rule r on r.profile = l.of_profile
  union all
  select l.profile, l.depth, 1, r.algorithm, r.rule, r.kind, r.position, r.function, r.criteria, r.temporary, r.enabled, r.parameters, r.source
    from brokerage.profile_line l
    join brokerage.shipped_rule r on r.profile = l.of_profile
)
select s.profile, s.algorithm, s.rule,
       (array_agg(s.kind order by s.depth, s.shipped) filter (where s.kind is not null))[1] as kind,
       (array_agg(s.position order by s.depth, s.shipped) filter (where s.position is not null))[1] as position,
       (array_agg(s.function order by s.depth, s.shipped) filter (where s.function is not null))[1] as function,
       (array_agg(s.criteria order by s.depth, s.shipped) filter (where s.criteria is not null))[1] as criteria,
       coalesce((array_agg(s.temporary order by s.depth, s.shipped) filter (where s.temporary is not null))[1], false) as temporary,
       coalesce((array_agg(s.enabled order by s.depth, s.shipped) filter (where s.enabled is not null))[1], true) as enabled,
       coalesce((array_agg(s.parameters order by s.depth, s.shipped) filter (where s.parameters is not null))[1], '{}'::jsonb) as parameters,
       (array_agg(s.source order by s.depth, s.shipped) filter (where s.source is not null))[1] as source
  from said s
 group by s.profile, s.algorithm, s.rule;

comment on view brokerage.rule_in_force is 'The rules of all profiles as they hold, those of an organisation''s own among them. What the composer reads.';
comment on column brokerage.rule_in_force.profile is 'Profile.';
comment on column brokerage.rule_in_force.algorithm is 'production_job, analysis_job or production_task.';
comment on column brokerage.rule_in_force.rule is 'Rule id.';
comment on column brokerage.rule_in_force.kind is 'candidate, row rule, set rule, weight or choice (brokerage.profile_rule).';
comment on column brokerage.rule_in_force.position is 'Order within the algorithm.';
comment on column brokerage.rule_in_force.function is 'Function that decides; null = a choice by weight.';
comment on column brokerage.rule_in_force.criteria is 'PanDA''s criteria tag; a reason may begin with another.';
comment on column brokerage.rule_in_force.temporary is 'The problem passes by itself.';
comment on column brokerage.rule_in_force.enabled is 'Whether it holds.';
comment on column brokerage.rule_in_force.parameters is 'Its parameters.';
comment on column brokerage.rule_in_force.source is 'Where it comes from.';
-- file: brokerage/run/algorithm_of.sql
-- after: brokerage.task_standing
-- Who is asked about a task when nobody is named: the broker that works on it now, else the one that its label belongs to. A production task that waits for a
-- nucleus is the task broker's, any other one of production the job broker's.
create or replace function brokerage.algorithm_of(p_setup text, p_task_id bigint) returns text
language plpgsql stable
security definer set search_path = brokerage, pg_temp
as $$
begin
  perform brokerage.require_tasks(p_setup, array[p_task_id]);
  return (
    select t.algorithm from brokerage.task_standing t
     where t.setup = p_setup and t.task_id = p_task_id
     order by t.not_open is not null, not t.of_label, t.algorithm limit 1);
end $$;

comment on function brokerage.algorithm_of(text, bigint) is
'The broker that has a task now: production_task, production_job or analysis_job. Errors: PB001, PB002, PB004 (no such task).';
-- file: brokerage/run/answer.sql
-- What a run decided for a task, as broker evaluate prints it (world-format, Evaluating). Queues that never entered the list stand by their unified
-- names: that is how the list names them. The task broker's are nuclei, with their probabilities.
create or replace function brokerage.answer(p_setup text, p_run_id bigint, p_task_id bigint) returns jsonb
language sql stable
as $$
  select case when t.status = 'error' then jsonb_build_object('error', jsonb_build_object('code', t.errcode, 'message', t.reason))
              else jsonb_build_object(
                     'status', t.status,
                     'candidates', coalesce((select jsonb_agg(jsonb_build_object(k.kind, u.queue, 'rank', u.rank, 'weight', u.weight)
                                                                || case when k.kind = 'nucleus' then jsonb_build_object('probability', c.probabilities[u.rank]) else '{}' end order by u.rank)
                                               from (select array_agg(d.queue order by d.rank) as queues, array_agg(d.weight order by d.rank) as weights,
                                                            brokerage.probabilities(array_agg(d.weight order by d.rank), brokerage.takes_first_of_zeros(r.profile, r.algorithm)) as probabilities
                                                       from brokerage.decision d where d.setup = t.setup and d.run_id = t.run_id and d.task_id = t.task_id and d.verdict = 'c') c
                                              cross join lateral unnest(c.queues, c.weights) with ordinality u(queue, weight, rank)), '[]'),
                     'rejected', coalesce((select jsonb_agg(jsonb_build_object(k.kind, d.queue, 'rule', d.rule, 'criteria', w.criteria, 'reason', w.reason) order by d.queue collate "C")
                                             from brokerage.decision d
                                             left join brokerage.rule_in_force f on f.profile = r.profile and f.algorithm = r.algorithm and f.rule = d.rule
                                            cross join lateral brokerage.worded(d.reason, f.criteria) w
                                            where d.setup = t.setup and d.run_id = t.run_id and d.task_id = t.task_id and d.verdict = 'r'), '[]'),
                     'not_candidates', coalesce((select jsonb_agg(jsonb_build_object(k.kind, n.queue, 'rule', n.rule, 'reason', n.reason) order by n.queue collate "C")
                                                   from (select coalesce(q.unified_name, d.queue) as queue, min(d.rule) as rule, min(d.reason) as reason
                                                           from brokerage.decision d
                                                           left join resource.candidate_queue q on q.setup = d.setup and q.queue = d.queue
                                                          where d.setup = t.setup and d.run_id = t.run_id and d.task_id = t.task_id
                                                          group by coalesce(q.unified_name, d.queue) having bool_and(d.verdict = 'n')) n), '[]'),
                     'explanation', case when t.rule is not null then jsonb_build_object('rule', t.rule, 'reason', t.reason) end,
                     'retry_at', to_char(t.retry_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
         end
    from brokerage.task_decision t
    join brokerage.run r on r.setup = t.setup and r.run_id = t.run_id
   cross join lateral (select case when r.algorithm = 'production_task' then 'nucleus' else 'queue' end) k(kind)
   where t.setup = p_setup and t.run_id = p_run_id and t.task_id = p_task_id
$$;

comment on function brokerage.answer(text, bigint, bigint) is
'What a run decided for a task as one JSON object: status, candidates, rejected, not_candidates, explanation, retry_at; or error. Null = it decided nothing for it.';
-- file: brokerage/run/assign_jobs.sql
-- What follows decisions of a run: jobs of tasks go to their candidates (those decided in turn have theirs, and tasks their nuclei), the live counter
-- counts them, and it is noted where the tasks stand. Those that
-- were refused or could not be evaluated wait like those that found nothing.
create or replace function brokerage.assign_jobs(p_run brokerage.run, p_task_ids bigint[]) returns void
language plpgsql
as $$
begin
  if p_run.algorithm <> 'production_task' and not brokerage.sees_assignments(p_run.profile, p_run.algorithm) then
    perform brokerage.assign_task(p_run, d.task_id, c.queues, c.weights, c.queued, c.capacities, c.chunks)
       from (select x.task_id, array_agg(x.queue order by x.rank) as queues, array_agg(coalesce(x.weight, 1) order by x.rank) as weights,
                    array_agg(coalesce(x.queued, 0) order by x.rank) as queued, array_agg(x.capacity order by x.rank) as capacities,
                    array_agg(coalesce(x.chunk, 25) order by x.rank) as chunks
               from brokerage.decision x
              where x.setup = p_run.setup and x.run_id = p_run.run_id and x.task_id = any (p_task_ids) and x.verdict = 'c'
              group by x.task_id) c
       join brokerage.task_decision d on d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = c.task_id;
  end if;
  insert into brokerage.live_counter (setup, queue, jobs, counted_at)
  select p_run.setup, q.unified_name, sum(a.jobs), p_run.started_at
    from brokerage.assignment a
    join resource.candidate_queue q on q.setup = a.setup and q.queue = a.queue
   where a.setup = p_run.setup and a.run_id = p_run.run_id and a.task_id = any (p_task_ids)
   group by q.unified_name;
  insert into brokerage.task_state as s (setup, task_id, algorithm, run_id, retry_at, assigned_jobs)
  select p_run.setup, d.task_id, p_run.algorithm, d.run_id,
         case when d.status <> 'candidates' and d.retry_at is null then d.decided_at + brokerage.wait_of(w.parameters, t.current_priority) else d.retry_at end,
         coalesce((select sum(a.jobs) from brokerage.assignment a where a.setup = d.setup and a.run_id = d.run_id and a.task_id = d.task_id), 0)
    from brokerage.task_decision d
    join workload.task t on t.setup = d.setup and t.task_id = d.task_id
    left join brokerage.rule_in_force w on w.profile = p_run.profile and w.algorithm = p_run.algorithm and w.kind = 'pending' and w.enabled
   where d.setup = p_run.setup and d.run_id = p_run.run_id and d.task_id = any (p_task_ids)
   order by d.task_id
  on conflict (setup, task_id, algorithm) do update set run_id = excluded.run_id, retry_at = excluded.retry_at, assigned_jobs = s.assigned_jobs + excluded.assigned_jobs;
end $$;

comment on function brokerage.assign_jobs(brokerage.run, bigint[]) is
'Assigns the jobs of decided tasks to their candidates, counts them, and notes when pending tasks are due again.';
-- file: brokerage/run/assign_nuclei.sql
-- Tasks go on where they were before the task broker had them: JEDI's assigning becomes ready. The work that they bring counts for the next ones
-- (brokerage.work_at_nucleus).
create or replace function brokerage.assign_nuclei(p_assignments brokerage.nucleus_assignment[]) returns void
language plpgsql
as $$
begin
  insert into brokerage.nucleus_assignment as a (setup, task_id, run_id, nucleus, probability, gshare, priority, work, assigned_at)
  select n.setup, n.task_id, n.run_id, n.nucleus, n.probability, n.gshare, n.priority, n.work, n.assigned_at from unnest(p_assignments) n
  on conflict (setup, task_id) do update
     set run_id = excluded.run_id, nucleus = excluded.nucleus, probability = excluded.probability, gshare = excluded.gshare, priority = excluded.priority,
         work = excluded.work, assigned_at = excluded.assigned_at;
  update workload.task t set nucleus = n.nucleus, status = case when t.status = 'assigning' then 'ready' else t.status end
    from unnest(p_assignments) n
   where t.setup = n.setup and t.task_id = n.task_id;
end $$;

comment on function brokerage.assign_nuclei(brokerage.nucleus_assignment[]) is 'Sends tasks to their nuclei.';
-- file: brokerage/run/assign_task.sql
-- Distributes the jobs of one task that are left over its candidates, given best first (brokerage-rules 1.3).
create or replace function brokerage.assign_task(p_run brokerage.run, p_task_id bigint, p_queues text[], p_weights float8[], p_queued bigint[], p_capacities bigint[], p_chunks int[]) returns bigint[]
language plpgsql
as $$
declare
  v_jobs bigint := coalesce((select i.jobs from workload.input_digest i where i.setup = p_run.setup and i.task_id = p_task_id), 0)
                 - coalesce((select s.assigned_jobs from brokerage.task_state s where s.setup = p_run.setup and s.task_id = p_task_id and s.algorithm = p_run.algorithm), 0);
  v_given bigint[];
begin
  v_given := brokerage.distribute(v_jobs, p_weights, p_queued, p_capacities, p_chunks, case when p_run.seed is not null then hashint8extended(p_task_id, p_run.seed) end);
  insert into brokerage.assignment (setup, run_id, task_id, queue, jobs)
  select p_run.setup, p_run.run_id, p_task_id, g.queue, g.jobs from unnest(p_queues, v_given) g(queue, jobs) where g.jobs > 0;
  return v_given;
end $$;

comment on function brokerage.assign_task(brokerage.run, bigint, text[], float8[], bigint[], bigint[], int[]) is
'Assigns the jobs of a task that are left to its candidates (queues, weights, jobs queued, how many may be, jobs a choice) and returns how many each gets.';
-- file: brokerage/run/assignments.sql
-- A run in a table: where its jobs go.
create or replace view brokerage.assignments as
select a.setup, a.run_id, a.queue, count(*) as tasks, sum(a.jobs)::bigint as jobs
  from brokerage.assignment a
 group by a.setup, a.run_id, a.queue;

comment on view brokerage.assignments is 'Jobs that each run assigned, by queue.';
comment on column brokerage.assignments.setup is 'Tenant.';
comment on column brokerage.assignments.run_id is 'Run.';
comment on column brokerage.assignments.queue is 'Queue, or pseudo-queue of a unified one.';
comment on column brokerage.assignments.tasks is 'Tasks whose jobs it gets.';
comment on column brokerage.assignments.jobs is 'Jobs.';
-- file: brokerage/run/begin_run.sql
-- A run is one call of a broker; decisions name it.
create or replace function brokerage.begin_run(p_setup text, p_algorithm text, p_profile text default null, p_seed bigint default null, p_dry boolean default false) returns brokerage.run
language plpgsql
as $$
declare
  v_run brokerage.run;
begin
  perform resource.require_known_setup(p_setup);
  insert into brokerage.run (setup, algorithm, profile, seed, dry, called_by, started_at)
  values (p_setup, p_algorithm, coalesce(p_profile, (select s.profile from brokerage.setting s where s.setup = p_setup), 'doc'), p_seed, p_dry, resource.caller(),
          resource.clock(p_setup))
  returning * into v_run;
  perform brokerage.require_profile(v_run.profile, p_algorithm);
  return v_run;
end $$;

comment on function brokerage.begin_run(text, text, text, bigint, boolean) is
'Begins a run of a broker; without a profile that of the setup holds, doc by default. Errors: PB001 (no such setup or profile).';
-- file: brokerage/run/broker.sql
-- A batch of any broker. A procedure, so that it commits as it goes: what it decided stays decided when it is cut off, others see its
-- assignments, and locks are short. Nothing here needs rights of its own (a procedure that commits cannot be SECURITY DEFINER).
create or replace procedure brokerage.broker(p_setup text, p_algorithm text, p_tasks bigint[], p_profile text, p_seed bigint, p_dry_run boolean, p_limit bigint, p_tasks_a_commit int, inout p_run_id bigint)
language plpgsql
as $$
declare
  v_done bigint;
  v_left bigint := p_limit;
  v_said text;
begin
  if p_tasks_a_commit < 1 then
    raise exception 'p_tasks_a_commit is %', p_tasks_a_commit
      using errcode = 'PB001', hint = 'Tasks decided between two commits, at least 1; null = no commit, for a transaction of your own.';
  end if;
  if p_limit < 0 then
    raise exception 'p_limit is %', p_limit using errcode = 'PB001', hint = 'Tasks to decide at most; null = all that are due.';
  end if;
  p_run_id := brokerage.open_run(p_setup, p_algorithm, p_profile, p_seed, p_dry_run);
  if p_tasks is not null then
    perform brokerage.require_tasks(p_setup, p_tasks);
    select string_agg(format('task %s: %s', s.task_id, s.not_due), '; ' order by s.task_id) into v_said
      from (select t.task_id, t.not_due from brokerage.task_standing t where t.setup = p_setup and t.algorithm = p_algorithm and t.task_id = any (p_tasks) and t.not_due is not null order by 1 limit 5) s;
    if v_said is not null then
      raise notice 'not due, decided because they are named: %', v_said;
    end if;
  end if;
  loop
    v_done := brokerage.broker_next(p_setup, p_run_id, p_tasks, least(v_left, p_tasks_a_commit));
    v_left := v_left - v_done;
    if p_tasks_a_commit is not null then
      commit;
    end if;
    exit when v_done = 0 or v_left <= 0 or p_tasks_a_commit is null;
  end loop;
  perform brokerage.close_run(p_setup, p_run_id);
end $$;

comment on procedure brokerage.broker(text, text, bigint[], text, bigint, boolean, bigint, int, bigint) is
'Brokers tasks by an algorithm; the work behind brokerage.broker_jobs and brokerage.broker_tasks. Errors: PB001, PB002, PB004.';
-- file: brokerage/run/broker_analysis.sql
-- after: brokerage.broker
-- The operator's call for a batch of jobs of users.
create or replace procedure brokerage.broker_analysis(p_setup text, p_tasks bigint[] default null, p_profile text default null, p_seed bigint default null,
                                                     p_dry_run boolean default false, p_limit bigint default null, p_tasks_a_commit int default 250,
                                                     inout p_run_id bigint default null)
language plpgsql
as $$
begin
  call brokerage.broker(p_setup, 'analysis_job', p_tasks, p_profile, p_seed, p_dry_run, p_limit, p_tasks_a_commit, p_run_id);
end $$;

comment on procedure brokerage.broker_analysis(text, bigint[], text, bigint, boolean, bigint, int, bigint) is
'Brokers the jobs of all user tasks (label user or panda) that are due, or of those listed, highest current priority first: decides (brokerage.decision) and assigns jobs to queues (brokerage.assignment). p_seed makes draws repeatable, p_dry_run stores decisions only, p_limit is how many tasks at most. Commits after each p_tasks_a_commit tasks; null = never, then it may run in a transaction of the caller''s. Several calls at once share the work. p_run_id says under which run the decisions stand. A task that is listed is decided whether it is due or not; a notice says which are not. Within a transaction block, or from a function, PostgreSQL refuses to commit (invalid transaction termination, 2D000): give p_tasks_a_commit => null there. Errors: PB001 (no such setup or profile, an argument out of range, isolation level), PB002 (not an operator), PB004 (no such task).';
-- file: brokerage/run/broker_jobs.sql
-- after: brokerage.broker
-- The operator's call for a batch of jobs.
create or replace procedure brokerage.broker_jobs(p_setup text, p_tasks bigint[] default null, p_profile text default null, p_seed bigint default null,
                                                  p_dry_run boolean default false, p_limit bigint default null, p_tasks_a_commit int default 250,
                                                  inout p_run_id bigint default null)
language plpgsql
as $$
begin
  call brokerage.broker(p_setup, 'production_job', p_tasks, p_profile, p_seed, p_dry_run, p_limit, p_tasks_a_commit, p_run_id);
end $$;

comment on procedure brokerage.broker_jobs(text, bigint[], text, bigint, boolean, bigint, int, bigint) is
'Brokers the jobs of all tasks that are due, or of those listed, highest current priority first: decides (brokerage.decision) and assigns jobs to queues (brokerage.assignment). p_seed makes draws repeatable, p_dry_run stores decisions only, p_limit is how many tasks at most. Commits after each p_tasks_a_commit tasks; null = never, then it may run in a transaction of the caller''s. Several calls at once share the work. p_run_id says under which run the decisions stand. A task that is listed is decided whether it is due or not; a notice says which are not. Within a transaction block, or from a function, PostgreSQL refuses to commit (invalid transaction termination, 2D000): give p_tasks_a_commit => null there. Errors: PB001 (no such setup or profile, an argument out of range, isolation level), PB002 (not an operator), PB004 (no such task).';
-- file: brokerage/run/broker_next.sql
-- A part of a run: takes tasks that nobody else works on, decides them, assigns their jobs, all in one transaction. Tasks are locked first and looked
-- at again after that: another broker may have decided them between this call's snapshot and the lock. A dry run changes nothing of a task: it takes
-- no lock, so that no broker passes its tasks over, and may stand in one snapshot with what it is compared with.
create or replace function brokerage.broker_next(p_setup text, p_run_id bigint, p_tasks bigint[] default null, p_limit bigint default null) returns bigint
language plpgsql
security definer set search_path = brokerage, pg_temp set jit = off set enable_mergejoin = off set work_mem = '64MB'
as $$
declare
  v_run brokerage.run;
  v_locked bigint[];
  v_taken bigint[];
  v_left bigint[];
  v_wave bigint[];
begin
  perform resource.identify(p_setup);
  select r.* into v_run from brokerage.run r where r.setup = p_setup and r.run_id = p_run_id and r.ended_at is null;
  if not found then
    raise exception 'run % is not under way in setup %', coalesce(p_run_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'brokerage.broker_jobs opens a run and works in it.';
  end if;
  v_run.started_at := resource.clock(p_setup);
  if v_run.dry then
    v_taken := array(
      select t.task_id from workload.task t
       where t.setup = p_setup and (p_tasks is null or t.task_id = any (p_tasks))
         and (p_tasks is not null or exists (select from brokerage.due_task d where d.setup = p_setup and d.algorithm = v_run.algorithm and d.task_id = t.task_id))
         and not exists (select from brokerage.task_decision x where x.setup = p_setup and x.run_id = p_run_id and x.task_id = t.task_id)
       order by t.current_priority desc, t.task_id
       limit p_limit);
  else
    perform resource.require_read_committed();
  end if;
  while not v_run.dry loop
    v_locked := array(
      select t.task_id from workload.task t
       where t.setup = p_setup and (p_tasks is null or t.task_id = any (p_tasks))
         and (p_tasks is not null or exists (select from brokerage.due_task d where d.setup = p_setup and d.algorithm = v_run.algorithm and d.task_id = t.task_id))
         and not exists (select from brokerage.task_decision x where x.setup = p_setup and x.run_id = p_run_id and x.task_id = t.task_id)
       order by t.current_priority desc, t.task_id
       limit p_limit
         for no key update of t skip locked);
    v_taken := array(
      select u.task_id from unnest(v_locked) with ordinality u(task_id, number)
       where (p_tasks is not null or exists (select from brokerage.due_task d where d.setup = p_setup and d.algorithm = v_run.algorithm and d.task_id = u.task_id))
         and not exists (select from brokerage.task_decision x where x.setup = p_setup and x.run_id = p_run_id and x.task_id = u.task_id)
       order by u.number);
    exit when cardinality(v_taken) > 0 or cardinality(v_locked) = 0;
  end loop;
  v_left := v_taken;
  loop
    v_wave := brokerage.wave_of(p_setup, v_run.algorithm, v_left);
    perform brokerage.decide(v_run, v_wave, brokerage.facts_of_candidates(p_setup, v_run.algorithm));
    v_left := array(select u.task_id from unnest(v_left) with ordinality u(task_id, number) where u.task_id <> all (v_wave) order by u.number);
    exit when cardinality(v_left) = 0;
  end loop;
  if not v_run.dry then
    perform brokerage.assign_jobs(v_run, v_taken);
  end if;
  update brokerage.run r set tasks = r.tasks + cardinality(v_taken) where r.setup = p_setup and r.run_id = p_run_id;
  return cardinality(v_taken);
end $$;

comment on function brokerage.broker_next(text, bigint, bigint[], bigint) is
'Decides up to p_limit tasks of a run that are due, or of those listed, and assigns their jobs; returns how many tasks. Works within the caller''s transaction. Errors: PB001 (isolation level, unless dry), PB002 (setup not granted), PB004 (no such run).';
-- file: brokerage/run/broker_tasks.sql
-- after: brokerage.broker
-- The operator's call for a batch of tasks.
create or replace procedure brokerage.broker_tasks(p_setup text, p_tasks bigint[] default null, p_profile text default null, p_seed bigint default null,
                                                  p_dry_run boolean default false, p_limit bigint default null, p_tasks_a_commit int default 250,
                                                  inout p_run_id bigint default null)
language plpgsql
as $$
begin
  call brokerage.broker(p_setup, 'production_task', p_tasks, p_profile, p_seed, p_dry_run, p_limit, p_tasks_a_commit, p_run_id);
end $$;

comment on procedure brokerage.broker_tasks(text, bigint[], text, bigint, boolean, bigint, int, bigint) is
'Brokers all tasks that are due, or those listed, highest current priority first: decides (brokerage.decision) and sends each to a nucleus (brokerage.nucleus_assignment, workload.task), whose remaining work the next ones see. p_seed makes draws repeatable, p_dry_run stores decisions only, p_limit is how many tasks at most. Commits after each p_tasks_a_commit tasks; null = never, then it may run in a transaction of the caller''s. Several calls at once share the work. p_run_id says under which run the decisions stand. A task that is listed is decided whether it is due or not; a notice says which are not. Within a transaction block, or from a function, PostgreSQL refuses to commit (invalid transaction termination, 2D000): give p_tasks_a_commit => null there. Errors: PB001 (no such setup or profile, an argument out of range, isolation level), PB002 (not an operator), PB004 (no such task).';
-- file: brokerage/run/close_run.sql
create or replace function brokerage.close_run(p_setup text, p_run_id bigint) returns void
language plpgsql
security definer set search_path = brokerage, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  update brokerage.run r set ended_at = resource.clock(p_setup) where r.setup = p_setup and r.run_id = p_run_id and r.ended_at is null;
end $$;

comment on function brokerage.close_run(text, bigint) is 'Ends a run; what brokerage.broker_jobs calls last. Errors: PB002 (setup not granted).';
-- file: brokerage/run/decision.sql
-- What runs decided, a row a task and queue, out of the arrays that they are kept in.
create or replace view brokerage.decision as
select d.setup, d.run_id, d.task_id, q.queue, d.decided_at, q.verdict, q.rank, q.weight, q.factors, q.queued, q.capacity, q.chunk, q.rule, q.reason
  from brokerage.verdict d
 cross join lateral unnest(d.queues) q;

comment on view brokerage.decision is 'What a run decided for a queue: one row a task and queue. monitor.decision is for people.';
comment on column brokerage.decision.setup is 'Tenant.';
comment on column brokerage.decision.run_id is 'Run.';
comment on column brokerage.decision.task_id is 'Task.';
comment on column brokerage.decision.queue is 'Queue, or pseudo-queue of a unified one.';
comment on column brokerage.decision.decided_at is 'When (resource.clock).';
comment on column brokerage.decision.verdict is 'c: candidate, r: rejected, n: never entered the list.';
comment on column brokerage.decision.rank is 'Place of a candidate, from 1.';
comment on column brokerage.decision.weight is 'Weight, where it came that far.';
comment on column brokerage.decision.factors is 'The weight''s factors, in the order of the weights of the profile.';
comment on column brokerage.decision.queued is 'Candidates: jobs queued there, as they count for distributing (brokerage-rules 1.3).';
comment on column brokerage.decision.capacity is 'Candidates: how many jobs may be queued there; null = no limit.';
comment on column brokerage.decision.chunk is 'Candidates: jobs that one choice gives it.';
comment on column brokerage.decision.rule is 'Rule that rejected it.';
comment on column brokerage.decision.reason is 'Why, with the numbers compared; may begin with a criteria tag of its own and a colon.';
-- file: brokerage/run/distribute.sql
-- Jobs of a task over its candidates (brokerage-rules 1.3). Queues of weight 0 come first, each once; then one choice after the other, by
-- weight, among those that may still take jobs. A choice takes as many jobs as the queue is served by, which makes it longer and its weight smaller.
create or replace function brokerage.distribute(p_jobs bigint, p_weights float8[], p_queued bigint[], p_capacities bigint[], p_chunks int[], p_seed bigint) returns bigint[]
language plpgsql volatile
as $$
declare
  v_given bigint[] := array_fill(0::bigint, array[cardinality(p_weights)]);
  v_weights float8[] := p_weights;
  v_queued bigint[] := p_queued;
  v_left bigint := p_jobs;
  v_number int := 0;
  v_total float8;
  v_draw float8;
  v_chosen int;
  v_taken bigint;
begin
  loop
    exit when v_left <= 0;
    v_number := v_number + 1;
    v_draw := case when p_seed is null then random() else resource.draw(v_number, p_seed) end;
    v_total := 0;
    v_chosen := null;
    for i in 1 .. cardinality(v_weights) loop
      continue when v_given[i] > 0 and p_weights[i] = 0 or p_capacities[i] <= v_queued[i];
      if p_weights[i] = 0 then  -- to be tried: random order among them, before all others
        v_chosen := case when v_chosen is null or p_weights[v_chosen] <> 0 or resource.draw(i, (v_draw * 1e15)::bigint) < resource.draw(v_chosen, (v_draw * 1e15)::bigint) then i else v_chosen end;
      else
        v_total := v_total + v_weights[i];
      end if;
    end loop;
    if v_chosen is null and v_total > 0 then
      v_draw := v_draw * v_total;
      for i in 1 .. cardinality(v_weights) loop
        continue when p_weights[i] = 0 or p_capacities[i] <= v_queued[i];
        v_chosen := i;
        v_draw := v_draw - v_weights[i];
        exit when v_draw <= 0;
      end loop;
    end if;
    exit when v_chosen is null;
    v_taken := least(v_left, p_chunks[v_chosen]);
    v_given[v_chosen] := v_given[v_chosen] + v_taken;
    v_weights[v_chosen] := v_weights[v_chosen] * (v_queued[v_chosen] + 1) / (v_queued[v_chosen] + v_taken + 1);
    v_queued[v_chosen] := v_queued[v_chosen] + v_taken;
    v_left := v_left - v_taken;
  end loop;
  return v_given;
end $$;

comment on function brokerage.distribute(bigint, float8[], bigint[], bigint[], int[], bigint) is
'How many of a task''s jobs each of its candidates gets: by weight, jobs queued there, how many may be queued (null = no limit), and jobs a choice serves. A seed gives the same again; jobs that nobody may take are left over.';
-- file: brokerage/run/draw_nucleus.sql
-- task-choice (brokerage-rules 1.1): the first whose cumulated probability reaches the draw.
create or replace function brokerage.draw_nucleus(p_probabilities float8[], p_seed bigint) returns int
language plpgsql volatile
as $$
declare
  v_draw float8 := case when p_seed is null then random() else resource.draw(1, p_seed) end;
  v_place int;
begin
  for i in 1 .. cardinality(p_probabilities) loop
    continue when p_probabilities[i] <= 0;
    v_place := i;
    v_draw := v_draw - p_probabilities[i];
    exit when v_draw <= 0;
  end loop;
  return v_place;
end $$;

comment on function brokerage.draw_nucleus(float8[], bigint) is 'Draws one of some candidates by their probabilities and returns its place. A seed gives the same again.';
-- file: brokerage/run/due_task.sql
-- after: brokerage.task_standing
-- Tasks that are brokered now. The standing has the time from a view: who reads this one needs no right to call resource.clock.
create or replace view brokerage.due_task as
select t.setup, t.algorithm, t.task_id, t.current_priority, t.jobs_left
  from brokerage.task_standing t
 where t.not_open is null and not t.waits;

comment on view brokerage.due_task is 'Tasks that a broker is to take now: for a nucleus, or their jobs for queues.';
comment on column brokerage.due_task.setup is 'Tenant.';
comment on column brokerage.due_task.algorithm is 'The broker: production_task, production_job or analysis_job.';
comment on column brokerage.due_task.task_id is 'Task.';
comment on column brokerage.due_task.current_priority is 'Priority now.';
comment on column brokerage.due_task.jobs_left is 'Jobs that are not assigned yet.';
-- file: brokerage/run/evaluate_task.sql
-- One decision about one task, without a trace in the state of the task: evaluate, what-if and explain ask for it.
create or replace function brokerage.evaluate_task(p_setup text, p_task_id bigint, p_algorithm text default null, p_profile text default null) returns jsonb
language plpgsql
security definer set search_path = brokerage, pg_temp set jit = off set enable_seqscan = off set enable_mergejoin = off set work_mem = '64MB'
as $$
declare
  v_run brokerage.run;
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  if not exists (select from workload.task t where t.setup = p_setup and t.task_id = p_task_id) then
    raise exception 'task % is not there', coalesce(p_task_id::text, 'null')
      using errcode = 'PB004', hint = 'Load it with its world, or name another.';
  end if;
  v_run := brokerage.begin_run(p_setup, coalesce(p_algorithm, brokerage.algorithm_of(p_setup, p_task_id)), p_profile, null, true);
  perform brokerage.decide(v_run, array[p_task_id], brokerage.facts_of_candidates(p_setup, v_run.algorithm));
  update brokerage.run r set ended_at = resource.clock(p_setup), tasks = 1 where r.setup = p_setup and r.run_id = v_run.run_id;
  return brokerage.answer(p_setup, v_run.run_id, p_task_id);
end $$;

comment on function brokerage.evaluate_task(text, bigint, text, text) is
'Decides about one task now, changes nothing of it, and returns the decision (world-format, Evaluating); it is kept as a dry run. Without p_algorithm the broker that has the task decides (brokerage.algorithm_of). Errors: PB001 (no such setup or profile), PB002, PB004 (no such task).';
-- file: brokerage/run/explain.sql
-- Why each queue would take a task's jobs or not, as things are now, by the very query that decides. All rules that reject a queue are named, not
-- only the first: those that look at it alone, and set rules that hold for the task, as they would reject it if it reached them. A choice is no reason of a queue's own.
-- Of a task that is decided once more (anal-loops) those are the reasons of the second pass, and a row without queue says so.
create or replace function brokerage.explain(p_setup text, p_task_id bigint, p_profile text default null, p_algorithm text default null)
returns table (queue text, verdict text, rank bigint, rule text, criteria text, reason text, weight float8, factors jsonb, all_reasons text[])
language plpgsql stable
security definer set search_path = brokerage, pg_temp set jit = off set enable_mergejoin = off set work_mem = '64MB'
as $$
declare
  v_profile text := coalesce(p_profile, (select s.profile from brokerage.setting s where s.setup = p_setup), 'doc');
  v_algorithm text;
  v_task workload.task;
  v_problem text;
  v_tasks brokerage.task_facts[];
  v_queues brokerage.queue_facts[];
  v_task_id bigint;
  v_status text;
  v_rule text;
  v_reason text;
begin
  perform resource.look(p_setup);
  select t.* into v_task from workload.task t where t.setup = p_setup and t.task_id = p_task_id;
  if not found then
    raise exception 'task % is not in setup %', coalesce(p_task_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'Load it with its world (broker load), or name another.';
  end if;
  v_algorithm := coalesce(p_algorithm, brokerage.algorithm_of(p_setup, p_task_id));
  v_problem := brokerage.task_problem(v_task, brokerage.flavour(v_profile), v_algorithm);
  if v_problem is not null then
    return query select null::text, 'error', null::bigint, null::text, null::text, v_problem, null::float8, null::jsonb, null::text[];
    return;
  end if;
  v_tasks := array(select f from brokerage.facts_of_tasks(p_setup, array[p_task_id], brokerage.flavour(v_profile), v_algorithm) f);
  v_tasks := brokerage.with_job_check(p_setup, v_profile, v_algorithm, v_tasks);
  execute brokerage.compose_task_rules(v_profile, v_algorithm) into v_task_id, v_status, v_rule, v_reason using v_tasks;
  if v_status is not null then
    return query select null::text, v_status, null::bigint, v_rule, null::text, v_reason, null::float8, null::jsonb, null::text[];
    return;
  end if;
  v_queues := brokerage.facts_of_candidates(p_setup, v_algorithm);
  v_tasks := brokerage.explained_pass(p_setup, v_profile, v_algorithm, v_tasks, v_queues);
  if (v_tasks[1]).second_pass then
    return query select null::text, 'second pass', null::bigint, s.rule, null::text, s.reason, null::float8, null::jsonb, null::text[]
                   from brokerage.second_pass(v_profile, v_algorithm) s;
  end if;
  return query select e.* from brokerage.explained_queues(p_setup, v_profile, v_algorithm, v_tasks, v_queues) e;
end $$;

comment on function brokerage.explain(text, bigint, text, text) is
'Why each queue would take the jobs of a task or not, as things are now: verdict, the rule that rejects it with the numbers compared, all rules that would (set rules as they hold now, no choices), or its weight factor by factor. A task that no queue is asked for has one row without queue; one that is decided without locality has one before the others, second pass. Without p_algorithm by the rules of the broker that has the task. Errors: PB001 (no such profile), PB002, PB004 (no such task).';
-- file: brokerage/run/explained_first_pass.sql
-- What would be explained if no task were decided once more (anal-loops): brokerage.obstacles asks for it of tasks that are.
create or replace function brokerage.explained_first_pass(p_setup text, p_task_id bigint, p_profile text, p_algorithm text)
returns table (queue text, verdict text, rank bigint, rule text, criteria text, reason text, weight float8, factors jsonb, all_reasons text[])
language plpgsql stable
set jit = off set enable_mergejoin = off set work_mem = '64MB'
as $$
declare
  v_profile text := coalesce(p_profile, (select s.profile from brokerage.setting s where s.setup = p_setup), 'doc');
  v_tasks brokerage.task_facts[] := array(select f from brokerage.facts_of_tasks(p_setup, array[p_task_id], brokerage.flavour(v_profile), p_algorithm) f);
begin
  return query select e.* from brokerage.explained_queues(p_setup, v_profile, p_algorithm, brokerage.with_job_check(p_setup, v_profile, p_algorithm, v_tasks),
                                                          brokerage.facts_of_candidates(p_setup, p_algorithm)) e;
end $$;

comment on function brokerage.explained_first_pass(text, bigint, text, text) is
'Rows of brokerage.explain about queues in the first pass, whatever is left. Errors: PB001, PB002 (a rule that does not fit).';
-- file: brokerage/run/explained_queues.sql
-- One row a queue of brokerage.explain, about a task as a pass sees it: by the query that decides, with all reasons.
create or replace function brokerage.explained_queues(p_setup text, p_profile text, p_algorithm text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[])
returns table (queue text, verdict text, rank bigint, rule text, criteria text, reason text, weight float8, factors jsonb, all_reasons text[])
language plpgsql stable
as $$
begin
  return query execute
    brokerage.compose(p_profile, p_algorithm, false, true)
    || ' select j.queue, case when starts_with(j.failed, ''!'') then ''not candidate'' when j.failed is not null or r.place > r.best then ''rejected'' else ''candidate'' end,'
       '        case when r.place <= coalesce(r.best, r.place) then r.place end, s.rule, w.criteria, w.reason, j.weight,'
       '        (select jsonb_object_agg(n.rule, n.factor) from (select f.rule, j.factors[row_number() over (order by f.position, f.rule)] as factor from brokerage.rule_in_force f'
       '          where f.profile = $5 and f.algorithm = $6 and f.kind = ''weight'' and f.enabled) n where j.factors is not null),'
       '        (select array_agg(replace(a.said, E''\t'', '': '')) from unnest(j.failures) a(said) where starts_with(j.failed, ''!'') is not true)'
       '   from judged j'
       '   left join ranked r on r.task_number = j.task_number and r.queue = j.queue'
       '  cross join lateral (select coalesce(ltrim(j.failed, ''!''), case when r.place > r.best then r.best_rule || format(E''\tnumber %s by weight, the best %s are taken'', r.place, r.best) end)) v(said)'
       '  cross join lateral (select split_part(v.said, E''\t'', 1), split_part(v.said, E''\t'', 2)) s(rule, said)'
       '   left join brokerage.rule_in_force f on f.profile = $5 and f.algorithm = $6 and f.rule = s.rule'
       '  cross join lateral brokerage.worded(s.said, f.criteria) w'
       '  order by r.place nulls last, coalesce(starts_with(j.failed, ''!''), false), j.queue collate "C"'
    using p_setup, p_tasks, p_queues, brokerage.flavour(p_profile), p_profile, p_algorithm;
end $$;

comment on function brokerage.explained_queues(text, text, text, brokerage.task_facts[], brokerage.queue_facts[]) is
'Why each queue would take the jobs of a task (one, with its pass) or not: rows of brokerage.explain. Errors: PB001, PB002 (a rule that does not fit).';
-- file: brokerage/run/job_chunk.sql
-- brokerage-rules 1.3: one choice serves up to 25 jobs, 2 of scouts and of hyperparameter optimisation, or jobChunkSize of the queue.
create or replace function brokerage.job_chunk(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select coalesce(case when q.job_chunk_size > 0 then q.job_chunk_size end, case when t.is_scout or t.hpo_workflow then 2 else 25 end)
$$;

comment on function brokerage.job_chunk(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Jobs that a queue gets at a time when the jobs of a task are distributed.';
-- file: brokerage/run/keep_decisions.sql
-- Architecture, History: decisions are partitioned by day (UTC), partitions made ahead; a day beyond the retention is counted by rule and queue and dropped.
-- All setups share the days, so the longest retention counts.
create or replace function brokerage.keep_decisions(p_days int default 3) returns bigint
language plpgsql
set lock_timeout = '300ms'
as $$
declare
  v_changed bigint := 0;
  v_today date := (now() at time zone 'utc')::date;
  v_day date;
  v_name text;
  v_oldest timestamptz := now() - (select coalesce(max(s.decisions_kept), interval '2 days') from brokerage.setting s);
begin
  for v_day in select generate_series(v_today, v_today + p_days, interval '1 day')::date loop
    v_name := 'verdict_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass('brokerage.' || v_name) is not null
               or exists (select from brokerage.verdict_default h where h.decided_at >= v_day::timestamp at time zone 'utc' and h.decided_at < (v_day + 1)::timestamp at time zone 'utc');
    execute format('create table brokerage.%I partition of brokerage.verdict for values from (%L) to (%L)', v_name,
                   v_day::timestamp at time zone 'utc', (v_day + 1)::timestamp at time zone 'utc');
    v_changed := v_changed + 1;
  end loop;
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'brokerage.verdict'::regclass and c.relname ~ '^verdict_[0-9]{8}$'
       and (to_date(right(c.relname, 8), 'YYYYMMDD') + 1)::timestamp at time zone 'utc' < v_oldest
  loop
    execute format('insert into brokerage.rejection_count as c (setup, run_id, rule, queue, tasks)'
                   ' select d.setup, d.run_id, q.rule, q.queue, count(*) from brokerage.%I d cross join lateral unnest(d.queues) q'
                   '  where q.verdict = ''r'' group by d.setup, d.run_id, q.rule, q.queue'
                   ' on conflict (setup, run_id, rule, queue) do update set tasks = c.tasks + excluded.tasks', v_name);
    execute format('drop table brokerage.%I', v_name);
    v_changed := v_changed + 1;
  end loop;
  delete from brokerage.verdict_default d where d.decided_at < v_oldest;
  delete from brokerage.run r
   where r.started_at < resource.clock(r.setup) - coalesce((select s.counts_kept from brokerage.setting s where s.setup = r.setup), interval '30 days');  -- with what they decided
  delete from brokerage.live_counter c
   where c.counted_at < resource.clock(c.setup) - coalesce((select s.assignments_count from brokerage.setting s where s.setup = c.setup), interval '15 minutes');
  return v_changed;
end $$;

comment on function brokerage.keep_decisions(int) is
'Makes the partitions of the decisions for today (UTC) and the days ahead, counts and drops those beyond the retention, and forgets old runs; returns how many partitions changed.';
-- file: brokerage/run/named_queues.sql
-- Where a task is to run: who asks why it does not wants to know of these queues before all others, also of those that never entered the list. A task of a
-- user names them in its site and includedSite (brokerage-rules 1.4c), a production task in its site or that of its master dataset (brokerage.preassignment).
create or replace function brokerage.named_queues(p_setup text, p_task_id bigint, p_profile text default null) returns table (name text, queues text[])
language plpgsql stable
security definer set search_path = brokerage, pg_temp
as $$
declare
  v_flavour text;
begin
  perform resource.look(p_setup);
  v_flavour := brokerage.flavour(coalesce(p_profile, (select s.profile from brokerage.setting s where s.setup = p_setup), 'doc'));
  return query
    select n.name, array(select q.queue from resource.candidate_queue q
                          where q.setup = p_setup and (q.queue like any (n.patterns) or q.unified_name like any (n.patterns)) order by q.queue collate "C")
      from workload.task t
      left join workload.task_dataset i on i.setup = t.setup and i.task_id = t.task_id and i.direction = 'input' and i.position = 1
      left join workload.dataset d on d.setup = i.setup and d.dataset = i.dataset
     cross join lateral (select coalesce(t.label in ('user', 'panda'), false)) u(is_of_user)
     cross join lateral (
           select p.name, array[brokerage.like_text(p.name)] from unnest((brokerage.preassignment(t, d, resource.clock(p_setup), v_flavour)).queues) p(name)
            where not u.is_of_user
           union
           select s.name, brokerage.name_patterns(p_setup, array[s.name], false) from unnest(resource.names_of_list(t.site)) s(name)
            where u.is_of_user
              and not (v_flavour <> 'doc' and exists (select from resource.queue_storage x where x.setup = p_setup and x.storage = s.name and x.direction = 'read_lan'))
           union
           select c.name, brokerage.name_patterns(p_setup, array[c.name], v_flavour <> 'doc') from unnest(t.included_site) c(name)
            where u.is_of_user and c.name <> '' and not (v_flavour <> 'doc' and c.name = 'AUTO')) n(name, patterns)
     where t.setup = p_setup and t.task_id = p_task_id
     order by n.name collate "C";
end $$;

comment on function brokerage.named_queues(text, bigint, text) is
'What a task is pre-assigned to (site, included_site), name by name or pattern, and the queues of that name, pseudo-queues among them. Errors: PB001, PB002.';
-- file: brokerage/run/nucleus_for.sql
-- What brokerage.assign_nuclei stores of a task and its nucleus.
create or replace function brokerage.nucleus_for(p_run brokerage.run, p_task brokerage.task_facts, p_nuclei text[], p_probabilities float8[]) returns brokerage.nucleus_assignment
language plpgsql volatile
as $$
declare
  v_place int := brokerage.draw_nucleus(p_probabilities, case when p_run.seed is not null then hashint8extended(p_task.task_id, p_run.seed) end);
begin
  return (p_run.setup, p_task.task_id, p_run.run_id, p_nuclei[v_place], p_probabilities[v_place], p_task.gshare, p_task.current_priority,
          greatest(coalesce(p_task.work, 0), 0), p_run.started_at)::brokerage.nucleus_assignment;
end $$;

comment on function brokerage.nucleus_for(brokerage.run, brokerage.task_facts, text[], float8[]) is
'Draws one of the nuclei of a task by their probabilities: the assignment that follows, with the work that the task brings.';
-- file: brokerage/run/nucleus_of_task.sql
create or replace view brokerage.nucleus_of_task as
select a.setup, a.task_id, a.run_id, a.nucleus, a.probability, a.gshare, a.priority, a.work, a.assigned_at
  from brokerage.nucleus_assignment a;

comment on view brokerage.nucleus_of_task is 'Which nucleus the task broker sent a task to.';
comment on column brokerage.nucleus_of_task.setup is 'Tenant.';
comment on column brokerage.nucleus_of_task.task_id is 'Task.';
comment on column brokerage.nucleus_of_task.run_id is 'Run that decided.';
comment on column brokerage.nucleus_of_task.nucleus is 'Nucleus.';
comment on column brokerage.nucleus_of_task.probability is 'How probable the choice was, 0 to 1.';
comment on column brokerage.nucleus_of_task.gshare is 'Global share of the task.';
comment on column brokerage.nucleus_of_task.priority is 'Current priority of the task then.';
comment on column brokerage.nucleus_of_task.work is 'CPU time that its events need (HS06 s).';
comment on column brokerage.nucleus_of_task.assigned_at is 'When (resource.clock).';
-- file: brokerage/run/obstacles.sql
-- What keeps a task from its queues: by rule how many queues it rejects, and how many it alone keeps away. The rule that opens the most queues comes first.
-- A set rule that holds is in the way of every queue that it would reject, also of those that fell before it: none of them is opened by another rule alone.
-- A task is decided once more (anal-loops) only where the first pass leaves it no queue. So a rule that alone keeps a queue away in the first pass opens
-- what it keeps away there, and no queue of the second pass: without the rule there would be none.
create or replace function brokerage.obstacles(p_setup text, p_task_id bigint, p_profile text default null, p_algorithm text default null)
returns table (rule text, rejects bigint, fails bigint, opens bigint, example text)
language sql stable
security definer set search_path = brokerage, pg_temp
as $$
  with explained as materialized (
    select e.queue, e.verdict, e.rule, e.all_reasons from brokerage.explain(p_setup, p_task_id, p_profile, p_algorithm) e where e.verdict in ('rejected', 'second pass')
  ), queue as materialized (
    select 'last' as pass, e.queue, e.rule, e.all_reasons from explained e where e.queue is not null
    union all
    select 'first', f.queue, f.rule, f.all_reasons
      from explained e
     cross join lateral brokerage.explained_first_pass(p_setup, p_task_id, p_profile, coalesce(p_algorithm, brokerage.algorithm_of(p_setup, p_task_id))) f
     where e.verdict = 'second pass' and f.verdict = 'rejected'
  ), failing as (
    select q.pass, q.queue, q.rule as first_rule, r.rule, r.said, count(*) over (partition by q.pass, q.queue) = 1 as alone
      from queue q
     cross join lateral (select split_part(a.said, ': ', 1) as rule, substr(min(a.said), strpos(min(a.said), ': ') + 2) as said
                           from unnest(q.all_reasons) a(said) group by 1) r
  ), obstacle as materialized (
    select f.pass, f.rule, count(*) filter (where f.first_rule = f.rule) as rejects, count(*) as fails, count(*) filter (where f.alone) as opens,
           format('%s: %s', (array_agg(f.queue order by f.alone desc, f.queue collate "C"))[1], (array_agg(f.said order by f.alone desc, f.queue collate "C"))[1]) as example
      from failing f
     group by f.pass, f.rule
  )
  select l.rule, l.rejects, l.fails, coalesce(f.opens, l.opens), coalesce(f.example, l.example)
    from obstacle l
    left join obstacle f on f.pass = 'first' and f.rule = l.rule and f.opens > 0
   where l.pass = 'last'
   order by 4 desc, 3 desc, 1
$$;

comment on function brokerage.obstacles(text, bigint, text, text) is
'What keeps a task from queues, a row a rule: how many queues it is the reason for, how many fail it, and how many would be open without it alone, with an example. Set rules count as they hold now; choices (top-10) are not named. Of a task that is decided once more, without locality, rejects and fails are those of that pass; opens are the queues of the pass that would decide without the rule: the first, where it alone keeps queues away there, else the second. Without p_algorithm by the rules of the broker that has the task. Errors: PB001, PB002, PB004 (no such task).';
-- file: brokerage/run/open_run.sql
-- Tables that were never analysed look like a handful of rows to the planner: a batch then takes minutes instead of seconds.
create or replace function brokerage.open_run(p_setup text, p_algorithm text, p_profile text, p_seed bigint, p_dry boolean) returns bigint
language plpgsql
security definer set search_path = brokerage, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  if exists (select from pg_class c
              where c.relnamespace in ('resource'::regnamespace, 'workload'::regnamespace) and c.relkind = 'r' and c.reltuples < 0 and pg_relation_size(c.oid) > 100000) then
    perform brokerage.refresh_statistics();
  end if;
  return (brokerage.begin_run(p_setup, p_algorithm, p_profile, p_seed, coalesce(p_dry, false))).run_id;
end $$;

comment on function brokerage.open_run(text, text, text, bigint, boolean) is
'Begins a run and returns its number; what brokerage.broker_jobs calls first. Errors: PB001 (no such setup or profile), PB002 (setup not granted).';
-- file: brokerage/run/open_task.sql
-- after: brokerage.task_standing
-- Tasks that a broker works on. Those that wait for their retry time are among them.
create or replace view brokerage.open_task as
select t.setup, t.algorithm, t.task_id, t.current_priority, t.jobs_left, t.retry_at
  from brokerage.task_standing t
 where t.not_open is null;

comment on view brokerage.open_task is 'Tasks without a nucleus (production_task), or whose jobs are not all assigned; what-if looks at them.';
comment on column brokerage.open_task.setup is 'Tenant.';
comment on column brokerage.open_task.algorithm is 'The broker: production_task, production_job or analysis_job.';
comment on column brokerage.open_task.task_id is 'Task.';
comment on column brokerage.open_task.current_priority is 'Priority now.';
comment on column brokerage.open_task.jobs_left is 'Jobs that are not assigned yet.';
comment on column brokerage.open_task.retry_at is 'It found nothing and waits until then; null = it does not wait.';
-- file: brokerage/run/outcomes.sql
-- A run in a few lines: what became of its tasks, and why those were left out that no queue was asked for.
create or replace view brokerage.outcomes as
select d.setup, d.run_id, d.status, count(*) as tasks, min(d.retry_at) as retry_at, min(d.task_id) as example, d.rule,
       (array_agg(d.reason order by d.task_id))[1] as reason
  from brokerage.task_decision d
 group by d.setup, d.run_id, d.status, d.rule;

comment on view brokerage.outcomes is 'Tasks of each run by what was decided: a row a status, and a rule that throttled or failed whole tasks or had them decided without locality.';
comment on column brokerage.outcomes.setup is 'Tenant.';
comment on column brokerage.outcomes.run_id is 'Run.';
comment on column brokerage.outcomes.status is 'candidates, pending, throttled, failed or error.';
comment on column brokerage.outcomes.tasks is 'Tasks.';
comment on column brokerage.outcomes.retry_at is 'When the first of them is brokered again; null = they do not wait.';
comment on column brokerage.outcomes.example is 'The first of the tasks.';
comment on column brokerage.outcomes.rule is 'Rule that throttled or failed them, or had them decided once more (anal-loops); null = none.';
comment on column brokerage.outcomes.reason is 'Why the example was throttled or failed, or that it was decided without locality, or its error, in words. Those of the others: monitor.task_decision.';
-- file: brokerage/run/probabilities.sql
-- task-choice (brokerage-rules 1.1): proportional to the weight. Without weights (a preset nucleus, or all of them 0) all are equal; panda2026 takes the
-- first of all zeros.
create or replace function brokerage.probabilities(p_weights float8[], p_first_of_zeros boolean) returns float8[]
language sql immutable parallel safe
as $$
  select array(select case when s.total > 0 then greatest(coalesce(u.weight, 0), 0) / s.total when p_first_of_zeros then (u.number = 1)::int else 1.0 / cardinality(p_weights) end
                 from unnest(p_weights) with ordinality u(weight, number)
                cross join (select sum(greatest(coalesce(w, 0), 0)) as total from unnest(p_weights) w) s
                order by u.number)
$$;

comment on function brokerage.probabilities(float8[], boolean) is 'How probable each of a task''s nuclei is, by their weights, best first.';
-- file: brokerage/run/queued_jobs.sql
-- brokerage-rules 1.3, nQueuedJobs: what waits for the share at the queue.
create or replace function brokerage.queued_jobs(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select p.defined + p.activated + brokerage.waiting_assigned(t, q, p) + p.starting
$$;

comment on function brokerage.queued_jobs(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Jobs of the share that wait at a queue, as they count when jobs are distributed.';
-- file: brokerage/run/queued_jobs_panda2026.sql
-- brokerage-rules 1.3: nQueuedJobs, of the task's resource types at pseudo-queues; the live counter counts.
create or replace function brokerage.queued_jobs_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select (coalesce(case when q.child_type is not null then brokerage.type_waiting(t, q, p) end, brokerage.waiting_panda2026(t, q, p)) + coalesce(q.live_jobs, 0))::float8
$$;

comment on function brokerage.queued_jobs_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Jobs that wait at a queue, as they count in panda2026 when jobs are distributed.';
-- file: brokerage/run/rejections.sql
-- after: brokerage.rule_in_force, brokerage.decision
-- A run in a table: what each rule kept away.
create or replace view brokerage.rejections as
select d.setup, d.run_id, d.rule, f.criteria, count(*) as pairs, count(distinct d.task_id) as tasks, count(distinct d.queue) as queues
  from brokerage.decision d
  join brokerage.run r on r.setup = d.setup and r.run_id = d.run_id
  left join brokerage.rule_in_force f on f.profile = r.profile and f.algorithm = r.algorithm and f.rule = d.rule
 where d.verdict = 'r'
 group by d.setup, d.run_id, d.rule, f.criteria;

comment on view brokerage.rejections is 'Rejections of each run by rule: how many pairs, tasks and queues.';
comment on column brokerage.rejections.setup is 'Tenant.';
comment on column brokerage.rejections.run_id is 'Run.';
comment on column brokerage.rejections.rule is 'Rule that rejected.';
comment on column brokerage.rejections.criteria is 'PanDA''s criteria tag of the rule.';
comment on column brokerage.rejections.pairs is 'Pairs of task and queue.';
comment on column brokerage.rejections.tasks is 'Tasks that lost a queue by it.';
comment on column brokerage.rejections.queues is 'Queues that lost a task by it.';
-- file: brokerage/run/require_tasks.sql
-- A task that is named and not there is an error, not a task that is passed over.
create or replace function brokerage.require_tasks(p_setup text, p_task_ids bigint[]) returns void
language plpgsql stable
security definer set search_path = brokerage, pg_temp
as $$
declare
  v_missing bigint[];
begin
  perform resource.look(p_setup);
  v_missing := array(select distinct u.task_id from unnest(p_task_ids) u(task_id)
                      where not exists (select from workload.task t where t.setup = p_setup and t.task_id = u.task_id) order by 1);
  if cardinality(v_missing) > 0 then
    raise exception '% in setup %',
      case when cardinality(v_missing) = 1 then format('task %s is not', coalesce(v_missing[1]::text, 'null'))
           else format('tasks %s%s are not', array_to_string(v_missing[:5], ', ', 'null'), case when cardinality(v_missing) > 5 then format(' and %s more', cardinality(v_missing) - 5) end) end, p_setup
      using errcode = 'PB004', hint = 'Load it with its world (broker load), or name another: brokerage.task_standing lists the tasks that there are.';
  end if;
end $$;

comment on function brokerage.require_tasks(text, bigint[]) is 'Refuses tasks that are not there, naming them. Errors: PB001, PB002, PB004 (no such task).';
-- file: brokerage/run/run_difference.sql
-- What-if: two runs over the same tasks, before and after a change. What a run has just stored has no statistics yet, hence no nested loops.
create or replace function brokerage.run_difference(p_setup text, p_before bigint, p_after bigint)
returns table (task_id bigint, status_before text, status_after text, gained text[], lost text[], queue text, weight_before float8, weight_after float8)
language plpgsql stable
security definer set search_path = brokerage, pg_temp set enable_nestloop = off
as $$
#variable_conflict use_column
declare
  v_missing text;
begin
  perform resource.look(p_setup);
  select coalesce(u.run_id::text, 'null') into v_missing from unnest(array[p_before, p_after]) u(run_id)
   where not exists (select from brokerage.run r where r.setup = p_setup and r.run_id = u.run_id) limit 1;
  if found then
    raise exception 'run % is not in setup %', v_missing, p_setup using errcode = 'PB004', hint = 'brokerage.outcomes lists the runs that there are.';
  end if;
  return query
  with status as (
    select task_id, b.status as before, a.status as after
      from (select d.task_id, d.status from brokerage.task_decision d where d.setup = p_setup and d.run_id = p_before) b
      full join (select d.task_id, d.status from brokerage.task_decision d where d.setup = p_setup and d.run_id = p_after) a using (task_id)
  ), candidate as (
    select task_id, queue, b.rank as rank_before, a.rank as rank_after, b.weight as weight_before, a.weight as weight_after,
           b.rank is not null and a.rank is not null and b.weight is distinct from a.weight as is_other
      from (select d.task_id, d.queue, d.rank, d.weight from brokerage.decision d where d.setup = p_setup and d.run_id = p_before and d.verdict = 'c') b
      full join (select d.task_id, d.queue, d.rank, d.weight from brokerage.decision d where d.setup = p_setup and d.run_id = p_after and d.verdict = 'c') a using (task_id, queue)
  ), change as (
    select c.task_id,
           array_agg(c.queue order by c.rank_after) filter (where c.rank_before is null) as gained,
           array_agg(c.queue order by c.rank_before) filter (where c.rank_after is null) as lost,
           (array_agg(c.queue order by c.rank_before) filter (where c.is_other))[1] as queue,
           (array_agg(c.weight_before order by c.rank_before) filter (where c.is_other))[1] as weight_before,
           (array_agg(c.weight_after order by c.rank_before) filter (where c.is_other))[1] as weight_after
      from candidate c
     group by c.task_id
  )
  select s.task_id, s.before, s.after, coalesce(c.gained, '{}'), coalesce(c.lost, '{}'), c.queue, c.weight_before, c.weight_after
    from status s
    left join change c on c.task_id = s.task_id
   where s.before is distinct from s.after or c.gained is not null or c.lost is not null or c.queue is not null
   order by s.task_id;
end $$;

comment on function brokerage.run_difference(text, bigint, bigint) is
'Tasks that two runs decided otherwise: status (null = not decided there), candidates gained and lost, and the best candidate of both whose weight changed. Errors: PB001, PB002, PB004 (no such run).';
-- file: brokerage/run/running_jobs_cap.sql
-- brokerage-rules 1.3, nRunningJobsCap: twice the running jobs, NQUEUELIMITSITE at least; express tasks have none.
create or replace function brokerage.running_jobs_cap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns float8
language sql stable parallel safe
as $$
  select case when not brokerage.is_express(t, q, p, x) then greatest(t.nqueuelimitsite, 2 * brokerage.running_workers(t, q, p)) end
$$;

comment on function brokerage.running_jobs_cap(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'How many jobs of the share may wait at a queue when jobs are distributed; null = no limit.';
-- file: brokerage/run/running_jobs_cap_panda2026.sql
-- brokerage-rules 1.3: nRunningJobsCap.
create or replace function brokerage.running_jobs_cap_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case
    when not brokerage.is_express(t, q, p, '{"urgent_alone": true}')
    then greatest(t.nqueuelimitsite,
                  2 * greatest(case when q.child_type is not null then p.type_running end, brokerage.running_workers_panda2026(t, q, p)))
  end
$$;

comment on function brokerage.running_jobs_cap_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'How many jobs may wait at a queue when jobs are distributed in panda2026; null = no limit.';
-- file: brokerage/run/takes_first_of_zeros.sql
create or replace function brokerage.takes_first_of_zeros(p_profile text, p_algorithm text) returns boolean
language sql stable
as $$
  select exists (select from brokerage.rule_in_force r
                  where r.profile = p_profile and r.algorithm = p_algorithm and r.kind = 'choice' and r.enabled and (r.parameters ->> 'first_of_zeros')::boolean)
$$;

comment on function brokerage.takes_first_of_zeros(text, text) is 'Whether a profile takes the first nucleus where all weights are 0, instead of any.';
-- file: brokerage/run/task_standing.sql
-- after: resource.setup_time
-- Why a broker does not take a task now, if so: the one definition of what is open and what is due (brokerage.open_task, brokerage.due_task are its
-- rows without a reason). Tasks of users are of the analysis broker, all others of the two of production; the retry time of one that waits is over. The task
-- broker takes tasks in JEDI's status assigning, the job brokers those in the statuses in which jobs are made and with jobs left to assign.
create or replace view brokerage.task_standing as
select x.setup, x.algorithm, x.task_id, x.of_label, x.current_priority, x.jobs, x.jobs_left, x.retry_at, x.not_open, x.waits,
       coalesce(x.not_open,
                case when x.waits
                     then format('waits until %s: run %s %s', to_char(x.retry_at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS "UTC"'), x.run_id,
                                 case when d.reason is null or d.rejected > 0 then 'found none for it' else format('said %s: %s', concat_ws(', ', d.status, d.rule), d.reason) end) end) as not_due
  from (
    select t.setup, a.algorithm, t.task_id, (a.algorithm = 'analysis_job') = coalesce(t.label in ('user', 'panda'), false) as of_label, t.current_priority, coalesce(i.jobs, 0) as jobs, coalesce(i.jobs, 0) - coalesce(s.assigned_jobs, 0) as jobs_left, s.retry_at, s.run_id,
           case
             when a.algorithm = 'production_task' and t.status is distinct from 'assigning'
             then format('status is %s (due are tasks in assigning)', coalesce(t.status, 'not known'))
             when a.algorithm = 'production_task' and (t.label in ('user', 'panda')) is not true then null
             when a.algorithm <> 'production_task' and (t.status in ('ready', 'scouting', 'running', 'pending')) is not true
             then format('status is %s (due are ready, scouting, running, pending)', coalesce(t.status, 'not known'))
             when a.algorithm = 'analysis_job' and (t.label in ('user', 'panda')) is not true
             then format('label %s is not brokered: analysis jobs are, of the labels user and panda', coalesce(t.label, 'not known'))
             when a.algorithm <> 'analysis_job' and t.label in ('user', 'panda')
             then format('label %s is not brokered: production jobs are, of every label but user and panda', t.label)
             when coalesce(i.jobs, 0) = 0
             then 'has no jobs: ' || coalesce((select format('dataset %s, its first input, has no files', b.dataset) from workload.task_dataset b
                                                where b.setup = t.setup and b.task_id = t.task_id and b.direction = 'input' order by b.position limit 1),
                                              'it has no input; jobs are nFilesPerJob files each (of a pseudo_input dataset where nothing is read)')
             when s.assigned_jobs >= i.jobs then case when i.jobs = 1 then 'its one job is assigned' else format('all %s jobs are assigned', i.jobs) end
           end as not_open,
           coalesce(s.retry_at > c.now, false) as waits
      from workload.task t
     cross join (values ('production_task'), ('production_job'), ('analysis_job')) a(algorithm)
      join resource.setup_time c on c.setup = t.setup
      left join workload.input_digest i on i.setup = t.setup and i.task_id = t.task_id
      left join brokerage.task_state s on s.setup = t.setup and s.task_id = t.task_id and s.algorithm = a.algorithm) x
  left join brokerage.task_decision d on d.setup = x.setup and d.run_id = x.run_id and d.task_id = x.task_id;

comment on view brokerage.task_standing is 'Every task and broker, and why the broker does not take it now where it does not.';
comment on column brokerage.task_standing.setup is 'Tenant.';
comment on column brokerage.task_standing.algorithm is 'production_task: the task broker; production_job, analysis_job: the job brokers.';
comment on column brokerage.task_standing.task_id is 'Task.';
comment on column brokerage.task_standing.of_label is 'Tasks of this label are that broker''s.';
comment on column brokerage.task_standing.current_priority is 'Priority now.';
comment on column brokerage.task_standing.jobs is 'Jobs of its input (workload.input_digest).';
comment on column brokerage.task_standing.jobs_left is 'Jobs that are not assigned yet.';
comment on column brokerage.task_standing.retry_at is 'It found nothing and waits until then; null = it does not wait.';
comment on column brokerage.task_standing.not_open is 'Why the broker does not work on it, in words; null = it does (brokerage.open_task).';
comment on column brokerage.task_standing.waits is 'Its retry time is still to come.';
comment on column brokerage.task_standing.not_due is 'Why it is not brokered now, in words; null = it is (brokerage.due_task).';
-- file: brokerage/run/unknown_queues.sql
-- A task that is pre-assigned to a queue which is not there is asked of no queue, and no queue's reason can say so.
create or replace function brokerage.unknown_queues(p_setup text, p_task_id bigint, p_profile text default null) returns text[]
language plpgsql stable
security definer set search_path = brokerage, pg_temp
as $$
begin
  perform brokerage.require_tasks(p_setup, array[p_task_id]);
  return array(select n.name from brokerage.named_queues(p_setup, p_task_id, p_profile) n where n.queues = '{}' order by 1);
end $$;

comment on function brokerage.unknown_queues(text, bigint, text) is
'Queues that a task is pre-assigned to and that are not in the setup, and patterns of included_site that no queue is named. Errors: PB001, PB002, PB004 (no such task).';
-- file: brokerage/run/wave_of.sql
-- A full-chain task follows its parent: it is decided when the parent has its nucleus, not beside it (seed 000, Full-chain). Parents that go in a circle are
-- decided together.
create or replace function brokerage.wave_of(p_setup text, p_algorithm text, p_task_ids bigint[]) returns bigint[]
language plpgsql stable
as $$
declare
  v_wave bigint[];
begin
  if p_algorithm <> 'production_task' then
    return p_task_ids;
  end if;
  v_wave := array(
    select u.task_id
      from unnest(p_task_ids) with ordinality u(task_id, number)
      join workload.task t on t.setup = p_setup and t.task_id = u.task_id
     where t.full_chain is null or t.parent is null or t.parent = t.task_id or t.parent <> all (p_task_ids)
     order by u.number);
  return case when cardinality(v_wave) = 0 then p_task_ids else v_wave end;
end $$;

comment on function brokerage.wave_of(text, text, bigint[]) is
'Those of some tasks that are decided first: full-chain tasks come after their parents. All of them, where an algorithm knows no such order.';
-- file: brokerage/run/worded.sql
-- A reason may begin with a criteria tag of its own, '-lowmemory: needs ...'; else the tag of the rule counts.
create or replace function brokerage.worded(p_reason text, p_criteria text, out criteria text, out reason text)
language sql immutable parallel safe
as $$
  select case when p_reason ~ '^[-+][A-Za-z0-9_]+: ' then split_part(p_reason, ': ', 1) else p_criteria end,
         case when p_reason ~ '^[-+][A-Za-z0-9_]+: ' then substr(p_reason, strpos(p_reason, ': ') + 2) else p_reason end
$$;

comment on function brokerage.worded(text, text) is 'Criteria tag and words of a stored reason; the tag of the rule where the reason has none of its own.';
-- file: brokerage/running_workers.sql
-- seed 000, ATLAS Production Job Brokerage, 3: the largest of the numbers of running jobs. Workers count where fewer than 20 jobs run
-- and more than those: under the maximum that is min(20, workers).
create or replace function brokerage.running_workers(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns bigint
language sql stable parallel safe
as $$
  select greatest(
    coalesce(p.running, 0),
    case when coalesce(p.running, 0) < 20 then least(coalesce(q.workers, 0), 20) end,
    case when p.numslots > 0 then p.numslots / brokerage.slot_cores(t, q, p) when p.numslots = 0 then p.starting end)
$$;

comment on function brokerage.running_workers(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'R: running jobs of the share at the queue, or what stands for them where few run or slots are defined.';
-- file: brokerage/running_workers_panda2026.sql
-- brokerage-rules 1.2, n-running-workers and num-slots (D-24, D-71): workers only at pull queues with pilots, and neither them nor slots
-- for tasks of higher priority. 0 slots: what runs and what starts.
create or replace function brokerage.running_workers_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns bigint
language sql stable parallel safe
as $$
  select case
    when t.current_priority > t.max_prio_to_bootstrap then coalesce(p.running, 0)
    when p.numslots = 0 then coalesce(p.running, 0) + coalesce(p.starting, 0)
    else greatest(
      coalesce(p.running, 0),
      case when coalesce(p.running, 0) < 20 and q.pilots > 0 and q.ups then least(coalesce(q.workers, 0), 20) end,
      case when p.numslots > 0 then p.numslots / brokerage.slot_cores(t, q, p) end)
  end
$$;

comment on function brokerage.running_workers_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'R as PanDA''s code counts it: running jobs of the share at the queue, or workers or slots, where a bootstrap may go.';
-- file: brokerage/scratch_cores_panda2026.sql
-- brokerage-rules 1.2, scratch-disk: maxwdir is for the whole slot, unless tasks of one core share it (D-60).
create or replace function brokerage.scratch_cores_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns int
language sql stable parallel safe
as $$
  select case when coalesce(t.task_core_count, 1) in (0, 1) and coalesce(t.event_service, 0) = 0 then brokerage.whole_queue_cores(t, q, p) else 1 end
$$;

comment on function brokerage.scratch_cores_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Jobs that share the scratch of a slot in PanDA''s code.';
-- file: brokerage/scratch_need.sql
-- brokerage-doc-profile, scratch-disk: input unless it is read directly, output of at least 0.5 GB, and what the task says beside.
create or replace function brokerage.scratch_need(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case when brokerage.reads_directly(t, q, p) then 0 else coalesce(t.job_input_bytes, 0) end
         + greatest(536870912::float8, t.out_disk_bytes * case when t.out_disk_per_event then t.job_events else t.job_input_mb end)
         + coalesce(t.work_disk_bytes, 0)
$$;

comment on function brokerage.scratch_need(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Scratch that a job of the task needs at the queue (bytes).';
-- file: brokerage/scratch_need_analysis.sql
-- Seed 000, ATLAS Analysis Job Brokerage, 3: (0 or input) + outDiskCount * input + workDiskCount.
create or replace function brokerage.scratch_need_analysis(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case when brokerage.reads_directly(t, q, p) then 0 else coalesce(t.job_input_bytes, 0) end
         + coalesce(t.out_disk_bytes, 0) * coalesce(t.job_input_mb, 0) + coalesce(t.work_disk_bytes, 0)
$$;

comment on function brokerage.scratch_need_analysis(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Scratch that an analysis job of the task needs at the queue (bytes).';
-- file: brokerage/scratch_need_analysis_exactly.sql
-- Seed 000, ATLAS Analysis Job Brokerage, 3: (0 or input) + outDiskCount * input + workDiskCount.
create or replace function brokerage.scratch_need_analysis_exactly(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns numeric
language sql stable parallel safe
as $$
  select case when brokerage.reads_directly(t, q, p) then 0 else coalesce(t.job_input_bytes, 0) end
         + coalesce(t.out_disk_bytes, 0)::numeric * coalesce(t.job_input_mb, 0)::numeric + coalesce(t.work_disk_bytes::numeric, 0)
$$;

comment on function brokerage.scratch_need_analysis_exactly(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Scratch that an analysis job of the task needs at the queue (bytes), without rounding.';
-- file: brokerage/scratch_need_analysis_panda2026.sql
-- brokerage-rules 1.4c, scratch-disk; the work directory has 300 MiB more, as in production.
create or replace function brokerage.scratch_need_analysis_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case
    when t.is_merging then floor(2 * coalesce(t.job_input_bytes, 0) / 1048576::float8)
    else greatest(
      floor((case when brokerage.reads_directly(t, q, p) then 0 else coalesce(t.job_input_bytes, 0) end
             + coalesce(t.out_disk_bytes, 0) * coalesce(t.job_input_mb, 0) + coalesce(t.work_disk_bytes + 314572800, 0)) / 1048576),
      case when not t.n_gb_per_job > 0 then null
           when not brokerage.reads_directly(t, q, p) then t.n_gb_per_job * 1024
           when t.use_local_io is not true then floor((coalesce(t.out_disk_bytes, 0) * t.n_gb_per_job * 1024 + coalesce(t.work_disk_bytes + 314572800, 0)) / 1048576) end)
  end
$$;

comment on function brokerage.scratch_need_analysis_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Scratch that an analysis job of the task needs at the queue (MiB), as PanDA''s code has it.';
-- file: brokerage/scratch_need_exactly.sql
-- As brokerage.scratch_need, for brokerage.compare.
create or replace function brokerage.scratch_need_exactly(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns numeric
language sql stable parallel safe
as $$
  select case when brokerage.reads_directly(t, q, p) then 0 else coalesce(t.job_input_bytes, 0) end
         + greatest(536870912::numeric, t.out_disk_bytes::numeric * case when t.out_disk_per_event then t.job_events else t.job_input_mb::numeric end)
         + coalesce(t.work_disk_bytes::numeric, 0)
$$;

comment on function brokerage.scratch_need_exactly(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Scratch that a job of the task needs at the queue (bytes), without rounding.';
-- file: brokerage/scratch_need_panda2026.sql
-- brokerage-rules 1.2, scratch-disk: at least 1500 MiB of output, 300 MiB beside what the task says, floor-divided to MiB (D-19, D-68).
create or replace function brokerage.scratch_need_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select floor((case when brokerage.reads_directly(t, q, p) then 0 else coalesce(t.job_input_bytes, 0) end
                + greatest(1572864000::float8, t.out_disk_bytes * case when t.out_disk_per_event then t.job_events else t.job_input_mb end)
                + coalesce(t.work_disk_bytes + 314572800, 0)) / 1048576)
$$;

comment on function brokerage.scratch_need_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Scratch that a job of the task needs at the queue (MiB), as PanDA''s code has it.';
-- file: brokerage/setting_in_force.sql
-- Settings of every setup, those that nobody changed among them.
create or replace view brokerage.setting_in_force as
select p.setup, coalesce(s.profile, 'doc') as profile, coalesce(s.decisions_kept, interval '2 days') as decisions_kept,
       coalesce(s.counts_kept, interval '30 days') as counts_kept, coalesce(s.assignments_count, interval '15 minutes') as assignments_count
  from resource.setup p
  left join brokerage.setting s on s.setup = p.setup;

comment on view brokerage.setting_in_force is 'Settings of brokerage as they hold in each setup; brokerage.set_settings changes them.';
comment on column brokerage.setting_in_force.setup is 'Tenant.';
comment on column brokerage.setting_in_force.profile is 'Profile that decides where a call names none.';
comment on column brokerage.setting_in_force.decisions_kept is 'How long decisions are kept; counts by rule and queue stay.';
comment on column brokerage.setting_in_force.counts_kept is 'How long runs and counts by rule and queue are kept.';
comment on column brokerage.setting_in_force.assignments_count is 'How long an assignment counts in the live counter.';
-- file: brokerage/shipped_profile.sql
-- The profiles that come with the program; their rules are in brokerage.shipped_rule.
create or replace view brokerage.shipped_profile as
select v.profile, v.description, v.marks
  from (values
    ('doc',       'What the seeds say, literally (seed 000); the default.', false),
    ('panda2026', 'What PanDA''s code does in August 2026.',                true)
  ) v(profile, description, marks);

comment on view brokerage.shipped_profile is 'Profiles that come with the program.';
comment on column brokerage.shipped_profile.profile is 'Name.';
comment on column brokerage.shipped_profile.description is 'What it says.';
comment on column brokerage.shipped_profile.marks is
'Temporary problems only mark a queue: the reason is the first persistent one, else the last mark (brokerage-rules, Reading help); false: the first rule that fails is the reason (G1).';
-- file: brokerage/shipped_rule.sql
-- The rules of the profiles that come with the program, in the order in which they are asked (brokerage-doc-profile, sections 1 to 3 and 7;
-- brokerage-rules 1.1, 1.2, 1.4 and 1.5).
-- Where a rule has several criteria the column is null and the reasons begin with theirs.
create or replace view brokerage.shipped_rule as
select v.profile, v.algorithm, v.rule, v.kind, v.position::float8 as position, v.function, v.criteria, v.temporary,
       true as enabled, v.parameters::jsonb as parameters, v.source
  from (select 'production_job' as algorithm, j.* from (values
    ('doc', 'prod-initial-all', 'candidate', 10, 'brokerage.candidate_all', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 1'),
    ('doc', 'prod-initial-preassigned', 'candidate', 20, 'brokerage.candidate_preassigned', null, false, '{"by": "prod-initial-preassigned"}', 'seed 000, ATLAS Production Job Brokerage, 1'),
    ('doc', 'preassigned-merge', 'candidate', 30, 'brokerage.candidate_preassigned', null, false, '{"by": "preassigned-merge"}', 'seed 000, ATLAS Production Job Brokerage, 1'),
    ('doc', 'queue-status', 'row rule', 40, 'brokerage.rule_queue_status', '-status', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'link-blocked', 'row rule', 50, 'brokerage.rule_link_blocked', '-link_unusable', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'link-queue-cap', 'row rule', 60, 'brokerage.rule_link_queue_cap', '-link_unusable', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'nucleus-queue-cap', 'row rule', 70, 'brokerage.rule_nucleus_queue_cap', '-links_full', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'high-prio-opportunistic', 'row rule', 80, 'brokerage.rule_high_prio_opportunistic', '-opportunistic', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'inactive-queue', 'row rule', 90, 'brokerage.rule_inactive_queue', '-inactive', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'zero-share', 'row rule', 100, 'brokerage.rule_zero_share', '-zeroshare', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'io-cutoff', 'row rule', 110, 'brokerage.rule_io_cutoff', '-io', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'disk-io', 'row rule', 120, 'brokerage.rule_disk_io', '-diskIO', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'core-count', 'row rule', 130, 'brokerage.rule_core_count', '-cpucore', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'max-core-count', 'row rule', 140, 'brokerage.rule_max_core_count', '-max_cpucore', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'software', 'row rule', 150, 'brokerage.rule_software', '-cache', false, '{}', 'seed 000, Release/cache Availability Check'),
    ('doc', 'memory', 'row rule', 160, 'brokerage.rule_memory', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'direct-io-only', 'row rule', 170, 'brokerage.rule_direct_io_only', '-remoteio', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'scratch-disk', 'row rule', 180, 'brokerage.rule_scratch_disk', '-disk', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'storage-space', 'row rule', 190, 'brokerage.rule_storage_space', '-disk', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'storage-blacklist', 'row rule', 200, 'brokerage.rule_storage_blacklist', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'walltime-scout', 'row rule', 210, 'brokerage.rule_walltime_scout', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'walltime', 'row rule', 220, 'brokerage.rule_walltime', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'wn-connectivity', 'row rule', 230, 'brokerage.rule_wn_connectivity', '-network', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'event-service', 'row rule', 240, 'brokerage.rule_event_service', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'transferring-limit', 'row rule', 250, 'brokerage.rule_transferring_limit', '-transferring', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 't1-weight', 'row rule', 260, 'brokerage.rule_t1_weight', '-t1weight', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'full-chain-job', 'row rule', 270, 'brokerage.rule_full_chain_job', null, false, '{}', 'seed 000, Special Brokerage for ATLAS Full-chain'),
    ('doc', 'no-pilot', 'row rule', 280, 'brokerage.rule_no_pilot', '-nopilot', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'express-network-threshold', 'row rule', 290, 'brokerage.rule_express_network_threshold', '-lowNetworkWeight', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'weight-basic', 'weight', 300, 'brokerage.weight_basic', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 3'),
    ('doc', 'weight-data', 'weight', 310, 'brokerage.weight_data', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 3'),
    ('doc', 'network-weight', 'weight', 320, 'brokerage.weight_network', null, false, '{}', 'seed 000, Network Weight'),
    ('doc', 'cap', 'row rule', 330, 'brokerage.rule_cap', '-cap', false, '{}', 'seed 000, ATLAS Production Job Brokerage, 4'),
    ('doc', 'top-10', 'choice', 340, null, '-low_weight', false, '{"best": 10}', 'seed 000, ATLAS Production Job Brokerage, 5'),
    ('doc', 'queued-jobs', 'distribution', 350, 'brokerage.queued_jobs', null, false, '{}', 'brokerage-rules 1.3'),
    ('doc', 'running-jobs-cap', 'distribution', 360, 'brokerage.running_jobs_cap', null, false, '{}', 'brokerage-rules 1.3'),
    ('doc', 'job-chunk', 'distribution', 370, 'brokerage.job_chunk', null, false, '{}', 'brokerage-rules 1.3'),
    ('doc', 'prod-pending', 'pending', 380, null, null, false, '{"wait": "1 hour"}', 'seed 000, ATLAS Production Job Brokerage, 5'),
    ('doc', 'catchall-lookup', 'fact', 600, 'resource.catchall', null, false, '{}', 'brokerage-rules 1.0'),
    ('doc', 'per-core-attr', 'fact', 601, 'resource.candidate_queue', null, false, '{}', 'brokerage-rules 1.0'),
    ('doc', 'ucore-expansion', 'fact', 602, 'resource.candidate_queue', null, false, '{}', 'brokerage-rules 1.0'),
    ('doc', 'direct-io-used', 'fact', 603, 'brokerage.reads_directly', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'n-running-workers', 'fact', 604, 'brokerage.running_workers', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 3'),
    ('doc', 'num-slots', 'fact', 605, 'brokerage.running_workers', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 3'),
    ('panda2026', 'input-completeness', 'task rule', 5, 'brokerage.rule_input_completeness', null, false, '{"status": "failed"}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'prod-initial-all', 'candidate', 10, 'brokerage.candidate_all_panda2026', null, false, '{}', 'code (brokerage-rules 1.0)'),
    ('panda2026', 'prod-initial-preassigned', 'candidate', 20, 'brokerage.candidate_preassigned', null, false, '{"by": "prod-initial-preassigned"}', 'code (brokerage-rules 1.0)'),
    ('panda2026', 'preassigned-merge', 'candidate', 30, 'brokerage.candidate_preassigned', null, false, '{"by": "preassigned-merge"}', 'code (brokerage-rules 1.0)'),
    ('panda2026', 'queue-status', 'row rule', 40, 'brokerage.rule_queue_status', '-status', false, '{"standby": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'link-blocked', 'row rule', 50, 'brokerage.rule_link_blocked', '-link_unusable', false, '{"inclusive": true, "spares_own": true, "urgent_alone": true, "nucleus_first": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'link-queue-cap', 'row rule', 60, 'brokerage.rule_link_queue_cap', '-link_unusable', true, '{"inclusive": true, "spares_own": true, "urgent_alone": true, "nucleus_first": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'nucleus-queue-cap', 'row rule', 70, 'brokerage.rule_nucleus_queue_cap', '-links_full', true, '{"inclusive": true, "spares_own": true, "urgent_alone": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'nucleus-unwritable', 'row rule', 80, 'brokerage.rule_nucleus_unwritable', '-dest_blacklisted', true, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'high-prio-opportunistic', 'row rule', 90, 'brokerage.rule_high_prio_opportunistic_panda2026', '-opportunistic', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'inactive-queue', 'row rule', 100, 'brokerage.rule_inactive_queue', '-inactive', true, '{"starting": true, "spares_preassigned": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'zero-share', 'row rule', 110, 'brokerage.rule_zero_share', '-zeroshare', false, '{}', 'code (brokerage-rules 1.9)'),
    ('panda2026', 'jumbo-queue', 'row rule', 120, 'brokerage.rule_jumbo_queue', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'disk-io', 'row rule', 130, 'brokerage.rule_disk_io_panda2026', '-diskIO', true, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'core-count', 'row rule', 140, 'brokerage.rule_core_count', '-cpucore', false, '{"urgent_wants_several": true, "spares_preassigned_alone": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'max-core-count', 'row rule', 150, 'brokerage.rule_max_core_count', '-max_cpucore', false, '{"spares_preassigned_alone": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'software', 'row rule', 160, 'brokerage.rule_software', '-cache', false, '{"as_prepared": true}', 'code (brokerage-rules 1.8)'),
    ('panda2026', 'memory', 'row rule', 170, 'brokerage.rule_memory_panda2026', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'direct-io-only', 'row rule', 180, 'brokerage.rule_direct_io_only', '-remoteio', false, '{"spares_merging": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'scratch-disk', 'row rule', 190, 'brokerage.rule_scratch_disk_panda2026', '-disk', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'storage-space', 'row rule', 200, 'brokerage.rule_storage_space_panda2026', '-disk', true, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'storage-blacklist', 'row rule', 210, 'brokerage.rule_storage_blacklist_panda2026', null, true, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'walltime', 'row rule', 220, 'brokerage.rule_walltime_panda2026', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'walltime-scout', 'row rule', 230, 'brokerage.rule_walltime_scout_panda2026', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'wn-connectivity', 'row rule', 240, 'brokerage.rule_wn_connectivity_panda2026', '-network', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'event-service', 'row rule', 250, 'brokerage.rule_event_service', null, false, '{"spares_preassigned_alone": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'transferring-limit', 'row rule', 260, 'brokerage.rule_transferring_limit_panda2026', '-transferring', true, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'work-shortage', 'row rule', 270, 'brokerage.rule_work_shortage', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 't1-weight', 'row rule', 280, 'brokerage.rule_t1_weight', '-t1weight', false, '{"negative": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'max-io-intensity', 'row rule', 290, 'brokerage.rule_max_io_intensity', '-max_io_intensity', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'full-chain-job', 'row rule', 300, 'brokerage.rule_full_chain_job', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'no-pilot', 'row rule', 310, 'brokerage.rule_no_pilot_panda2026', '-nopilot', true, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'io-cutoff', 'set rule', 320, 'brokerage.rule_io_cutoff_panda2026', '-io', false, '{"tape": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'io-cutoff-disk', 'set rule', 330, 'brokerage.rule_io_cutoff_panda2026', '-io', false, '{"as": "io-cutoff"}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'weight-basic', 'weight', 340, 'brokerage.weight_basic_panda2026', null, false, '{"sees_assignments": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'weight-data', 'weight', 350, 'brokerage.weight_data', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'network-weight', 'weight', 360, 'brokerage.weight_network_panda2026', null, false, '{}', 'code (brokerage-rules 1.6)'),
    ('panda2026', 'arch-preference-weight', 'weight', 370, 'brokerage.weight_architecture', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 't1-weight-factor', 'weight', 380, 'brokerage.weight_t1', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'bootstrap', 'weight', 390, 'brokerage.weight_bootstrap', null, false, '{"sees_assignments": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'lock', 'row rule', 410, 'brokerage.rule_lock', '-lock', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'use-only-local-data', 'row rule', 420, 'brokerage.rule_use_only_local_data', '-non_local', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'cap', 'row rule', 430, 'brokerage.rule_cap_panda2026', '-cap', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'express-network-threshold', 'row rule', 440, 'brokerage.rule_express_network_threshold_panda2026', '-lowNetworkWeight', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'cap-rt', 'row rule', 450, 'brokerage.rule_cap_rt', '-cap_rt', false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'min-weight', 'row rule', 460, 'brokerage.rule_min_weight', '-below_min_weight', false, '{"sees_assignments": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 't1-weight-primary', 'choice', 465, 'brokerage.value_running', '-t1_weight', false, '{"best": 1, "as": "t1-weight"}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'top-10', 'choice', 470, null, '-low_weight', false, '{"best": 10, "zero_first": true}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'queued-jobs', 'distribution', 480, 'brokerage.queued_jobs_panda2026', null, false, '{"sees_assignments": true}', 'code (brokerage-rules 1.3)'),
    ('panda2026', 'running-jobs-cap', 'distribution', 490, 'brokerage.running_jobs_cap_panda2026', null, false, '{}', 'code (brokerage-rules 1.3)'),
    ('panda2026', 'job-chunk', 'distribution', 500, 'brokerage.job_chunk', null, false, '{}', 'code (brokerage-rules 1.3)'),
    ('panda2026', 'prod-pending', 'pending', 510, null, null, false, '{"wait": "1 hour", "950": "10 minutes", "900": "30 minutes"}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'catchall-lookup', 'fact', 600, 'resource.catchall', null, false, '{}', 'brokerage-rules 1.0'),
    ('panda2026', 'per-core-attr', 'fact', 601, 'resource.candidate_queue', null, false, '{}', 'brokerage-rules 1.0'),
    ('panda2026', 'ucore-expansion', 'fact', 602, 'resource.candidate_queue', null, false, '{}', 'brokerage-rules 1.0'),
    ('panda2026', 'direct-io-used', 'fact', 603, 'brokerage.reads_directly', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('panda2026', 'n-running-workers', 'fact', 604, 'brokerage.running_workers_panda2026', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'num-slots', 'fact', 605, 'brokerage.running_workers_panda2026', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'temporary-problems', 'fact', 606, 'brokerage.compose', null, false, '{}', 'code (brokerage-rules 1.2)')
  ) j(profile, rule, kind, position, function, criteria, temporary, parameters, source)
  union all
  select 'production_task', k.* from (values
    ('doc', 'task-nucleus-initial', 'candidate', 10, 'brokerage.candidate_nucleus', null, false, '{"as": "task-nucleus-list"}', 'seed 000, ATLAS Production Task Brokerage, 1'),
    ('doc', 'task-nucleus-list', 'row rule', 20, 'brokerage.rule_nucleus_status', '-status', false, '{}', 'seed 000, ATLAS Production Task Brokerage, 1'),
    ('doc', 'transfer-backlog', 'row rule', 30, 'brokerage.rule_transfer_backlog', '-transfer_backlog', false, '{}', 'seed 000, ATLAS Production Task Brokerage, 2'),
    ('doc', 'nucleus-has-storage', 'row rule', 40, 'brokerage.rule_nucleus_has_storage', '-match', false, '{}', 'seed 000, ATLAS Production Task Brokerage, 2'),
    ('doc', 'nucleus-space', 'row rule', 50, 'brokerage.rule_nucleus_space', '-space', false, '{}', 'seed 000, ATLAS Production Task Brokerage, 2'),
    ('doc', 'task-locality-size', 'set rule', 60, 'brokerage.rule_task_locality_size', '-insize', false, '{"group": "task-locality"}', 'seed 000, ATLAS Production Task Brokerage, 2'),
    ('doc', 'task-locality-num', 'set rule', 70, 'brokerage.rule_task_locality_num', '-innum', false, '{"group": "task-locality"}', 'seed 000, ATLAS Production Task Brokerage, 2'),
    ('doc', 'full-chain-task', 'row rule', 80, 'brokerage.rule_full_chain_task', '-full_chain', false, '{}', 'seed 000, Full-chain'),
    ('doc', 'task-weight-rw', 'weight', 90, 'brokerage.weight_remaining_work', null, false, '{"sees_assignments": true}', 'seed 000, ATLAS Production Task Brokerage, 3'),
    ('doc', 'task-weight-data', 'weight', 100, 'brokerage.weight_located_data', null, false, '{"if_holds": "task-locality"}', 'seed 000, ATLAS Production Task Brokerage, 3'),
    ('doc', 'task-weight-tape', 'weight', 110, 'brokerage.weight_tape', null, false, '{"if_holds": "task-locality"}', 'seed 000, ATLAS Production Task Brokerage, 3'),
    ('doc', 'task-weight-space', 'weight', 120, 'brokerage.weight_nucleus_space', null, false, '{}', 'seed 000, ATLAS Production Task Brokerage, 3'),
    ('doc', 'task-choice', 'choice', 130, null, null, false, '{"draw": true}', 'seed 000, ATLAS Production Task Brokerage, 3'),
    ('doc', 'task-pending', 'pending', 140, null, null, false, '{"wait": "30 minutes"}', 'seed 000, ATLAS Production Task Brokerage, 4'),
    ('doc', 'task-preset-nucleus', 'fact', 600, 'brokerage.facts_of_tasks', null, false, '{}', 'seed 000, ATLAS Production Task Brokerage'),
    ('doc', 'task-locality-disable', 'fact', 601, 'brokerage.may_be_elsewhere', null, false, '{}', 'seed 000, ATLAS Production Task Brokerage, 2'),
    ('doc', 'task-data-locality', 'fact', 602, 'brokerage.facts_of_nucleus_pairs', null, false, '{}', 'seed 000, ATLAS Production Task Brokerage, 2'),
    ('panda2026', 'task-input-scan', 'task rule', 5, 'brokerage.rule_task_input_scan', null, false, '{"status": "pending"}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'task-nucleus-initial', 'candidate', 10, 'brokerage.candidate_nucleus', null, false, '{"as": "task-nucleus-list", "satellites": true}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'task-nucleus-list', 'row rule', 20, 'brokerage.rule_nucleus_status', '-status', false, '{}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'transfer-backlog', 'row rule', 30, 'brokerage.rule_transfer_backlog', '-transfer_backlog', false, '{}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'nucleus-has-storage', 'row rule', 40, 'brokerage.rule_nucleus_has_storage_panda2026', '-match', false, '{}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'nucleus-wan', 'row rule', 45, 'brokerage.rule_nucleus_wan', null, false, '{}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'nucleus-space', 'row rule', 50, 'brokerage.rule_nucleus_space_panda2026', '-space', false, '{}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'task-job-check', 'row rule', 55, 'brokerage.rule_task_job_check', '-job', false, '{"last": "no-pilot", "without": ["link-blocked", "link-queue-cap", "nucleus-queue-cap", "nucleus-unwritable", "t1-weight", "full-chain-job", "transferring-limit"]}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'task-locality-size', 'set rule', 60, 'brokerage.rule_task_locality_size', '-insize', false, '{"group": "task-locality", "inclusive": true, "current_priority": true, "period": true}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'task-locality-num', 'set rule', 70, 'brokerage.rule_task_locality_num', '-innum', false, '{"group": "task-locality", "inclusive": true, "current_priority": true, "period": true}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'full-chain-task', 'row rule', 80, 'brokerage.rule_full_chain_task_panda2026', '-full_chain', false, '{}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'task-weight-rw', 'weight', 90, 'brokerage.weight_remaining_work', null, false, '{"sees_assignments": true, "little_counts_1": true}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'task-weight-data', 'weight', 100, 'brokerage.weight_located_data', null, false, '{"if_holds": "task-locality", "period": true}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'task-weight-tape', 'weight', 110, 'brokerage.weight_tape', null, false, '{"if_holds": "task-locality", "period": true}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'task-weight-space', 'weight', 120, 'brokerage.weight_nucleus_space_panda2026', null, false, '{}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'task-choice', 'choice', 130, null, null, false, '{"draw": true, "first_of_zeros": true}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'task-pending', 'pending', 140, null, null, false, '{"wait": "30 minutes"}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'task-preset-nucleus', 'fact', 600, 'brokerage.facts_of_tasks', null, false, '{}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'task-locality-disable', 'fact', 601, 'brokerage.may_be_elsewhere', null, false, '{}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'task-locality-period', 'fact', 602, 'brokerage.needs_no_local_input', null, false, '{}', 'code (brokerage-rules 1.1)'),
    ('panda2026', 'task-data-locality', 'fact', 603, 'brokerage.facts_of_nucleus_pairs', null, false, '{}', 'code (brokerage-rules 1.1)')
  ) k(profile, rule, kind, position, function, criteria, temporary, parameters, source)
  union all
  select 'analysis_job', l.* from (values
    ('doc', 'user-cap', 'task rule', 10, 'brokerage.rule_user_cap', null, false, '{"status": "throttled"}', 'seed 000, ATLAS Analysis Job Brokerage, 1'),
    ('doc', 'quota', 'task rule', 20, 'brokerage.rule_quota', null, false, '{"status": "throttled"}', 'seed 000, ATLAS Analysis Job Brokerage, 1'),
    ('doc', 'share-throttle', 'task rule', 30, 'brokerage.rule_share_throttle', null, false, '{"status": "throttled"}', 'seed 000, ATLAS Analysis Job Brokerage, 1'),
    ('doc', 'anal-initial', 'candidate', 40, 'brokerage.candidate_analysis', null, false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 2'),
    ('doc', 'include-exclude', 'row rule', 50, 'brokerage.rule_include_exclude', null, false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 2'),
    ('doc', 'queue-status', 'row rule', 60, 'brokerage.rule_queue_status', '-status', false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 3'),
    ('doc', 'anal-locality', 'row rule', 70, 'brokerage.rule_anal_locality', null, false, '{"may_be_suppressed": true}', 'seed 000, ATLAS Analysis Job Brokerage, 3'),
    ('doc', 'disk-io', 'row rule', 80, 'brokerage.rule_disk_io', '-diskIO', false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 3'),
    ('doc', 'core-count', 'row rule', 90, 'brokerage.rule_core_count', '-cpucore', false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 3'),
    ('doc', 'max-core-count', 'row rule', 100, 'brokerage.rule_max_core_count', '-max_cpucore', false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 3'),
    ('doc', 'avoid-vp', 'row rule', 110, 'brokerage.rule_avoid_vp', null, false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 3'),
    ('doc', 'software', 'row rule', 120, 'brokerage.rule_software', '-cache', false, '{}', 'seed 000, Release/cache Availability Check'),
    ('doc', 'memory', 'row rule', 130, 'brokerage.rule_memory', null, false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 3'),
    ('doc', 'scratch-disk', 'row rule', 140, 'brokerage.rule_scratch_disk_analysis', '-disk', false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 3'),
    ('doc', 'storage-space', 'row rule', 150, 'brokerage.rule_storage_space', '-disk', false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 3'),
    ('doc', 'storage-blacklist', 'row rule', 160, 'brokerage.rule_storage_blacklist_analysis', '-blacklist', false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 3'),
    ('doc', 'walltime', 'row rule', 170, 'brokerage.rule_walltime', null, false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 3'),
    ('doc', 'no-pilot', 'row rule', 180, 'brokerage.rule_no_pilot', '-nopilot', false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 3'),
    ('doc', 'failed-jobs', 'row rule', 190, 'brokerage.rule_failed_jobs', '-badsite', true, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 3'),
    ('doc', 'cap-rt', 'row rule', 200, 'brokerage.rule_cap_rt_analysis', '-cap_rt', true, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 3'),
    ('doc', 'stabilizer', 'row rule', 210, 'brokerage.rule_stabilizer', '-badsite', true, '{}', 'seed 000, Analysis Stabilizer'),
    ('doc', 'anal-loops', 'second pass', 220, 'brokerage.rule_anal_loops', null, false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 3'),
    ('doc', 'weight', 'weight', 230, 'brokerage.weight_analysis', null, false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 4'),
    ('doc', 'top-10', 'choice', 240, null, '-low_weight', false, '{"best": 10}', 'seed 000, ATLAS Analysis Job Brokerage, 5'),
    ('doc', 'queued-jobs', 'distribution', 250, 'brokerage.queued_jobs', null, false, '{}', 'brokerage-rules 1.3'),
    ('doc', 'running-jobs-cap', 'distribution', 260, 'brokerage.running_jobs_cap', null, false, '{}', 'brokerage-rules 1.3'),
    ('doc', 'job-chunk', 'distribution', 270, 'brokerage.job_chunk', null, false, '{}', 'brokerage-rules 1.3'),
    ('doc', 'anal-pending', 'pending', 280, null, null, false, '{"wait": "20 minutes"}', 'seed 000, ATLAS Analysis Job Brokerage, 5'),
    ('doc', 'catchall-lookup', 'fact', 600, 'resource.catchall', null, false, '{}', 'brokerage-rules 1.0'),
    ('doc', 'per-core-attr', 'fact', 601, 'resource.candidate_queue', null, false, '{}', 'brokerage-rules 1.0'),
    ('doc', 'ucore-expansion', 'fact', 602, 'resource.candidate_queue', null, false, '{}', 'brokerage-rules 1.0'),
    ('doc', 'direct-io-used', 'fact', 603, 'brokerage.reads_directly', null, false, '{}', 'seed 000, ATLAS Production Job Brokerage, 2'),
    ('doc', 'n-running-workers', 'fact', 604, 'brokerage.running_workers', null, false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 4'),
    ('doc', 'num-slots', 'fact', 605, 'brokerage.running_workers', null, false, '{}', 'seed 000, ATLAS Analysis Job Brokerage, 4'),
    ('panda2026', 'user-cap', 'task rule', 10, 'brokerage.rule_user_cap', null, false, '{"status": "throttled", "spares_merging": true}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'quota', 'task rule', 20, 'brokerage.rule_quota', null, false, '{"status": "throttled", "near_limit": true}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'share-throttle', 'task rule', 30, 'brokerage.rule_share_throttle_panda2026', null, false, '{"status": "throttled"}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'input-completeness', 'task rule', 40, 'brokerage.rule_input_completeness', null, false, '{"status": "failed"}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'anal-initial', 'candidate', 50, 'brokerage.candidate_analysis', null, false, '{"code": true}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'anal-locality', 'row rule', 60, 'brokerage.rule_anal_locality', null, false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'queue-status', 'row rule', 70, 'brokerage.rule_queue_status_analysis_panda2026', '-status', false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'zero-share', 'row rule', 80, 'brokerage.rule_zero_share', '-zeroshare', false, '{"spares_preassigned": true}', 'code (brokerage-rules 1.9)'),
    ('panda2026', 'disk-io', 'row rule', 90, 'brokerage.rule_disk_io', '-diskIO', false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'max-io-intensity', 'row rule', 100, 'brokerage.rule_max_io_intensity', '-max_io_intensity', false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'avoid-vp', 'row rule', 110, 'brokerage.rule_avoid_vp_panda2026', null, false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'core-count', 'row rule', 120, 'brokerage.rule_core_count', '-cpucore', false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'max-core-count', 'row rule', 130, 'brokerage.rule_max_core_count', '-max_cpucore', false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'gpu-queue', 'row rule', 140, 'brokerage.rule_gpu_queue', null, false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'closed-jobs', 'row rule', 150, 'brokerage.rule_closed_jobs', '-closed', false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'software', 'row rule', 160, 'brokerage.rule_software', '-cache', false, '{"as_prepared": true, "spares_preassigned": true}', 'code (brokerage-rules 1.8)'),
    ('panda2026', 'memory', 'row rule', 170, 'brokerage.rule_memory_panda2026', null, false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'direct-io-only', 'row rule', 180, 'brokerage.rule_direct_io_only', '-remoteio', false, '{"spares_merging": true}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'scratch-disk', 'row rule', 190, 'brokerage.rule_scratch_disk_analysis_panda2026', '-disk', false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'storage-space', 'row rule', 200, 'brokerage.rule_storage_space_analysis_panda2026', '-disk', false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'storage-blacklist', 'row rule', 210, 'brokerage.rule_storage_blacklist_analysis_panda2026', '-blacklist', false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'local-quota', 'row rule', 220, 'brokerage.rule_local_quota', '-local_quota', false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'walltime', 'row rule', 230, 'brokerage.rule_walltime_analysis_panda2026', null, false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'walltime-scout', 'row rule', 240, 'brokerage.rule_walltime_scout_analysis_panda2026', null, false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'no-pilot', 'row rule', 250, 'brokerage.rule_no_pilot', '-nopilot', false, '{"spares_test": true}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'include-exclude', 'set rule', 260, 'brokerage.rule_include_exclude', null, false, '{"limited_alone": true}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'cloud-mismatch', 'row rule', 270, 'brokerage.rule_cloud_mismatch', '-cloudmismatch', false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'preassigned', 'row rule', 280, 'brokerage.rule_preassigned', '-nonpreassigned', false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'hospital', 'set rule', 290, 'brokerage.rule_hospital', '-hospital', false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'overloaded', 'set rule', 300, 'brokerage.rule_overloaded', null, false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'overloaded-idle', 'row rule', 310, 'brokerage.rule_overloaded_idle', '-badsite', true, '{"as": "overloaded"}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'failed-jobs', 'row rule', 320, 'brokerage.rule_failed_jobs', '-badsite', true, '{"inclusive": true, "stabilized_alone": true, "spares_merging": true, "spares_absent": true}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'stabilizer', 'row rule', 330, 'brokerage.rule_stabilizer', '-badsite', true, '{"spares_merging": true, "spares_absent": true}', 'code (brokerage-rules 1.5)'),
    ('panda2026', 'anal-loops', 'second pass', 340, 'brokerage.rule_anal_loops_panda2026', null, false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'final-availability', 'row rule', 350, 'brokerage.rule_use_only_local_data', '-fileunavailable', false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'weight', 'weight', 360, 'brokerage.weight_room_panda2026', null, false, '{}', 'code (brokerage-rules 1.5)'),
    ('panda2026', 'weight-data', 'weight', 370, 'brokerage.weight_analysis_data', null, false, '{}', 'code (brokerage-rules 1.5)'),
    ('panda2026', 'min-weight', 'row rule', 375, 'brokerage.rule_min_weight', '-below_min_weight', false, '{"spares_preassigned": true}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'top-10', 'choice', 380, null, '-low_weight', false, '{"best": 10, "spares_distributed": true, "spares_preassigned": true}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'used-sites-first', 'distribution', 390, 'brokerage.value_used', null, false, '{}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'queued-jobs', 'distribution', 400, 'brokerage.queued_jobs_panda2026', null, false, '{}', 'code (brokerage-rules 1.3)'),
    ('panda2026', 'running-jobs-cap', 'distribution', 410, 'brokerage.running_jobs_cap_panda2026', null, false, '{}', 'code (brokerage-rules 1.3)'),
    ('panda2026', 'job-chunk', 'distribution', 420, 'brokerage.job_chunk', null, false, '{}', 'code (brokerage-rules 1.3)'),
    ('panda2026', 'anal-pending', 'pending', 430, null, null, false, '{"wait": "20 minutes"}', 'code (brokerage-rules 1.4)'),
    ('panda2026', 'catchall-lookup', 'fact', 600, 'resource.catchall', null, false, '{}', 'code (brokerage-rules 1.0)'),
    ('panda2026', 'per-core-attr', 'fact', 601, 'resource.candidate_queue', null, false, '{}', 'code (brokerage-rules 1.0)'),
    ('panda2026', 'ucore-expansion', 'fact', 602, 'resource.candidate_queue', null, false, '{}', 'code (brokerage-rules 1.0)'),
    ('panda2026', 'direct-io-used', 'fact', 603, 'brokerage.reads_directly', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'n-running-workers', 'fact', 604, 'brokerage.running_workers_panda2026', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'num-slots', 'fact', 605, 'brokerage.running_workers_panda2026', null, false, '{}', 'code (brokerage-rules 1.2)'),
    ('panda2026', 'temporary-problems', 'fact', 606, 'brokerage.compose', null, false, '{}', 'code (brokerage-rules 1.4)')
  ) l(profile, rule, kind, position, function, criteria, temporary, parameters, source)) v;

comment on view brokerage.shipped_rule is
'The rules of the profiles doc and panda2026. An organisation adds to them, or changes them, in brokerage.profile_rule; what holds is brokerage.rule_in_force.';
comment on column brokerage.shipped_rule.profile is 'Profile.';
comment on column brokerage.shipped_rule.algorithm is 'production_job, analysis_job or production_task.';
comment on column brokerage.shipped_rule.rule is 'Rule id, unique in profile and algorithm.';
comment on column brokerage.shipped_rule.position is 'Order within the algorithm; facts stand behind.';
comment on column brokerage.shipped_rule.kind is 'As in brokerage.profile_rule.';
comment on column brokerage.shipped_rule.function is
'Function of task facts, queue facts, pair facts, and the parameters where it takes them; of a choice the value that it goes by, null = the weight; of a fact where it is prepared.';
comment on column brokerage.shipped_rule.criteria is 'PanDA''s criteria tag; null = none, or the reason begins with it.';
comment on column brokerage.shipped_rule.temporary is 'The problem passes by itself: the rule marks a queue, later rules still see it.';
comment on column brokerage.shipped_rule.enabled is 'Whether the rule holds.';
comment on column brokerage.shipped_rule.parameters is 'Parameters that the function gets; of a choice: best, how many are kept.';
comment on column brokerage.shipped_rule.source is 'Where it comes from: seed and section, or PanDA''s code.';
-- file: brokerage/slot_cores.sql
-- brokerage-doc-profile, G7: a core count that is null or 0 counts 1. G9: a pseudo-queue's own.
create or replace function brokerage.slot_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns int
language sql stable parallel safe
as $$
  select greatest(coalesce(q.corecount, 1), 1)
$$;

comment on function brokerage.slot_cores(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Cores of a slot of the queue or pseudo-queue, at least 1.';
-- file: brokerage/software/accepts_attribute.sql
-- brokerage-doc-profile 4.2, Hardware, and brokerage-rules 1.8, JSON check 3. An empty value in a list takes any in doc (D-48); excl is no value there.
create or replace function brokerage.accepts_attribute(p_list jsonb, p_value text, p_is_pattern boolean, p_flavour text) returns boolean
language plpgsql stable
as $$
begin
  if p_value = '*' then
    return not coalesce(p_list ? 'excl', false);
  elsif p_list is null then
    return false;
  elsif p_list ? 'any' or p_flavour = 'doc' and p_list ? '' or p_list ? p_value and not (p_flavour = 'doc' and p_value = 'excl') then
    return true;
  elsif not p_is_pattern or p_value !~ '[^A-Za-z0-9_-]' or brokerage.pattern_problem(p_value) is not null then
    return false;
  end if;
  return exists (select from jsonb_array_elements_text(p_list) e(value)
                  where e.value ~ ('^(?:' || p_value || ')$') and not (p_flavour = 'doc' and e.value = 'excl'));
end $$;

comment on function brokerage.accepts_attribute(jsonb, text, boolean, text) is
'Whether a published list of an attribute takes the value that a task asks for (* = none; a regular expression or not). Flavour doc or panda2026.';
-- file: brokerage/software/anchored.sql
-- A text that only matches itself stays as it is, so that brokerage.fits compares it without a regular expression.
create or replace function brokerage.anchored(p_pattern text) returns text
language sql immutable parallel safe
as $$
  select case when p_pattern ~ '[^A-Za-z0-9_-]' then '^(?:' || p_pattern || ')$' else p_pattern end
$$;

comment on function brokerage.anchored(text) is
'A regular expression that matches whole texts; letters, digits, _ and - alone stay as they are. For brokerage.fits.';
-- file: brokerage/software/architecture_problem.sql
-- A text that cannot be read never stops a batch: its task leaves with this error before the rules run (architecture, A rule is a function).
-- What sw_platform implies as CPU is no error where it is cut out of a regular expression: it then only equals itself.
create or replace function brokerage.architecture_problem(p_architecture text) returns text
language plpgsql stable
as $$
declare
  v_json jsonb;
  v_platform text;
  v_cpu jsonb;
  v_problem text;
begin
  if length(p_architecture) > 1000 then
    return format('architecture has %s characters, more than 1000', length(p_architecture));
  elsif p_architecture is null or p_architecture !~ '[^A-Za-z0-9_.-]' then
    return null;
  end if;
  if ltrim(p_architecture, E' \t\r\n') like '{%' then
    v_json := brokerage.json_of(p_architecture);
    if v_json is null then
      return format('architecture is not JSON: %s', left(p_architecture, 100));
    end if;
    v_problem := brokerage.architecture_shape(v_json);
    if v_problem is not null then
      return 'architecture: ' || v_problem;
    end if;
    v_platform := v_json ->> 'sw_platform';
    v_cpu := nullif(v_json -> 'cpu_specs', 'null');
  else
    v_platform := substring(p_architecture from '^[^@#&]*');
    v_cpu := brokerage.cpu_requirement(nullif(substring(p_architecture from '#([^@&^]*)'), ''), 'doc');
  end if;
  v_problem := brokerage.pattern_problem(v_platform);
  if v_problem is not null then
    return format('architecture: sw_platform %s is %s', v_platform, v_problem);
  end if;
  return (select format('architecture: CPU architecture %s is %s', a.arch, brokerage.pattern_problem(a.arch))
            from (select s ->> 'arch' from jsonb_array_elements(v_cpu) s) a(arch)
           where a.arch <> '*' and brokerage.pattern_problem(a.arch) is not null
           limit 1);
end $$;

comment on function brokerage.architecture_problem(text) is
'Why the architecture of a task cannot be used: too long, not JSON, JSON of the wrong shape, or a regular expression that is none; null = it can.';
-- file: brokerage/software/architecture_shape.sql
-- The JSON form of an architecture (brokerage-rules 1.8): which value is not what it must be.
create or replace function brokerage.architecture_shape(p_json jsonb) returns text
language sql immutable parallel safe
as $$
  select format('%s is %s, not %s', v.key, v.value, v.wanted)
    from (select 'sw_platform' as key, p_json -> 'sw_platform' as value, array['string'] as kinds, 'a text' as wanted
          union all select 'base_platform', p_json -> 'base_platform', array['string'], 'a text'
          union all select 'cpu_specs', p_json -> 'cpu_specs', array['array'], 'a list of objects'
          union all select 'gpu_spec', p_json -> 'gpu_spec', array['object'], 'an object'
          union all select 'cpu_pref', p_json -> 'cpu_pref', array['object'], 'an object'
          union all select 'preferred_architecture_level', p_json #> '{cpu_pref,preferred_architecture_level}', array['string'], 'a text'
          union all select 'cpu_specs[' || s.number - 1 || ']', s.spec, array['object'], 'an object'
            from jsonb_array_elements(case when jsonb_typeof(p_json -> 'cpu_specs') = 'array' then p_json -> 'cpu_specs' else '[]' end) with ordinality s(spec, number)
          union all select k.key, s.spec -> k.key, array['string'], 'a text'
            from jsonb_array_elements(case when jsonb_typeof(p_json -> 'cpu_specs') = 'array' then p_json -> 'cpu_specs' else '[]' end) s(spec)
           cross join (values ('arch'), ('vendor'), ('instr')) k(key)
          union all select 'vendor', p_json #> '{gpu_spec,vendor}', array['string'], 'a text'
          union all select 'model', p_json #> '{gpu_spec,model}', array['string', 'object'], 'a text'
          union all select 'pattern', p_json #> '{gpu_spec,model,pattern}', array['string'], 'a text'
          union all select k.key, p_json -> 'gpu_spec' -> k.key, array['string', 'number'], 'a text'
            from (values ('vram'), ('version'), ('driver_version'), ('microarchitecture')) k(key)) v
   where jsonb_typeof(v.value) <> 'null' and jsonb_typeof(v.value) <> all (v.kinds)
   limit 1
$$;

comment on function brokerage.architecture_shape(jsonb) is
'Which value of an architecture in JSON has the wrong type; null = none.';
-- file: brokerage/software/attribute_problem.sql
create or replace function brokerage.attribute_problem(p_kind text, p_wanted jsonb, p_published jsonb, p_flavour text) returns text
language plpgsql stable
as $$
declare
  v_key text;
  v_value text;
  v_problems text[] := '{}'::text[];
begin
  for v_key in select jsonb_object_keys(case p_flavour when 'doc' then p_wanted || p_published else p_wanted end) order by 1 loop
    v_value := coalesce(p_wanted ->> v_key, '*');
    if not brokerage.accepts_attribute(p_published -> v_key, v_value, v_key = 'arch', p_flavour) then
      v_problems := v_problems || brokerage.attribute_text(p_kind || ' ' || v_key, v_value, p_published -> v_key);
    end if;
  end loop;
  return nullif(array_to_string(v_problems, ', '), '');
end $$;

comment on function brokerage.attribute_problem(text, jsonb, jsonb, text) is
'What of a requirement (attribute to value, * = not asked) the lists of one published dictionary do not take; null = nothing. Flavour doc or panda2026.';
-- file: brokerage/software/attribute_text.sql
create or replace function brokerage.attribute_text(p_attribute text, p_value text, p_list jsonb) returns text
language plpgsql stable
as $$
declare
  v_names text := array_to_string(array(select e.name from jsonb_array_elements_text(p_list) e(name) where e.name <> 'excl'), ', ');
begin
  return case when p_value = '*' then format('only tasks that ask for %s %s are accepted', p_attribute, v_names)
              when p_list is null then format('%s %s is wanted, none is published', p_attribute, p_value)
              else format('%s %s is not among %s', p_attribute, p_value, v_names) end;
end $$;

comment on function brokerage.attribute_text(text, text, jsonb) is
'In words that a published list does not take the value of an attribute that a task asks for (* = none).';
-- file: brokerage/software/class_key.sql
-- Tasks that are alike in some respect are decided once. A digest, because texts of tasks may be long, and are compared for each queue.
create or replace function brokerage.class_key(p_values jsonb) returns text
language sql stable parallel safe
as $$
  select encode(sha256(convert_to(p_values::text, 'UTF8')), 'hex')
$$;

comment on function brokerage.class_key(jsonb) is
'A key for a class of tasks, from the values that its tasks have in common (SHA-256, hexadecimal).';
-- file: brokerage/software/container_hits.sql
-- brokerage-doc-profile 4.2, Container (D-57: own tags count only with onlyTagsForFC); brokerage-rules 1.8, JSON check 6.
create or replace function brokerage.container_hits(p_setup text, p_containers text[], p_only_tags boolean[], p_flavour text)
returns table (container text, only_tags boolean, queue text)
language sql stable rows 1000
as $$
  with wanted as materialized (
    select distinct w.container, w.only_tags from unnest(p_containers, p_only_tags) w(container, only_tags) where w.container is not null
  ), in_tags as materialized (
    select array(select w.container from wanted w where w.only_tags or p_flavour <> 'doc') as containers
  ), by_tag as materialized (
    select t.container_name as container, t.queue
      from resource.software_tag t
     where t.setup = p_setup and t.container_name <> '' and t.container_name = any (array(select unnest(i.containers) from in_tags i))
    union
    select s.source, t.queue
      from resource.software_tag t
     cross join unnest(t.sources) s(source)
     where t.setup = p_setup and t.sources && array(select unnest(i.containers) from in_tags i)
  ), path as materialized (
    select w.container, w.container as path from wanted w where not w.only_tags
    union
    select w.container, s.source
      from wanted w
      join resource.software_tag t on t.setup = p_setup and t.queue = 'ALL' and t.container_name = w.container
     cross join unnest(t.sources) s(source)
     where not w.only_tags
  )
  select w.container, w.only_tags, t.queue from wanted w join by_tag t on t.container = w.container where w.only_tags or p_flavour <> 'doc'
  union
  select p.container, false, s.queue
    from path p
    join resource.software s on s.setup = p_setup
   where exists (select from unnest(s.containers) c(prefix) where starts_with(p.path, c.prefix))
$$;

comment on function brokerage.container_hits(text, text[], boolean[], text) is
'Queues whose tags hold a container, or whose containers are a prefix of it or of its sources (queue ALL). For containers with onlyTagsForFC or not; flavour doc or panda2026.';
-- file: brokerage/software/container_text.sql
create or replace function brokerage.container_text(p_container text, p_only_tags boolean, p_containers text[]) returns text
language sql stable parallel safe
as $$
  select case when p_only_tags then format('container %s is in no tag', p_container)
              else format('container %s is under none of %s', p_container, coalesce(nullif(array_to_string(p_containers, ', '), ''), 'no containers')) end
$$;

comment on function brokerage.container_text(text, boolean, text[]) is
'In words that a queue does not have a container: with onlyTagsForFC it is in no tag, else no container published is a prefix of it.';
-- file: brokerage/software/cpu_requirement.sql
-- brokerage-rules 1.8, Task architecture grammar: architecture[-vendor[-instructions]], alternatives joined by |. panda2026 takes one leading
-- and one trailing parenthesis away and cuts at every | and -; doc cuts outside of parentheses, so that (x86_64|aarch64)-intel means what it says.
create or replace function brokerage.cpu_requirement(p_text text, p_flavour text) returns jsonb
language plpgsql immutable parallel safe
as $$
declare
  v_text text := p_text;
  v_alternatives text[];
  v_parts text[];
  v_alternative text;
  v_result jsonb := '[]'::jsonb;
begin
  if p_text is null then
    return null;
  elsif p_flavour <> 'doc' then
    v_alternatives := string_to_array(regexp_replace(regexp_replace(v_text, '^\(', ''), '\)$', ''), '|');
  else
    if v_text like '(%)' and brokerage.split_outside(substr(v_text, 2, length(v_text) - 2), '|') is not null then
      v_text := substr(v_text, 2, length(v_text) - 2);
    end if;
    v_alternatives := coalesce(brokerage.split_outside(v_text, '|'), array[v_text]);
  end if;
  foreach v_alternative in array v_alternatives loop
    v_parts := coalesce(case when p_flavour = 'doc' then brokerage.split_outside(v_alternative, '-') end, string_to_array(v_alternative, '-'));
    v_result := v_result || jsonb_build_object(
      'arch', coalesce(nullif(v_parts[1], ''), '*'), 'vendor', coalesce(nullif(v_parts[2], ''), '*'), 'instr', coalesce(nullif(v_parts[3], ''), '*'));
  end loop;
  return v_result;
end $$;

comment on function brokerage.cpu_requirement(text, text) is
'The alternatives of a CPU requirement: an array of {arch, vendor, instr}, * where nothing is asked. Flavour doc or panda2026.';
-- file: brokerage/software/fits.sql
create or replace function brokerage.fits(p_text text, p_anchored text) returns boolean
language sql stable parallel safe
as $$
  select case when starts_with(p_anchored, '^(?:') then p_text ~ p_anchored else p_text = p_anchored end
$$;

comment on function brokerage.fits(text, text) is
'Whether a whole text matches a pattern that brokerage.anchored made; null where one of them is null.';
-- file: brokerage/software/gpu_problem.sql
-- brokerage-rules 1.8, JSON check 4: GPU requirements of panda2026 are compared with the GPUs that were seen on the worker nodes.
create or replace function brokerage.gpu_problem(p_setup text, p_queue text, p_gpu jsonb) returns text
language sql stable
as $$
  select case
    when w.vendor <> '*' and brokerage.pattern_problem(w.vendor) is not null then format('gpu vendor %s is %s', w.vendor, brokerage.pattern_problem(w.vendor))
    when w.model <> '*' and brokerage.pattern_problem(w.model) is not null then format('gpu model %s is %s', w.model, brokerage.pattern_problem(w.model))
    when w.vendor <> '*' and not s.has_vendor then format('no gpu of vendor %s was seen', w.vendor)
    when w.excluded and (s.has_model or s.seen = 0) then format('a gpu other than %s is wanted, %s', w.model, case s.seen when 0 then 'none was seen' else 'one was seen' end)
    when w.model <> '*' and not w.excluded and not s.has_model then format('no gpu of model %s was seen', w.model)
    when p_gpu ->> 'microarchitecture' is not null and not s.has_architecture then format('no gpu of microarchitecture %s was seen', p_gpu ->> 'microarchitecture')
    when p_gpu ->> 'vram' is not null and not s.has_vram then format('not all gpus seen have vram %s', p_gpu ->> 'vram')
    when p_gpu ->> 'version' is not null and not s.has_version then format('not all gpus seen have version %s', p_gpu ->> 'version')
    when p_gpu ->> 'driver_version' is not null and not s.has_driver then format('not all gpus seen have driver version %s', p_gpu ->> 'driver_version')
  end
    from (select coalesce(p_gpu ->> 'vendor', '*'),
                 coalesce(case when jsonb_typeof(p_gpu -> 'model') = 'object' then p_gpu #>> '{model,pattern}' else p_gpu ->> 'model' end, '*'),
                 jsonb_typeof(p_gpu -> 'model') = 'object' and p_gpu #> '{model,excl}' = 'true') w(vendor, model, excluded)
   cross join lateral (
         select count(*),
                coalesce(bool_or(case when w.vendor <> '*' and brokerage.pattern_problem(w.vendor) is null then g.vendor ~* ('^(?:' || w.vendor || ')') end), false),
                coalesce(bool_or(case when w.model <> '*' and brokerage.pattern_problem(w.model) is null then g.model ~* ('^(?:' || w.model || ')') end), false),
                coalesce(bool_or(g.architecture = p_gpu ->> 'microarchitecture'), false),
                coalesce(bool_and(brokerage.satisfies_version(trunc(g.vram)::text, p_gpu ->> 'vram')), false),
                coalesce(bool_and(brokerage.satisfies_version(g.framework_version, p_gpu ->> 'version')), false),
                coalesce(bool_and(brokerage.satisfies_version(g.driver_version, p_gpu ->> 'driver_version')), false)
           from resource.worker_gpu g
          where g.setup = p_setup and g.queue = p_queue) s(seen, has_vendor, has_model, has_architecture, has_vram, has_version, has_driver)
$$;

comment on function brokerage.gpu_problem(text, text, jsonb) is
'Why the GPUs seen on the worker nodes of a queue do not do for a GPU requirement; null = they do. Vendor and model are prefixes (regular expressions, any case).';
-- file: brokerage/software/gpu_requirement.sql
-- brokerage-rules 1.8: vendor[-model][:key<op>value ...]; unknown keys are ignored. doc looks at vendor and model alone.
create or replace function brokerage.gpu_requirement(p_text text) returns jsonb
language sql immutable parallel safe
as $$
  select jsonb_build_object('vendor', coalesce(nullif(split_part(f.fields[1], '-', 1), ''), '*'), 'model', coalesce(nullif(split_part(f.fields[1], '-', 2), ''), '*'))
         || coalesce((select jsonb_object_agg(
                               case m.part[1] when 'cuda' then 'version' when 'driver' then 'driver_version' when 'uarch' then 'microarchitecture' else m.part[1] end,
                               case when m.part[1] = 'model' and m.part[2] = '!=' then jsonb_build_object('pattern', m.part[3], 'excl', true)
                                    when m.part[1] in ('model', 'uarch') then to_jsonb(m.part[3])
                                    else to_jsonb(case m.part[2] when '=' then '==' else m.part[2] end || m.part[3]) end
                               order by a.number)
                        from unnest(f.fields[2:]) with ordinality a(field, number)
                       cross join regexp_match(a.field, '^(vram|cuda|driver|uarch|model)(>=|<=|!=|==|>|<|=)(.*)$') m(part)
                       where m.part is not null), '{}')
    from (select string_to_array(p_text, ':')) f(fields)
   where p_text is not null
$$;

comment on function brokerage.gpu_requirement(text) is
'A GPU requirement as an object: vendor, model (* where nothing is asked), and conditions on vram, version, driver_version, microarchitecture.';
-- file: brokerage/software/hardware_problem.sql
-- brokerage-doc-profile 4.2, Hardware; brokerage-rules 1.8, JSON check 1 to 4 (what of the GPU is measured: brokerage.gpu_problem).
create or replace function brokerage.hardware_problem(p_requirement jsonb, p_published jsonb, p_flavour text) returns text
language plpgsql stable
as $$
declare
  v_kind text;
  v_wanted jsonb;
  v_published jsonb;
  v_alternative jsonb;
  v_problem text;
  v_problems text[];
begin
  foreach v_kind in array array['cpu', 'gpu'] loop
    v_wanted := nullif(p_requirement -> v_kind, 'null');
    v_published := p_published -> v_kind;
    v_problems := '{}'::text[];
    if v_wanted is null and v_published is null or v_wanted is null and p_flavour <> 'doc' and not v_published @? '$.*[*] ? (@ == "excl")' then
      continue;
    elsif v_wanted is null and p_flavour <> 'doc' then
      return format('only tasks that ask for a %s are accepted', v_kind);
    elsif v_published is null then
      return format('%s %s is wanted, and no %s is published', v_kind, brokerage.requirement_text(v_wanted), v_kind);
    elsif v_wanted is not null and v_kind = 'cpu' and not v_published ? 'arch' then
      return format('cpu %s is wanted, and the cpu published has no arch', brokerage.requirement_text(v_wanted));
    elsif v_kind = 'gpu' and p_flavour <> 'doc' then
      continue;
    end if;
    for v_alternative in select * from jsonb_array_elements(case jsonb_typeof(v_wanted) when 'array' then v_wanted else jsonb_build_array(coalesce(v_wanted, '{}')) end) loop
      if v_kind = 'gpu' then
        v_alternative := jsonb_build_object('vendor', v_alternative -> 'vendor', 'model', case jsonb_typeof(v_alternative -> 'model') when 'string' then v_alternative ->> 'model' end);
      else
        v_alternative := jsonb_build_object('arch', v_alternative -> 'arch', 'vendor', v_alternative -> 'vendor', 'instr', v_alternative -> 'instr');
      end if;
      v_problem := brokerage.attribute_problem(v_kind, v_alternative, v_published, p_flavour);
      v_problems := v_problems || v_problem;
      exit when v_problem is null;
    end loop;
    if v_problem is not null then
      return array_to_string(v_problems, ' or ');
    end if;
  end loop;
  return null;
end $$;

comment on function brokerage.hardware_problem(jsonb, jsonb, text) is
'Why published hardware (brokerage.published_hardware) does not do for a requirement {cpu, gpu}; null = it does. Flavour doc or panda2026.';
-- file: brokerage/software/hardware_verdicts.sql
-- Queues share few dictionaries of hardware, and tasks few requirements: each pair of them is compared once.
create or replace function brokerage.hardware_verdicts(p_setup text, p_requirements jsonb[], p_flavour text)
returns table (requirement jsonb, queue text, problem text)
language sql stable rows 1000
as $$
  with software as materialized (
    select s.queue, coalesce(s.architectures, '[]') as architectures from resource.software s where s.setup = p_setup
  ), published as materialized (
    select a.architectures, h.hardware, dense_rank() over (order by h.hardware) as number
      from (select distinct s.architectures from software s) a cross join lateral (select brokerage.published_hardware(a.architectures) offset 0) h(hardware)
  ), verdict as materialized (
    select r.requirement, h.number, brokerage.hardware_problem(r.requirement, h.hardware, p_flavour) as problem
      from (select distinct u.requirement from unnest(p_requirements) u(requirement)) r
     cross join (select distinct on (p.number) p.number, p.hardware from published p) h
  ), judged as materialized (
    select v.requirement, s.queue,
           case when v.problem is null and p_flavour <> 'doc' and jsonb_typeof(v.requirement -> 'gpu') = 'object'
                then brokerage.gpu_problem(p_setup, s.queue, v.requirement -> 'gpu') else v.problem end as problem
      from verdict v
      join published p on p.number = v.number
      join software s on s.architectures = p.architectures
  )
  select j.requirement, j.queue, j.problem from judged j where j.problem is not null
$$;

comment on function brokerage.hardware_verdicts(text, jsonb[], text) is
'Requirements {cpu, gpu} and the queues whose published hardware does not do for them, with the reason. Flavour doc or panda2026.';
-- file: brokerage/software/json_of.sql
-- Not parallel safe: the handler is a subtransaction (IS JSON needs PostgreSQL 16).
create or replace function brokerage.json_of(p_text text) returns jsonb
language plpgsql stable
as $$
begin
  return p_text::jsonb;
exception when data_exception or program_limit_exceeded or statement_too_complex then
  return null;
end $$;

comment on function brokerage.json_of(text) is
'A text as JSON; null where it is none, or holds what jsonb cannot.';
-- file: brokerage/software/pattern_problem.sql
-- Regular expressions come from tasks and sites: what PostgreSQL cannot read is refused before it is used, and so is what takes long to
-- compile. Measured: '.*' 490 times 3.9 s, ((.*) 20 times){1,50} 6.8 s; within the limits below 7 ms. No back-references: they are matched by search.
-- Not parallel safe: the handler is a subtransaction.
create or replace function brokerage.pattern_problem(p_pattern text) returns text
language plpgsql stable
as $$
declare
  v_repeats numeric;
  v_quantifiers int;
begin
  if p_pattern is null or p_pattern !~ '[^A-Za-z0-9_.-]' then
    return null;
  end if;
  if length(p_pattern) > 1000 then
    return 'longer than 1000 characters';
  end if;
  if p_pattern ~ '\\[0-9]' then
    return 'written with back-references';
  end if;
  v_quantifiers := length(regexp_replace(p_pattern, '[^*+?{]', '', 'g'));
  select coalesce(exp(sum(ln(greatest(m[1]::numeric, 1)))), 1) into v_repeats from regexp_matches(p_pattern, '(\d{1,4})\d*\}', 'g') m;
  if v_quantifiers > 100 or v_repeats > 1000 or v_quantifiers * v_repeats > 300 or length(p_pattern) * v_repeats > 10000 then
    return 'too complex';
  end if;
  begin
    perform '' ~ p_pattern, '' ~ ('^(?:' || p_pattern || ')$');
  exception when invalid_regular_expression or program_limit_exceeded or statement_too_complex then
    return 'not a regular expression';
  end;
  return null;
end $$;

comment on function brokerage.pattern_problem(text) is
'Why a regular expression is not used: longer than 1,000 characters, too complex, with a back-reference, or not valid; null = it is.';
-- file: brokerage/software/platform_level.sql
create or replace function brokerage.platform_level(p_architecture text) returns text
language sql stable
as $$
  select case when ltrim(p_architecture, E' \t\r\n') like '{%' then brokerage.read_architecture(p_architecture, 'panda2026') ->> 'level' end
$$;

comment on function brokerage.platform_level(text) is
'The architecture level that a task prefers: cpu_pref.preferred_architecture_level of an architecture in JSON; null = none, or it cannot be read.';
-- file: brokerage/software/published_hardware.sql
-- Seed 000: dictionaries of type cpu and gpu, whose attributes are lists of texts. The last of a type counts; one text stands for a list of it.
create or replace function brokerage.published_hardware(p_architectures jsonb) returns jsonb
language sql immutable parallel safe
as $$
  select coalesce(jsonb_object_agg(d.dictionary ->> 'type', l.lists order by d.number), '{}')
    from jsonb_array_elements(case when jsonb_typeof(p_architectures) = 'array' then p_architectures else '[]' end) with ordinality d(dictionary, number)
   cross join lateral (
         select coalesce(jsonb_object_agg(a.key, case when jsonb_typeof(a.value) = 'array' then a.value else jsonb_build_array(a.value) end), '{}')
           from jsonb_each(case when jsonb_typeof(d.dictionary) = 'object' then d.dictionary else '{}' end) a
          where a.key <> 'type' and jsonb_typeof(a.value) in ('array', 'string')) l(lists)
   where jsonb_typeof(d.dictionary -> 'type') = 'string'
$$;

comment on function brokerage.published_hardware(jsonb) is
'The hardware that a queue publishes: an object of type (cpu, gpu) to attribute to list of values.';
-- file: brokerage/software/read_architecture.sql
-- brokerage-rules 1.8 and brokerage-doc-profile 4.2. Without # the CPU is implied: doc takes the first part of sw_platform, panda2026 of the
-- whole text. JSON implies none.
create or replace function brokerage.read_architecture(p_architecture text, p_flavour text) returns jsonb
language plpgsql stable
as $$
declare
  v_problem text := brokerage.architecture_problem(p_architecture);
  v_json jsonb;
  v_platform text;
  v_cpu text;
  v_gpu text := nullif(substring(p_architecture from '&([^@#^]*)'), '');
begin
  if v_problem is not null or p_architecture is null then
    return jsonb_build_object('problem', v_problem);
  end if;
  if ltrim(p_architecture, E' \t\r\n') like '{%' then
    v_json := p_architecture::jsonb;
    return jsonb_build_object(
      'sw_platform', coalesce(v_json ->> 'sw_platform', ''),
      'base_platform', nullif(v_json ->> 'base_platform', ''),
      'cpu', (select jsonb_agg('{"arch": "*", "vendor": "*", "instr": "*"}' || jsonb_strip_nulls(s))
                from jsonb_array_elements(case when jsonb_typeof(v_json -> 'cpu_specs') = 'array' then v_json -> 'cpu_specs' else '[]' end) s),
      'gpu', case when jsonb_typeof(v_json -> 'gpu_spec') = 'object' then '{"vendor": "*", "model": "*"}' || jsonb_strip_nulls(v_json -> 'gpu_spec') end,
      'level', v_json #>> '{cpu_pref,preferred_architecture_level}');
  end if;
  v_platform := substring(p_architecture from '^[^@#&]*');
  v_cpu := case when p_architecture like '%#%' then substring(p_architecture from '#([^@&^]*)')
                when p_flavour = 'doc' then split_part(v_platform, '-', 1)
                when p_architecture !~ '^[@&^]' then split_part(p_architecture, '-', 1) end;
  return jsonb_build_object(
    'sw_platform', v_platform,
    'base_platform', nullif(substring(p_architecture from '@([^#&]*)'), ''),
    'cpu', case when v_cpu = '' then null
                when p_architecture like '%#%' then brokerage.cpu_requirement(v_cpu, p_flavour)
                when v_cpu is not null then jsonb_build_array(jsonb_build_object('arch', v_cpu, 'vendor', '*', 'instr', '*')) end,
    'gpu', brokerage.gpu_requirement(case when p_flavour = 'doc' then split_part(v_gpu, ':', 1) else v_gpu end));
end $$;

comment on function brokerage.read_architecture(text, text) is
'An architecture as an object: sw_platform, base_platform, cpu (alternatives {arch, vendor, instr}), gpu, level (preferred), or problem. Flavour doc or panda2026.';
-- file: brokerage/software/release_hits.sql
-- The tags of a release are few among thousands: looked up by index, one pair of project and version at a time.
create or replace function brokerage.release_hits(p_setup text, p_projects text[], p_versions text[], p_platforms text[])
returns setof text
language sql stable rows 300
as $$
  select distinct t.queue
    from unnest(p_projects, p_versions) r(project, version)
   cross join lateral (select s.queue, s.cmtconfig from resource.software_tag s
                        where s.setup = p_setup and s.project = r.project and s.release = r.version offset 0) t
   where t.cmtconfig = any (p_platforms)
$$;

comment on function brokerage.release_hits(text, text[], text[], text[]) is
'Queues that have a tag of one of the releases (projects and versions pairwise) for one of the platforms.';
-- file: brokerage/software/release_of.sql
-- brokerage-rules 1.8, cvmfs_tag. What the program that is copied fails on (an analysis transHome without a second field) is read as in production.
create or replace function brokerage.release_of(p_trans_home text, p_trans_uses text, p_analysis boolean) returns jsonb
language sql immutable parallel safe
as $$
  select case
    when h.home is null then null
    when p_analysis and h.rest <> '' and not h.three and h.home <> 'AnalysisTransforms' and h.home !~ 'rel_\d+(\n|$)'
         and h.rest !~ '\d{4}-\d{2}-\d{2}T\d{4}$' and h.rest like '%-%'
      then jsonb_build_object('tag', 'atlas', 'projects', array[split_part(h.rest, '-', 1)], 'versions', array[split_part(h.rest, '-', 2)])
    when p_analysis and (h.rest = '' and p_trans_uses <> '' or h.three and coalesce(p_trans_uses, '') !~ '-\d+\.\d+$')
      then jsonb_build_object('tag', 'atlas',
             'projects', case when p_trans_uses <> '' then array['AtlasOffline'] else '{}' end || case when h.rest ~ '^[^-]*-[^-]*$' then array[split_part(h.rest, '-', 1)] else '{}' end,
             'versions', case when p_trans_uses <> '' then array[regexp_replace(p_trans_uses, '^.*-', '')] else '{}' end
                         || case when h.rest ~ '^[^-]*-[^-]*$' then array[split_part(h.rest, '-', 2)] else '{}' end)
    when p_analysis and (h.three or h.rest = '' or h.rest like '%-%' or h.home ~ 'rel_\d+(\n|$)' or h.rest ~ '\d{4}-\d{2}-\d{2}T\d{4}$')
      then '{"tag": "nightlies", "projects": [], "versions": [], "cvmfs_required": true}'
    when h.home ~ '-\d+\.\d+\.\d+$' or h.home !~ 'rel_\d+(\n|$)' and h.home !~ '\d{4}-\d{2}-\d{2}T\d{4}$'
      then jsonb_build_object('tag', 'atlas', 'projects', array[split_part(h.home, '-', 1)], 'versions', array[nullif(split_part(h.home, '-', 2), '')])
    else '{"tag": "nightlies", "projects": [], "versions": []}' end
    from (select nullif(p_trans_home, ''), translate(regexp_replace(p_trans_home, '^[^-]*-*', ''), '_', '-'),
                 translate(regexp_replace(p_trans_home, '^[^-]*-*', ''), '_', '-') ~ '-\d+\.\d+\.\d+$') h(home, rest, three)
$$;

comment on function brokerage.release_of(text, text, boolean) is
'The release in transHome and transUses: tag (atlas or nightlies), projects and versions (either pair will do), cvmfs_required; null = no release. Analysis or production.';
-- file: brokerage/software/release_text.sql
create or replace function brokerage.release_text(p_tag text, p_projects text[], p_versions text[], p_platform text, p_base_platform text, p_cvmfs text[], p_containers text[])
returns text
language sql stable parallel safe
as $$
  select concat_ws(', ',
    case when p_cvmfs && array['any', p_tag]
         then format('%s is not among the cmtconfigs and the containers have neither any nor /cvmfs', coalesce(nullif(p_platform, ''), 'no platform'))
         else format('cvmfs %s is not among %s', p_tag, coalesce(nullif(array_to_string(p_cvmfs, ', '), ''), 'none')) end,
    case when cardinality(p_projects) = 0 then null
         when p_base_platform is not null and not coalesce('any' = any (p_containers), false) then format('base platform %s needs any among the containers', p_base_platform)
         else (select format('no tag %s for %s', string_agg(concat_ws(' ', r.project, r.version), ' or '), coalesce(nullif(p_platform, ''), 'no platform'))
                 from unnest(p_projects, p_versions) r(project, version)) end)
$$;

comment on function brokerage.release_text(text, text[], text[], text, text, text[], text[]) is
'In words why a queue does not have a release: cvmfs tag, projects, versions, platform and base platform wanted, cvmfs and containers published.';
-- file: brokerage/software/requirement_text.sql
create or replace function brokerage.requirement_text(p_requirement jsonb) returns text
language sql immutable parallel safe
as $$
  select case jsonb_typeof(p_requirement)
    when 'array' then (select string_agg(concat_ws('-', s ->> 'arch', nullif(s ->> 'vendor', '*'), nullif(s ->> 'instr', '*')), ' or ' order by n)
                         from jsonb_array_elements(p_requirement) with ordinality a(s, n))
    else (select string_agg(format('%s %s', v.key, v.value), ', ' order by v.key) from jsonb_each_text(p_requirement) v)
  end
$$;

comment on function brokerage.requirement_text(jsonb) is
'A CPU requirement (alternatives) or a GPU requirement (attributes) in words, for reasons.';
-- file: brokerage/software/satisfies_version.sql
-- brokerage-rules 1.8, JSON check 4: the comparator does not know !=, which therefore always fails.
create or replace function brokerage.satisfies_version(p_version text, p_condition text) returns boolean
language sql immutable parallel safe
as $$
  select coalesce(case c.part[1] when '==' then v.given = v.wanted when '>=' then v.given >= v.wanted when '<=' then v.given <= v.wanted
                                 when '>' then v.given > v.wanted when '<' then v.given < v.wanted end, false)
    from (select regexp_match(p_condition, '^([=><]+) *(\d{1,18}(?:\.\d{1,18})*) *$')) c(part)
   cross join lateral (
         select case when p_version ~ '^\d{1,18}(\.\d{1,18})*$' then string_to_array(regexp_replace(p_version, '(\.0+)+$', ''), '.')::bigint[] end,
                string_to_array(regexp_replace(c.part[2], '(\.0+)+$', ''), '.')::bigint[]) v(given, wanted)
$$;

comment on function brokerage.satisfies_version(text, text) is
'Whether a version such as 12.4 meets a condition such as >=12.0, part by part; false where one of them cannot be read. Operators ==, >=, <=, >, <.';
-- file: brokerage/software/software_key.sql
-- No task needs nothing: a queue may accept only who asks for its hardware (excl).
create or replace function brokerage.software_key(t workload.task) returns text
language sql stable parallel safe
as $$
  select brokerage.class_key(jsonb_build_array(
    t.architecture, nullif(t.trans_home, ''), nullif(t.trans_uses, ''), nullif(t.container_name, ''), coalesce(t.only_tags_for_fc, false), coalesce(t.label in ('user', 'panda'), false)))
$$;

comment on function brokerage.software_key(workload.task) is
'What a task needs of software and hardware, as a key: architecture, transHome, transUses, container, onlyTagsForFC, and whether it is analysis (label user or panda).';
-- file: brokerage/software/software_needs.sql
-- The distinct needs of tasks, read once each. Platforms: sw_platform itself, and all published ones that it matches as a regular expression.
create or replace function brokerage.software_needs(p_setup text, p_task_ids bigint[], p_flavour text, p_analysis boolean)
returns table (software_key text, problem text, sw_platform text, platform_is_pattern boolean, platforms text[], base_platform text, requirement jsonb,
               container text, only_tags boolean, analysis boolean, tag text, projects text[], versions text[], cvmfs_required boolean)
language sql stable rows 100
as $$
  with need as materialized (
    select distinct on (n.software_key) n.software_key, n.architecture, nullif(n.trans_home, '') as trans_home, n.trans_uses,
           nullif(n.container_name, '') as container, coalesce(n.only_tags_for_fc, false) as only_tags, n.analysis
      from (select brokerage.software_key(t) as software_key, coalesce(p_analysis, t.label in ('user', 'panda'), false) as analysis, t.*
              from workload.task t where t.setup = p_setup and t.task_id = any (p_task_ids)) n
  ), parsed as materialized (
    select n.*, a.architecture as parsed, brokerage.release_of(n.trans_home, n.trans_uses, n.analysis) as release
      from need n
     cross join lateral (select brokerage.read_architecture(n.architecture, p_flavour) offset 0) a(architecture)
     where n.analysis or n.trans_home is not null or p_flavour = 'doc' and n.container is not null
  ), pattern as materialized (
    select distinct p.parsed ->> 'sw_platform' as sw_platform, brokerage.anchored(p.parsed ->> 'sw_platform') as pattern
      from parsed p where brokerage.anchored(p.parsed ->> 'sw_platform') like '^(?:%'
  ), published as materialized (
    select distinct c.cmtconfig from resource.software s cross join unnest(s.cmtconfigs) c(cmtconfig) where s.setup = p_setup and exists (select from pattern)
    union
    select t.cmtconfig
      from (select distinct r.project, r.version from parsed p
             cross join lateral jsonb_to_record(p.release) x(projects text[], versions text[])
             cross join unnest(x.projects, x.versions) r(project, version)
             where brokerage.anchored(p.parsed ->> 'sw_platform') like '^(?:%') r
     cross join lateral (select s.cmtconfig from resource.software_tag s
                          where s.setup = p_setup and s.project = r.project and s.release = r.version offset 0) t
  ), matched as materialized (
    select p.sw_platform, p.pattern, array(select c.cmtconfig from published c where brokerage.fits(c.cmtconfig, p.pattern)) as platforms from pattern p
  )
  select p.software_key, p.parsed ->> 'problem', p.parsed ->> 'sw_platform', coalesce(not brokerage.fits(m.sw_platform, m.pattern), false),
         (p.parsed ->> 'sw_platform') || coalesce(m.platforms, '{}'), p.parsed ->> 'base_platform',
         jsonb_build_object('cpu', p.parsed -> 'cpu', 'gpu', p.parsed -> 'gpu'),
         p.container, p.only_tags, p.analysis, r.tag, r.projects, r.versions, coalesce(r.cvmfs_required, false)
    from parsed p
    left join matched m on m.sw_platform = p.parsed ->> 'sw_platform'
   cross join lateral jsonb_to_record(coalesce(p.release, '{}')) r(tag text, projects text[], versions text[], cvmfs_required boolean)
$$;

comment on function brokerage.software_needs(text, bigint[], text, boolean) is
'What tasks need of software and hardware, one row for each distinct need. Production tasks need none without transHome (doc: nor container). Flavour doc or panda2026; analysis or production, null = as the label of each task says.';
-- file: brokerage/software/software_problems.sql
-- Seed 000, Release/cache Availability Check. Each distinct need is compared with each queue once. ANY, and queues that publish nothing, are
-- the rule's own matter in doc; in panda2026 they are part of the verdict. What holds for a need is looked up in objects by queue: joins of a row
-- for each need and queue became nested loops of 16 million rows where the tables had no statistics yet (6.5 s; now 0.3 s).
create or replace function brokerage.software_problems(p_setup text, p_task_ids bigint[], p_flavour text, p_analysis boolean default null)
returns table (software_key text, queue text, problem text)
language sql stable rows 5000
as $$
  with need as materialized (
    select n.* from brokerage.software_needs(p_setup, p_task_ids, p_flavour, p_analysis) n
  ), hardware as materialized (
    select v.requirement, jsonb_object_agg(v.queue, v.problem) as problems
      from brokerage.hardware_verdicts(p_setup, (select array_agg(distinct n.requirement) from need n), p_flavour) v
     group by v.requirement
  ), container as materialized (
    select h.container, h.only_tags, jsonb_object_agg(h.queue, true) as queues
      from brokerage.container_hits(p_setup, (select array_agg(n.container order by n.software_key) from need n),
                                    (select array_agg(n.only_tags order by n.software_key) from need n), p_flavour) h
     group by h.container, h.only_tags
  ), asked as materialized (
    select n.*, h.problems, coalesce(c.queues, '{}') as contained, r.queues as released
      from need n
      left join hardware h on h.requirement = n.requirement
      left join container c on c.container = n.container and c.only_tags = n.only_tags
     cross join lateral (
           select coalesce(jsonb_object_agg(h.queue, true), '{}')
             from brokerage.release_hits(p_setup, n.projects, n.versions, case p_flavour when 'doc' then n.platforms else array[n.sw_platform] end) h(queue)
            where n.container is null) r(queues)
  ), verdict as materialized (
    select n.software_key, s.queue,
           case when n.problem is not null then n.problem
                when p_flavour <> 'doc' and (s.releases <> '{AUTO}' or not s.is_published)
                  then brokerage.unpublished_problem(s.releases, n.requirement, n.container, n.only_tags and not n.analysis)
                when n.problems ? s.queue then n.problems ->> s.queue
                when n.container is not null and not (s.takes_any_container and not n.only_tags or n.contained ? s.queue)
                  then brokerage.container_text(n.container, n.only_tags, s.containers)
                when n.container is null and n.tag is not null and p_flavour = 'doc'
                     and not (s.cvmfs && array['any', n.tag] and (s.takes_any_container or s.cmtconfigs && n.platforms)
                              or ('any' = any (s.containers) or n.base_platform is null) and n.released ? s.queue)
                  then brokerage.release_text(n.tag, n.projects, n.versions, n.sw_platform, n.base_platform, s.cvmfs, s.containers)
                when n.container is null and n.tag is not null and p_flavour <> 'doc'
                     and not case when s.cvmfs && array['any', n.tag]
                                    then s.takes_any_container or (n.analysis or n.base_platform is null) and coalesce(n.sw_platform = any (s.cmtconfigs), false)
                                  else not n.cvmfs_required and (n.analysis or n.base_platform is null or 'any' = any (s.containers)) and n.released ? s.queue end
                  then brokerage.release_text(n.tag, n.projects, n.versions, n.sw_platform, case when not n.analysis then n.base_platform end, s.cvmfs, s.containers)
                when n.platform_is_pattern and not s.cmtconfigs && n.platforms
                  then format('-regexpcmtconfig: %s matches none of the %s cmtconfigs', n.sw_platform, cardinality(s.cmtconfigs))
           end as problem
      from asked n
     cross join brokerage.software_sites(p_setup) s
     where p_flavour <> 'doc' or 'AUTO' = any (s.releases) and s.is_published
  )
  select v.software_key, v.queue, v.problem from verdict v where v.problem is not null
$$;

comment on function brokerage.software_problems(text, bigint[], text, boolean) is
'Why the software or hardware of a queue does not do, for each distinct need of the tasks (brokerage.software_key) and queue where it does not.'
' doc: only queues with AUTO that publish are looked at; panda2026: all queues. A reason may begin with a criteria tag.'
' Analysis or production; null = as the label of each task says (user and panda are analysis).';
-- file: brokerage/software/software_sites.sql
create or replace function brokerage.software_sites(p_setup text)
returns table (queue text, releases text[], is_published boolean, cmtconfigs text[], containers text[], cvmfs text[], takes_any_container boolean)
language sql stable rows 300
as $$
  select q.queue, coalesce(q.releases, '{}'), s.queue is not null, coalesce(s.cmtconfigs, '{}'), coalesce(s.containers, '{}'), coalesce(s.cvmfs, '{}'),
         coalesce(s.containers && '{any,/cvmfs}', false)
    from resource.queue q
    left join resource.software s on s.setup = q.setup and s.queue = q.queue
   where q.setup = p_setup
$$;

comment on function brokerage.software_sites(text) is
'The queues of a setup with the software that they publish, empty lists where they publish none.';
-- file: brokerage/software/split_outside.sql
-- Alternatives and parts of a CPU requirement, where the architecture may be a regular expression such as (x86_64|aarch64).
create or replace function brokerage.split_outside(p_text text, p_separator text) returns text[]
language plpgsql immutable parallel safe
as $$
declare
  v_parts text[] := '{}'::text[];
  v_part text := '';
  v_letter text;
  v_depth int := 0;
begin
  foreach v_letter in array string_to_array(p_text, null) loop
    v_depth := v_depth + case when v_letter in ('(', '[') then 1 when v_letter in (')', ']') then -1 else 0 end;
    if v_depth < 0 then
      return null;
    elsif v_depth = 0 and v_letter = p_separator then
      v_parts := v_parts || v_part;
      v_part := '';
    else
      v_part := v_part || v_letter;
    end if;
  end loop;
  return v_parts || v_part;
end $$;

comment on function brokerage.split_outside(text, text) is
'A text cut at a letter where no parenthesis or bracket is open; null where more are closed than opened.';
-- file: brokerage/software/unpublished_problem.sql
-- brokerage-rules 1.8, Applicability: where nothing published is compared, only ANY by itself will do, and only for tasks that ask for no hardware (D-47).
create or replace function brokerage.unpublished_problem(p_releases text[], p_requirement jsonb, p_container text, p_only_tags boolean) returns text
language sql stable parallel safe
as $$
  select case
    when p_releases = '{AUTO}' then 'AUTO is its releases, and it publishes no software'
    when p_releases <> '{ANY}' then format('its releases are %s, neither ANY nor AUTO alone', coalesce(nullif(array_to_string(p_releases, ', '), ''), 'empty'))
    when jsonb_typeof(p_requirement -> 'cpu') = 'array' then format('its releases are ANY, and cpu %s is wanted', brokerage.requirement_text(p_requirement -> 'cpu'))
    when jsonb_typeof(p_requirement -> 'gpu') = 'object' then format('its releases are ANY, and gpu %s is wanted', brokerage.requirement_text(p_requirement -> 'gpu'))
    when p_container is not null and p_only_tags then format('its releases are ANY, and container %s must be in a tag', p_container)
  end
$$;

comment on function brokerage.unpublished_problem(text[], jsonb, text, boolean) is
'Why a queue whose published software is not compared does not do, in panda2026: releases, the requirement {cpu, gpu}, container, onlyTagsForFC; null = it does.';
-- file: brokerage/throughput_weight.sql
-- brokerage-doc-profile 4.3, throughputWeight: the latest throughput, else closeness, 7.7 where that is not known. panda2026: 1.6 over 50 MB/s (D-50).
create or replace function brokerage.throughput_weight(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_over_50 float8) returns float8
language sql stable parallel safe
as $$
  select case
    when p.mbps > 200 then 2.0
    when p.mbps > 100 then 1.9
    when p.mbps > 75 then 1.8
    when p.mbps > 50 then p_over_50
    when p.mbps > 20 then 1.5
    when p.mbps > 10 then 1.3
    when p.mbps > 2 then 1.2
    when p.mbps > 1 then 1.1
    when p.mbps is not null then 1.0
    else 1 + (11 - coalesce(p.closeness, 7.7)) / 11
  end
$$;

comment on function brokerage.throughput_weight(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, float8) is
'throughputWeight of the link from the queue to the task''s nucleus; the last argument is its value above 50 MB/s.';
-- file: brokerage/type_waiting.sql
-- brokerage-rules 1.2, cap-rt: jobs of the resource types that the task has at the queue.
create or replace function brokerage.type_waiting(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns bigint
language sql stable parallel safe
as $$
  select p.type_defined + p.type_activated + p.type_starting + case when p.input_is_local is true then 0 else p.type_assigned end
$$;

comment on function brokerage.type_waiting(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Jobs of the share and the task''s resource types that wait at the queue; null = no statistics of them.';
-- file: brokerage/user_queue_limit.sql
-- Seed 000, Analysis Stabilizer, max_q_len: products before quotients, so that whole numbers come out whole (G5).
create or replace function brokerage.user_queue_limit(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns numeric
language sql stable parallel safe
as $$
  select greatest(
    t.base_default_queue_length_per_pq_user::numeric,
    t.base_queue_ratio_on_pq::numeric * p.users_running,
    brokerage.queue_length_limit(t, q, p) * coalesce(p.user_running, 0) / nullif(p.users_running, 0),
    brokerage.queue_length_limit(t, q, p) / greatest(p.users, 1))
$$;

comment on function brokerage.user_queue_limit(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'max_q_len: jobs that the user of the task may have queued there.';
-- file: brokerage/user_room.sql
-- brokerage-rules 1.5, rem.
create or replace function brokerage.user_room(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select greatest(brokerage.user_queue_limit(t, q, p) - coalesce(p.user_queued, 0), 0)::float8
$$;

comment on function brokerage.user_room(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Jobs that the user of the task may still queue there.';
-- file: brokerage/waiting_assigned.sql
-- seed 000, 3: assigned jobs wait for data; they do not count where all of the input is local.
create or replace function brokerage.waiting_assigned(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns bigint
language sql stable parallel safe
as $$
  select case when p.input_is_local is true then 0 else coalesce(p.assigned, 0) end
$$;

comment on function brokerage.waiting_assigned(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Assigned jobs of the share at the queue, as far as they count for the task.';
-- file: brokerage/waiting_panda2026.sql
-- brokerage-rules 1.2, cap: defined jobs are not counted, assigned ones where data must move (D-27).
create or replace function brokerage.waiting_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns bigint
language sql stable parallel safe
as $$
  select coalesce(p.activated, 0) + coalesce(p.starting, 0) + brokerage.waiting_assigned(t, q, p)
$$;

comment on function brokerage.waiting_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Jobs of the share that wait at the queue, as PanDA''s cap counts them.';
-- file: brokerage/walltime_bound_panda2026.sql
-- brokerage-rules 1.2, walltime: truncated, and in the order of the code, as its rounding decides.
create or replace function brokerage.walltime_bound_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_limit float8) returns float8
language sql stable parallel safe
as $$
  select case
    when t.cpu_time_is_hs06
    then trunc((p_limit - coalesce(t.base_walltime, 0)) * brokerage.slot_cores(t, q, p) * coalesce(nullif(q.corepower, 0), 10) * coalesce(t.cpu_efficiency, 90) / 100)
    else p_limit * brokerage.slot_cores(t, q, p)
  end
$$;

comment on function brokerage.walltime_bound_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, float8) is
'What a walltime limit of the queue (s) lets a job take: HS06 s, or s times cores where the task is not measured in HS06.';
-- file: brokerage/walltime_events.sql
-- brokerage-doc-profile, walltime: nEvents, or the events of the smallest job that the dynamic number of events can make.
create or replace function brokerage.walltime_events(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select coalesce(case when q.mintime > 0 then t.dynamic_num_events end, t.job_events, 0)::float8
$$;

comment on function brokerage.walltime_events(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Events of the job that must not be too long for the queue.';
-- file: brokerage/walltime_of.sql
-- brokerage-doc-profile, walltime: cpuTime * nEvents * 100 / (cores * corepower * efficiency) + baseWalltime, or walltime * input MB / cores.
create or replace function brokerage.walltime_of(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events float8) returns float8
language sql stable parallel safe
as $$
  select case
    when t.cpu_time_is_hs06 is not true then t.walltime * coalesce(t.job_input_mb, 0) / brokerage.slot_cores(t, q, p)
    when t.cpu_time * p_events = 0 then coalesce(t.base_walltime, 0)
    when t.cpu_efficiency <= 0 then 'infinity'
    else coalesce(t.base_walltime, 0)
         + t.cpu_time * p_events * 100 / (brokerage.slot_cores(t, q, p) * coalesce(nullif(q.corepower, 0), 10) * coalesce(t.cpu_efficiency, 90))
  end
$$;

comment on function brokerage.walltime_of(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, float8) is
'Walltime of a job with so many events at the queue (s); null = not known. To show; rules decide by brokerage.compare_walltime.';
-- file: brokerage/walltime_work_panda2026.sql
-- brokerage-rules 1.2, walltime: cpuTime * events in HS06 s, or walltime * input MB.
create or replace function brokerage.walltime_work_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, p_events float8) returns float8
language sql stable parallel safe
as $$
  select case when t.cpu_time_is_hs06 then t.cpu_time * p_events else t.walltime * coalesce(t.job_input_mb, 0) end
$$;

comment on function brokerage.walltime_work_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, float8) is
'What a job with so many events takes, in the unit of brokerage.walltime_bound_panda2026; null = not known.';
-- file: brokerage/weight/value_running.sql
-- brokerage-rules 1.2, t1-weight: of a task that stays at the nucleus only the queue that runs most is used, of those that no other rule rejects (a full
-- or locked one does not keep it from the others).
create or replace function brokerage.value_running(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case when t.t1_weight < 0 and t.is_merging is not true then coalesce(q.running_all, 0)::float8 end
$$;

comment on function brokerage.value_running(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Running jobs of all shares, for tasks of negative t1Weight; null = the choice does not concern the task.';
-- file: brokerage/weight/value_used.sql
-- brokerage-rules 1.4c, used-sites-first.
create or replace function brokerage.value_used(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case when q.queue = any (t.sites_used) or q.unified_name = any (t.sites_used) then 1 else 0 end
$$;

comment on function brokerage.value_used(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'used-sites-first: 1 of a queue that jobs of the task went to, else 0.';
-- file: brokerage/weight/weight_analysis.sql
-- Seed 000, ATLAS Analysis Job Brokerage, 4: original basic weight.
create or replace function brokerage.weight_analysis(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select (brokerage.running_workers(t, q, p) + 1)::float8 / (brokerage.queued_of_share(t, q, p) + 1)
$$;

comment on function brokerage.weight_analysis(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'weight of analysis: (running + 1) / (activated + assigned + starting + defined + 1).';
-- file: brokerage/weight/weight_analysis_data.sql
-- brokerage-rules 1.5: copies in place; where no queue has all, what is there, in whole GB.
create or replace function brokerage.weight_analysis_data(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case
    when t.second_pass is not true and p.input_copies is not null then p.input_copies
    when p.available_bytes >= 1073741824 then 1 + trunc(p.available_bytes / 1073741824::float8) / 10
    else 1 + trunc((coalesce(p.reachable_bytes, 0) - coalesce(p.available_bytes, 0)) / 1073741824::float8) / 1000
  end
$$;

comment on function brokerage.weight_analysis_data(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'weight-data of analysis in panda2026: 1 for each dataset on disk, 0.001 on tape; without locality more for more GB.';
-- file: brokerage/weight/weight_architecture.sql
-- brokerage-rules 1.2, arch-preference-weight.
create or replace function brokerage.weight_architecture(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select 1 + coalesce(p.platform_level_percent, 0) / 100
$$;

comment on function brokerage.weight_architecture(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'arch-preference-weight: more for queues with many CPUs at the architecture level that the task prefers.';
-- file: brokerage/weight/weight_basic.sql
-- brokerage-doc-profile, weight-basic; seed 000, 3 (D-25).
create or replace function brokerage.weight_basic(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select (brokerage.running_workers(t, q, p) + 1)::float8
         / (coalesce(p.activated, 0) + brokerage.waiting_assigned(t, q, p) + coalesce(p.starting, 0) + coalesce(p.defined, 0) + 10)
         / case
             when coalesce(p.activated, 0) > 0 then greatest(1, least(2, brokerage.waiting_assigned(t, q, p)::float8 / p.activated))
             when brokerage.waiting_assigned(t, q, p) > 0 then 2
             else 1
           end
$$;

comment on function brokerage.weight_basic(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'weight-basic: (running + 1) / ((activated + assigned + starting + defined + 10) * manyAssigned).';
-- file: brokerage/weight/weight_basic_panda2026.sql
-- brokerage-rules 1.2, weight-basic: manyAssigned with + 1 (D-25), none where the input is local; the live counter counts as defined.
create or replace function brokerage.weight_basic_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select (brokerage.running_workers_panda2026(t, q, p) + 1)::float8
         / (coalesce(p.activated, 0) + brokerage.waiting_assigned(t, q, p) + coalesce(p.starting, 0) + coalesce(p.defined, 0) + coalesce(q.live_jobs, 0) + 10)
         / case when p.input_is_local is true then 1
                else greatest(1, least(2, (coalesce(p.assigned, 0) + 1)::float8 / (coalesce(p.activated, 0) + 1))) end
$$;

comment on function brokerage.weight_basic_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'weight-basic of panda2026: (running + 1) / ((activated + assigned + starting + defined + 10) * manyAssigned).';
-- file: brokerage/weight/weight_bootstrap.sql
-- brokerage-rules 1.2, bootstrap: nothing runs or waits there. Weight 0 leads the list, where the choice says so (zero_first).
create or replace function brokerage.weight_bootstrap(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case
    when brokerage.running_workers_panda2026(t, q, p) = 0
         and coalesce(p.activated, 0) + coalesce(p.assigned, 0) + coalesce(p.starting, 0) + coalesce(p.defined, 0) + coalesce(q.live_jobs, 0) = 0
         and t.current_priority <= t.max_prio_to_bootstrap and t.is_merging is not true and not brokerage.is_express(t, q, p, '{"urgent_alone": true}')
    then 0 else 1
  end
$$;

comment on function brokerage.weight_bootstrap(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'bootstrap: 0 for an empty queue that a task of low priority may start, else 1.';
-- file: brokerage/weight/weight_data.sql
-- brokerage-doc-profile, weight-data; seed 000, 3: no input, no difference.
create or replace function brokerage.weight_data(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case
    when t.input_bytes > 0
    then (coalesce(p.available_bytes, 0)::float8 + t.input_bytes)
         / (t.input_bytes::float8 * ((coalesce(t.input_files, 0) - coalesce(p.available_files, 0)) / 100::float8 + 1))
    else 1
  end
$$;

comment on function brokerage.weight_data(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'weight-data: (available + total size) / (total size * (missing files / 100 + 1)).';
-- file: brokerage/weight/weight_located_data.sql
-- brokerage-doc-profile 3, task-weight: local input by all input, where ioIntensity is high (null counts as high) and there is input.
create or replace function brokerage.weight_located_data(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns float8
language sql stable parallel safe
as $$
  select case
    when p.is_preassigned then null
    when t.located_bytes > 0 and coalesce(t.io_intensity > t.min_io_intensity_with_local_data, true) and not brokerage.needs_no_data_weight(t, q, p, x)
    then p.located_bytes::float8 / t.located_bytes
    else 1
  end
$$;

comment on function brokerage.weight_located_data(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'task-weight-data: the part of the input that is at the nucleus, where ioIntensity is over MIN_IO_INTENSITY_WITH_LOCAL_DATA.';
-- file: brokerage/weight/weight_network.sql
-- brokerage-doc-profile 4.3: half queuedWeight, which falls from 2 to 1 at 300 files, half throughputWeight; 2.5 for the nucleus' own queues.
create or replace function brokerage.weight_network(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case
    when p.is_own then 2.5
    else 0.5 * (2 - least(brokerage.queued_on_link(t, q, p, null), 300) / 300 + brokerage.throughput_weight(t, q, p, 1.7))
  end
$$;

comment on function brokerage.weight_network(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'network-weight: 0.5 * (queuedWeight + throughputWeight) of the link from the queue to the nucleus.';
-- file: brokerage/weight/weight_network_panda2026.sql
-- brokerage-rules 1.2, network-weight: only where NW_ACTIVE (D-26).
create or replace function brokerage.weight_network_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case when t.nw_active then brokerage.network_weight_panda2026(t, q, p) else 1 end
$$;

comment on function brokerage.weight_network_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'network-weight of panda2026: that of the link from the queue to the nucleus, 1 where network weights are not active.';
-- file: brokerage/weight/weight_nucleus_space.sql
-- brokerage-doc-profile 3, task-weight: (free + expired) / total, 1 where the total is not known.
create or replace function brokerage.weight_nucleus_space(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case when p.is_preassigned then null when p.space_total > 0 then p.weighed_space / p.space_total else 1 end
$$;

comment on function brokerage.weight_nucleus_space(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'task-weight-space: the part of the space that is free at the nucleus.';
-- file: brokerage/weight/weight_nucleus_space_panda2026.sql
-- brokerage-rules 1.1, task-weight-space: less what the remaining work will fill; times whole TB, FREE_DISK_CUTOFF at most (D-12).
create or replace function brokerage.weight_nucleus_space_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case
    when p.is_preassigned then null
    when p.space_total > 0
    then greatest(p.weighed_space - trunc(brokerage.space_for(q.remaining_work)), 0) / p.space_total
         * least(t.free_disk_cutoff, greatest(trunc((p.weighed_space - trunc(brokerage.space_for(q.remaining_work))) / 1024), 0))
    else 1
  end
$$;

comment on function brokerage.weight_nucleus_space_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'task-weight-space of panda2026: the part of the space that is left at the nucleus, times what is left in TB up to FREE_DISK_CUTOFF.';
-- file: brokerage/weight/weight_remaining_work.sql
-- brokerage-doc-profile 3, task-weight: 1 / max(50, RW of tasks of the share with at least the priority). little_counts_1: below 50 it is 1 (D-11).
create or replace function brokerage.weight_remaining_work(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns float8
language sql stable parallel safe
as $$
  select case
    when p.is_preassigned then null
    when (x ->> 'little_counts_1')::boolean and p.remaining_work < 50 then 1
    else 1 / greatest(p.remaining_work, 50)
  end
$$;

comment on function brokerage.weight_remaining_work(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'task-weight-rw: the less work is left at the nucleus for tasks of this priority, the better. Parameter little_counts_1.';
-- file: brokerage/weight/weight_room.sql
-- New basic weight (brokerage-doc-profile 4.5, brokerage-rules 1.5): a weight of the terms of all candidates, see brokerage.compose. Sums are taken of the first
-- seven: room of the user by class of the queue, queues by class, room of all.
create or replace function brokerage.weight_room(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns float8[]
language sql stable parallel safe
as $$
  select array[
    case when q.site_class = 1 then brokerage.user_room(t, q, p) else 0 end,
    case when coalesce(q.site_class, 0) = 0 then brokerage.user_room(t, q, p) else 0 end,
    case when q.site_class = -1 then brokerage.user_room(t, q, p) else 0 end,
    case when q.site_class = 1 then 1 else 0 end,
    case when coalesce(q.site_class, 0) = 0 then 1 else 0 end,
    case when q.site_class = -1 then 1 else 0 end,
    brokerage.user_room(t, q, p),
    coalesce(q.site_class, 0),
    coalesce(t.jobs, 0),
    case when coalesce(t.gshare in ('User Analysis', 'Express Analysis'), false) then coalesce(t.task_class, 1) end,
    case when t.is_merging then 1 else 0 end]::float8[]
$$;

comment on function brokerage.weight_room(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'Terms of the new basic weight: room of the user by class of the queue (hi, mid, lo), queues by class, room, class, jobs of the task, its class (null where it does not count), merging.';
-- file: brokerage/weight/weight_room_factor.sql
-- New basic weight of the seed, Ws * Wq (brokerage-doc-profile 4.5). Terms and sums: brokerage.weight_room. A task of class S is as one of class A.
create or replace function brokerage.weight_room_factor(p_terms float8[], p_sums float8[], x jsonb) returns float8
language sql stable parallel safe
as $$
  select case
           when p_terms[10] is null or p_terms[8] = least(p_terms[10], 1) then p_terms[9]
           when p_terms[10] >= 1 and p_terms[8] = 0 or p_terms[10] = 0 and p_terms[8] = -1 or p_terms[10] = -1 and p_terms[8] = 0
           then coalesce((x ->> 'epsilon_1')::float8, 0.001)
           else coalesce((x ->> 'epsilon_2')::float8, 0.0001)
         end
         * case
             when p_sums[7] > p_terms[9] then greatest(p_terms[7] - p_terms[9] / (p_sums[4] + p_sums[5] + p_sums[6]), 0) / (p_sums[7] - p_terms[9])
             else 1 / (p_sums[4] + p_sums[5] + p_sums[6])
           end
$$;

comment on function brokerage.weight_room_factor(float8[], float8[], jsonb) is
'New basic weight of the seed, of the terms of a queue and their sums over the candidates. Parameters epsilon_1, epsilon_2 (numbers): for classes that do not suit the task, 0.001 and 0.0001.';
-- file: brokerage/weight/weight_room_panda2026.sql
-- The same terms, another factor.
create or replace function brokerage.weight_room_panda2026(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns float8[]
language sql stable parallel safe
as $$
  select brokerage.weight_room(t, q, p, x)
$$;

comment on function brokerage.weight_room_panda2026(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'Terms of the new basic weight of panda2026: those of brokerage.weight_room.';
-- file: brokerage/weight/weight_room_panda2026_factor.sql
-- New basic weight of panda2026: main * sec + 2^-20 (brokerage-rules 1.5). Where classes do not count all jobs go to all queues. Terms and sums:
-- brokerage.weight_room. plpgsql: called once a candidate, and a query a call is ten times as slow.
-- after: brokerage.jobs_of_classes
create or replace function brokerage.weight_room_panda2026_factor(p_terms float8[], p_sums float8[], x jsonb) returns float8
language plpgsql immutable parallel safe
as $$
declare
  v_place int := 2 - p_terms[8];  -- hi, mid, lo
  v_main float8 := p_terms[9];
  v_total float8 := p_sums[7];
  v_queues float8 := p_sums[4] + p_sums[5] + p_sums[6];
begin
  if p_terms[10] is not null then
    v_main := (brokerage.jobs_of_classes(v_main, p_terms[10], p_sums))[v_place];
    v_total := p_sums[v_place];
    v_queues := p_sums[3 + v_place];
  end if;
  return v_main * case
                    when v_total > v_main and p_terms[11] = 0 then greatest(p_terms[7] - v_main / v_queues, 0.001 * v_main) / (v_total - v_main)
                    when v_total > 0 then p_terms[7] / v_total
                    else 1 / v_queues
                  end + 2 ^ (-20)::float8;
end $$;

comment on function brokerage.weight_room_panda2026_factor(float8[], float8[], jsonb) is
'New basic weight of panda2026, of the terms of a queue and their sums over the candidates.';
-- file: brokerage/weight/weight_t1.sql
-- brokerage-rules 1.2, t1-weight and high-prio-opportunistic: queues of the nucleus and who shares its storage (D-22).
create or replace function brokerage.weight_t1(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns float8
language sql stable parallel safe
as $$
  select case
    when p.is_near is not true then 1
    else greatest(
      case when t.t1_weight > 0 then t.t1_weight when coalesce(t.t1_weight, 0) = 0 and t.io_intensity > 500 then 4 else 1 end,
      case when (t.current_priority >= 900 or t.is_scout) and coalesce(t.event_service, 0) = 0 and p.is_preassigned is not true then 100 end)
  end
$$;

comment on function brokerage.weight_t1(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
't1-weight as a factor: t1Weight of the task, 4 for high ioIntensity, at least 100 for urgent tasks and scouts.';
-- file: brokerage/weight/weight_tape.sql
-- brokerage-doc-profile 3, task-weight: a thousandth where more of the input is on tape than on disk alone.
create or replace function brokerage.weight_tape(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts, x jsonb) returns float8
language sql stable parallel safe
as $$
  select case
    when p.is_preassigned then null
    when p.located_bytes > p.located_disk_bytes and not brokerage.needs_no_data_weight(t, q, p, x) then 0.001
    else 1
  end
$$;

comment on function brokerage.weight_tape(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts, jsonb) is
'task-weight-data: input that has to come from tape first counts a thousandth.';
-- file: brokerage/whole_queue_cores.sql
-- brokerage-doc-profile, G9: disk-io and scratch-disk go by the unified queue, whose limits they compare.
create or replace function brokerage.whole_queue_cores(t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts) returns int
language sql stable parallel safe
as $$
  select greatest(coalesce(q.unified_corecount, 1), 1)
$$;

comment on function brokerage.whole_queue_cores(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
'Cores of a slot of the whole queue, of whatever pseudo-queue, at least 1.';
-- file: brokerage/world/dump.sql
-- World format: the live counter by queue, as it counts now.
create or replace function brokerage.dump(p_setup text, p_table text) returns setof jsonb
language plpgsql stable
security definer set search_path = brokerage, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  perform brokerage.world_table(p_table);
  return query
  select jsonb_build_object('queue', c.queue, 'jobs', sum(c.jobs))
    from brokerage.live_count c
   where c.setup = p_setup
   group by c.queue
   order by c.queue collate "C";
end $$;

comment on function brokerage.dump(text, text) is
'The rows of a table of the room brokerage as brokerage.store takes them: of live_counter the sum by queue that counts now. Errors: PB001, PB002 (setup not granted).';
-- file: brokerage/world/store.sql
-- World format: loads rows into a table of this room.
create or replace function brokerage.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb default null, p_merge boolean default false) returns bigint
language plpgsql
security definer set search_path = brokerage, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return resource.store_rows(p_setup, brokerage.world_table(p_table), p_rows, p_parents, p_merge);
end $$;

comment on function brokerage.store(text, text, jsonb, jsonb, boolean) is
'Upserts an array of objects into a table of the room brokerage and returns how many; keys are columns, one left out gets its default (p_merge: keeps what the row has that is there), null is null. Rows of p_parents (values of the first key column, or objects with it and others; true = all) are deleted first. Errors: PB001, PB002 (setup not granted).';
-- file: brokerage/world/world_table.sql
-- World format: the tables of this room that worlds are loaded into and dumped from; no other is written by name.
create or replace function brokerage.world_table(p_table text) returns regclass
language plpgsql stable
as $$
begin
  if p_table in ('live_counter') then
    return ('brokerage.' || p_table)::regclass;
  end if;
  raise exception 'table is %, which worlds do not hold', coalesce(quote_literal(p_table), 'null')
    using errcode = 'PB001', hint = $h$Tables of brokerage that they hold: 'live_counter'.$h$;
end $$;

comment on function brokerage.world_table(text) is
'A table of the room brokerage that the world format covers. Errors: PB001 (another one).';
-- file: brokerage/zero_share/compares.sql
create or replace function brokerage.compares(p_value numeric, p_operator text, p_limit numeric) returns boolean
language sql immutable parallel safe
as $$
  select case p_operator when '>' then p_value > p_limit when '>=' then p_value >= p_limit when '<' then p_value < p_limit when '<=' then p_value <= p_limit
                         when '==' then p_value = p_limit when '!=' then p_value <> p_limit end
$$;

comment on function brokerage.compares(numeric, text, numeric) is
'Whether a value compares with a limit as the operator (>, >=, <, <=, == or !=) says.';
-- file: brokerage/zero_share/policy_pattern.sql
-- evgensimul is a process group of old, now two (seed 000: "type=evgensimul:100%, in this case, only evgen or simul jobs can be assigned").
create or replace function brokerage.policy_pattern(p_value text, p_flavour text) returns text
language sql stable
as $$
  select replace(case when p_flavour = 'doc' then regexp_replace(p_value, '\mevgensimul\M', '(?:evgen|simul)', 'g') else p_value end, '*', '.*')
$$;

comment on function brokerage.policy_pattern(text, text) is
'The regular expression that a value in a policy stands for: * is any text; in doc evgensimul is evgen or simul.';
-- file: brokerage/zero_share/process_group.sql
-- brokerage-rules 1.9, with PanDA's names of pilot tests.
create or replace function brokerage.process_group(p_processing_type text) returns text
language sql immutable parallel safe
as $$
  select case
    when p_processing_type in ('evgen', 'simul', 'reprocessing', 'mcore', 'group', 'deriv', 'pile', 'merge') then p_processing_type
    when p_processing_type in ('prod_test', 'validation', 'ptest', 'rc_test', 'rc_test2', 'rc_alrb') then 'test'
    else 'others'
  end
$$;

comment on function brokerage.process_group(text) is
'The process group of a processing type, which policies name as type: evgen, simul, reprocessing, test, mcore, group, deriv, pile, merge, or others.';
-- file: brokerage/zero_share/read_policy.sql
-- brokerage-rules 1.9: a comma list of field:...:share. What cannot be read has no effect: an unknown field, a regular expression that is none,
-- a priority that is not compared with a number. Each policy is read once a run.
create or replace function brokerage.read_policy(p_policy text, p_flavour text)
returns table (number bigint, sub_policy text, type text, working_group text, gshare text, operator text, priority numeric, share text, amount numeric)
language sql stable rows 3
as $$
  with part as (
    select s.number, trim(s.sub_policy) as sub_policy, regexp_split_to_array(trim(s.sub_policy), ':') as fields
      from string_to_table(p_policy, ',') with ordinality s(sub_policy, number)
     where trim(s.sub_policy) <> ''
  ), read as (
    select p.number, p.sub_policy, p.fields[cardinality(p.fields)] as share, f.*,
           regexp_match(f.comparison, '^priority(>=|<=|==|!=|=|>|<) *(-?\d{1,9}(?:\.\d{1,9})?)$') as compared
      from part p
     cross join lateral (
           select (array_agg(regexp_replace(v.field, '^.*=', '') order by v.number desc) filter (where v.field like 'type=%'))[1],
                  (array_agg(regexp_replace(v.field, '^.*=', '') order by v.number desc) filter (where v.field like 'group=%'))[1],
                  (array_agg(regexp_replace(v.field, '^.*=', '') order by v.number desc) filter (where v.field like 'gshare=%'))[1],
                  (array_agg(v.field order by v.number desc) filter (where v.field like 'priority%'))[1],
                  coalesce(bool_or(v.field !~ '^(type=|group=|gshare=|priority)' and v.number < cardinality(p.fields)), false)
             from unnest(p.fields) with ordinality v(field, number)) f(type, working_group, gshare, comparison, has_unknown)
  ), pattern as (
    select r.*, brokerage.policy_pattern(nullif(r.type, 'any'), p_flavour) as types, brokerage.policy_pattern(nullif(r.working_group, 'any'), p_flavour) as groups,
           brokerage.policy_pattern(nullif(r.gshare, 'any'), p_flavour) as gshares
      from read r
  )
  select p.number, p.sub_policy, brokerage.anchored(p.types), brokerage.anchored(p.groups), brokerage.anchored(p.gshares),
         case p.compared[1] when '=' then '==' else p.compared[1] end, p.compared[2]::numeric, p.share,
         case when p.share ~ '^\d{1,9}(\.\d{1,9})?%?$' then rtrim(p.share, '%')::numeric end
    from pattern p
   where not p.has_unknown and (p.comparison is null or p.compared is not null)
     and brokerage.pattern_problem(p.types) is null and brokerage.pattern_problem(p.groups) is null and brokerage.pattern_problem(p.gshares) is null
$$;

comment on function brokerage.read_policy(text, text) is
'The sub-policies of a fairsharepolicy that can be read, in order: patterns of process group, working group and global share (null = any; brokerage.fits),'
' comparison of the current priority, share as written and as a number. Flavour doc or panda2026.';
-- file: brokerage/zero_share/share_key.sql
create or replace function brokerage.share_key(t workload.task) returns text
language sql stable parallel safe
as $$
  select brokerage.class_key(jsonb_build_array(
    brokerage.process_group(t.processing_type), coalesce(t.working_group, ''), t.gshare, t.current_priority, coalesce(t.is_merging, false)))
$$;

comment on function brokerage.share_key(workload.task) is
'What shares of sites look at in a task, as a key: process group, working group, global share, current priority, merging.';
-- file: brokerage/zero_share/zero_share_refusals.sql
-- Seed 000, Zero Share; brokerage-doc-profile 4.1 and brokerage-rules 1.9. Texts are compared once for each policy and distinct process group,
-- working group and share; the priority then decides which sub-policy is the first that applies.
create or replace function brokerage.zero_share_refusals(p_setup text, p_task_ids bigint[], p_flavour text)
returns table (share_key text, queue text, refusal text)
language sql stable rows 1000
as $$
  with policy as materialized (
    select p.*, row_number() over () as number
      from (select q.fairsharepolicy, array_agg(q.queue) from resource.queue q where q.setup = p_setup and q.fairsharepolicy <> '' group by q.fairsharepolicy) p(policy, queues)
  ), class as materialized (
    select t.*, row_number() over () as number, dense_rank() over (order by t.process_group, t.working_group, t.gshare) as kind
      from (select distinct brokerage.share_key(t) as share_key, brokerage.process_group(t.processing_type) as process_group, coalesce(t.working_group, '') as working_group,
                   t.gshare, t.current_priority, coalesce(t.is_merging, false) as is_merging
              from workload.task t where t.setup = p_setup and t.task_id = any (p_task_ids) and exists (select from policy)) t
     where t.process_group <> 'test'
  ), part as materialized (
    select p.number as policy, r.*, sum(r.amount) over (partition by p.number) as total from policy p cross join lateral brokerage.read_policy(p.policy, p_flavour) r
  ), fitting as materialized (
    select k.kind, p.policy, p.number, p.operator, p.priority
      from part p
     cross join (select distinct c.kind, c.process_group, c.working_group, c.gshare from class c) k
     where (p.type is null or brokerage.fits(k.process_group, p.type))
       and (p.working_group is null or brokerage.fits(k.working_group, p.working_group))
       and (p.gshare is null or k.gshare is null or brokerage.fits(k.gshare, p.gshare))
  ), first as materialized (
    select c.number as class, f.policy, min(f.number) as number
      from class c
      join fitting f on f.kind = c.kind
     where f.operator is null or c.is_merging or brokerage.compares(c.current_priority, f.operator, f.priority)
     group by c.number, f.policy
  ), refused as materialized (
    select f.class, f.policy, p.sub_policy as refusal from first f join part p on p.policy = f.policy and p.number = f.number where p.share in ('0', '0%')
    union all
    select u.class, u.policy, format('%s, which leaves nothing to others', p.policy)
      from (select c.number as class, t.policy
              from class c cross join (select distinct t.policy from part t where t.total >= 100) t
             where p_flavour = 'doc'
            except
            select f.class, f.policy from first f) u
      join policy p on p.number = u.policy
  )
  select c.share_key, q.queue, r.refusal
    from refused r
    join class c on c.number = r.class
    join policy p on p.number = r.policy
   cross join unnest(p.queues) q(queue)
$$;

comment on function brokerage.zero_share_refusals(text, bigint[], text) is
'Queues whose fairsharepolicy gives tasks no share: one row for each distinct class of the tasks (brokerage.share_key) and queue, with the sub-policy that'
' refuses. Pilot tests are never refused. Flavour doc or panda2026.';
-- file: instance/world/dump.sql
-- World format: the rows of a table of this room as instance.store takes them.
create or replace function instance.dump(p_setup text, p_table text) returns setof jsonb
language plpgsql stable
security definer set search_path = instance, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return query select resource.dump_rows(p_setup, instance.world_table(p_table));
end $$;

comment on function instance.dump(text, text) is
'The rows of a table of the room instance as objects, in key order and without defaults; what instance.store takes. Errors: PB001, PB002 (setup not granted).';
-- file: instance/world/store.sql
-- World format: loads rows into a table of this room.
create or replace function instance.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb default null, p_merge boolean default false) returns bigint
language plpgsql
security definer set search_path = instance, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return resource.store_rows(p_setup, instance.world_table(p_table), p_rows, p_parents, p_merge);
end $$;

comment on function instance.store(text, text, jsonb, jsonb, boolean) is
'Upserts an array of objects into a table of the room instance and returns how many; keys are columns, one left out gets its default (p_merge: keeps what the row has that is there), null is null. Rows of p_parents (values of the first key column, or objects with it and others; true = all) are deleted first. Errors: PB001, PB002 (setup not granted).';
-- file: instance/world/world_table.sql
-- World format: the tables of this room that worlds are loaded into and dumped from; no other is written by name.
create or replace function instance.world_table(p_table text) returns regclass
language plpgsql stable
as $$
begin
  if p_table in ('instance', 'job') then
    return ('instance.' || p_table)::regclass;
  end if;
  raise exception 'table is %, which worlds do not hold', coalesce(quote_literal(p_table), 'null')
    using errcode = 'PB001', hint = $h$Tables of instance that they hold: 'instance', 'job'.$h$;
end $$;

comment on function instance.world_table(text) is
'A table of the room instance that the world format covers. Errors: PB001 (another one).';
-- file: monitor/decision.sql
-- after: brokerage.rule_in_force, brokerage.decision
-- Why did my task not go there: a select. One row a task and queue of each run that is kept, and one without queue of a task that a rule or an error decided
-- about before any queue, or that was decided without locality.
create or replace view monitor.decision as
select t.setup, t.run_id, r.algorithm, r.profile, r.dry, t.task_id, d.queue,
       case d.verdict when 'c' then 'candidate' when 'r' then 'rejected' when 'n' then 'not candidate' end as verdict,
       d.rank, d.weight, d.rule, w.criteria, w.reason, a.jobs, t.decided_at
  from brokerage.task_decision t  -- found by task first: decisions are indexed by run and task
  join brokerage.run r on r.setup = t.setup and r.run_id = t.run_id
  join brokerage.decision d on d.setup = t.setup and d.run_id = t.run_id and d.task_id = t.task_id
  left join brokerage.rule_in_force f on f.profile = r.profile and f.algorithm = r.algorithm and f.rule = d.rule
 cross join lateral brokerage.worded(d.reason, f.criteria) w
  left join brokerage.assignment a on a.setup = d.setup and a.run_id = d.run_id and a.task_id = d.task_id and a.queue = d.queue
union all
select t.setup, t.run_id, r.algorithm, r.profile, r.dry, t.task_id, null,
       case when t.candidates + t.rejected > 0 then 'second pass' else t.status end,
       null, null, t.rule, null, t.reason, null, t.decided_at
  from brokerage.task_decision t
  join brokerage.run r on r.setup = t.setup and r.run_id = t.run_id
 where t.reason is not null;

comment on view monitor.decision is 'What each run decided for each task and queue: candidates with rank, weight and jobs assigned, rejections with rule, PanDA''s criteria tag and reason. A task that no queue was asked for has one row without queue; so has, beside the others, one that was decided without locality.';
comment on column monitor.decision.setup is 'Tenant.';
comment on column monitor.decision.run_id is 'Run.';
comment on column monitor.decision.algorithm is 'production_job, analysis_job or production_task.';
comment on column monitor.decision.profile is 'Profile that decided.';
comment on column monitor.decision.dry is 'Nothing but decisions was stored.';
comment on column monitor.decision.task_id is 'Task.';
comment on column monitor.decision.queue is 'Queue, or pseudo-queue of a unified one; null = about the task as a whole.';
comment on column monitor.decision.verdict is 'candidate, rejected, or not candidate (it never entered the list); without queue throttled, failed, pending, error, or second pass (it was decided once more, without locality).';
comment on column monitor.decision.rank is 'Place of a candidate, from 1.';
comment on column monitor.decision.weight is 'Weight, where it came that far.';
comment on column monitor.decision.rule is 'Rule that rejected it; without queue the one that throttled or failed the task, or had it decided once more.';
comment on column monitor.decision.criteria is 'PanDA''s criteria tag.';
comment on column monitor.decision.reason is 'Why, with the numbers compared; or the error.';
comment on column monitor.decision.jobs is 'Jobs of the task assigned to it.';
comment on column monitor.decision.decided_at is 'When (the setup''s clock).';
-- file: monitor/health.sql
-- after: monitor.health_setting, monitor.health_session, monitor.health_snapshot, monitor.health_table, monitor.health_work
-- What `broker doctor` shows.
create or replace view monitor.health as
select f.area, f.object, f.value, f.verdict, f.cost, f.remedy
  from (select * from monitor.health_setting
        union all
        select * from monitor.health_snapshot
        union all
        select * from monitor.health_session
        union all
        select * from monitor.health_table
        union all
        select * from monitor.health_work
        union all
        -- least privilege: everything else is seen without it
        select 'rights', 'pg_read_all_stats', 'lacking', 'advice',
               'sessions of other users are seen by process id and transactions only, not since when, in which state, or whether left open',
               format('grant pg_read_all_stats to %I, which also shows their queries; or look as a superuser', current_user)
         where not pg_has_role(current_user, 'pg_read_all_stats', 'usage')) f
 order by array_position(array['problem', 'advice', 'ok'], f.verdict), f.area, f.object;

comment on view monitor.health is
'What on this server holds matching back and what to do about it, one row a finding, problems first; `broker doctor` prints it. problem: jobs can be lost, or matching suffers now. advice: it will, or could be faster.';
comment on column monitor.health.area is 'setting, snapshot, slot, lock, open call, connection, bloat, statistics, autovacuum, trigger, transaction ids, maintenance, history or rights.';
comment on column monitor.health.object is 'What was looked at.';
comment on column monitor.health.value is 'What was found.';
comment on column monitor.health.verdict is 'ok, advice or problem.';
comment on column monitor.health.cost is 'What it costs; null where it is ok.';
comment on column monitor.health.remedy is 'What to do; null where it is ok.';
-- file: monitor/health_session.sql
-- Who is connected, waits or leaves transactions open, and how much is committed. Without pg_read_all_stats nobody sees whether another user's
-- session is idle in its transaction: then nothing is said about it.
create or replace view monitor.health_session as
with here (database_id, sees_all) as (
  select d.oid, pg_has_role(current_user, 'pg_read_all_stats', 'usage') from pg_database d where d.datname = current_database()
), session as (
  select a.pid, coalesce(a.usename, 'the server') as usename, a.state, a.state_change, a.datid as database_id
    from pg_stat_activity a
    join here h on h.database_id = a.datid
   where a.pid <> pg_backend_pid()
), waiting as (
  select s.pid, s.usename, l.locktype, l.relation, clock_timestamp() - l.waitstart as waits
    from pg_locks l
    join session s on s.pid = l.pid
   where not l.granted and l.waitstart < clock_timestamp() - interval '3 seconds'
), left_open as (
  select s.pid, s.usename, clock_timestamp() - s.state_change as idle
    from session s
   where s.state like 'idle in transaction%' and s.state_change < clock_timestamp() - interval '3 seconds'
     and exists (select from pg_locks l where l.pid = s.pid and l.locktype = 'advisory' and l.granted and l.database = s.database_id)
), connected as (
  select sum(d.numbackends) as used,
         (select sum(case s.name when 'max_connections' then 1 else -1 end * s.setting::int) from pg_settings s
           where s.name in ('max_connections', 'superuser_reserved_connections', 'reserved_connections')) as free
    from pg_stat_database d
), traffic as (
  select d.sessions, d.xact_commit as commits,
         d.xact_commit / greatest(extract(epoch from now() - coalesce(d.stats_reset, b.stats_reset)), 1) as commits_per_second
    from pg_stat_database d
   cross join pg_stat_bgwriter b
   where d.datname = current_database()
)
select 'lock' as area, format('session %s of %s', w.pid, w.usename) as object,
       format('waits %s for %s', date_trunc('second', w.waits), coalesce(w.relation::regclass::text, w.locktype)) as value, 'problem' as verdict,
       'no call of an agent waits that long for another; what changes limits or CPU buckets gives up with PB006' as cost,
       format('look at what holds it: select * from pg_stat_activity where pid = any (pg_blocking_pids(%s))', w.pid) as remedy
  from waiting w
 union all
select 'lock', 'sessions that wait for one', '0', 'ok', null, null where not exists (select from waiting)
 union all
select 'open call', format('session %s of %s', o.pid, o.usename), format('idle in its transaction for %s', date_trunc('second', o.idle)), 'advice',
       'limits that it counts at look reached, and set_limit and set_cpu_buckets fail with PB006 until it ends',
       format('commit after each call; to bound it: alter role %I set idle_in_transaction_session_timeout = ''60s''', o.usename)
  from left_open o
 union all
select 'open call', 'transactions left open', '0', 'ok', null, null from here h where h.sees_all and not exists (select from left_open)
 union all
select 'connection', 'connections', format('%s of %s', c.used, c.free), v.verdict,
       case when v.verdict <> 'ok' then 'agents are refused when there is none left' end,
       case when v.verdict <> 'ok' then 'put PgBouncer in transaction mode before the server: few connections serve many agents, and better' end
  from connected c
 cross join lateral (select case when c.used >= 0.95 * c.free then 'problem' when c.used >= 0.8 * c.free then 'advice' else 'ok' end as verdict) v
 union all
-- measured: the first match of a connection takes 10 ms, the following 0.8
select 'connection', 'calls a connection', format('%s transactions in %s connections', t.commits, t.sessions), v.verdict,
       case when v.verdict <> 'ok' then 'a connection reads the catalogue and plans anew: its first match takes 10 times as long as the following' end,
       case when v.verdict <> 'ok' then 'keep connections open between calls (JobAgent does), or put PgBouncer in transaction mode before the server' end
  from traffic t
 cross join lateral (select case when t.sessions >= 200 and t.commits < 10 * t.sessions then 'advice' else 'ok' end as verdict) v
 union all
-- measured: 8,200 matches/s, and 12,100 with commit_delay = 100 us; with fewer commits there is nobody to wait for
select 'setting', 'commit_delay', format('%s us at %s transactions/s', s.setting, round(t.commits_per_second)), v.verdict,
       case when v.verdict <> 'ok' then 'each commit waits for the disk alone: many clients that commit at a time get up to a half more done with a delay' end,
       case when v.verdict <> 'ok' then 'alter system set commit_delay = 100, then select pg_reload_conf(); try it, and compare' end
  from traffic t
  join pg_settings s on s.name = 'commit_delay'
 cross join lateral (select case when s.setting = '0' and t.commits >= 1000 and t.commits_per_second >= 500 then 'advice' else 'ok' end as verdict) v;

comment on view monitor.health_session is
'Waits for locks, transactions left open, connections, commits. Part of monitor.health.';
comment on column monitor.health_session.area is 'lock, open call, connection or setting.';
comment on column monitor.health_session.object is 'Session, or what was looked at.';
comment on column monitor.health_session.value is 'What was found.';
comment on column monitor.health_session.verdict is 'ok, advice or problem.';
comment on column monitor.health_session.cost is 'What it costs; null where it is ok.';
comment on column monitor.health_session.remedy is 'What to do; null where it is ok.';
-- file: monitor/health_setting.sql
-- Settings of the server, the database and the roles that cost jobs or time here. Each was seen to matter: for durability, or by measurement
-- (broker/settings.py says what the embedded server sets and why). Seen to make no difference to match_job and finish_job on PostgreSQL 15 and 18
-- (medians of 400 calls), so not here: jit (their plans cost 300 at most, and 100,000 is where it begins), track_functions, plan_cache_mode.
create or replace view monitor.health_setting as
with rule (name, good, at_least, at_most, wanted, verdict, cost) as (
  values
  ('fsync', array['on'], null::float8, null::float8, 'on', 'problem',
   'after a crash of the machine the database may be beyond repair: all jobs are lost'),
  ('full_page_writes', array['on'], null, null, 'on', 'problem',
   'a page that a crash left half written stays so: jobs are lost, or the server does not start'),
  ('synchronous_commit', array['on', 'local', 'remote_write', 'remote_apply'], null, null, 'on', 'problem',
   'a crash takes back the last matches and ends: a job that is at work is handed out again'),
  ('default_transaction_isolation', array['read committed'], null, null, 'read committed', 'problem',
   'calls that match, insert or return jobs are refused (PB001)'),
  ('default_transaction_read_only', array['off'], null, null, 'off', 'problem', 'no job can be inserted or matched'),
  ('autovacuum', array['on'], null, null, 'on', 'problem',
   'tables grow, statistics get stale (a match by wrong ones takes 6 ms instead of 0.5), and matches walk over dead rows'),
  ('track_counts', array['on'], null, null, 'on', 'problem', 'autovacuum does not learn what to clean, as if it were off'),
  -- measured: 0.34 ms a match, 0.47 after 90,000 matches without a vacuum
  ('autovacuum_naptime', null, null, 15, '10s', 'advice', 'at 1,000 matches a second 60,000 rows of each queue table are dead after a minute: a match takes a quarter longer'),
  -- jobs and the changes of counts have none whatever it says; leases, requests and the history go by it
  ('autovacuum_vacuum_cost_delay', null, null, 2, '0', 'advice', 'cleaning sleeps more than it works: leases and requests leave dead rows faster than it takes them away'),
  ('max_wal_size', null, 2048, null, '4GB', 'advice', 'a checkpoint comes every few minutes under load, and after each the whole of each page of the queues is written again'),
  ('checkpoint_timeout', null, 600, null, '15min', 'advice', 'a checkpoint comes every few minutes, and after each the whole of each page of the queues is written again'),
  ('wal_compression', array['on', 'pglz', 'lz4', 'zstd'], null, null, 'on', 'advice', 'the pages of the queues are written to the log as they are, after each checkpoint'),
  -- a line costs no measurable time, but a thousand calls a second write a thousand of them, and the attempt is what proves a lease
  ('log_statement', array['none', 'ddl', 'mod'], null, null, 'none', 'advice', 'each call is a line: 25 GB a day at 1,000 calls a second, with the attempts, which are secret'),
  ('log_duration', array['off'], null, null, 'off', 'advice', 'each call is a line: 10 GB a day at 1,000 calls a second'),
  ('log_min_duration_statement', array['-1'], 10, null, '-1', 'advice', 'each call is a line: 25 GB a day at 1,000 calls a second, with the attempts, which are secret')
), given (name, role_name, database_id, value) as (
  select s.name, null::name, null::oid, s.setting from pg_settings s
   union all
  -- what others than the one who looks have set for them
  select split_part(c.entry, '=', 1), o.rolname, r.setdatabase, substr(c.entry, strpos(c.entry, '=') + 1)
    from pg_db_role_setting r
    join pg_roles o on o.oid = r.setrole and o.rolname <> current_user
   cross join unnest(r.setconfig) c (entry)
   where r.setdatabase in (0, (select d.oid from pg_database d where d.datname = current_database()))
     and exists (select from resource.house_role h join pg_roles m on m.rolname = h.role_name where pg_has_role(o.oid, m.oid, 'member'))
), judged as (
  select s.name, g.role_name, g.database_id, s.context, s.source, r.wanted, r.cost,
         case when g.role_name is null then current_setting(s.name) else g.value end as value,
         case when v.value = any (r.good) or (r.at_least is not null or r.at_most is not null)
                   and v.value::float8 between coalesce(r.at_least, '-infinity') and coalesce(r.at_most, 'infinity') then 'ok'
              else r.verdict end as verdict
    from rule r
    join pg_settings s on s.name = r.name
    join given g on g.name = r.name and (g.role_name is null or r.good is not null and s.vartype in ('bool', 'enum'))
   cross join lateral (select case when s.vartype <> 'bool' and lower(g.value) not in ('off', 'false', 'no') then g.value
                                   when lower(g.value) in ('off', 'false', 'no', '0') then 'off' else 'on' end as value) v
)
select 'setting' as area, j.name || coalesce(' of role ' || j.role_name, '') as object, j.value, j.verdict,
       case when j.verdict <> 'ok' then j.cost end as cost,
       case when j.verdict = 'ok' then null
            when j.role_name is not null and j.database_id <> 0 then format('alter role %I in database %I reset %s', j.role_name, current_database(), j.name)
            when j.role_name is not null then format('alter role %I reset %s', j.role_name, j.name)
            when j.source = 'database' then format('alter database %I reset %s', current_database(), j.name)
            when j.source = 'user' then format('alter role %I reset %s', current_user, j.name)
            when j.source = 'database user' then format('alter role %I in database %I reset %s', current_user, current_database(), j.name)
            when j.source in ('session', 'client', 'environment variable') then 'set in this session alone: look at PGOPTIONS and the DSN'
            when j.source = 'command line' then format('take it off the command line that starts the server, then alter system set %s = %L', j.name, j.wanted)
            else format('alter system set %s = %L, then ', j.name, j.wanted)
                 || case j.context when 'postmaster' then 'restart the server' else 'select pg_reload_conf()' end end as remedy
  from judged j;

comment on view monitor.health_setting is
'Settings that cost jobs or time, as they are for who looks, and as they are set for roles that use pgbroker. Part of monitor.health.';
comment on column monitor.health_setting.area is 'setting.';
comment on column monitor.health_setting.object is 'Name of the setting, and of the role where it is the role''s own.';
comment on column monitor.health_setting.value is 'Its value.';
comment on column monitor.health_setting.verdict is 'ok, advice or problem.';
comment on column monitor.health_setting.cost is 'What it costs; null where it is ok.';
comment on column monitor.health_setting.remedy is 'What to do; null where it is ok.';
-- file: monitor/health_snapshot.sql
-- What keeps deleted rows from being cleaned. Process ids and transaction ids are seen by everybody, times and states of other users' sessions
-- by members of pg_read_all_stats only; so the verdict goes by transactions, which is also what an old snapshot costs.
create or replace view monitor.health_snapshot as
with session as (
  select a.pid, a.datid, a.usename, a.state, a.xact_start, a.backend_xid, a.backend_xmin, a.application_name, d.oid as database_id
    from pg_stat_activity a
    join pg_database d on d.datname = current_database()
   where a.pid <> pg_backend_pid()
), holder (object, transactions, since, detail, remedy) as (
  -- Another database's session holds this one's dead rows when it has written: each new snapshot reaches back to it. A vacuum never does.
  select case when s.datid is null then format('process %s for standby %s', s.pid, s.application_name) else format('session %s of %s', s.pid, coalesce(s.usename, 'the server')) end,
         greatest(age(s.backend_xmin), age(s.backend_xid)), s.xact_start, s.state,
         case when s.datid is null then 'end the long query on the standby, or set hot_standby_feedback = off there'
              when s.usename is null then format('select pg_terminate_backend(%s)', s.pid)  -- autovacuum's, or its role was dropped
              else format('select pg_terminate_backend(%s); to bound it: alter role %I set idle_in_transaction_session_timeout = ''60s''', s.pid, s.usename) end
    from session s
   where coalesce(s.backend_xmin, s.backend_xid) is not null
     and (s.datid is null or s.datid = s.database_id or s.backend_xid is not null)
     and s.pid not in (select p.pid from pg_stat_progress_vacuum p)
   union all
  select format('prepared transaction %s', p.gid), age(p.transaction), p.prepared, p.owner,
         format('in database %I: commit prepared %L, or rollback prepared %L', p.database, p.gid, p.gid)
    from pg_prepared_xacts p
   union all
  select format('replication slot %s', r.slot_name), age(r.xmin), null, case when r.active then 'active' else 'inactive' end,
         format('start its standby, or select pg_drop_replication_slot(%L)', r.slot_name)
    from pg_replication_slots r
   where r.xmin is not null
), snapshot as (
  -- Matching itself looks past what was taken (taskqueue.job_count.first_ids); what grows is what vacuum may not clean.
  select h.*, case when h.transactions >= 100000 then 'problem' when h.transactions >= 10000 then 'advice' else 'ok' end as verdict,
         row_number() over (order by h.transactions desc, h.object) as place
    from holder h
)
select 'snapshot' as area, s.object,
       concat_ws(', ', s.transactions || ' transactions', date_trunc('second', clock_timestamp() - s.since), s.detail) as value, s.verdict,
       case when s.verdict <> 'ok' then 'rows deleted since then cannot be cleaned: tables and indexes grow with every match' end as cost,
       case when s.verdict <> 'ok' then s.remedy end as remedy
  from snapshot s
 where s.place = 1 or s.verdict <> 'ok'
 union all
select 'snapshot', 'oldest transaction', 'none', 'ok', null, null where not exists (select from snapshot)
 union all
select 'slot', r.slot_name, 'inactive', 'advice', 'all WAL since it was last used is kept, until the disk is full and the server stops',
       format('start what reads it, or select pg_drop_replication_slot(%L)', r.slot_name)
  from pg_replication_slots r
 where not r.active and r.restart_lsn is not null;

comment on view monitor.health_snapshot is
'Old snapshots: of sessions, prepared transactions, replication slots and standbys; and slots that nobody reads. Part of monitor.health.';
comment on column monitor.health_snapshot.area is 'snapshot or slot.';
comment on column monitor.health_snapshot.object is 'Session, prepared transaction or slot.';
comment on column monitor.health_snapshot.value is 'What was found.';
comment on column monitor.health_snapshot.verdict is 'ok, advice or problem.';
comment on column monitor.health_snapshot.cost is 'What it costs; null where it is ok.';
comment on column monitor.health_snapshot.remedy is 'What to do; null where it is ok.';
-- file: monitor/health_table.sql
-- The tables of the room taskqueue as the server sees them. Tables are found in the catalogue, not named one by one, except those that a match reads.
create or replace view monitor.health_table as
with relation as (
  select c.oid, c.relname as name, c.relkind as kind, c.reltuples, c.reloptions, c.relowner, pg_relation_size(c.oid) as bytes, i.indrelid as table_id
    from pg_class c
    left join pg_index i on i.indexrelid = c.oid
   where c.relnamespace = 'taskqueue'::regnamespace and c.relkind in ('r', 'i')
), hot as (
  select r.* from relation r
   where r.kind = 'r' and r.name in ('definition', 'task_queue', 'posting_list', 'posting', 'known_offer', 'job', 'job_count', 'job_count_change', 'lease', 'limit_slot')
), used as (
  select s.relid, s.relname as name, s.n_live_tup as live, s.n_dead_tup as dead, greatest(s.last_vacuum, s.last_autovacuum) as cleaned,
         coalesce(s.last_analyze, s.last_autoanalyze) is null as never_analyzed,
         case when s.n_dead_tup < 50000 or s.n_dead_tup <= s.n_live_tup then 'ok' when s.n_dead_tup < 500000 then 'advice' else 'problem' end as verdict
    from pg_stat_user_tables s
   where s.schemaname = 'taskqueue'
), swollen as (
  -- rows and index entries of these tables take 60 to 200 bytes
  select r.name, r.kind, r.bytes, u.live
    from relation r
    join hot t on t.oid = coalesce(r.table_id, r.oid) and t.name not in ('definition', 'task_queue')
    join used u on u.relid = t.oid
   where r.bytes >= 16 * 1024 ^ 2 and r.bytes > 1000 * u.live
), memory as (
  select (select sum(pg_total_relation_size(h.oid)) from hot h) as needed, s.setting::bigint * 8192 as given
    from pg_settings s where s.name = 'shared_buffers'
)
-- measured: 0.34 ms a match, 0.47 after 90,000 matches without a vacuum
select 'bloat' as area, 'table ' || u.name as object,
       format('%s dead rows, %s live, last cleaned %s', u.dead, u.live, coalesce(date_trunc('second', u.cleaned)::text, 'never')) as value, u.verdict,
       'matches walk over them: a third longer for each 100,000' as cost,
       format('vacuum taskqueue.%I; where they stay, an old snapshot holds them; where they come back, let autovacuum run more often', u.name) as remedy
  from used u
 where u.verdict <> 'ok'
 union all
select 'bloat', 'dead rows', format('%s at most, in table %s', u.dead, u.name), 'ok', null, null
  from (select * from used order by dead desc, name limit 1) u
 where u.verdict = 'ok' and not exists (select from used o where o.verdict <> 'ok')
 union all
select 'bloat', case w.kind when 'i' then 'index ' else 'table ' end || w.name, format('%s for %s rows', pg_size_pretty(w.bytes), w.live), 'advice',
       'it takes memory from the rows that matches read, and cleaning reads all of it',
       case w.kind when 'i' then format('reindex index concurrently taskqueue.%I', w.name)
            else format('vacuum (full, analyze) taskqueue.%I, while no agents work: it locks the table', w.name) end
  from swollen w
 union all
select 'bloat', 'size of tables and indexes', 'as their rows need', 'ok', null, null where not exists (select from swollen)
 union all
-- measured: a match takes 6 ms instead of 0.5 (taskqueue.refresh_statistics)
select 'statistics', 'table ' || h.name, 'never analyzed', 'advice', 'the planner takes a setup for a selective key: a match takes 6 ms instead of 0.5',
       format('analyze taskqueue.%I, or select taskqueue.refresh_statistics()', h.name)
  from hot h
  join used u on u.relid = h.oid
 where h.reltuples < 0 and u.never_analyzed and h.bytes >= 64 * 1024
 union all
select 'autovacuum', 'table ' || r.name, 'switched off', 'problem', 'it grows, and its statistics get stale: a match by wrong ones takes 6 ms instead of 0.5',
       format('alter table taskqueue.%I reset (autovacuum_enabled)', r.name)
  from relation r
 where r.kind = 'r' and exists (select from pg_options_to_table(r.reloptions) o
                                 where o.option_name = 'autovacuum_enabled' and lower(o.option_value) in ('off', 'false', 'no', '0'))
 union all
-- measured: NOTIFY in a trigger leaves 150 commits/s of 4,700, a counter kept by a row trigger makes bulk inserts 6 times slower
select 'trigger', format('%s on %s', t.tgname, r.name), format('calls %s', t.tgfoid::regproc), 'advice',
       'it runs inside each call that writes the table: it slows matches down, and an error in it fails them',
       format('drop trigger %I on taskqueue.%I, and let one background process read what it told', t.tgname, r.name)
  from pg_trigger t
  join relation r on r.oid = t.tgrelid
  join pg_proc p on p.oid = t.tgfoid and p.proowner <> r.relowner
 where not t.tgisinternal and t.tgparentid = 0 and t.tgenabled <> 'D'
 union all
select 'setting', 'shared_buffers', format('%s for %s that matches read', pg_size_pretty(m.given), pg_size_pretty(m.needed)), v.verdict,
       case when v.verdict <> 'ok' then 'pages of the queues are read and written again and again' end,
       case when v.verdict <> 'ok' then format('alter system set shared_buffers = ''%sMB'', then restart the server', ceil(m.needed * 1.5 / 1024 ^ 2)) end
  from memory m
 cross join lateral (select case when m.needed > m.given then 'advice' else 'ok' end as verdict) v
 union all
-- a thousand jobs a second, each matched, reported and finished, use 260 million ids a day of the 2 thousand million there are
select 'transaction ids', 'age of the oldest', format('%s million', age(d.datfrozenxid) / 1000000), v.verdict,
       case when v.verdict <> 'ok' then 'at 2,000 million the server takes no more transactions' end,
       case when v.verdict <> 'ok' then format('end old snapshots and let autovacuum work; else vacuum (freeze) database %I', d.datname) end
  from pg_database d
 cross join lateral (select case when age(d.datfrozenxid) >= 1200000000 then 'problem' when age(d.datfrozenxid) >= 600000000 then 'advice' else 'ok' end as verdict) v
 where d.datname = current_database();

comment on view monitor.health_table is
'Dead rows, size, statistics, foreign triggers of the tables of taskqueue, and the memory for them. Part of monitor.health.';
comment on column monitor.health_table.area is 'bloat, statistics, autovacuum, trigger, setting or transaction ids.';
comment on column monitor.health_table.object is 'Table, index, trigger or setting.';
comment on column monitor.health_table.value is 'What was found.';
comment on column monitor.health_table.verdict is 'ok, advice or problem.';
comment on column monitor.health_table.cost is 'What it costs; null where it is ok.';
comment on column monitor.health_table.remedy is 'What to do; null where it is ok.';
-- file: monitor/health_work.sql
-- after: resource.setup_time
-- Whether taskqueue.maintain does its work. It keeps no record of its own: what it should have done long ago and has not tells.
create or replace view monitor.health_work as
with today (day, days) as (
  select (now() at time zone 'utc')::date, (select coalesce(ceil(extract(epoch from max(s.history_kept)) / 86400), 30)::int from taskqueue.setting s)
), partition as (
  select to_date(right(c.relname, 8), 'YYYYMMDD') as day
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
   where i.inhparent = 'taskqueue.history'::regclass and c.relname ~ '^history_[0-9]{8}$'
), ahead as (  -- as far as there is one for each day
  select count(*) - 1 as days
    from (select p.day - row_number() over (order by p.day)::int + 1 as begins from partition p, today t where p.day >= t.day) p, today t
   where p.begins = t.day
), late as (
  select t.setup, greatest(t.now - (select min(m.marked_at) from taskqueue.share_mark m where m.setup = t.setup) - s.share_delay,
                           t.now - (select min(r.seen_at) from taskqueue.resource_seen r where r.setup = t.setup) - interval '10 seconds',
                           interval '0') as by
    from resource.setup_time t
    join taskqueue.setting s on s.setup = t.setup
), unfolded as (
  select c.setup, c.task_queue_id, count(*) as changes
    from taskqueue.job_count_change c
   cross join lateral (select b.known_to, b.in_flight from taskqueue.job_count b
                        where b.setup = c.setup and b.task_queue_id = c.task_queue_id
                        order by b.known_to desc, b.count_id desc limit 1) t
   where c.made_in >= t.known_to or c.made_in = any (t.in_flight)
   group by c.setup, c.task_queue_id
   order by 3 desc, 1, 2
   limit 1
), stray as (
  select count(*) as events from (select from taskqueue.history_default limit 100000) h
)
select 'maintenance' as area, 'setup ' || l.setup as object,
       case when v.verdict = 'ok' then 'done' else format('not done for %s', date_trunc('second', l.by)) end as value, v.verdict,
       case when v.verdict <> 'ok' then 'shares are those of queues that were, counts take longer to read, and explain_job knows no new resources' end as cost,
       case when v.verdict <> 'ok' then 'call taskqueue.maintain every few seconds: broker maintain --every 5, or pg_cron' end as remedy
  from late l
 cross join lateral (select case when l.by > interval '1 minute' then 'advice' else 'ok' end as verdict) v
 union all
select 'maintenance', 'changes of counts', case when u.changes is null then '0' else format('%s of queue %s in setup %s', u.changes, u.task_queue_id, u.setup) end, v.verdict,
       case when v.verdict <> 'ok' then 'each match from the queue adds them up' end,
       case when v.verdict <> 'ok' then 'call taskqueue.maintain every few seconds: broker maintain --every 5, or pg_cron' end
  from (select) one
  left join unfolded u on true
 cross join lateral (select case when u.changes >= 500 then 'advice' else 'ok' end as verdict) v
 union all
select 'history', 'partitions made ahead', case when a.days < 0 then 'none for today' else format('%s days', a.days) end, v.verdict,
       case when v.verdict <> 'ok' then 'events go into history_default, which retention does not clear' end,
       case when v.verdict <> 'ok' then 'call taskqueue.maintain() without a setup at least once a day' end
  from ahead a
 cross join lateral (select case when a.days < 1 and exists (select from resource.setup) then 'advice' else 'ok' end as verdict) v
 union all
select 'history', 'events in history_default', s.events || case when s.events = 100000 then ' or more' else '' end, v.verdict,
       case when v.verdict <> 'ok' then 'they stay beyond the retention, and their days get no partition' end,
       case when v.verdict <> 'ok' then 'let taskqueue.maintain() run; delete those beyond the retention by hand, as broker_owner' end
  from stray s
 cross join lateral (select case when s.events > 0 then 'advice' else 'ok' end as verdict) v
 union all
select 'history', 'partitions beyond the retention', format('%s, retention is %s days', o.partitions, t.days), v.verdict,
       case when v.verdict <> 'ok' then 'disk: 7 GB a day at a thousand matches a second' end,
       case when v.verdict <> 'ok' then 'call taskqueue.maintain(); where it cannot drop them, somebody reads the history for long' end
  from today t
 cross join lateral (select count(*) as partitions from partition p where p.day < t.day - t.days - 1) o
 cross join lateral (select case when o.partitions > 0 then 'advice' else 'ok' end as verdict) v;

comment on view monitor.health_work is
'Whether the background work is done: shares, counts, resources seen, partitions of the history. Part of monitor.health.';
comment on column monitor.health_work.area is 'maintenance or history.';
comment on column monitor.health_work.object is 'Setup, or what was looked at.';
comment on column monitor.health_work.value is 'What was found.';
comment on column monitor.health_work.verdict is 'ok, advice or problem.';
comment on column monitor.health_work.cost is 'What it costs; null where it is ok.';
comment on column monitor.health_work.remedy is 'What to do; null where it is ok.';
-- file: monitor/job.sql
-- The first question of a user: where is my job.
create or replace view monitor.job as
select j.setup, j.job_id, case when j.held then 'held' else 'waiting' end as state, j.inserted_at as since, j.task_queue_id, j.user_priority,
       j.attempts, null::text as site
  from taskqueue.job j
 union all
select l.setup, l.job_id, 'leased', l.matched_at, l.task_queue_id, l.user_priority, l.attempt, l.site
  from taskqueue.lease l
 union all
select e.setup, e.job_id, e.outcome, e.ended_at, e.task_queue_id, null, e.attempts, null
  from taskqueue.ended e;

comment on view monitor.job is
'Every job of TaskQueues: waiting, held, leased, or how it ended. A job is in exactly one row.';
comment on column monitor.job.setup is 'Tenant.';
comment on column monitor.job.job_id is 'Job.';
comment on column monitor.job.state is 'waiting, held, leased, or the outcome: finished, failed, cancelled, closed.';
comment on column monitor.job.since is 'Since when: inserted, matched or ended.';
comment on column monitor.job.task_queue_id is 'Queue it waits in or was taken from.';
comment on column monitor.job.user_priority is 'User priority; null when it has ended.';
comment on column monitor.job.attempts is 'How often it was matched.';
comment on column monitor.job.site is 'Site that has it; null when it is not leased.';
-- file: monitor/job_in_two_states.sql
-- Consistency: always empty.
create or replace view monitor.job_in_two_states as
select s.setup, s.job_id, string_agg(s.state, ', ' order by s.state) as states
  from (select j.setup, j.job_id, 'waiting' as state from taskqueue.job j
        union all
        select l.setup, l.job_id, 'leased' from taskqueue.lease l
        union all
        select e.setup, e.job_id, 'ended' from taskqueue.ended e) s
 group by s.setup, s.job_id
having count(*) > 1;

comment on view monitor.job_in_two_states is
'Jobs that are in more than one of waiting, leased, ended. Always empty; a row is a fault of pgbroker.';
comment on column monitor.job_in_two_states.setup is 'Tenant.';
comment on column monitor.job_in_two_states.job_id is 'Job.';
comment on column monitor.job_in_two_states.states is 'Where it is.';
-- file: monitor/job_without_queue.sql
-- Consistency: always empty.
create or replace view monitor.job_without_queue as
select j.setup, j.job_id, j.task_queue_id
  from taskqueue.job j
 where not exists (select from taskqueue.task_queue q where q.setup = j.setup and q.task_queue_id = j.task_queue_id);

comment on view monitor.job_without_queue is
'Waiting jobs in no TaskQueue. Always empty; a row is a fault of pgbroker.';
comment on column monitor.job_without_queue.setup is 'Tenant.';
comment on column monitor.job_without_queue.job_id is 'Job.';
comment on column monitor.job_without_queue.task_queue_id is 'Queue that is not there.';
-- file: monitor/lease.sql
-- after: resource.setup_time
-- Who has which job.
create or replace view monitor.lease as
select l.setup, l.job_id, l.attempt, l.state, l.site, l.grid_ce, l.role_name, l.matched_at, l.reported_at, l.expires_at,
       l.expires_at < t.now as expired, l.kill_reason, l.task_queue_id, l.user_priority, d.requirements
  from taskqueue.lease l
  join resource.setup_time t on t.setup = l.setup
  left join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id;

comment on view monitor.lease is
'Matched jobs that have not ended: who has them and since when. The token is not shown.';
comment on column monitor.lease.setup is 'Tenant.';
comment on column monitor.lease.job_id is 'Job.';
comment on column monitor.lease.attempt is 'Number of this match of the job.';
comment on column monitor.lease.state is 'matched or running.';
comment on column monitor.lease.site is 'Site.';
comment on column monitor.lease.grid_ce is 'Computing element.';
comment on column monitor.lease.role_name is 'Database role of the agent.';
comment on column monitor.lease.matched_at is 'When it was matched.';
comment on column monitor.lease.reported_at is 'Last report.';
comment on column monitor.lease.expires_at is 'Until when the next report is awaited.';
comment on column monitor.lease.expired is 'Whether that has passed.';
comment on column monitor.lease.kill_reason is 'Not null: the agent is told to kill the job.';
comment on column monitor.lease.task_queue_id is 'Queue it was taken from.';
comment on column monitor.lease.user_priority is 'User priority.';
comment on column monitor.lease.requirements is 'What it asked for.';
-- file: monitor/matches_per_minute.sql
-- after: taskqueue.match
-- How fast jobs leave.
create or replace view monitor.matches_per_minute as
select h.setup, date_trunc('minute', h.at) as minute, h.owner_group, count(*) as matches, count(distinct h.site) as sites
  from taskqueue.match h
 group by h.setup, date_trunc('minute', h.at), h.owner_group;

comment on view monitor.matches_per_minute is
'Matches by minute and owner group. Restrict the minute where the history is long.';
comment on column monitor.matches_per_minute.setup is 'Tenant.';
comment on column monitor.matches_per_minute.minute is 'Start of the minute.';
comment on column monitor.matches_per_minute.owner_group is 'Owner group.';
comment on column monitor.matches_per_minute.matches is 'Matches.';
comment on column monitor.matches_per_minute.sites is 'Sites that got them.';
-- file: monitor/matching_difference.sql
-- Consistency: always empty.
create or replace view monitor.matching_difference as
select s.setup, c.structure, c.key, c.expected, c.found
  from resource.setup s
 cross join lateral taskqueue.check_matching(s.setup) c;

comment on view monitor.matching_difference is
'Where what matching reads differs from the TaskQueues, requirement tables, jobs and leases that it is derived from (a queue visible without its requirements, jobs that no posting leads to, wrong counts). Always empty; taskqueue.rebuild_matching repairs.';
comment on column monitor.matching_difference.setup is 'Tenant.';
comment on column monitor.matching_difference.structure is 'Derived structure.';
comment on column monitor.matching_difference.key is 'What in it.';
comment on column monitor.matching_difference.expected is 'What it should be.';
comment on column monitor.matching_difference.found is 'What it is.';
-- file: monitor/oldest_job.sql
-- after: taskqueue.match
-- after: resource.setup_time
-- Short jobs can starve under "highest bucket first" (section 11): which, and by whom.
create or replace view monitor.oldest_job as
select q.setup, q.task_queue_id, q.cpu_time, q.owner_group, o.job_id, o.inserted_at, t.now - o.inserted_at as waits,
       coalesce(m.matches, 0) as matches_last_hour, coalesce(h.matches, 0) as higher_matches_last_hour,
       coalesce(m.matches, 0) = 0 and coalesce(h.matches, 0) > 0 as starved
  from taskqueue.task_queue q
  join resource.setup_time t on t.setup = q.setup
 cross join lateral (select j.job_id, j.inserted_at from taskqueue.job j
                      where j.setup = q.setup and j.task_queue_id = q.task_queue_id and not j.held
                      order by j.inserted_at, j.job_id limit 1) o
  left join lateral (select count(*) as matches from taskqueue.match e
                      where e.setup = q.setup and e.at > t.now - interval '1 hour'
                        and e.task_queue_id = q.task_queue_id) m on true
  left join lateral (select count(*) as matches from taskqueue.match e
                      where e.setup = q.setup and e.at > t.now - interval '1 hour'
                        and e.cpu_time > q.cpu_time) h on true;

comment on view monitor.oldest_job is
'The oldest waiting job of each TaskQueue, and whether higher CPU buckets keep it waiting: matches went to them within the hour and none to the queue.';
comment on column monitor.oldest_job.setup is 'Tenant.';
comment on column monitor.oldest_job.task_queue_id is 'TaskQueue.';
comment on column monitor.oldest_job.cpu_time is 'CPU bucket, seconds.';
comment on column monitor.oldest_job.owner_group is 'Owner group.';
comment on column monitor.oldest_job.job_id is 'Its oldest waiting job.';
comment on column monitor.oldest_job.inserted_at is 'Since when it waits.';
comment on column monitor.oldest_job.waits is 'How long.';
comment on column monitor.oldest_job.matches_last_hour is 'Matches from this queue within the hour.';
comment on column monitor.oldest_job.higher_matches_last_hour is 'Matches from higher buckets within the hour.';
comment on column monitor.oldest_job.starved is 'True: higher buckets were served within the hour and this queue was not.';
-- file: monitor/resource_seen.sql
-- after: taskqueue.resource_kind
-- Who asks.
create or replace view monitor.resource_seen as
select k.setup, k.class, k.last_seen, k.first_seen, k.samples, k.matched, k.resource
  from taskqueue.resource_kind k;

comment on view monitor.resource_seen is
'Kinds of resources seen lately: descriptions as they came, without JobID, CPUTime as the bucket that it covers.';
comment on column monitor.resource_seen.setup is 'Tenant.';
comment on column monitor.resource_seen.class is 'Kind of resource.';
comment on column monitor.resource_seen.last_seen is 'Last seen.';
comment on column monitor.resource_seen.first_seen is 'First seen.';
comment on column monitor.resource_seen.samples is 'Ten-second windows in which it asked.';
comment on column monitor.resource_seen.matched is 'Those of them whose sampled request got a job.';
comment on column monitor.resource_seen.resource is 'Description.';
-- file: monitor/setup.sql
-- Who lives here.
create or replace view monitor.setup as
select s.setup, s.created_at, s.simulated, (select count(*) from taskqueue.task_queue q where q.setup = s.setup) as task_queues,
       (select count(*) from resource.identity i where i.setup = s.setup) as identities
  from resource.setup s;

comment on view monitor.setup is
'Setups, with how much they hold. taskqueue.remove_setup takes one away.';
comment on column monitor.setup.setup is 'Tenant.';
comment on column monitor.setup.created_at is 'Since when.';
comment on column monitor.setup.simulated is 'Time of a simulated setup; null = real time.';
comment on column monitor.setup.task_queues is 'TaskQueues.';
comment on column monitor.setup.identities is 'Database roles that may use it besides operators.';
-- file: monitor/site_limit.sql
-- after: taskqueue.queue_count
-- after: resource.setup_time
-- after: taskqueue.posted_queue
-- What the limits hold back.
create or replace view monitor.site_limit as
select l.setup, l.limit_id, l.site, l.grid_ce, l.kind, l.attribute, l.value, l.ceiling, l.delay, l.burst, u.used,
       case l.kind when 'running' then u.used >= l.ceiling
                   else coalesce(l.next_at > t.now + (l.burst - 1) * l.delay, false) end as reached,
       b.queues, b.jobs
  from taskqueue.site_limit l
  join resource.setup_time t on t.setup = l.setup
 cross join lateral (select count(*) as used
                       from taskqueue.limit_use i where i.setup = l.setup and i.limit_id = l.limit_id) u
 cross join lateral (select count(*) as queues, coalesce(sum(n.jobs), 0)::bigint as jobs
                       from taskqueue.posted_queue p
                       join taskqueue.task_queue q on q.setup = p.setup and q.task_queue_id = p.task_queue_id
                       join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
                       join taskqueue.queue_count n on n.setup = p.setup and n.task_queue_id = p.task_queue_id
                      where p.setup = l.setup and p.site in (l.site, '*') and taskqueue.lists(d.requirements, l.attribute, l.value)) b;

comment on view monitor.site_limit is
'Limits with how far they are used, and which waiting jobs they hold back while they are reached.';
comment on column monitor.site_limit.setup is 'Tenant.';
comment on column monitor.site_limit.limit_id is 'Limit.';
comment on column monitor.site_limit.site is 'Site.';
comment on column monitor.site_limit.grid_ce is 'Computing element; null = the whole site.';
comment on column monitor.site_limit.kind is 'running or delay.';
comment on column monitor.site_limit.attribute is 'Requirement key.';
comment on column monitor.site_limit.value is 'Value of it.';
comment on column monitor.site_limit.ceiling is 'Jobs at a time.';
comment on column monitor.site_limit.delay is 'Time between two matches.';
comment on column monitor.site_limit.burst is 'Matches at once after a pause.';
comment on column monitor.site_limit.used is 'Leases that count at it; kind running.';
comment on column monitor.site_limit.reached is 'Whether nothing more may be matched there now.';
comment on column monitor.site_limit.queues is 'Open TaskQueues that the site may see and that count at it.';
comment on column monitor.site_limit.jobs is 'Their waiting jobs.';
-- file: monitor/task_decision.sql
-- What became of a task in each run, whether a queue was asked for it or not.
create or replace view monitor.task_decision as
select t.setup, t.run_id, r.algorithm, r.profile, r.dry, t.task_id, t.status, t.rule, t.reason, t.errcode, t.retry_at, t.candidates, t.rejected, t.not_candidates,
       (select sum(a.jobs)::bigint from brokerage.assignment a where a.setup = t.setup and a.run_id = t.run_id and a.task_id = t.task_id) as jobs,
       (select n.nucleus from brokerage.nucleus_assignment n where n.setup = t.setup and n.run_id = t.run_id and n.task_id = t.task_id) as nucleus, t.decided_at
  from brokerage.task_decision t
  join brokerage.run r on r.setup = t.setup and r.run_id = t.run_id;

comment on view monitor.task_decision is 'What each run decided for each task: whether it has candidates, waits, was throttled or failed by a rule, or could not be evaluated, and why.';
comment on column monitor.task_decision.setup is 'Tenant.';
comment on column monitor.task_decision.run_id is 'Run.';
comment on column monitor.task_decision.algorithm is 'production_job, analysis_job or production_task.';
comment on column monitor.task_decision.profile is 'Profile that decided.';
comment on column monitor.task_decision.dry is 'Nothing but decisions was stored.';
comment on column monitor.task_decision.task_id is 'Task.';
comment on column monitor.task_decision.status is 'candidates, pending, throttled, failed, or error: the task could not be evaluated.';
comment on column monitor.task_decision.rule is 'Rule that throttled or failed the whole task, or had it decided once more, without locality (anal-loops); null = none.';
comment on column monitor.task_decision.reason is 'Why it was throttled or failed, that it was decided without locality, or the error, in words.';
comment on column monitor.task_decision.errcode is 'SQLSTATE of an error.';
comment on column monitor.task_decision.retry_at is 'When a pending task is brokered again.';
comment on column monitor.task_decision.candidates is 'Queues that may take its jobs.';
comment on column monitor.task_decision.rejected is 'Queues that were rejected.';
comment on column monitor.task_decision.not_candidates is 'Queues that never entered the list.';
comment on column monitor.task_decision.jobs is 'Jobs of the task that the run assigned; null = none.';
comment on column monitor.task_decision.nucleus is 'Nucleus that the run sent it to; null = none, or a later run has sent it elsewhere.';
comment on column monitor.task_decision.decided_at is 'When (the setup''s clock).';
-- file: monitor/task_queue.sql
-- after: taskqueue.queue_count
-- The first view a DBA opens.
create or replace view monitor.task_queue as
select q.setup, q.task_queue_id, q.owner_group, q.owner_dn, q.cpu_time, q.priority,
       coalesce(n.jobs, 0) as jobs,
       (select count(*) from taskqueue.job h where h.setup = q.setup and h.task_queue_id = q.task_queue_id and h.held) as held_jobs,
       case when not q.enabled then 'disabled' when q.held then 'held'
            when exists (select from taskqueue.held_owner o where o.setup = q.setup and o.owner_dn = q.owner_dn) then 'owner held' else 'open' end as state,
       (select min(j.inserted_at) from taskqueue.job j where j.setup = q.setup and j.task_queue_id = q.task_queue_id) as oldest_job_at,
       q.created_at, q.mean_weight,
       (select count(*) from taskqueue.task_queue s where s.setup = q.setup and s.definition_id = q.definition_id) as siblings,
       d.requirements
  from taskqueue.task_queue q
  join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
  left join taskqueue.queue_count n on n.setup = q.setup and n.task_queue_id = q.task_queue_id;

comment on view monitor.task_queue is
'TaskQueues with their requirements, jobs, age and share: what waits, for whom, and what it asks for.';
comment on column monitor.task_queue.setup is 'Tenant.';
comment on column monitor.task_queue.task_queue_id is 'TaskQueue.';
comment on column monitor.task_queue.owner_group is 'Owner group.';
comment on column monitor.task_queue.owner_dn is 'Owner.';
comment on column monitor.task_queue.cpu_time is 'CPU bucket, seconds.';
comment on column monitor.task_queue.priority is 'Share of its entity (section 9).';
comment on column monitor.task_queue.jobs is 'Waiting jobs that are not held.';
comment on column monitor.task_queue.held_jobs is 'Waiting jobs that are held.';
comment on column monitor.task_queue.state is 'open, disabled, held or owner held.';
comment on column monitor.task_queue.oldest_job_at is 'Since when its oldest job waits.';
comment on column monitor.task_queue.created_at is 'When it was opened.';
comment on column monitor.task_queue.mean_weight is 'Mean draw weight of its jobs when the shares were last computed.';
comment on column monitor.task_queue.siblings is 'TaskQueues with the same requirements, itself counted.';
comment on column monitor.task_queue.requirements is 'Canonical requirements.';
-- file: monitor/waiting_by_cpu_bucket.sql
-- after: taskqueue.queue_count
-- How long the waiting jobs are.
create or replace view monitor.waiting_by_cpu_bucket as
select b.setup, b.cpu_time, count(q.task_queue_id) as queues, coalesce(sum(n.jobs), 0)::bigint as jobs
  from taskqueue.cpu_bucket b
  left join taskqueue.task_queue q on q.setup = b.setup and q.cpu_time = b.cpu_time
  left join taskqueue.queue_count n on n.setup = q.setup and n.task_queue_id = q.task_queue_id
 group by b.setup, b.cpu_time;

comment on view monitor.waiting_by_cpu_bucket is
'TaskQueues and waiting jobs by CPU bucket; empty buckets are shown.';
comment on column monitor.waiting_by_cpu_bucket.setup is 'Tenant.';
comment on column monitor.waiting_by_cpu_bucket.cpu_time is 'CPU bucket, seconds.';
comment on column monitor.waiting_by_cpu_bucket.queues is 'TaskQueues.';
comment on column monitor.waiting_by_cpu_bucket.jobs is 'Waiting jobs that are not held.';
-- file: monitor/waiting_by_group.sql
-- after: taskqueue.queue_count
-- Who waits.
create or replace view monitor.waiting_by_group as
select q.setup, q.owner_group, q.owner_dn, count(*) as queues, sum(n.jobs)::bigint as jobs, sum(q.priority) as priority,
       min(j.inserted_at) as oldest_job_at
  from taskqueue.task_queue q
  join taskqueue.queue_count n on n.setup = q.setup and n.task_queue_id = q.task_queue_id
  left join lateral (select min(i.inserted_at) as inserted_at from taskqueue.job i where i.setup = q.setup and i.task_queue_id = q.task_queue_id) j on true
 group by q.setup, q.owner_group, q.owner_dn;

comment on view monitor.waiting_by_group is
'TaskQueues and waiting jobs by owner group and owner.';
comment on column monitor.waiting_by_group.setup is 'Tenant.';
comment on column monitor.waiting_by_group.owner_group is 'Owner group.';
comment on column monitor.waiting_by_group.owner_dn is 'Owner.';
comment on column monitor.waiting_by_group.queues is 'TaskQueues.';
comment on column monitor.waiting_by_group.jobs is 'Waiting jobs that are not held.';
comment on column monitor.waiting_by_group.priority is 'Sum of their priorities.';
comment on column monitor.waiting_by_group.oldest_job_at is 'Since when the oldest waits.';
-- file: monitor/waiting_by_platform.sql
-- after: taskqueue.queue_count
-- Which platforms the waiting jobs accept.
create or replace view monitor.waiting_by_platform as
select q.setup, coalesce(v.value, '(any platform)') as platform, count(*) as queues, sum(n.jobs)::bigint as jobs
  from taskqueue.task_queue q
  join taskqueue.queue_count n on n.setup = q.setup and n.task_queue_id = q.task_queue_id
  left join taskqueue.task_queue_platform v on v.setup = q.setup and v.task_queue_id = q.task_queue_id
 group by q.setup, v.value;

comment on view monitor.waiting_by_platform is
'TaskQueues and waiting jobs by the platforms that may run them; a queue counts at every platform that it lists.';
comment on column monitor.waiting_by_platform.setup is 'Tenant.';
comment on column monitor.waiting_by_platform.platform is 'Platform, or (any platform).';
comment on column monitor.waiting_by_platform.queues is 'TaskQueues.';
comment on column monitor.waiting_by_platform.jobs is 'Waiting jobs that are not held.';
-- file: monitor/waiting_by_site.sql
-- after: taskqueue.queue_count
-- after: taskqueue.posted_queue
-- Where the waiting jobs may run.
create or replace view monitor.waiting_by_site as
select p.setup, case p.site when '*' then '(any site)' else p.site end as site, count(*) as queues, sum(n.jobs)::bigint as jobs
  from taskqueue.posted_queue p
  join taskqueue.queue_count n on n.setup = p.setup and n.task_queue_id = p.task_queue_id
 where p.site <> ''
 group by p.setup, p.site;

comment on view monitor.waiting_by_site is
'Open TaskQueues and their jobs by the sites that may run them; a queue counts at every site that it lists. (any site): queues that list none, which every site may take besides its own.';
comment on column monitor.waiting_by_site.setup is 'Tenant.';
comment on column monitor.waiting_by_site.site is 'Site, or (any site).';
comment on column monitor.waiting_by_site.queues is 'Open TaskQueues.';
comment on column monitor.waiting_by_site.jobs is 'Their waiting jobs.';
-- file: resource/begin_alone.sql
-- World format, Evaluating: a case sees only its world. The setup is made in a transaction that is rolled back.
create or replace function resource.begin_alone(p_setup text) returns void
language plpgsql
security definer set search_path = resource, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  insert into resource.setup (setup, alone) values (p_setup, true) on conflict do nothing;
  if not found then
    raise exception 'setup % is there', p_setup
      using errcode = 'PB001', hint = 'A world that is evaluated by itself has a setup of its own: take a name that nobody has.';
  end if;
end $$;

comment on function resource.begin_alone(text) is
'Makes a setup in which configuration of all setups does not hold: for a world that is evaluated by itself. Errors: PB001 (it is there), PB002 (not an operator).';
-- file: resource/bytes_of_unit.sql
-- PanDA's units of disk: kB, MB, GB are powers of 1024 (G6); PerEvent behind them says what they are counted by.
create or replace function resource.bytes_of_unit(p_unit text) returns float8
language sql immutable parallel safe
as $$
  select case upper(left(coalesce(p_unit, ''), 1)) when 'K' then 1024::float8 when 'M' then 1048576 when 'G' then 1073741824 when 'T' then 1099511627776 else 1 end
$$;

comment on function resource.bytes_of_unit(text) is 'Bytes of a unit: B, kB, MB, GB, TB, with PerEvent behind or not; null or anything else counts bytes.';
-- file: resource/caller.sql
-- Who calls: inside a SECURITY DEFINER function current_user is the owner, so the role that was SET counts, else the login.
create or replace function resource.caller() returns text
language sql stable
as $$
  select coalesce(nullif(current_setting('role'), 'none'), session_user)
$$;

comment on function resource.caller() is
'The database role that calls: the one that was SET, else the one that logged in.';
-- file: resource/candidate_queue.sql
-- after: resource.resource_type_in_force
-- Queues as brokerage lists them: a unified queue (capability ucore) is replaced by its pseudo-queues, one a resource type (brokerage-rules
-- 1.0, ucore-expansion). Memory limits are per slot, and grow with the cores of the child. Not materialized: who asks for one setup reads no other.
create or replace view resource.candidate_queue as
with queue as not materialized (
  select q.setup, q.queue, q.panda_site, q.role, q.type, q.cloud, q.status, q.capability, q.corecount, q.corepower, q.maxtime, q.mintime, q.maxinputsize,
         q.releases, q.pledgedcpu, q.transferringlimit, q.fairsharepolicy, q.wnconnectivity, q.jobseed, q.maxdiskio, q.direct_access_lan, q.storage_site,
         a.attributes,
         q.maxrss * c.times as maxrss, q.minrss * c.times as minrss, q.maxwdir * c.times as maxwdir
    from resource.queue q
   cross join lateral (select q.cric || resource.catchall(q.catchall) || q.params offset 0) a(attributes)
   cross join lateral (select case when a.attributes ? 'per_core_attr' then greatest(q.corecount, 1) else 1 end) c(times)
)
select q.setup, q.queue, q.queue as unified_name, null::text as child_type, q.corecount, q.corecount as unified_corecount, q.maxrss, q.minrss,
       q.panda_site, q.role, q.type, q.cloud, q.status, q.corepower, q.maxtime, q.mintime, q.maxwdir, q.maxinputsize, q.releases, q.pledgedcpu,
       q.transferringlimit, q.fairsharepolicy, q.wnconnectivity, q.jobseed, q.maxdiskio, q.direct_access_lan, q.storage_site, q.attributes
  from queue q
 where q.capability is distinct from 'ucore'
union all
select q.setup, q.queue || '/' || r.name, q.queue, r.name, k.cores, q.corecount,
       case when coalesce(q.maxrss, 0) = 0 then c.cores * r.maxrampercore
            when r.maxrampercore is null then least(q.maxrss * c.cores / p.cores, q.maxrss)
            else least(c.cores * r.maxrampercore, q.maxrss * c.cores / p.cores) end,
       case when r.minrampercore is null then greatest(coalesce(q.minrss, 0) * c.cores / p.cores, coalesce(q.minrss, 0))
            else greatest(c.cores * r.minrampercore - c.cores + 1, coalesce(q.minrss, 0) * c.cores / p.cores) end,
       q.panda_site, q.role, q.type, q.cloud, q.status, q.corepower, q.maxtime, q.mintime, q.maxwdir, q.maxinputsize, q.releases, q.pledgedcpu,
       q.transferringlimit, q.fairsharepolicy, q.wnconnectivity, q.jobseed, q.maxdiskio, q.direct_access_lan, q.storage_site, q.attributes
  from queue q
 cross join lateral (select greatest(q.corecount, 1)) p(cores)
  join resource.resource_type_in_force r on r.setup = q.setup
 cross join lateral (select greatest(least(p.cores, r.maxcore), r.mincore)) k(cores)
 cross join lateral (select k.cores::float8) c(cores)
 where q.capability = 'ucore' and p.cores >= coalesce(r.mincore, 0);

comment on view resource.candidate_queue is 'Queues as brokerage lists them: pseudo-queues in place of unified queues. Limits of memory and scratch are those of a slot (per_core_attr multiplied).';
comment on column resource.candidate_queue.setup is 'Tenant.';
comment on column resource.candidate_queue.queue is 'Queue, or queue/resource type.';
comment on column resource.candidate_queue.unified_name is 'PanDA queue.';
comment on column resource.candidate_queue.child_type is 'Resource type of a pseudo-queue; null = it is none.';
comment on column resource.candidate_queue.corecount is 'Cores of a slot of the (pseudo-)queue.';
comment on column resource.candidate_queue.unified_corecount is 'Cores of a slot of the PanDA queue.';
comment on column resource.candidate_queue.maxrss is 'Memory of a slot at most (MB); null or 0 = no limit.';
comment on column resource.candidate_queue.minrss is 'Memory of a slot at least (MB).';
comment on column resource.candidate_queue.panda_site is 'PanDA site.';
comment on column resource.candidate_queue.role is 'nucleus or satellite.';
comment on column resource.candidate_queue.type is 'production, analysis, unified or another.';
comment on column resource.candidate_queue.cloud is 'Cloud.';
comment on column resource.candidate_queue.status is 'Status.';
comment on column resource.candidate_queue.corepower is 'HS06 per core.';
comment on column resource.candidate_queue.maxtime is 'Walltime at most (s).';
comment on column resource.candidate_queue.mintime is 'Walltime at least (s).';
comment on column resource.candidate_queue.maxwdir is 'Scratch of a slot of the PanDA queue at most (MiB).';
comment on column resource.candidate_queue.maxinputsize is 'Input at most (MB); -1 = always read directly.';
comment on column resource.candidate_queue.releases is 'ANY, AUTO, or releases.';
comment on column resource.candidate_queue.pledgedcpu is 'Pledged cores.';
comment on column resource.candidate_queue.transferringlimit is 'Transferring jobs at most.';
comment on column resource.candidate_queue.fairsharepolicy is 'Shares of the site''s own.';
comment on column resource.candidate_queue.wnconnectivity is 'Outbound network and IP stack.';
comment on column resource.candidate_queue.jobseed is 'Event service.';
comment on column resource.candidate_queue.maxdiskio is 'diskIO per core at most (kB/s).';
comment on column resource.candidate_queue.direct_access_lan is 'Input can be read directly from the local storage.';
comment on column resource.candidate_queue.storage_site is 'Storage site, where the queue names one.';
comment on column resource.candidate_queue.attributes is 'params, catchall, and CRIC''s other fields below them, as one object.';
-- file: resource/catchall.sql
-- CRIC's catchall: items separated by commas, each a flag or key=value (brokerage-rules 1.0, catchall-lookup; keys are compared whole, D-02).
create or replace function resource.catchall(p_catchall text) returns jsonb
language sql immutable parallel safe
as $$
  select coalesce(jsonb_object_agg(btrim(split_part(i.item, '=', 1)),
                                   case when i.item like '%=%' then to_jsonb(btrim(substr(i.item, strpos(i.item, '=') + 1))) else 'true'::jsonb end), '{}')
    from string_to_table(p_catchall, ',') i(item)
   where btrim(split_part(i.item, '=', 1)) <> ''
$$;

comment on function resource.catchall(text) is
'A catchall as an object: flags are true, key=value items are texts; the last of equal keys counts. Null or empty: {}.';
-- file: resource/clear_identity.sql
-- Takes a setup away from a database role (architecture, Roles).
create or replace function resource.clear_identity(p_setup text, p_role_name text) returns boolean
language sql
security definer set search_path = resource, pg_temp
as $$
  with gone as (delete from resource.identity where setup = p_setup and role_name = p_role_name returning 1)
  select exists (select from gone)
$$;

comment on function resource.clear_identity(text, text) is
'Takes the use of a setup away from a database role; false when it had none.';
-- file: resource/clock.sql
-- The only place that reads the time, so that tests, what-if and simulation can set it (architecture, Time).
create or replace function resource.clock(p_setup text) returns timestamptz
language sql stable parallel safe
as $$
  select coalesce((select t.now from resource.setup_time t where t.setup = p_setup), now())
$$;

comment on function resource.clock(text) is
'The time of a setup: now(), or, for a simulated setup, the moment set with resource.set_clock.';
-- file: resource/config/config_key.sql
-- gdpconfig: every key that a rule of brokerage-rules reads, timeouts too, so that a misspelt key is no configuration.
create or replace view resource.config_key as
select k.app, k.component, k.key, '^' || regexp_replace(k.key, '<[a-z]+>', '.+', 'g') || '$' as pattern, k.type, k.default_value, k.unit, k.meaning, k.zero_is_default,
       k.profiles::text[] as profiles
  from (values
    ('jedi', 'jobbroker', 'NQUEUED_SAT_CAP', 'number', '150'::jsonb, 'files', 'Files queued on a link to the nucleus at most.', false, '{doc,panda2026}'),
    ('jedi', 'jobbroker', 'NQUEUED_NUC_CAP_FOR_JOBS', 'number', '10000', 'files', 'Files queued into a nucleus at most.', false, '{doc,panda2026}'),
    ('jedi', 'jobbroker', 'IO_INTENSITY_CUTOFF', 'number', '200', 'kB/s', 'ioIntensity above which input must be local.', false, '{doc,panda2026}'),
    ('jedi', 'jobbroker', 'SIZE_CUTOFF_TO_MOVE_INPUT', 'number', '10', 'GB', 'Missing input that may be moved all the same.', false, '{doc,panda2026}'),
    ('jedi', 'jobbroker', 'NUM_CUTOFF_TO_MOVE_INPUT', 'number', '100', 'files', 'Missing files that may be moved all the same.', false, '{doc,panda2026}'),
    ('jedi', 'jobbroker', 'MAX_DISKIO_DEFAULT', 'number', null, 'kB/s per core', 'diskIO of a queue at most where it has no maxdiskio.', true, '{doc,panda2026}'),
    ('jedi', 'jobbroker', 'NW_THRESHOLD', 'number', '1.7', 'factor', 'Network weight that express jobs need.', false, '{doc,panda2026}'),
    ('jedi', 'jobbroker', 'NW_WEIGHT_MULTIPLIER', 'number', '1', 'factor', 'Multiplies NW_THRESHOLD.', false, '{doc,panda2026}'),
    ('jedi', 'jobbroker', 'NW_ACTIVE', 'boolean', 'false', 'true or false', 'The network weight counts.', false, '{panda2026}'),
    ('jedi', 'jobbroker', 'NW_QUEUE_IMPORTANCE', 'number', '0.5', 'fraction', 'Part of queued files in the network weight; the rest is throughput.', false, '{panda2026}'),
    ('jedi', 'jobbroker', 'STORAGE_MIN_FREE_SIZE', 'number', '200', 'GB', 'Space that an output storage needs (input storage in the second loop of analysis).', true, '{panda2026}'),
    ('jedi', 'jobbroker', 'MAX_MISSING_INPUT_FILES', 'number', '10', 'files', 'Files that a replica may miss and count as complete.', false, '{panda2026}'),
    ('jedi', 'jobbroker', 'MIN_INPUT_COMPLETENESS', 'number', '90', 'percent', 'Part of its files with which a replica counts as complete.', false, '{panda2026}'),
    ('jedi', 'jobbroker', 'MAX_PRIO_TO_BOOTSTRAP', 'number', '150', 'priority', 'Priority up to which idle queues are tried, and slots and workers count.', false, '{panda2026}'),
    ('jedi', 'jobbroker', 'NQUEUELIMITSITE_<gshare>', 'number', '20', 'jobs', 'Queued jobs that a queue may have whatever runs there.', true, '{panda2026}'),
    ('jedi', 'jobbroker', 'MIN_WEIGHT_<label>', 'number', '0', 'weight', 'Weight that a queue needs.', false, '{panda2026}'),
    ('jedi', 'jobbroker', 'MIN_WEIGHT_<label>_<gshare>', 'number', null, 'weight', 'The like for a share; null = MIN_WEIGHT_<label>.', false, '{panda2026}'),
    ('jedi', 'core', 'WORK_SHORTAGE', 'boolean', 'false', 'true or false', 'Only pledged cores are used.', false, '{panda2026}'),
    ('jedi', 'anal_jobbroker', 'IO_INTENSITY_CUTOFF_USER', 'number', null, 'kB/s', 'ioIntensity up to which locality does not matter; null = it always does.', false, '{doc,panda2026}'),
    ('jedi', 'anal_jobbroker', 'TW_DONE_JOB_STAT', 'number', '6', 'h', 'How long ended jobs of a task count.', false, '{doc,panda2026}'),
    ('jedi', 'anal_jobbroker', 'MIN_BAD_JOBS_TO_SKIP_PQ', 'number', '5', 'jobs', 'Failed and closed jobs from which a queue is bad.', false, '{doc,panda2026}'),
    ('jedi', 'anal_jobbroker', 'OVERLOAD_MIN_QUEUE', 'number', '20', 'jobs', 'Queued jobs above which a queue may be overloaded.', false, '{doc,panda2026}'),
    ('jedi', 'anal_jobbroker', 'OVERLOAD_RATIO_OFFSET', 'number', '1.2', 'factor', 'Queued per running, against the grid''s, above which a queue is overloaded.', false, '{doc,panda2026}'),
    ('jedi', 'anal_jobbroker', 'BASE_QUEUE_LENGTH_PER_PQ', 'number', '100', 'jobs', 'Queue up to which users are not throttled.', false, '{doc,panda2026}'),
    ('jedi', 'anal_jobbroker', 'BASE_EXPECTED_WAIT_HOUR_ON_PQ', 'number', '8', 'h', 'Expected wait up to which users are not throttled.', false, '{doc,panda2026}'),
    ('jedi', 'anal_jobbroker', 'BASE_DEFAULT_QUEUE_LENGTH_PER_PQ_USER', 'number', '5', 'jobs', 'Queue that each user may have.', false, '{doc,panda2026}'),
    ('jedi', 'anal_jobbroker', 'BASE_QUEUE_RATIO_ON_PQ', 'number', '0.05', 'fraction', 'Queue that each user may have, of the running jobs.', false, '{doc,panda2026}'),
    ('jedi', 'anal_jobbroker', 'STATIC_MAX_QUEUE_RUNNING_RATIO', 'number', '2', 'factor', 'Queue that all users may have, by the running jobs.', false, '{doc,panda2026}'),
    ('jedi', 'anal_jobbroker', 'MAX_EXPECTED_WAIT_HOUR', 'number', '12', 'h', 'Expected wait that all users may have.', false, '{doc,panda2026}'),
    ('jedi', 'anal_jobbroker', 'MAX_MISSING_INPUT_FILES', 'number', '10', 'files', 'Files that a replica may miss and count as complete.', false, '{panda2026}'),
    ('jedi', 'anal_jobbroker', 'MIN_INPUT_COMPLETENESS', 'number', '90', 'percent', 'Part of its files with which a replica counts as complete.', false, '{panda2026}'),
    ('jedi', 'anal_jobbroker', 'DATA_CHECK_TIMEOUT_USER', 'number', null, 'h', 'Frozen for so long, a task may run without locality; null = never.', false, '{panda2026}'),
    ('jedi', 'anal_jobbroker', 'STORAGE_MIN_FREE_SIZE_OUTPUT', 'number', '200', 'GB', 'Space that an output storage needs.', false, '{panda2026}'),
    ('jedi', 'taskbrokerage', 'NQUEUED_NUC_CAP', 'number', '2000', 'files', 'Files queued into a nucleus at most.', false, '{doc,panda2026}'),
    ('jedi', 'taskbrokerage', 'DISK_THRESHOLD', 'number', '100', 'TB', 'Space that a nucleus needs.', false, '{doc,panda2026}'),
    ('jedi', 'taskbrokerage', 'DISK_THRESHOLD_<gshare>', 'number', null, 'TB', 'The like for a share; null = DISK_THRESHOLD.', false, '{doc,panda2026}'),
    ('jedi', 'taskbrokerage', 'INPUT_SIZE_THRESHOLD', 'number', '1', 'GB', 'Input above which a part of it must be local.', false, '{doc,panda2026}'),
    ('jedi', 'taskbrokerage', 'INPUT_SIZE_FRACTION', 'number', '10', 'percent', 'That part.', false, '{doc,panda2026}'),
    ('jedi', 'taskbrokerage', 'INPUT_NUM_THRESHOLD', 'number', '100', 'files', 'Files above which a part of them must be local.', false, '{doc,panda2026}'),
    ('jedi', 'taskbrokerage', 'INPUT_NUM_FRACTION', 'number', '10', 'percent', 'That part.', false, '{doc,panda2026}'),
    ('jedi', 'taskbrokerage', 'MIN_IO_INTENSITY_WITH_LOCAL_DATA', 'number', '200', 'kB/s', 'ioIntensity above which local input counts.', false, '{doc,panda2026}'),
    ('jedi', 'taskbrokerage', 'MIN_INPUT_SIZE_WITH_LOCAL_DATA', 'number', '10000', 'GB', 'Input above which it must be local even where nobody has it.', false, '{doc,panda2026}'),
    ('jedi', 'taskbrokerage', 'MAX_TASK_PRIO_WITH_LOCAL_DATA', 'number', '800', 'priority', 'Priority from which locality may be given up.', false, '{doc,panda2026}'),
    ('jedi', 'taskbrokerage', 'DATA_LOCATION_CHECK_PERIOD', 'number', '7', 'days', 'Frozen for so long, a task may run without locality.', true, '{panda2026}'),
    ('jedi', 'taskbrokerage', 'FREE_DISK_CUTOFF', 'number', '1000', 'TB', 'Free space counts in the weight up to this.', false, '{panda2026}'),
    ('jedi', 'watchdog', 'PENDING_TIMEOUT_<label>', 'number', '168', 'h', 'How long a task may be pending.', false, '{panda2026}'),
    ('pandaserver', 'prio_mgr', 'CAP_RUNNING_USER_JOBS', 'number', null, 'jobs', 'Running jobs of a user at most, and half of the queued ones; null = no limit.', true, '{doc,panda2026}'),
    ('pandaserver', 'prio_mgr', 'CAP_RUNNING_USER_CORES', 'number', null, 'cores', 'Running cores of a user at most, and half of the queued ones; null = no limit.', true, '{doc,panda2026}'),
    ('pandaserver', 'prio_mgr', 'CAP_RUNNING_GROUP_JOBS', 'number', null, 'jobs', 'Running jobs of a working group at most, and half of the queued ones; null = no limit.', true, '{doc,panda2026}'),
    ('pandaserver', 'prio_mgr', 'CAP_RUNNING_GROUP_CORES', 'number', null, 'cores', 'Running cores of a working group at most, and half of the queued ones; null = no limit.', true, '{doc,panda2026}'),
    ('pandaserver', 'analy_eval', 'USER_USAGE_THRESHOLD_A', 'number', '1000', 'slots', 'Slots up to which a user is in class A.', false, '{doc,panda2026}'),
    ('pandaserver', 'analy_eval', 'USER_USAGE_THRESHOLD_B', 'number', '10000', 'slots', 'Slots up to which a user is in class B.', false, '{doc,panda2026}'),
    ('pandaserver', 'analy_eval', 'PROGRESS_TO_BOOST_A', 'number', '90', 'percent', 'Part of a class A task that is done when it becomes class S.', false, '{doc,panda2026}'),
    ('pandaserver', 'analy_eval', 'PROGRESS_TO_BOOST_B', 'number', '95', 'percent', 'The like for class B.', false, '{doc,panda2026}'),
    ('pandaserver', 'analy_eval', 'MAX_REM_JOBS_TO_BOOST_A', 'number', '500', 'jobs', 'Jobs that a class A task may have left when it becomes class S.', false, '{doc,panda2026}'),
    ('pandaserver', 'analy_eval', 'MAX_REM_JOBS_TO_BOOST_B', 'number', '200', 'jobs', 'The like for class B.', false, '{doc,panda2026}'),
    ('pandaserver', 'rebroker', 'FAST_REBRO_THRESHOLD_NQNR_RATIO', 'number', '3', 'factor', 'Queued per running above which jobs are brokered again.', true, '{doc,panda2026}'),
    ('pandaserver', 'rebroker', 'FAST_REBRO_THRESHOLD_NQUEUE_FRAC', 'number', '0.3', 'fraction', 'Part of all queued jobs of the share above which jobs are brokered again.', true, '{doc,panda2026}'),
    ('pandaserver', 'rebroker', 'FAST_REBRO_THRESHOLD_NQUEUE_<gshare>', 'number', null, 'jobs', 'Queued jobs above which jobs are brokered again; null = never.', false, '{doc,panda2026}'),
    ('pandaserver', 'rebroker', 'ANALY_TIMEOUT', 'number', '12', 'h', 'How long user jobs wait before they are brokered again.', false, '{panda2026}'),
    ('pandaserver', 'rebroker', 'ANALY_TIMEOUT_<group>', 'number', null, 'h', 'The like for a working group; null = ANALY_TIMEOUT.', false, '{panda2026}'),
    ('pandaserver', 'watcher', 'HEARTBEAT_TIMEOUT_<workflow>', 'number', null, 'h', 'How long a job of a workflow may be silent; null = 2.', false, '{doc,panda2026}'),
    ('pandaserver', 'job_timeout', 'TIMEOUT_defined', 'number', '4', 'h', 'How long a job may be defined.', false, '{panda2026}'),
    ('pandaserver', 'job_timeout', 'TIMEOUT_holding', 'number', '48', 'h', 'How long a job may be holding.', false, '{panda2026}')
  ) k (app, component, key, type, default_value, unit, meaning, zero_is_default, profiles);

comment on view resource.config_key is
'The keys of PanDA''s gdpconfig that rules read, with their defaults; resource.set_config refuses others unless forced.';
comment on column resource.config_key.app is 'jedi or pandaserver.';
comment on column resource.config_key.component is 'Component that reads it.';
comment on column resource.config_key.key is 'Key; a part in <> stands for any share, label, workflow or group.';
comment on column resource.config_key.pattern is 'Regular expression that the keys match.';
comment on column resource.config_key.type is 'number, text or boolean.';
comment on column resource.config_key.default_value is 'What holds where nothing is set; null = nothing.';
comment on column resource.config_key.unit is 'Unit.';
comment on column resource.config_key.meaning is 'What it is for.';
comment on column resource.config_key.zero_is_default is 'A value of 0 counts as not set (PanDA''s code).';
comment on column resource.config_key.profiles is 'Profiles that read it.';
-- file: resource/config/config_of.sql
-- brokerage-rules, Reading help: the row of the setup counts before one for all setups; a world evaluated by itself has no other rows than its own.
create or replace function resource.config_of(p_setup text) returns table (app text, component text, key text, value jsonb)
language plpgsql stable
security definer set search_path = resource, pg_temp
as $$
begin
  perform resource.look(p_setup);
  return query
  select distinct on (c.app, c.component, c.key) c.app, c.component, c.key, c.value
    from resource.config c
   where c.setup = p_setup
      or c.setup is null and not exists (select from resource.setup s where s.setup = p_setup and s.alone)
   order by c.app, c.component, c.key, c.setup nulls last;
end $$;

comment on function resource.config_of(text) is
'The configuration that is set and holds in a setup: its own rows, and those for all setups where it has none. Errors: PB001, PB002 (setup not granted).';
-- file: resource/config/config_value.sql
-- brokerage-rules, Reading help: a component's row before one that holds for all, the setup's before the general one, else the default.
-- plpgsql, because its plans are kept in all versions: a run asks for sixty keys.
-- after: resource.config_key
create or replace function resource.config_value(p_setup text, p_app text, p_component text, p_key text) returns jsonb
language plpgsql stable
as $$
declare
  v_value jsonb;
  v_known record;
begin
  select c.value into v_value
    from resource.config c
   where c.app = p_app and c.key = p_key and c.component in (p_component, '')
     and (c.setup = p_setup or c.setup is null and not exists (select from resource.setup s where s.setup = p_setup and s.alone))
   order by c.component desc, c.setup nulls last limit 1;
  if v_value is null or v_value = '0' then
    select k.default_value, k.zero_is_default into v_known
      from resource.config_key k
     where k.app = p_app and k.component = p_component and (k.key = p_key or k.key like '%<%' and p_key ~ k.pattern)
     order by k.key = p_key desc, length(k.key) desc limit 1;
    if v_value is null or v_known.zero_is_default then
      return v_known.default_value;
    end if;
  end if;
  return v_value;
end $$;

comment on function resource.config_value(text, text, text, text) is
'The configuration that holds for a key of a component in a setup: what is set, else the default of resource.config_key, else null.';
-- file: resource/config/known_key.sql
-- A key is known by its name, for the component that reads it and for all components.
-- after: resource.config_key
create or replace function resource.known_key(p_component text, p_key text)
returns table (app text, component text, key text, type text, unit text, meaning text, zero_is_default boolean)
language sql stable
as $$
  select k.app, k.component, k.key, k.type, k.unit, k.meaning, k.zero_is_default
    from resource.config_key k
   where (k.key = p_key or k.key like '%<%' and p_key ~ k.pattern) and p_component in ('', k.component)
   order by k.key = p_key desc, length(k.key) desc, k.component
   limit 1
$$;

comment on function resource.known_key(text, text) is
'The known configuration key that a key is: exact ones before patterns. No row: there is none.';
-- file: resource/config/nearest_key.sql
-- The hint of a misspelt key: the component that knows it, or the known key that is most like it.
-- after: resource.config_key
create or replace function resource.nearest_key(p_component text, p_key text) returns text
language sql stable
as $$
  select concat_ws(' ',
           coalesce((select format('Components that know it: %s.', string_agg(distinct k.component, ', ')) from resource.config_key k
                      where p_key ~ k.pattern and p_component <> '' having count(*) > 0),
                    (select format('The nearest known key is %s:%s.', l.component, l.key)
                       from (select k.component, k.key, resource.likeness(p_key, k.key) as likeness from resource.config_key k) l
                      where l.likeness > 0.4
                      order by l.likeness desc, l.component = p_component desc, l.component, l.key
                      limit 1)),
           'All known ones: resource.config_key. A key of your own rules has to be forced: p_force => true, or "forced": true in a row of a world.')
$$;

comment on function resource.nearest_key(text, text) is
'A hint for a configuration key that is not known: the components that know it, or the known key that is most like it, and how keys of one''s own are set.';
-- file: resource/config/set_config.sql
-- Configuration is set by name, and a misspelt name is refused: a key that no rule reads changes nothing, silently.
create or replace function resource.set_config(p_setup text, p_key text, p_value jsonb, p_component text default null, p_app text default null,
                                               p_everywhere boolean default false, p_force boolean default false) returns void
language plpgsql
security definer set search_path = resource, pg_temp
as $$
declare
  v_component text := coalesce(p_component, substring(p_key from '^([^:]+):.'), '');
  v_key text := case when p_component is null then regexp_replace(p_key, '^[^:]+:(.)', '\1') else p_key end;
  v_value jsonb := nullif(p_value, 'null');
  v_type text := replace(jsonb_typeof(v_value), 'string', 'text');
  v_setup text := case when p_everywhere and not coalesce((select s.alone from resource.setup s where s.setup = p_setup), false) then null else p_setup end;
  v_known record;
  v_app text;
  v_is_set boolean;
begin
  perform resource.identify(p_setup);
  perform resource.require_setup(p_setup);
  select k.* into v_known from resource.known_key(v_component, v_key) k;
  v_is_set := exists (select from resource.config c where c.setup is not distinct from v_setup and c.component = v_component and c.key = v_key);
  if v_known.key is null and (p_force is not true or coalesce(v_key, '') = '') and not (v_is_set and v_value is null) then
    raise exception 'configuration key % is not known', coalesce(quote_literal(concat_ws(':', nullif(v_component, ''), v_key)), 'null')
      using errcode = 'PB001', hint = resource.nearest_key(v_component, coalesce(v_key, ''));
  elsif v_type <> v_known.type or v_type not in ('number', 'text', 'boolean') then
    raise exception 'configuration % is %, not a %', v_key, left(p_value::text, 100), coalesce(v_known.type, 'number, text or boolean')
      using errcode = 'PB001', hint = coalesce(v_known.meaning || ' Unit: ' || v_known.unit || '.', 'Null removes it.');
  end if;
  v_app := coalesce(p_app, v_known.app, 'jedi');
  delete from resource.config c where c.setup is not distinct from v_setup and c.app = v_app and c.component = v_component and c.key = v_key;
  if v_value is not null then
    insert into resource.config (setup, app, component, key, value) values (v_setup, v_app, v_component, v_key, v_value);
  end if;
end $$;

comment on function resource.set_config(text, text, jsonb, text, text, boolean, boolean) is
'Sets a key of gdpconfig for a setup, or for all (p_everywhere), for a component (p_component, or component:KEY) or for every one; null removes it. Keys that no rule reads are refused unless forced. Errors: PB001, PB002 (setup not granted).';
-- file: resource/configuration.sql
-- gdpconfig as a run reads it, by one query: the lookup of resource.config_value for all keys that rules know, and what somebody forced.
-- plpgsql, because its plan is kept in all versions.
create or replace function resource.configuration(p_setup text) returns jsonb
language plpgsql stable
as $$
begin
  return (
    with held as materialized (
      select distinct on (c.app, c.component, c.key) c.app, c.component, c.key, c.value, c.setup is null as is_general
        from resource.config c
       where c.setup = p_setup
          or c.setup is null and not exists (select from resource.setup s where s.setup = p_setup and s.alone)
       order by c.app, c.component, c.key, c.setup nulls last
    ), known as (
      select distinct on (k.component, k.key) k.component, k.key,
             case when h.value is null or h.value = '0' and k.zero_is_default then k.default_value else h.value end as value
        from resource.config_key k
        left join held h on h.app = k.app and h.key = k.key and h.component in (k.component, '')
       where k.key not like '%<%'
       order by k.component, k.key, h.component desc nulls last
    )
    select coalesce(jsonb_object_agg(c.component, c.keys), '{}'::jsonb)
      from (select v.component, jsonb_object_agg(v.key, v.value) as keys
              from (select n.component, n.key, n.value from known n
                    union all
                    select h.component, h.key, h.value from held h
                     where not exists (select from known n where n.component = h.component and n.key = h.key)) v
             group by v.component) c);
end $$;

comment on function resource.configuration(text) is
'All configuration that holds in a setup: {component: {KEY: value}}, defaults included; keys that hold for every component under the empty name. Keys by share or workflow are looked up with resource.config_value.';
-- file: resource/default_resource_type.sql
-- brokerage-rules 1.0: the resource types of a setup that names none of its own.
create or replace view resource.default_resource_type as
select d.name, d.mincore, d.maxcore, d.minrampercore, d.maxrampercore
  from (values ('SCORE', 1, 1, null::int, 2000),
               ('SCORE_HIMEM', 1, 1, 2001, 3000),
               ('SCORE_VHIMEM', 1, 1, 3001, null),
               ('MCORE', 2, null, null, 2000),
               ('MCORE_HIMEM', 2, null, 2001, 3000),
               ('MCORE_VHIMEM', 2, null, 3001, null)) d (name, mincore, maxcore, minrampercore, maxrampercore);

comment on view resource.default_resource_type is
'The six resource types that hold in a setup without rows in resource.resource_type (brokerage-rules 1.0).';
comment on column resource.default_resource_type.name is 'Name.';
comment on column resource.default_resource_type.mincore is 'Cores at least.';
comment on column resource.default_resource_type.maxcore is 'Cores at most; null = no limit.';
comment on column resource.default_resource_type.minrampercore is 'Memory per core at least (MB); null = no limit.';
comment on column resource.default_resource_type.maxrampercore is 'Memory per core at most (MB); null = no limit.';
-- file: resource/draw.sql
-- A uniform number of a candidate in one call: a hash of its id under the seed of the call. So a seed gives the same outcome whatever the
-- plan, a queue seen through two sites has one draw, and each candidate keeps its key while others are passed over.
-- Hashed twice: once alone, the draws of neighbouring ids hang together (correlations up to 0.12, and 3:2 came out as 1.65:1 instead of 2:1).
-- hashint8extended folds the halves of an id together: 5 and 2^32 + 4 would have one draw, so the upper half goes into the seed.
-- Few enough operators that it is inlined also where it is used twice (taskqueue.draw_key): 1.3 us less a draw.
create or replace function resource.draw(p_id bigint, p_seed bigint) returns float8
language sql immutable
as $$
  select ((hashint8extended(hashint8extended(p_id, p_seed # (p_id >> 32)), p_seed)
           & 9007199254740991) + 0.5::float8) / 9007199254740992.0::float8
$$;

comment on function resource.draw(bigint, bigint) is
'Uniform within (0, 1): the draw of a candidate under a seed (section 5).';
-- file: resource/identify.sql
-- Who an agent or submitter is comes from its login, not from what it says (architecture, Roles).
create or replace function resource.identify(p_setup text) returns resource.identity
language plpgsql stable
as $$
declare
  v_identity resource.identity;
begin
  select i.* into v_identity from resource.identity i where i.setup = p_setup and i.role_name = resource.caller();
  if not found then
    if p_setup is null or p_setup = '' then
      raise exception 'setup is %', coalesce(quote_literal(p_setup), 'null') using errcode = 'PB001', hint = 'Name the setup, for example default.';
    end if;
    if pg_has_role(resource.caller(), (select r.role_name from resource.house_role r where r.kind = 'operator'), 'member') is not true then
      raise exception 'role % may not use setup %', resource.caller(), p_setup
        using errcode = 'PB002', hint = 'An operator grants it with resource.set_identity.';
    end if;
    v_identity.setup := p_setup;
    v_identity.role_name := resource.caller();
    v_identity.private := false;
  end if;
  return v_identity;
end $$;

comment on function resource.identify(text) is
'The identity of the caller in a setup. Operators need no row and are generic everywhere. Errors: PB001 (no setup), PB002 (setup not granted).';
-- file: resource/installed_release.sql
-- A program asks this before it works here; it stays as it is in all releases, so that an old program can ask a new
-- database. Roles that see no table may call it.
create or replace function resource.installed_release(out release text, out revision text)
language sql stable security definer
set search_path = resource, pg_temp
as $$
  select h.release, v.version_num from resource.house h cross join resource.alembic_version v
$$;

comment on function resource.installed_release() is
'Release and revision of what is installed here; a program refuses to work with a database newer than itself.';
-- file: resource/likeness.sql
-- Pairs of neighbouring letters that two names share: enough to find what a misspelt name was meant to be.
create or replace function resource.likeness(p_name text, p_other text) returns float8
language sql immutable parallel safe
as $$
  select 2.0 * count(*) / (length(p_name) + length(p_other))
    from generate_series(1, length(p_name) - 1) i
   where position(substr(upper(p_name), i::int, 2) in upper(p_other)) > 0
$$;

comment on function resource.likeness(text, text) is 'How like each other two names are, 0 to about 1: the pairs of neighbouring letters of the one that the other has.';
-- file: resource/look.sql
-- Who may look without changing anything: viewers and operators everywhere, others where they are granted the setup.
create or replace function resource.look(p_setup text) returns resource.identity
language plpgsql stable
as $$
declare
  v_identity resource.identity;
begin
  if p_setup <> '' and pg_has_role(resource.caller(), (select r.role_name from resource.house_role r where r.kind = 'viewer'), 'member') then
    v_identity.setup := p_setup;
    v_identity.role_name := resource.caller();
    v_identity.private := false;
    return v_identity;
  end if;
  return resource.identify(p_setup);
end $$;

comment on function resource.look(text) is
'The identity of the caller for calls that change nothing: a viewer is generic everywhere. Errors: PB001 (no setup), PB002 (setup not granted).';
-- file: resource/names_of_list.sql
-- Names separated by commas, as PanDA writes them.
create or replace function resource.names_of_list(p_list text) returns text[]
language sql immutable parallel safe
as $$
  select coalesce(array_agg(btrim(n.name) order by n.number) filter (where btrim(n.name) <> ''), '{}'::text[])
    from unnest(string_to_array(p_list, ',')) with ordinality n(name, number)
$$;

comment on function resource.names_of_list(text) is 'The names of a list separated by commas, without blanks around them; null = none.';
-- file: resource/number_or_null.sql
-- Attributes of queues are texts that sites write: what is no number counts as not set.
create or replace function resource.number_or_null(p_attributes jsonb, p_key text) returns float8
language sql immutable parallel safe
as $$
  select case when p_attributes ->> p_key ~ '^\s*[-+]?([0-9]{1,15}(\.[0-9]{0,15})?|\.[0-9]{1,15})\s*$' then (p_attributes ->> p_key)::float8 end
$$;

comment on function resource.number_or_null(jsonb, text) is 'A number among attributes; null where the key is absent or holds no number.';
-- file: resource/require_known_setup.sql
-- For calls that make no sense in a setup that nobody has used yet: a misspelt one is told which there are.
create or replace function resource.require_known_setup(p_setup text) returns void
language plpgsql stable
as $$
begin
  if not exists (select from resource.setup s where s.setup = p_setup) then
    raise exception 'setup is %', coalesce(quote_literal(p_setup), 'null')
      using errcode = 'PB001', hint = coalesce((select format('There are: %s%s.', string_agg(s.setup, ', ' order by s.setup) filter (where s.number <= 20), case when count(*) > 20 then ', ...' end)
                                                  from (select x.setup, row_number() over (order by x.setup) as number from resource.setup x) s having count(*) > 0),
                                               'There is none yet: load a world (broker load).');
  end if;
end $$;

comment on function resource.require_known_setup(text) is 'Refuses a setup that is not there, and says which are. Errors: PB001.';
-- file: resource/require_read_committed.sql
-- A snapshot taken before the setup was entered shows limits, buckets and leases as they no longer are.
create or replace function resource.require_read_committed() returns void
language plpgsql stable
as $$
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception 'the transaction is %', current_setting('transaction_isolation')
      using errcode = 'PB001', hint = 'Call it in READ COMMITTED, PostgreSQL''s default.';
  end if;
end $$;

comment on function resource.require_read_committed() is 'Refuses a transaction that keeps one snapshot. Errors: PB001.';
-- file: resource/require_setup.sql
-- A setup comes into being with its first job or configuration.
create or replace function resource.require_setup(p_setup text) returns void
language plpgsql
as $$
begin
  if not exists (select from resource.setup s where s.setup = p_setup) then
    if p_setup is null or p_setup = '' then
      raise exception 'setup is %', coalesce(quote_literal(p_setup), 'null') using errcode = 'PB001', hint = 'Name the setup, for example default.';
    end if;
    insert into resource.setup (setup) values (p_setup) on conflict do nothing;
  end if;
end $$;

comment on function resource.require_setup(text) is 'Makes a setup where there is none. Errors: PB001.';
-- file: resource/resource_type_in_force.sql
-- A setup has its own resource types, or the six that PanDA has (brokerage-rules 1.0).
-- after: resource.default_resource_type
create or replace view resource.resource_type_in_force as
select r.setup, r.name, r.mincore, r.maxcore, r.minrampercore, r.maxrampercore
  from resource.resource_type r
union all
select s.setup, d.name, d.mincore, d.maxcore, d.minrampercore, d.maxrampercore
  from resource.setup s
 cross join resource.default_resource_type d
 where not exists (select from resource.resource_type r where r.setup = s.setup);

comment on view resource.resource_type_in_force is
'The resource types that hold in each setup: its own, or, where it has none, the default ones.';
comment on column resource.resource_type_in_force.setup is 'Tenant.';
comment on column resource.resource_type_in_force.name is 'Name.';
comment on column resource.resource_type_in_force.mincore is 'Cores at least; null = no limit.';
comment on column resource.resource_type_in_force.maxcore is 'Cores at most; null = no limit.';
comment on column resource.resource_type_in_force.minrampercore is 'Memory per core at least (MB); null = no limit.';
comment on column resource.resource_type_in_force.maxrampercore is 'Memory per core at most (MB); null = no limit.';
-- file: resource/set_clock.sql
-- Marks a setup as simulated (architecture, Time).
create or replace function resource.set_clock(p_setup text, p_now timestamptz) returns void
language plpgsql
security definer set search_path = resource, pg_temp
as $$
begin
  perform resource.require_setup(p_setup);
  update resource.setup set simulated = p_now where setup = p_setup;
end $$;

comment on function resource.set_clock(text, timestamptz) is
'Sets the time of a simulated setup; null gives it real time again. For tests, what-if and simulation. Errors: PB001.';
-- file: resource/set_identity.sql
-- Says who a database role is in a setup (architecture, Roles).
create or replace function resource.set_identity(p_setup text, p_role_name text, p_private boolean default false,
                                                 p_owner_group text default null, p_owner_dn text default null) returns void
language plpgsql
security definer set search_path = resource, pg_temp
as $$
begin
  if p_private is distinct from (p_owner_group is not null or p_owner_dn is not null) then
    raise exception 'identity of % is %, but its owner group is % and its owner is %', p_role_name,
          case when p_private then 'private' else 'generic' end, coalesce(p_owner_group, 'not given'), coalesce(p_owner_dn, 'not given')
      using errcode = 'PB001', hint = 'A private identity names an owner group or an owner (or both), a generic one neither.';
  end if;
  if p_role_name is null or p_role_name = '' then
    raise exception 'role name is %', coalesce(quote_literal(p_role_name), 'null')
      using errcode = 'PB001', hint = 'Name the database role that the agent or submitter logs in with.';
  end if;
  perform resource.require_setup(p_setup);
  insert into resource.identity (setup, role_name, private, owner_group, owner_dn)
  values (p_setup, p_role_name, p_private, p_owner_group, p_owner_dn)
  on conflict (setup, role_name) do update
     set private = excluded.private, owner_group = excluded.owner_group, owner_dn = excluded.owner_dn;
end $$;

comment on function resource.set_identity(text, text, boolean, text, text) is
'Grants a database role the use of a setup: generic, or private to an owner group, an owner, or both. Errors: PB001.';
-- file: resource/setup_time.sql
-- The time of each setup; resource.clock reads it, and so do views.
create or replace view resource.setup_time as
select s.setup, coalesce(s.simulated, now()) as now
  from resource.setup s;

comment on view resource.setup_time is
'The time of each setup: now(), or, for a simulated one, what resource.set_clock said.';
comment on column resource.setup_time.setup is 'Tenant.';
comment on column resource.setup_time.now is 'Its time.';
-- file: resource/storage_for_analysis.sql
-- Storages that analysis uses at a queue: those of the scope analysis where a direction has some, else the default ones (brokerage-rules 1.4c, storage-space).
create or replace view resource.storage_for_analysis as
select a.setup, a.queue, a.direction, a.scope, a.position, a.storage
  from resource.queue_storage a
 where a.scope = 'analysis'
    or not exists (select from resource.queue_storage o where o.setup = a.setup and o.queue = a.queue and o.direction = a.direction and o.scope = 'analysis');

comment on view resource.storage_for_analysis is 'Storages that analysis uses at queues: of the scope analysis where a direction of a queue has some, else the default ones.';
comment on column resource.storage_for_analysis.setup is 'Tenant.';
comment on column resource.storage_for_analysis.queue is 'Queue.';
comment on column resource.storage_for_analysis.direction is 'read_lan (input) or write_lan (output).';
comment on column resource.storage_for_analysis.scope is 'analysis or default: which of them it is.';
comment on column resource.storage_for_analysis.position is 'Order, from 1; the first is the default.';
comment on column resource.storage_for_analysis.storage is 'Storage.';
-- file: resource/storage_of_queue.sql
-- Storages of queues with what is known of them; a storage without a row of its own is on disk, usable, and of no known space.
create or replace view resource.storage_of_queue as
select a.setup, a.queue, a.direction, a.scope, a.position, a.storage,
       coalesce(s.is_tape, false) as is_tape,
       coalesce(s.type, 'DATADISK') = 'DATADISK' as is_datadisk,
       s.site,
       s.storage is not null as is_known,
       s.space_free,
       coalesce(s.space_free, 0) + coalesce(s.space_expired, 0) - coalesce(s.space_min_free, 0) - coalesce(s.space_unavailable, 0) as space_usable,
       coalesce(s.read_lan, '') not in ('OFF', 'TEST') as can_read_lan,
       coalesce(s.write_lan, '') not in ('OFF', 'TEST') as can_write_lan,
       coalesce(s.read_wan, '') not in ('OFF', 'TEST') as can_read_wan,
       coalesce(s.write_wan, '') not in ('OFF', 'TEST') as can_write_wan
  from resource.queue_storage a
  left join resource.storage s on s.setup = a.setup and s.storage = a.storage;

comment on view resource.storage_of_queue is 'Storages of queues by direction and scope, with what is known of them; ON, PROBING and null are usable, OFF and TEST are not.';
comment on column resource.storage_of_queue.setup is 'Tenant.';
comment on column resource.storage_of_queue.queue is 'Queue.';
comment on column resource.storage_of_queue.direction is 'read_lan (input) or write_lan (output).';
comment on column resource.storage_of_queue.scope is 'default or analysis.';
comment on column resource.storage_of_queue.position is 'Order, from 1; the first is the default.';
comment on column resource.storage_of_queue.storage is 'Storage.';
comment on column resource.storage_of_queue.is_tape is 'On tape.';
comment on column resource.storage_of_queue.is_datadisk is 'Of type DATADISK.';
comment on column resource.storage_of_queue.site is 'Storage site.';
comment on column resource.storage_of_queue.is_known is 'Whether the storage has a row of its own.';
comment on column resource.storage_of_queue.space_free is 'Free space (GB); null = not known.';
comment on column resource.storage_of_queue.space_usable is 'free + expired - min_free - unavailable (GB).';
comment on column resource.storage_of_queue.can_read_lan is 'Worker nodes can read.';
comment on column resource.storage_of_queue.can_write_lan is 'Worker nodes can write.';
comment on column resource.storage_of_queue.can_read_wan is 'Others can read.';
comment on column resource.storage_of_queue.can_write_wan is 'Others can write.';
-- file: resource/world/check_rows.sql
-- The first value that its column cannot hold, found for all rows at once; jsonb_populate_recordset would take 5 for a text and "5" for a number.
create or replace function resource.check_rows(p_table regclass, p_rows jsonb) returns void
language plpgsql stable
as $$
declare
  v_bad record;
begin
  if jsonb_typeof(p_rows) is distinct from 'array' or jsonb_path_exists(p_rows, 'strict $[*] ? (@.type() != "object")') then
    raise exception 'rows of % are not an array of objects', p_table using errcode = 'PB001', hint = 'Give [{"column": value, ...}, ...].';
  end if;
  select e.place, e.row, f.key, f.value, c.kind, col_description(p_table, c.place) as meaning into v_bad
    from jsonb_array_elements(p_rows) with ordinality e(row, place)
   cross join jsonb_each(e.row) f(key, value)
    left join resource.table_column(p_table) c on c.name = f.key and c.given
   where c.name is null or not resource.suits(c.kind, f.value)
   order by e.place, f.key limit 1;
  if not found then
    return;
  elsif v_bad.kind is null then
    raise exception '%: % is not known here', resource.row_name(p_table, v_bad.row, v_bad.place), v_bad.key
      using errcode = 'PB001', hint = format('The keys are columns: %s.',
        (select string_agg(c.name, ', ' order by c.place) from resource.table_column(p_table) c where c.given));
  end if;
  raise exception '%: % is %, not %', resource.row_name(p_table, v_bad.row, v_bad.place), v_bad.key, resource.shown(v_bad.value), v_bad.kind
    using errcode = 'PB001', hint = concat(v_bad.key || ': ' || v_bad.meaning || ' ', 'Null is a value that is not set; a key that is left out has its default.');
end $$;

comment on function resource.check_rows(regclass, jsonb) is
'Refuses an array of objects of which a key is no column of the table, or a value of another type, naming the row, the key and the value. Errors: PB001.';
-- file: resource/world/clear_rows.sql
-- Rows of parents: a value is that of the first key column, an object names that column and others. All of the setup where no values are given.
create or replace function resource.clear_rows(p_setup text, p_table regclass, p_parents jsonb) returns void
language plpgsql
as $$
declare
  v_first record;
begin
  select c.name, c.type into v_first from resource.table_column(p_table) c where c.key_place is not null order by c.key_place limit 1;
  if p_parents = 'true' then
    execute format('delete from %s where setup = $1', p_table) using p_setup;
    return;
  end if;
  execute format('delete from %s where setup = $1 and %I = any (array(select (p.value #>> ''{}'')::%s from jsonb_array_elements($2) p where jsonb_typeof(p.value) <> ''object''))',
                 p_table, v_first.name, v_first.type)
    using p_setup, p_parents;
  if jsonb_path_exists(p_parents, '$[*] ? (@.type() == "object")') then
    execute format('delete from %1$s t using jsonb_array_elements($2) p where t.setup = $1 and jsonb_typeof(p.value) = ''object'' and t.%2$I = (p.value ->> %2$L)::%3$s and to_jsonb(t) @> p.value',
                   p_table, v_first.name, v_first.type)
      using p_setup, p_parents;
  end if;
end $$;

comment on function resource.clear_rows(text, regclass, jsonb) is
'Deletes the rows of a table whose first key column is one of the values of a JSON array, or that have what one of its objects says; true = all rows of the setup.';
-- file: resource/world/describe_setup.sql
-- World format: the section now, and the clock that {"hours_ago": n} counts from. A setup that is not there yet has the real time.
create or replace function resource.describe_setup(p_setup text, out is_there boolean, out simulated timestamptz, out clock timestamptz)
language plpgsql stable
security definer set search_path = resource, pg_temp
as $$
begin
  perform resource.look(p_setup);
  select true, s.simulated into is_there, simulated from resource.setup s where s.setup = p_setup;
  is_there := coalesce(is_there, false);
  clock := resource.clock(p_setup);
end $$;

comment on function resource.describe_setup(text) is
'Whether a setup is there, the moment it is simulated at (null = real time), and its clock. Errors: PB001, PB002 (setup not granted).';
-- file: resource/world/dump.sql
-- World format: the rows of a table of this room as resource.store takes them.
create or replace function resource.dump(p_setup text, p_table text) returns setof jsonb
language plpgsql stable
security definer set search_path = resource, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return query select resource.dump_rows(p_setup, resource.world_table(p_table));
end $$;

comment on function resource.dump(text, text) is
'The rows of a table of the room resource as objects, in key order and without defaults; what resource.store takes. Errors: PB001, PB002 (setup not granted).';
-- file: resource/world/dump_config.sql
-- World format: the section config, the rows for all setups included; `forced` marks keys that no rule reads.
create or replace function resource.dump_config(p_setup text) returns setof jsonb
language plpgsql stable
security definer set search_path = resource, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return query
  select jsonb_strip_nulls(jsonb_build_object(
           'app', c.app, 'component', nullif(c.component, ''), 'key', c.key, 'value', c.value, 'setup', c.setup,
           'forced', case when not exists (select from resource.known_key(c.component, c.key)) then true end))
    from resource.config c
   where c.setup = p_setup or c.setup is null and not exists (select from resource.setup s where s.setup = p_setup and s.alone)
   order by c.app collate "C", c.component collate "C", c.key collate "C", c.setup nulls first;
end $$;

comment on function resource.dump_config(text) is
'The configuration of a setup and that for all setups (without a setup) as rows {app, component, key, value, setup, forced}. Errors: PB001, PB002 (setup not granted).';
-- file: resource/world/dump_rows.sql
-- World format: what resource.store_rows takes gives the same rows again. Ordered by bytes, so that a program can put rows of several tables together.
create or replace function resource.dump_rows(p_setup text, p_table regclass) returns setof jsonb
language plpgsql stable
set timezone = 'UTC'
as $$
begin
  return query execute (
    select format('select to_jsonb(t) - array[%s] from %s t where t.setup = $1 order by %s', string_agg(
             case when not c.given then quote_literal(c.name)
                  when c.key_place is null or c.default_text is not null then format('case when t.%I is not distinct from %s then %L end', c.name, coalesce(c.default_text, 'null'), c.name) end,
             ', ' order by c.place) || ', ''setup''', p_table,
             string_agg(format('t.%I%s', c.name, case c.type when 'text' then ' collate "C"' else '' end), ', ' order by c.key_place) filter (where c.key_place is not null))
      from resource.table_column(p_table) c)
  using p_setup;
end $$;

comment on function resource.dump_rows(text, regclass) is
'The rows of a table of a setup as objects, in the order of the key, without columns that have their default; times in UTC. The work behind each room''s dump.';
-- file: resource/world/insert_text.sql
-- One insert for all rows of an array ($2), of the columns that any of them gives: the others have their defaults, in excluded, too. Merged, all rows give
-- the same columns, and only those change; the row to insert has the others of the one that is there, for a column that must not be null.
-- plpgsql, not SQL: its plan is kept in all versions, and a small world is twenty calls.
create or replace function resource.insert_text(p_table regclass, p_rows jsonb, p_merge boolean default false) returns text
language plpgsql stable
as $$
declare
  v_keys text[] := array(select distinct k.name from jsonb_array_elements(p_rows) e(row) cross join jsonb_object_keys(e.row) k(name));
  v_text text;
begin
  select format('insert into %s as held (setup%s) select $1%s from jsonb_array_elements($2) with ordinality e(row, place)%s order by e.place%s', p_table,
           string_agg(', ' || quote_ident(c.name), '' order by c.place) filter (where c.name = any (v_keys) or p_merge and c.given),
           string_agg(', ' || case when c.name <> all (v_keys) then format('case when t.setup is null then %s else t.%I end', coalesce(c.default_text, 'null'), c.name)
                                   when c.default_text is null then v.value
                                   else format('case when e.row ? %L then %s else %s end', c.name, v.value, c.default_text) end,
                      '' order by c.place) filter (where c.name = any (v_keys) or p_merge and c.given),
           case when p_merge
                then format(' left join %s t on t.setup = $1%s', p_table,
                  string_agg(format(' and t.%I = %s', c.name, case when c.name = any (v_keys) then v.value else coalesce(c.default_text, 'null') end), '' order by c.key_place)
                    filter (where c.key_place is not null)) end,
           case when bool_and(c.given)
                then format(' on conflict (setup, %s) do %s', string_agg(quote_ident(c.name), ', ' order by c.key_place) filter (where c.key_place is not null),
                  coalesce('update set ' || string_agg(format(case when p_merge and c.name = 'cric' then '%1$I = held.%1$I || excluded.%1$I' else '%1$I = excluded.%1$I' end, c.name), ', ' order by c.place)
                                              filter (where c.key_place is null and (not p_merge or c.name = any (v_keys))), 'nothing'))
                else '' end)
    into v_text
    from resource.table_column(p_table) c
   cross join lateral (
     select case when c.kind = 'JSON' then format('nullif(e.row -> %L, ''null'')', c.name)
                        when c.kind = 'an array of texts' then
                          format('case when jsonb_typeof(e.row -> %1$L) = ''array'' then array(select jsonb_array_elements_text(e.row -> %1$L)) end', c.name)
                        when c.kind like 'an integer%' then format('(e.row ->> %L)::numeric::%s', c.name, c.type)
                        else format('(e.row ->> %L)::%s', c.name, c.type) end) v(value);
  return v_text;
end $$;

comment on function resource.insert_text(regclass, jsonb, boolean) is
'The statement that upserts an array of objects ($2) into a table of the setup $1; keys that a row leaves out get the defaults of the columns, or (p_merge, where all rows have the same keys) stay as they are.';
-- file: resource/world/refusal.sql
-- What a row breaks, in the words of its values: PostgreSQL names the constraint alone. The comment of a check says what it allows.
create or replace function resource.refusal(p_table regclass, p_constraint text, p_column text, p_row jsonb, out reason text, out meaning text)
language sql stable
as $$
  select string_agg(format('%s is %s', a.attname, coalesce(resource.shown(p_row -> a.attname), case when p_constraint = '' then 'not given' else 'left out' end)), ', ' order by a.attnum)
           || case when p_constraint = '' then ', and has no default' else format(', not %s', coalesce(max(obj_description(c.oid, 'pg_constraint')), 'as ' || max(pg_get_expr(c.conbin, c.conrelid)))) end,
         string_agg(format('%s: %s', a.attname, col_description(a.attrelid, a.attnum)), ' ' order by a.attnum)
    from pg_attribute a
    left join pg_constraint c on c.conrelid = p_table and c.conname = p_constraint and c.contype = 'c'
   where a.attrelid = p_table and (a.attnum = any (c.conkey) or p_constraint = '' and a.attname = p_column)
$$;

comment on function resource.refusal(regclass, text, text, jsonb) is
'What a check constraint, or a column that must not be null (no constraint), has against a row: the key, the value, what is allowed; and what the column means. Null where it is neither.';
-- file: resource/world/refuse_rows.sql
-- Rows that failed together are tried one by one, to name the one that is wrong.
create or replace function resource.refuse_rows(p_setup text, p_table regclass, p_rows jsonb, p_merge boolean, p_error text) returns void
language plpgsql
as $$
declare
  v_row record;
  v_constraint text;
  v_column text;
  v_refusal record;
begin
  for v_row in select e.row, e.place, count(*) over (partition by resource.row_name(p_table, e.row, e.place)) as times
                 from jsonb_array_elements(p_rows) with ordinality e(row, place) order by e.place loop
    if v_row.times > 1 then
      raise exception '% stands here % times', resource.row_name(p_table, v_row.row, v_row.place), v_row.times using errcode = 'PB001', hint = 'Give each row once.';
    end if;
    begin
      execute resource.insert_text(p_table, jsonb_build_array(v_row.row), p_merge) using p_setup, jsonb_build_array(v_row.row);
    exception when data_exception or integrity_constraint_violation then
      get stacked diagnostics v_constraint = constraint_name, v_column = column_name;
      select * into v_refusal from resource.refusal(p_table, v_constraint, v_column, v_row.row);
      raise exception '%: %', resource.row_name(p_table, v_row.row, v_row.place), coalesce(v_refusal.reason, sqlerrm)
        using errcode = 'PB001', hint = coalesce(v_refusal.meaning, 'What columns hold, and their units, is in their comments.');
    end;
  end loop;
  raise exception '%: %', p_table, p_error using errcode = 'PB001', hint = 'Look at the rows given.';
end $$;

comment on function resource.refuse_rows(text, regclass, jsonb, boolean, text) is
'Raises the error of the first of some rows that cannot be stored, naming the row, the key, the value and what is allowed; else the error given. Errors: PB001.';
-- file: resource/world/row_name.sql
-- A row as errors name it: its table, and the values of its key or its place.
create or replace function resource.row_name(p_table regclass, p_row jsonb, p_place bigint) returns text
language sql stable
as $$
  select (select c.relname from pg_class c where c.oid = p_table) || ' '
         || coalesce((select string_agg(p_row ->> c.name, ', ' order by c.key_place)
                        from resource.table_column(p_table) c where c.key_place is not null and c.given), 'number ' || p_place)
$$;

comment on function resource.row_name(regclass, jsonb, bigint) is
'How errors name a row of a JSON array: table and key, or its place where the key is an identity or missing.';
-- file: resource/world/shown.sql
-- A figure of three hundred digits is said as -1e+300.
create or replace function resource.shown(p_value jsonb) returns text
language sql immutable parallel safe
as $$
  select case when jsonb_typeof(p_value) = 'number' and length(p_value::text) > 20 then regexp_replace(trim(to_char(p_value::numeric, '9.9999EEEE')), '\.?0*e', 'e') else left(p_value::text, 100) end
$$;

comment on function resource.shown(jsonb) is 'A JSON value as errors show it: a hundred characters at most, long figures as powers of ten.';
-- file: resource/world/store.sql
-- World format: loads rows into a table of this room.
create or replace function resource.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb default null, p_merge boolean default false) returns bigint
language plpgsql
security definer set search_path = resource, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return resource.store_rows(p_setup, resource.world_table(p_table), p_rows, p_parents, p_merge);
end $$;

comment on function resource.store(text, text, jsonb, jsonb, boolean) is
'Upserts an array of objects into a table of the room resource and returns how many; keys are columns, one left out gets its default (p_merge: keeps what the row has that is there), null is null. Rows of p_parents (values of the first key column, or objects with it and others; true = all) are deleted first. Errors: PB001, PB002 (setup not granted).';
-- file: resource/world/store_config.sql
-- World format: the section config. One call for all of it; a key that no rule reads is refused, or (p_lenient) left out and named.
create or replace function resource.store_config(p_setup text, p_rows jsonb, p_lenient boolean default false) returns text[]
language plpgsql
security definer set search_path = resource, pg_temp
as $$
declare
  v_row record;
  v_left_out text[] := '{}'::text[];
begin
  perform resource.identify(p_setup);
  for v_row in
    select r.app, coalesce(r.component, '') as component, r.key, r.value, coalesce(r.everywhere, false) as everywhere, coalesce(r.forced, false) as forced
      from jsonb_to_recordset(p_rows) r(app text, component text, key text, value jsonb, everywhere boolean, forced boolean)
  loop
    if p_lenient and not v_row.forced and not exists (select from resource.known_key(v_row.component, v_row.key)) then
      v_left_out := v_left_out || concat_ws(':', nullif(v_row.component, ''), v_row.key);
    else
      perform resource.set_config(p_setup, v_row.key, v_row.value, v_row.component, v_row.app, v_row.everywhere, v_row.forced);
    end if;
  end loop;
  return v_left_out;
end $$;

comment on function resource.store_config(text, jsonb, boolean) is
'Sets the configuration of an array of {app, component, key, value, everywhere, forced}; returns the unknown keys that were left out (p_lenient), else refuses them. Errors: PB001, PB002 (setup not granted).';
-- file: resource/world/store_rows.sql
-- World format. Table-driven, so that a column more is a revision more and no code. One statement for all rows (merged: for all that give the same columns);
-- only when it fails are they tried one by one, to name the one that is wrong.
create or replace function resource.store_rows(p_setup text, p_table regclass, p_rows jsonb, p_parents jsonb, p_merge boolean default false) returns bigint
language plpgsql
as $$
declare
  v_merge boolean := p_merge and not exists (select from resource.table_column(p_table) c where not c.given);
  v_stored bigint := 0;
  v_some bigint;
  v_rows jsonb;
  v_keys text;
  v_repeated boolean;
begin
  perform resource.require_setup(p_setup);
  if p_parents is not null then
    perform resource.clear_rows(p_setup, p_table, p_parents);
  end if;
  if p_rows = '[]' then
    return 0;
  end if;
  perform resource.check_rows(p_table, p_rows);
  if v_merge then
    select string_agg(format('e.row -> %L', c.name), ', ') into v_keys from resource.table_column(p_table) c where c.key_place is not null;
    execute format('select count(*) > count(distinct (%s)) from jsonb_array_elements($1) e(row)', v_keys) into v_repeated using p_rows;
    if v_repeated then
      perform resource.refuse_rows(p_setup, p_table, p_rows, v_merge, 'a row stands here twice');
    end if;
  end if;
  for v_rows in select p_rows where not v_merge
                union all
                select jsonb_agg(e.row order by e.place) from jsonb_array_elements(p_rows) with ordinality e(row, place) where v_merge
                 group by array(select k.name from jsonb_object_keys(e.row) k(name) order by 1) loop
    begin
      execute resource.insert_text(p_table, v_rows, v_merge) using p_setup, v_rows;
      get diagnostics v_some = row_count;
      v_stored := v_stored + v_some;
    exception when data_exception or integrity_constraint_violation or cardinality_violation then
      perform resource.refuse_rows(p_setup, p_table, p_rows, v_merge, sqlerrm);
    end;
  end loop;
  return v_stored;
end $$;

comment on function resource.store_rows(text, regclass, jsonb, jsonb, boolean) is
'Upserts an array of objects (keys are columns) into a table, in place of the rows of the parents given; p_merge: a row that is there keeps what is not given. The work behind each room''s store. Errors: PB001.';
-- file: resource/world/suits.sql
-- What kind of JSON value a column takes, in the words of resource.table_column. Null is taken by all; NOT NULL is the table's.
create or replace function resource.suits(p_kind text, p_value jsonb) returns boolean
language sql immutable parallel safe
as $$
  select case when jsonb_typeof(p_value) = 'null' or p_kind = 'JSON' then true
              when p_kind in ('a text', 'a time') then jsonb_typeof(p_value) = 'string'
              when p_kind = 'a number' then jsonb_typeof(p_value) = 'number'
              when p_kind = 'true or false' then jsonb_typeof(p_value) = 'boolean'
              when p_kind = 'an array of texts' then jsonb_typeof(p_value) = 'array' and not jsonb_path_exists(p_value, '$[*] ? (@.type() != "string")')
              when jsonb_typeof(p_value) <> 'number' then false
              else trunc(p_value::numeric) = p_value::numeric
                   and abs(p_value::numeric + 0.5) < case p_kind when 'an integer of 16 bits' then 32768 when 'an integer of 32 bits' then 2147483648
                                                                 else 9223372036854775808 end end
$$;

comment on function resource.suits(text, jsonb) is
'Whether a JSON value is of the kind that resource.table_column names: a text, a number, an integer, true or false, an array of texts ...';
-- file: resource/world/table_column.sql
-- What the catalogue says of a table of the world format: names, order, types and defaults of its columns, and its key.
create or replace function resource.table_column(p_table regclass)
returns table (name text, place int, kind text, type text, default_text text, key_place int, given boolean)
language sql stable
as $$
  select a.attname::text, a.attnum::int,
         case when t.typcategory = 'N' and t.typname like 'int%' then format('an integer of %s bits', 8 * t.typlen) when t.typcategory = 'N' then 'a number' when t.typcategory = 'B' then 'true or false'
              when t.typcategory = 'A' then 'an array of texts' when t.typname = 'jsonb' then 'JSON' when t.typcategory = 'D' then 'a time' else 'a text' end,
         format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid), array_position(i.indkey::int[], a.attnum::int), a.attidentity = ''
    from pg_attribute a
    join pg_type t on t.oid = a.atttypid
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    left join pg_index i on i.indrelid = a.attrelid and i.indisprimary
   where a.attrelid = p_table and a.attnum > 0 and not a.attisdropped and a.attname <> 'setup'
   order by a.attnum
$$;

comment on function resource.table_column(regclass) is
'Columns of a table without the setup: kind in words, type, default as an expression, place in the key, and whether rows give it (false: an identity).';
-- file: resource/world/world_table.sql
-- World format: the tables of this room that worlds are loaded into and dumped from; no other is written by name.
create or replace function resource.world_table(p_table text) returns regclass
language plpgsql stable
as $$
begin
  if p_table in ('resource_type', 'queue', 'queue_activity', 'queue_storage', 'slot', 'nucleus', 'storage', 'link', 'software', 'software_tag', 'architecture_level', 'worker_gpu', 'share', 'account', 'queue_lock', 'instance_type') then
    return ('resource.' || p_table)::regclass;
  end if;
  raise exception 'table is %, which worlds do not hold', coalesce(quote_literal(p_table), 'null')
    using errcode = 'PB001', hint = $h$Tables of resource that they hold: 'resource_type', 'queue', 'queue_activity', 'queue_storage', 'slot', 'nucleus', 'storage', 'link', 'software', 'software_tag', 'architecture_level', 'worker_gpu', 'share', 'account', 'queue_lock', 'instance_type'.$h$;
end $$;

comment on function resource.world_table(text) is
'A table of the room resource that the world format covers. Errors: PB001 (another one).';
-- file: roles.sql
-- The grants of the whole house. What stands here is what the roles have, no more and no less: `broker db upgrade`
-- grants what is missing and revokes what is no longer here, in the transaction that makes the objects.
--
-- One line a thing: `grant privilege on kind room.name to role, role;`. A function's name alone means all its
-- overloads. `broker_` stands for the prefix of the installation (`broker db upgrade --role-prefix`). PUBLIC has nothing.
--
--   broker_owner      owns everything, nobody logs in as it
--   broker_agent      the calls of a JobAgent and nothing else
--   broker_submitter  submits and cancels jobs
--   broker_operator   runs the house: all public functions, configuration, views
--   broker_viewer     looks: monitor's views and the explanations
--
-- Somebody gets a role as a member: `grant broker_agent to pilot_user`.

grant usage on schema resource  to broker_agent, broker_submitter, broker_operator, broker_viewer;
grant usage on schema taskqueue to broker_agent, broker_submitter, broker_operator, broker_viewer;
grant usage on schema workload  to                                 broker_operator, broker_viewer;
grant usage on schema brokerage to                                 broker_operator, broker_viewer;
grant usage on schema instance  to                                 broker_operator, broker_viewer;
grant usage on schema monitor   to                                 broker_operator, broker_viewer;

-- resource: who may do what, and the clock of a simulated setup
grant execute on function resource.installed_release       to broker_agent, broker_submitter, broker_operator, broker_viewer;
grant execute on function resource.set_identity            to broker_operator;
grant execute on function resource.clear_identity          to broker_operator;
grant execute on function resource.set_clock               to broker_operator;
grant execute on function resource.begin_alone             to broker_operator;

-- resource, workload, brokerage, instance: worlds and configuration
grant execute on function resource.store                   to broker_operator;
grant execute on function resource.dump                    to broker_operator;
grant execute on function resource.describe_setup          to broker_operator, broker_viewer;
grant execute on function resource.store_config            to broker_operator;
grant execute on function resource.dump_config             to broker_operator;
grant execute on function resource.set_config              to broker_operator;
grant execute on function resource.config_of               to broker_operator, broker_viewer;
grant select on table resource.config_key                  to broker_operator, broker_viewer;
grant execute on function workload.store                   to broker_operator;
grant execute on function workload.dump                    to broker_operator;
grant execute on function workload.digest_input            to broker_operator;
grant execute on function workload.digest_loaded_input     to broker_operator;
grant execute on function workload.missing_reference       to broker_operator, broker_viewer;
grant execute on function brokerage.store                  to broker_operator;
grant execute on function brokerage.dump                   to broker_operator;
grant execute on function instance.store                   to broker_operator;
grant execute on function instance.dump                    to broker_operator;
grant execute on function brokerage.refresh_statistics     to broker_operator;

-- brokerage: runs
grant execute on procedure brokerage.broker                to broker_operator;
grant execute on procedure brokerage.broker_analysis       to broker_operator;
grant execute on procedure brokerage.broker_jobs           to broker_operator;
grant execute on procedure brokerage.broker_tasks          to broker_operator;
grant execute on procedure brokerage.classify              to broker_operator;
grant execute on function brokerage.open_run               to broker_operator;
grant execute on function brokerage.broker_next            to broker_operator;
grant execute on function brokerage.close_run              to broker_operator;
grant execute on function brokerage.require_tasks          to broker_operator, broker_viewer;
grant execute on function brokerage.evaluate_task          to broker_operator;

-- brokerage: profiles, settings, maintenance
grant execute on function brokerage.set_profile            to broker_operator;
grant execute on function brokerage.remove_profile         to broker_operator;
grant execute on function brokerage.set_rule               to broker_operator;
grant execute on function brokerage.remove_rule            to broker_operator;
grant execute on function brokerage.set_settings           to broker_operator;
grant execute on function brokerage.maintain               to broker_operator;

-- brokerage: explanations
grant execute on function brokerage.algorithm_of           to broker_operator, broker_viewer;
grant execute on function brokerage.classes                to broker_operator, broker_viewer;
grant execute on function brokerage.explain                to broker_operator, broker_viewer;
grant execute on function brokerage.obstacles              to broker_operator, broker_viewer;
grant execute on function brokerage.run_difference         to broker_operator, broker_viewer;
grant execute on function brokerage.named_queues           to broker_operator, broker_viewer;
grant execute on function brokerage.unknown_queues         to broker_operator, broker_viewer;
grant select on table brokerage.assignments                to broker_operator, broker_viewer;
grant select on table brokerage.due_task                   to broker_operator, broker_viewer;
grant select on table brokerage.nucleus_of_task            to broker_operator, broker_viewer;
grant select on table brokerage.open_task                  to broker_operator, broker_viewer;
grant select on table brokerage.outcomes                   to broker_operator, broker_viewer;
grant select on table brokerage.rejections                 to broker_operator, broker_viewer;
grant select on table brokerage.rule_in_force              to broker_operator, broker_viewer;
grant select on table brokerage.setting_in_force           to broker_operator, broker_viewer;
grant select on table brokerage.task_standing              to broker_operator, broker_viewer;

-- taskqueue: a JobAgent's calls
grant execute on function taskqueue.match_job              to broker_agent, broker_operator;
grant execute on function taskqueue.match_jobs             to broker_agent, broker_operator;
grant execute on function taskqueue.report_job             to broker_agent, broker_operator;
grant execute on function taskqueue.finish_job             to broker_agent, broker_operator;
grant execute on function taskqueue.release_job            to broker_agent, broker_operator;

-- taskqueue: a submitter's calls
grant execute on function taskqueue.insert_job             to broker_submitter, broker_operator;
grant execute on function taskqueue.insert_jobs            to broker_submitter, broker_operator;
grant execute on function taskqueue.cancel_job             to broker_submitter, broker_operator;
grant execute on function taskqueue.delete_job             to broker_submitter, broker_operator;
grant execute on function taskqueue.queue_of_job           to broker_submitter, broker_operator;

-- taskqueue: explanations
grant execute on function taskqueue.matching_queues        to broker_operator, broker_viewer;
grant execute on function taskqueue.explain_match          to broker_operator, broker_viewer;
grant execute on function taskqueue.explain_job            to broker_operator, broker_viewer;
grant execute on function taskqueue.check_matching         to broker_operator, broker_viewer;

-- taskqueue: an operator's calls
grant execute on function taskqueue.delete_queue_if_empty  to broker_operator;
grant execute on function taskqueue.delete_empty_queues    to broker_operator;
grant execute on function taskqueue.set_queue_enabled      to broker_operator;
grant execute on function taskqueue.hold                   to broker_operator;
grant execute on function taskqueue.let_go                 to broker_operator;
grant execute on function taskqueue.set_limit              to broker_operator;
grant execute on function taskqueue.clear_limit            to broker_operator;
grant execute on function taskqueue.set_group              to broker_operator;
grant execute on function taskqueue.set_cpu_buckets        to broker_operator;
grant execute on function taskqueue.recompute_shares       to broker_operator;
grant execute on function taskqueue.rebuild_matching       to broker_operator;
grant execute on function taskqueue.forget_ended           to broker_operator;
grant execute on function taskqueue.match_jobs_with_seed     to broker_operator;
grant execute on function taskqueue.set_settings             to broker_operator;
grant execute on function taskqueue.set_platform_compatibility to broker_operator;
grant execute on function taskqueue.maintain                 to broker_operator;

-- taskqueue: worlds, and whole setups
grant execute on function taskqueue.dump_configuration     to broker_operator;
grant execute on function taskqueue.dump_task_queues       to broker_operator;
grant execute on function taskqueue.dump_leases            to broker_operator;
grant execute on function taskqueue.load_task_queues       to broker_operator;
grant execute on function taskqueue.load_leases            to broker_operator;
grant execute on function taskqueue.remove_setup           to broker_operator;
grant execute on function taskqueue.refresh_statistics     to broker_submitter, broker_operator;

-- monitor: views for people
grant select on table monitor.decision                 to broker_operator, broker_viewer;
grant select on table monitor.health                   to broker_operator, broker_viewer;
grant select on table monitor.health_session           to broker_operator, broker_viewer;
grant select on table monitor.health_setting           to broker_operator, broker_viewer;
grant select on table monitor.health_snapshot          to broker_operator, broker_viewer;
grant select on table monitor.health_table             to broker_operator, broker_viewer;
grant select on table monitor.health_work              to broker_operator, broker_viewer;
grant select on table monitor.job                      to broker_operator, broker_viewer;
grant select on table monitor.job_in_two_states        to broker_operator, broker_viewer;
grant select on table monitor.job_without_queue        to broker_operator, broker_viewer;
grant select on table monitor.lease                    to broker_operator, broker_viewer;
grant select on table monitor.matches_per_minute       to broker_operator, broker_viewer;
grant select on table monitor.matching_difference      to broker_operator, broker_viewer;
grant select on table monitor.oldest_job               to broker_operator, broker_viewer;
grant select on table monitor.resource_seen            to broker_operator, broker_viewer;
grant select on table monitor.setup                    to broker_operator, broker_viewer;
grant select on table monitor.site_limit               to broker_operator, broker_viewer;
grant select on table monitor.task_decision            to broker_operator, broker_viewer;
grant select on table monitor.task_queue               to broker_operator, broker_viewer;
grant select on table monitor.waiting_by_cpu_bucket    to broker_operator, broker_viewer;
grant select on table monitor.waiting_by_group         to broker_operator, broker_viewer;
grant select on table monitor.waiting_by_platform      to broker_operator, broker_viewer;
grant select on table monitor.waiting_by_site          to broker_operator, broker_viewer;
grant execute on function brokerage.worded             to broker_operator, broker_viewer;  -- monitor.decision calls it
grant execute on function taskqueue.lists              to broker_operator, broker_viewer;  -- monitor.site_limit calls it
-- file: taskqueue/accepts.sql
-- Section 4: all conditions. Each is a function of its own, so that what decides is what taskqueue.explain_match shows; all are inlined
-- into the query that uses them (no SET, no SECURITY DEFINER, no sublink in them), cheapest first.
create or replace function taskqueue.accepts(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select taskqueue.accepts_cpu_time(p_definition, p_offer)
     and taskqueue.accepts_owner(p_definition, p_offer)
     and taskqueue.accepts_ram(p_definition, p_offer)
     and taskqueue.accepts_tag(p_definition, p_offer)
     and taskqueue.accepts_required_tag(p_definition, p_offer)
     and taskqueue.accepts_pilot_type(p_definition, p_offer)
     and taskqueue.accepts_job_type(p_definition, p_offer)
     and taskqueue.accepts_grid_ce(p_definition, p_offer)
     and taskqueue.accepts_site(p_definition, p_offer)
     and taskqueue.accepts_platform(p_definition, p_offer)
     and taskqueue.accepts_banned_site(p_definition, p_offer)
     and taskqueue.accepts_banned_grid_ce(p_definition, p_offer)
     and taskqueue.accepts_banned_platform(p_definition, p_offer)
     and taskqueue.accepts_banned_job_type(p_definition, p_offer)
     and taskqueue.accepts_banned_tag(p_definition, p_offer)
     and taskqueue.accepts_limits(p_definition, p_offer)
$$;

comment on function taskqueue.accepts(taskqueue.definition, taskqueue.offer) is
'Whether a definition matches an offer: all conditions of section 4.';
-- file: taskqueue/accepts_banned_grid_ce.sql
-- Section 4, condition 8.
create or replace function taskqueue.accepts_banned_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).banned_grid_ces is null or not (p_definition).grid_ces && (p_offer).banned_grid_ces
$$;

comment on function taskqueue.accepts_banned_grid_ce(taskqueue.definition, taskqueue.offer) is
'Condition BannedGridCE: the queue lists none that the resource bans.';
-- file: taskqueue/accepts_banned_job_type.sql
-- Section 4, condition 8.
create or replace function taskqueue.accepts_banned_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).banned_job_types is null or not (p_definition).job_types && (p_offer).banned_job_types
$$;

comment on function taskqueue.accepts_banned_job_type(taskqueue.definition, taskqueue.offer) is
'Condition BannedJobType: the queue lists none that the resource bans.';
-- file: taskqueue/accepts_banned_platform.sql
-- Section 4, condition 8.
create or replace function taskqueue.accepts_banned_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).banned_platforms is null or not (p_definition).platforms && (p_offer).banned_platforms
$$;

comment on function taskqueue.accepts_banned_platform(taskqueue.definition, taskqueue.offer) is
'Condition BannedPlatform: the queue lists none that the resource bans.';
-- file: taskqueue/accepts_banned_site.sql
-- Section 4, condition 8.
create or replace function taskqueue.accepts_banned_site(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).banned_sites is null or not (p_definition).sites && (p_offer).banned_sites
$$;

comment on function taskqueue.accepts_banned_site(taskqueue.definition, taskqueue.offer) is
'Condition BannedSite: the queue lists none that the resource bans.';
-- file: taskqueue/accepts_banned_tag.sql
-- Section 4, condition 8.
create or replace function taskqueue.accepts_banned_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).banned_tags is null or not (p_definition).tags && (p_offer).banned_tags
$$;

comment on function taskqueue.accepts_banned_tag(taskqueue.definition, taskqueue.offer) is
'Condition BannedTag: the queue lists none that the resource bans.';
-- file: taskqueue/accepts_cpu_time.sql
-- Section 4, condition 3.
create or replace function taskqueue.accepts_cpu_time(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_definition).cpu_time <= (p_offer).cpu_time
$$;

comment on function taskqueue.accepts_cpu_time(taskqueue.definition, taskqueue.offer) is
'Condition CPUTime: the queue''s bucket is at most the CPU time offered, seconds.';
-- file: taskqueue/accepts_grid_ce.sql
-- Section 4, condition 4.
create or replace function taskqueue.accepts_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).grid_ces is null or cardinality((p_definition).grid_ces) = 0 or (p_definition).grid_ces && (p_offer).grid_ces
$$;

comment on function taskqueue.accepts_grid_ce(taskqueue.definition, taskqueue.offer) is
'Condition GridCE: the queue lists none, or one that is offered.';
-- file: taskqueue/accepts_job_type.sql
-- Section 4, condition 4.
create or replace function taskqueue.accepts_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).job_types is null or cardinality((p_definition).job_types) = 0 or (p_definition).job_types && (p_offer).job_types
$$;

comment on function taskqueue.accepts_job_type(taskqueue.definition, taskqueue.offer) is
'Condition JobType: the queue lists none, or one that is offered.';
-- file: taskqueue/accepts_limits.sql
-- Section 4, condition 10; section 7: each limit acts on its own.
create or replace function taskqueue.accepts_limits(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).reached is null or not taskqueue.reaches((p_definition).requirements, (p_offer).reached, (p_definition).setup)
$$;

comment on function taskqueue.accepts_limits(taskqueue.definition, taskqueue.offer) is
'Condition Limits: no value of the queue is at a limit of the site.';
-- file: taskqueue/accepts_owner.sql
-- Section 4, condition 2. DIRAC joins several groups with an OR without brackets, so that all other conditions are lost; here each is a row.
create or replace function taskqueue.accepts_owner(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select case
    when (p_offer).owner_groups is null then (p_offer).owner_dn is null or (p_definition).owner_dn = (p_offer).owner_dn
    else (p_definition).owner_group = any ((p_offer).owner_groups)
         and ((p_offer).owner_dn is null or (p_definition).owner_dn = (p_offer).owner_dn or (p_definition).owner_group = any ((p_offer).sharing_groups))
  end
$$;

comment on function taskqueue.accepts_owner(taskqueue.definition, taskqueue.offer) is
'Condition Owner: a private pilot takes jobs of its groups, and in groups without JobSharing only its owner''s.';
-- file: taskqueue/accepts_pilot_type.sql
-- Section 4, condition 4: PilotType is always strict.
create or replace function taskqueue.accepts_pilot_type(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select cardinality((p_definition).pilot_types) = 0 or (p_definition).pilot_types && (p_offer).pilot_types
$$;

comment on function taskqueue.accepts_pilot_type(taskqueue.definition, taskqueue.offer) is
'Condition PilotType: the queue lists none, or one that is offered; nothing offered is no match.';
-- file: taskqueue/accepts_platform.sql
-- Section 4, condition 4.
create or replace function taskqueue.accepts_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).platforms is null or cardinality((p_definition).platforms) = 0 or (p_definition).platforms && (p_offer).platforms
$$;

comment on function taskqueue.accepts_platform(taskqueue.definition, taskqueue.offer) is
'Condition Platform: the queue lists none, or one that is offered.';
-- file: taskqueue/accepts_ram.sql
-- Section 4, condition 9.
create or replace function taskqueue.accepts_ram(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_definition).min_ram is null or (p_offer).max_ram is null or (p_definition).min_ram <= (p_offer).max_ram
$$;

comment on function taskqueue.accepts_ram(taskqueue.definition, taskqueue.offer) is
'Condition MaxRAM: MinRAM of the queue is at most the memory offered, MB, where the resource says it.';
-- file: taskqueue/accepts_required_tag.sql
-- Section 4, condition 7.
create or replace function taskqueue.accepts_required_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select (p_offer).required_tags is null or (p_offer).required_tags <@ (p_definition).tags
$$;

comment on function taskqueue.accepts_required_tag(taskqueue.definition, taskqueue.offer) is
'Condition RequiredTag: every tag that the resource requires is among the queue''s.';
-- file: taskqueue/accepts_site.sql
-- Section 4, conditions 4 and 5 for sites: one and the same site accepted and not banned; "any" skips both.
create or replace function taskqueue.accepts_site(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select case
    when (p_offer).sites is null then true
    when cardinality((p_definition).sites) = 0 and (cardinality((p_definition).banned_sites) = 0 or cardinality((p_offer).sites) = 0) then true
    when cardinality((p_offer).sites) = 1 then
      (cardinality((p_definition).sites) = 0 or (p_offer).sites[1] = any ((p_definition).sites)) and not (p_offer).sites[1] = any ((p_definition).banned_sites)
    else taskqueue.first_site((p_offer).sites, (p_definition).sites, (p_definition).banned_sites) is not null
  end
$$;

comment on function taskqueue.accepts_site(taskqueue.definition, taskqueue.offer) is
'Condition Site: an offered site is listed (or none is) and not banned.';
-- file: taskqueue/accepts_tag.sql
-- Section 4, condition 6.
create or replace function taskqueue.accepts_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable
as $$
  select cardinality((p_definition).tags) = 0 or (p_offer).tags is null or (p_definition).tags <@ (p_offer).tags
$$;

comment on function taskqueue.accepts_tag(taskqueue.definition, taskqueue.offer) is
'Condition Tag: every tag of the queue is offered.';
-- file: taskqueue/answer_given.sql
-- Section 3: the same call repeated within ten minutes gives the same answer, so a lost answer costs nothing.
-- A lock on the request id makes a repetition wait while the first call still runs, and no other call.
create or replace function taskqueue.answer_given(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid) returns jsonb
language plpgsql
as $$
declare
  v_request taskqueue.request;
begin
  if p_request_id is null then
    return null;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(p_identity.setup || p_identity.role_name || p_request_id, 1));
  select r.* into v_request from taskqueue.request r
   where r.setup = p_identity.setup and r.role_name = p_identity.role_name and r.request_id = p_request_id
     and r.made_at > resource.clock(p_identity.setup) - interval '10 minutes';
  if not found then
    return null;
  end if;
  if v_request.call <> p_call or v_request.asked is distinct from p_asked then
    raise exception 'request id % was used for another call (%) within ten minutes', p_request_id, v_request.call
      using errcode = 'PB001', hint = 'Use a new request id for each call, the same only to repeat it.';
  end if;
  return v_request.answer;
end $$;

comment on function taskqueue.answer_given(resource.identity, uuid, text, uuid) is
'The answer of a request made within ten minutes; null = none, or no request id. Errors: PB001 (the id was used for another call).';
-- file: taskqueue/attempt_text.sql
-- Section 5: the attempt is a number for people and a random 128-bit token; here as one text that clients hand back as it is.
create or replace function taskqueue.attempt_text(p_number int, p_token uuid) returns text
language sql stable
as $$
  select p_number::text || '-' || replace(p_token::text, '-', '')
$$;

comment on function taskqueue.attempt_text(int, uuid) is
'The attempt as clients see it: number, hyphen, token in 32 hexadecimal digits.';
-- file: taskqueue/attribute_key.sql
-- Section 7: a limit that refers to an unknown attribute is refused when it is set.
create or replace function taskqueue.attribute_key(p_attribute text) returns text
language plpgsql immutable
as $$
declare
  v_key text;
begin
  select k into v_key
    from unnest('{OwnerDN,OwnerGroup,CPUTime,SubmitPools,PilotTypes,GridMiddlewares,Sites,BannedSites,GridCEs,Platforms,JobTypes,Tags,MinRAM,MaxRAM}'::text[]) k
   where k = p_attribute or k = p_attribute || 's' or k = 'OwnerDN' and p_attribute = 'Owner' or k = 'Platforms' and p_attribute in ('LHCbPlatform', 'LHCbPlatforms');
  if v_key is null then
    raise exception 'attribute % is not known', coalesce(quote_literal(p_attribute), 'null')
      using errcode = 'PB001', hint = 'Known: OwnerDN, OwnerGroup, CPUTime, SubmitPools, PilotTypes, GridMiddlewares, Sites, BannedSites, GridCEs, Platforms, JobTypes, Tags, MinRAM, MaxRAM, and their singular forms.';
  end if;
  return v_key;
end $$;

comment on function taskqueue.attribute_key(text) is 'The requirement key that an attribute of a limit names (JobType: JobTypes). Errors: PB001.';
-- file: taskqueue/band_of.sql
-- Four bands to an octave: a queue has at least 84 % of its band's ceiling, and one draw in twelve is thinned out in vain.
create or replace function taskqueue.band_of(p_priority float8) returns int
language sql immutable
as $$
  select ceil(4 * ln(p_priority) / ln(2::float8))::int
$$;

comment on function taskqueue.band_of(float8) is
'The band of priorities that a queue is listed in (taskqueue.posting_list).';
-- file: taskqueue/cancel_job.sql
-- Section 8: cancel_job ends a waiting job and marks a leased one for kill.
create or replace function taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text default 'cancelled') returns text
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_lease taskqueue.lease;
begin
  if p_reason is null or p_reason = '' then
    raise exception 'reason is %', coalesce(quote_literal(p_reason), 'null') using errcode = 'PB001', hint = 'Say why, the agent is told.';
  end if;
  perform taskqueue.enter(p_setup);
  loop
    if taskqueue.end_waiting(p_setup, p_job_id, 'cancelled', v_identity) is not null then
      return 'ended';
    end if;
    update taskqueue.lease l set kill_reason = p_reason where l.setup = p_setup and l.job_id = p_job_id returning l.* into v_lease;
    if found then
      perform taskqueue.may_touch(v_identity, p_job_id, v_lease.definition_id);
      perform taskqueue.note_event(v_lease, 'kill asked');
      return 'kill asked';
    end if;
    -- between the two it may have gone back to waiting: then once more
    if not exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id) then
      raise exception 'job % neither waits nor is leased in setup %', coalesce(p_job_id::text, 'null'), p_setup
        using errcode = 'PB004', hint = 'It has ended, or was never inserted.';
    end if;
  end loop;
end $$;

comment on function taskqueue.cancel_job(text, bigint, text) is
'Ends a waiting job (answer: ended), or marks a leased one for kill (answer: kill asked): its agent is told at its next report. Errors: PB001 (no reason), PB002 (setup or owner not granted), PB004 (no such job).';
-- file: taskqueue/canonical_requirements.sql
-- Section 2: what defines a TaskQueue, in one form, so that equal requirements are equal JSON; section 3: what is refused.
create or replace function taskqueue.canonical_requirements(p_setup text, p_requirements jsonb) returns jsonb
language plpgsql stable
as $$
declare
  v_out jsonb := jsonb '{}';
  v_key text;
  v_value jsonb;
  v_texts text[];
begin
  -- What a definition holds is in that form: looking it up takes 4 us, working it out 25.
  if exists (select from taskqueue.definition d
              where d.setup = p_setup and d.digest = md5(p_requirements::text)::uuid and d.requirements = p_requirements) then
    return p_requirements;
  end if;
  if jsonb_typeof(p_requirements) is distinct from 'object' then
    raise exception 'requirements are %, not a JSON object', coalesce(p_requirements::text, 'null')
      using errcode = 'PB001', hint = 'Give an object with OwnerDN, OwnerGroup and CPUTime at least.';
  end if;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_requirements) e loop
    case v_key
      when 'Setup' then
        if taskqueue.one_text(v_key, v_value) <> p_setup then
          raise exception 'Setup is %, but the job goes to setup %', v_value, p_setup
            using errcode = 'PB001', hint = 'Leave Setup out of the requirements, or name the same.';
        end if;
        continue;
      when 'Owner', 'OwnerDN' then
        if v_out ? 'OwnerDN' and v_out ->> 'OwnerDN' <> taskqueue.one_text(v_key, v_value) then
          raise exception 'Owner is % and OwnerDN is %: they differ', p_requirements -> 'Owner', p_requirements -> 'OwnerDN'
            using errcode = 'PB001', hint = 'Owner is another name of OwnerDN; give one of them.';
        end if;
        v_out := v_out || jsonb_build_object('OwnerDN', taskqueue.one_text(v_key, v_value));
      when 'OwnerGroup' then
        v_out := v_out || jsonb_build_object(v_key, taskqueue.one_text(v_key, v_value));
      when 'CPUTime' then
        v_out := v_out || jsonb_build_object(v_key, taskqueue.cpu_bucket_of(p_setup, taskqueue.one_number(v_key, v_value)));
      when 'MinRAM', 'MaxRAM' then
        if v_value <> 'null' then
          v_out := v_out || jsonb_build_object(v_key, taskqueue.one_number(v_key, v_value)::float8);
        end if;
      when 'SubmitPools', 'GridMiddlewares', 'PilotTypes', 'Sites', 'BannedSites', 'GridCEs', 'Platforms', 'LHCbPlatforms', 'JobTypes', 'Tags' then
        v_texts := taskqueue.texts(v_key, v_value);
        if v_key = 'LHCbPlatforms' and p_requirements ? 'Platforms' and v_texts <> taskqueue.texts('Platforms', p_requirements -> 'Platforms') then
          raise exception 'LHCbPlatforms is % and Platforms is %: they differ', v_value, p_requirements -> 'Platforms'
            using errcode = 'PB001', hint = 'LHCbPlatforms is another name of Platforms; give one of them.';
        end if;
        if v_texts <> '{}' then
          v_out := v_out || jsonb_build_object(case v_key when 'LHCbPlatforms' then 'Platforms' else v_key end, to_jsonb(v_texts));
        end if;
      else
        raise exception 'requirement % (value %) is not known', v_key, v_value
          using errcode = 'PB001', hint = 'Known: Setup, OwnerDN (Owner), OwnerGroup, CPUTime, SubmitPools, GridMiddlewares, PilotTypes, Sites, BannedSites, GridCEs, Platforms (LHCbPlatforms), JobTypes, Tags, MinRAM, MaxRAM.';
    end case;
  end loop;
  foreach v_key in array array['OwnerDN', 'OwnerGroup', 'CPUTime'] loop
    if not v_out ? v_key then
      raise exception '% is missing in the requirements %', v_key, p_requirements
        using errcode = 'PB001', hint = 'OwnerDN (or Owner), OwnerGroup and CPUTime are required.';
    end if;
  end loop;
  if (v_out ->> 'MinRAM')::float8 > (v_out ->> 'MaxRAM')::float8 then
    raise exception 'MinRAM is % MB, above MaxRAM, which is % MB', v_out -> 'MinRAM', v_out -> 'MaxRAM'
      using errcode = 'PB001', hint = 'MinRAM may be at most MaxRAM.';
  end if;
  return v_out;
end $$;

comment on function taskqueue.canonical_requirements(text, jsonb) is
'The requirements in the one form that TaskQueues are compared by: aliases resolved, CPUTime as its bucket (s), lists as sorted sets, empty ones left out, RAM in MB. Errors: PB001, naming key and value (section 3).';
-- file: taskqueue/ceiling_of_band.sql
-- A hair above the power of two, so that no priority is above the ceiling of its band by rounding.
create or replace function taskqueue.ceiling_of_band(p_band int) returns float8
language sql immutable
as $$
  select power(2::float8, p_band / 4.0::float8) * 1.000000001
$$;

comment on function taskqueue.ceiling_of_band(int) is
'Upper end of a band of priorities (taskqueue.band_of).';
-- file: taskqueue/check_batch.sql
-- The shape of a batch for taskqueue.insert_jobs, before anything is stored.
create or replace function taskqueue.check_batch(p_jobs jsonb) returns bigint
language plpgsql immutable
as $$
declare
  v_bad jsonb;
  v_ids bigint[];
  v_count bigint;
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' then
    raise exception 'jobs are %, not a JSON array', coalesce(left(p_jobs::text, 100), 'null')
      using errcode = 'PB001', hint = 'Give an array of {job_id, requirements, user_priority} or {requirements, jobs}.';
  end if;
  select e into v_bad from jsonb_array_elements(p_jobs) e
   where jsonb_typeof(e) <> 'object'
      or e - '{job_id,requirements,user_priority}'::text[] <> '{}' and e - '{requirements,jobs}'::text[] <> '{}'
      or not e ? 'requirements'
      or jsonb_typeof(coalesce(e -> 'jobs', '[]')) <> 'array'
      or e @? 'strict $.jobs[*] ? (@.type() != "array" || @.size() < 1 || @.size() > 2)'
   limit 1;
  if found then
    raise exception 'this element is not a job nor a group of jobs: %', left(v_bad::text, 200)
      using errcode = 'PB001', hint = 'An element is {job_id, requirements, user_priority} or {requirements, jobs: [[id, user_priority], ...]}.';
  end if;
  select array_agg(taskqueue.job_id(n.id)), count(taskqueue.job_priority(taskqueue.job_id(n.id), taskqueue.one_number('user_priority of job ' || n.id::text, n.priority)))
    into v_ids, v_count
    from jsonb_array_elements(p_jobs) e
   cross join lateral (
          select e -> 'job_id' as id, coalesce(e -> 'user_priority', '1') as priority where not e ? 'jobs'
          union all
          select j -> 0, coalesce(j -> 1, '1') from jsonb_array_elements(e -> 'jobs') j) n;
  if v_count > 100000 then
    raise exception '% jobs in one call', v_count using errcode = 'PB001', hint = 'Up to 100,000 jobs a call; send several calls.';
  end if;
  if v_count > (select count(distinct i) from unnest(v_ids) i) then
    raise exception 'job_id % stands more than once', (select i from unnest(v_ids) i group by i having count(*) > 1 order by i limit 1)
      using errcode = 'PB001', hint = 'Each job once a call.';
  end if;
  return v_count;
end $$;

comment on function taskqueue.check_batch(jsonb) is
'How many jobs a batch holds, its shape, ids and user priorities checked. Errors: PB001, naming the element.';
-- file: taskqueue/check_matching.sql
-- Whatever is built for speed, compared with the truth that it is derived from.
create or replace function taskqueue.check_matching(p_setup text) returns table (structure text, key text, expected text, found text)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.look(p_setup);
  return query
    select 'definition', 'queue ' || q.task_queue_id, taskqueue.requirements_of_queue(q)::text, d.requirements::text
      from taskqueue.task_queue q join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     where q.setup = p_setup and d.requirements <> taskqueue.requirements_of_queue(q)
    union all
    select 'definition', 'definition ' || d.definition_id, d.requirements::text, to_jsonb(d)::text
      from taskqueue.definition d
     where d.setup = p_setup
       and (d.digest, d.family, d.owner_dn, d.owner_group, d.cpu_time, d.min_ram, d.pilot_types, d.sites, d.banned_sites, d.grid_ces, d.platforms, d.job_types, d.tags)
           is distinct from
           (md5(d.requirements::text)::uuid, taskqueue.family_of(d.requirements), d.requirements ->> 'OwnerDN', d.requirements ->> 'OwnerGroup',
            (d.requirements ->> 'CPUTime')::bigint, (d.requirements ->> 'MinRAM')::float8, taskqueue.list_of(d.requirements, 'PilotTypes'),
            taskqueue.list_of(d.requirements, 'Sites'), taskqueue.list_of(d.requirements, 'BannedSites'), taskqueue.list_of(d.requirements, 'GridCEs'),
            taskqueue.list_of(d.requirements, 'Platforms'), taskqueue.list_of(d.requirements, 'JobTypes'), taskqueue.list_of(d.requirements, 'Tags'))
    union all
    select 'posting', format('queue %s at %L', coalesce(w.task_queue_id, p.task_queue_id), coalesce(w.site, p.site)), w::text, p::text
      from (select * from taskqueue.wanted_posting i where i.setup = p_setup) w
      full join (select i.*, count(*) over (partition by i.list_id, i.task_queue_id) as times from taskqueue.posted_queue i where i.setup = p_setup) p
           using (setup, site, cpu_time, band, task_queue_id)
     where (w is null or p is null or p.times > 1)
       and not exists (select from taskqueue.unposted u where u.setup = p_setup and u.task_queue_id = w.task_queue_id)
    union all
    select 'posting', format('queue %s', q.task_queue_id), 'posted', 'not posted'
      from taskqueue.task_queue q
     where q.setup = p_setup
       and q.posted <> exists (select from taskqueue.wanted_posting w where w.setup = q.setup and w.task_queue_id = q.task_queue_id)
       and not exists (select from taskqueue.unposted u where u.setup = q.setup and u.task_queue_id = q.task_queue_id)
    union all
    select 'posting_list', format('list %s, band %s', p.list_id, p.band), 'within ' || coalesce(l.places[array_position(l.bands, p.band)], 0), p.place::text
      from taskqueue.posting p
      left join taskqueue.posting_list l on l.setup = p.setup and l.list_id = p.list_id
     where p.setup = p_setup and p.place > coalesce(l.places[array_position(l.bands, p.band)], 0)
    union all
    select 'posting_list', 'list ' || l.list_id, format('rate %s, top %s, room %s', s.rate, s.top, s.room), format('rate %s, top %s, room %s', l.rate, l.top, l.room)
      from taskqueue.posting_list l
     cross join lateral (select coalesce(sum(b.places * taskqueue.ceiling_of_band(b.band)), 0) as rate, coalesce(max(taskqueue.ceiling_of_band(b.band)), 0) as top,
                                coalesce(sum(b.places), 0) as room
                           from unnest(l.bands, l.places) b (band, places)) s
     where l.setup = p_setup and (l.room <> s.room or l.top <> s.top or abs(l.rate - s.rate) > 1e-9 * s.rate
                                  or l.rate is distinct from coalesce(l.sums[cardinality(l.bands)], 0))
    union all
    select 'job_count', format('queue %s, user priority %s', coalesce(j.task_queue_id, c.task_queue_id), coalesce(j.user_priority, c.user_priority)),
           coalesce(j.jobs, 0)::text, coalesce(c.jobs, 0)::text
      from (select i.task_queue_id, i.user_priority, count(*) as jobs, min(i.job_id) as first_id from taskqueue.job i where i.setup = p_setup and not i.held group by 1, 2) j
      full join (select q.task_queue_id, l.user_priority, l.jobs, l.first_id
                   from taskqueue.task_queue q cross join lateral taskqueue.job_level(q.setup, q.task_queue_id) l
                  where q.setup = p_setup) c using (task_queue_id, user_priority)
     where coalesce(j.jobs, 0) <> coalesce(c.jobs, 0)
    union all
    select 'job_count', format('queue %s, user priority %s, first id', q.task_queue_id, l.user_priority), j.job_id::text, l.first_id::text
      from taskqueue.task_queue q
     cross join lateral taskqueue.job_level(q.setup, q.task_queue_id) l
     cross join lateral (select min(i.job_id) as job_id from taskqueue.job i
                          where i.setup = q.setup and i.task_queue_id = q.task_queue_id and not i.held and i.user_priority = l.user_priority) j
     where q.setup = p_setup and j.job_id < coalesce(l.first_id, 0)
    union all
    select 'owner_weight', format('%s of %s%s', owner_dn, owner_group, case when light then ', light' end), format('%s queues, %s', t.queues, t.weight),
           format('%s queues, %s', w.queues, w.weight)
      from (select q.owner_group, q.owner_dn, taskqueue.is_background(q.mean_weight, true) as light, count(*) as queues, sum(q.mean_weight::numeric) as weight
              from taskqueue.task_queue q where q.setup = p_setup group by 1, 2, 3) t
      full join (select o.owner_group, o.owner_dn, o.light, sum(o.queues) as queues, sum(o.weight) as weight
                   from taskqueue.owner_weight o where o.setup = p_setup group by 1, 2, 3) w using (owner_group, owner_dn, light)
     where coalesce(t.queues, 0) <> coalesce(w.queues, 0) or coalesce(t.weight, 0) <> coalesce(w.weight, 0)
    union all
    select 'limit_use', format('limit %s, job %s', limit_id, job_id),
           case when e.counts then 'a slot' else 'no slot' end, case when u.slot is null then 'no slot' else 'slot ' || u.slot end
      from (select l.limit_id, i.job_id, true as counts
              from taskqueue.site_limit l
              join taskqueue.lease i on i.setup = l.setup and i.site = l.site and (l.grid_ce is null or l.grid_ce = i.grid_ce)
              join taskqueue.definition d on d.setup = i.setup and d.definition_id = i.definition_id
             where l.setup = p_setup and l.kind = 'running' and taskqueue.lists(d.requirements, l.attribute, l.value)) e
      full join (select i.limit_id, i.job_id, i.slot from taskqueue.limit_use i where i.setup = p_setup) u using (limit_id, job_id)
     where e.counts is null or u.slot is null
    union all
    select 'limit_slot', 'limit ' || limit_id, coalesce(l.ceiling::text, 'no limit'), coalesce(s.slots, 0)::text
      from (select i.limit_id, i.ceiling from taskqueue.site_limit i where i.setup = p_setup and i.kind = 'running') l
      full join (select n.limit_id, sum(sign(n.slot))::bigint as slots
                   from (select f.limit_id, f.slot from taskqueue.limit_slot f where f.setup = p_setup
                         union all
                         select i.limit_id, i.slot from taskqueue.limit_use i where i.setup = p_setup) n
                  group by 1) s using (limit_id)
     where l.ceiling is distinct from coalesce(s.slots, 0);
end $$;

comment on function taskqueue.check_matching(text) is
'Differences between what matching reads (definitions, postings, counts, weights of owners, limit slots) and the truth it is derived from; no row when all is right. One statement, exact under load. Errors: PB002 (setup not granted).';
-- file: taskqueue/clean_counts.sql
-- Counts that a newer one of the queue has replaced go; so do changes that every count which may still appear knows. A transaction that is counting
-- now may not have seen the end of another that has finished since; it was running then. So what goes belongs to transactions that had finished
-- when maintenance last looked, and goes when all that had started then have finished as well.
create or replace function taskqueue.clean_counts(p_setup text) returns bigint
language plpgsql
as $$
declare
  v_horizon taskqueue.job_count_horizon;
  v_gone bigint;
  v_count bigint := 0;
begin
  delete from taskqueue.job_count d where d.ctid = any (array(
    select c.ctid from taskqueue.job_count c
     where c.setup = p_setup
       and (exists (select from taskqueue.job_count n
                     where n.setup = c.setup and n.task_queue_id = c.task_queue_id and (n.known_to, n.count_id) > (c.known_to, c.count_id))
            or not exists (select from taskqueue.task_queue q where q.setup = c.setup and q.task_queue_id = c.task_queue_id)
               and c.known_to < pg_snapshot_xmin(pg_current_snapshot()))
       for update skip locked));
  get diagnostics v_gone = row_count;
  v_count := v_count + v_gone;
  select h.* into v_horizon from taskqueue.job_count_horizon h where h.setup = p_setup;
  if v_horizon.started <= pg_snapshot_xmin(pg_current_snapshot()) then
    delete from taskqueue.job_count_change d where d.ctid = any (array(
      select c.ctid from taskqueue.job_count_change c
       where c.setup = p_setup and c.made_in < v_horizon.finished
         and (exists (select from taskqueue.job_count n
                       where n.setup = c.setup and n.task_queue_id = c.task_queue_id and n.known_to > c.made_in and c.made_in <> all (n.in_flight))
              or not exists (select from taskqueue.task_queue q where q.setup = c.setup and q.task_queue_id = c.task_queue_id))
         for update skip locked));
    get diagnostics v_gone = row_count;
    v_count := v_count + v_gone;
  elsif v_horizon.started is not null then
    return v_count;
  end if;
  insert into taskqueue.job_count_horizon (setup, finished, started)
  values (p_setup, pg_snapshot_xmin(pg_current_snapshot()), pg_snapshot_xmax(pg_current_snapshot()))
  on conflict (setup) do update set finished = excluded.finished, started = excluded.started;
  return v_count;
end $$;

comment on function taskqueue.clean_counts(text) is
'Removes counts and changes that no reader needs any more; returns how many.';
-- file: taskqueue/clear_limit.sql
-- Section 7.
create or replace function taskqueue.clear_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text) returns boolean
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_key text := taskqueue.attribute_key(p_attribute);
  v_id bigint;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.site_limit l
   where l.setup = p_setup and l.kind = p_kind and l.site = p_site and l.grid_ce is not distinct from p_ce
     and l.attribute = v_key and l.value = p_value
  returning l.limit_id into v_id;
  delete from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = v_id;
  delete from taskqueue.limit_use u where u.setup = p_setup and u.limit_id = v_id;
  return v_id is not null;
end $$;

comment on function taskqueue.clear_limit(text, text, text, text, text, text) is
'Removes a limit; false when there is none like that. Errors: PB001 (attribute), PB002 (setup not granted), PB006 (busy).';
-- file: taskqueue/close_gaps.sql
-- A queue that goes leaves its place in each of its lists empty, and a draw that hits an empty place was in vain. Where half of a band is empty,
-- the queues at its end move into the gaps.
create or replace function taskqueue.close_gaps(p_setup text) returns bigint
language plpgsql
as $$
declare
  v_list_id bigint;
  v_band int;
  v_count int;
  v_movable bigint[];
  v_closed bigint := 0;
begin
  v_closed := taskqueue.drop_empty_lists(p_setup, array(
    select l.list_id from taskqueue.posting_list l
     where l.setup = p_setup and not exists (select from taskqueue.posting p where p.setup = l.setup and p.list_id = l.list_id)));
  for v_list_id, v_band in
    select l.list_id, b.band
      from taskqueue.posting_list l
     cross join lateral unnest(l.bands, l.places) b (band, places)
      left join (select p.list_id, p.band, count(*) as queues from taskqueue.posting p where p.setup = p_setup group by p.list_id, p.band) n
             on n.list_id = l.list_id and n.band = b.band
     where l.setup = p_setup and b.places >= 2 * coalesce(n.queues, 0)
     order by l.site, l.cpu_time
  loop
    perform from taskqueue.posting_list l where l.setup = p_setup and l.list_id = v_list_id for update skip locked;
    continue when not found;
    select count(*) into v_count from taskqueue.posting p where p.setup = p_setup and p.list_id = v_list_id and p.band = v_band;
    -- an agent that finds one of these queues empty leaves it, instead of waiting for this transaction
    v_movable := array(select q.task_queue_id from taskqueue.task_queue q
                        where q.setup = p_setup
                          and q.task_queue_id in (select p.task_queue_id from taskqueue.posting p
                                                   where p.setup = p_setup and p.list_id = v_list_id and p.band = v_band and p.place > v_count)
                          for no key update skip locked);
    update taskqueue.posting p set place = g.place
      from (select i.place, row_number() over (order by i.place) as number
              from generate_series(1, v_count) i (place)
             where not exists (select from taskqueue.posting o
                                where o.setup = p_setup and o.list_id = v_list_id and o.band = v_band and o.place = i.place)) g
      join (select o.place, row_number() over (order by o.place) as number
              from taskqueue.posting o
             where o.setup = p_setup and o.list_id = v_list_id and o.band = v_band and o.place > v_count and o.task_queue_id = any (v_movable)) m using (number)
     where p.setup = p_setup and p.list_id = v_list_id and p.band = v_band and p.place = m.place;
    perform taskqueue.measure_lists(p_setup, array[v_list_id], array[v_band]);
    v_closed := v_closed + 1;
  end loop;
  return v_closed;
end $$;

comment on function taskqueue.close_gaps(text) is
'Closes the gaps of lists where half of a band is empty, and removes lists without a queue; returns how many were changed.';
-- file: taskqueue/compatible_platforms.sql
-- Section 4: platforms are plain strings; a table of compatible platforms (offered -> accepted) expands what the resource offers.
create or replace function taskqueue.compatible_platforms(p_setup text, p_platforms text[]) returns text[]
language sql stable
as $$
  select case when p_platforms is not null then
           p_platforms || array(select c.accepted from taskqueue.platform_compatibility c where c.setup = p_setup and c.offered = any (p_platforms))
         end
$$;

comment on function taskqueue.compatible_platforms(text, text[]) is
'The platforms offered and those compatible with them; null stays null (no condition).';
-- file: taskqueue/condition.sql
-- Section 10: the filter and the explanation come from the same definition; one row a condition of section 4, by the functions that
-- taskqueue.accepts is made of.
create or replace function taskqueue.condition(d taskqueue.definition, o taskqueue.offer)
returns table (condition text, wanted text, offered text, holds boolean)
language sql stable
as $$
  select c.condition, coalesce(c.wanted, 'anything'), coalesce(c.offered, 'not offered, no condition'), c.holds
    from (values
      ('CPUTime', 'at least ' || d.cpu_time || ' s', o.cpu_time || ' s', taskqueue.accepts_cpu_time(d, o)),
      ('Owner', d.owner_dn || ' in ' || d.owner_group,
       case when o.owner_dn is null and o.owner_groups is null then 'generic pilot'
            else concat_ws(' in ', coalesce(o.owner_dn, 'any owner'), nullif(array_to_string(o.owner_groups, ', '), '')) end, taskqueue.accepts_owner(d, o)),
      ('MaxRAM', 'at least ' || d.min_ram || ' MB', o.max_ram || ' MB', taskqueue.accepts_ram(d, o)),
      ('Tag', 'all of: ' || nullif(array_to_string(d.tags, ', '), ''), taskqueue.offered_text(o.tags), taskqueue.accepts_tag(d, o)),
      ('RequiredTag', 'tags: ' || nullif(array_to_string(d.tags, ', '), ''), 'requires ' || array_to_string(o.required_tags, ', '), taskqueue.accepts_required_tag(d, o)),
      ('PilotType', 'one of: ' || nullif(array_to_string(d.pilot_types, ', '), ''), taskqueue.offered_text(o.pilot_types), taskqueue.accepts_pilot_type(d, o)),
      ('JobType', 'one of: ' || nullif(array_to_string(d.job_types, ', '), ''), taskqueue.offered_text(o.job_types), taskqueue.accepts_job_type(d, o)),
      ('GridCE', 'one of: ' || nullif(array_to_string(d.grid_ces, ', '), ''), taskqueue.offered_text(o.grid_ces), taskqueue.accepts_grid_ce(d, o)),
      ('Site', nullif(concat_ws('; ', 'one of: ' || nullif(array_to_string(d.sites, ', '), ''), 'none of: ' || nullif(array_to_string(d.banned_sites, ', '), '')), ''),
       taskqueue.offered_text(o.sites), taskqueue.accepts_site(d, o)),
      ('Platform', 'one of: ' || nullif(array_to_string(d.platforms, ', '), ''), taskqueue.offered_text(o.platforms), taskqueue.accepts_platform(d, o)),
      ('BannedSite', 'sites: ' || nullif(array_to_string(d.sites, ', '), ''), 'bans ' || array_to_string(o.banned_sites, ', '), taskqueue.accepts_banned_site(d, o)),
      ('BannedGridCE', 'CEs: ' || nullif(array_to_string(d.grid_ces, ', '), ''), 'bans ' || array_to_string(o.banned_grid_ces, ', '), taskqueue.accepts_banned_grid_ce(d, o)),
      ('BannedPlatform', 'platforms: ' || nullif(array_to_string(d.platforms, ', '), ''), 'bans ' || array_to_string(o.banned_platforms, ', '), taskqueue.accepts_banned_platform(d, o)),
      ('BannedJobType', 'job types: ' || nullif(array_to_string(d.job_types, ', '), ''), 'bans ' || array_to_string(o.banned_job_types, ', '), taskqueue.accepts_banned_job_type(d, o)),
      ('BannedTag', 'tags: ' || nullif(array_to_string(d.tags, ', '), ''), 'bans ' || array_to_string(o.banned_tags, ', '), taskqueue.accepts_banned_tag(d, o)),
      ('Limits', 'a place at the site', case when not o.limited or o.limited is null then 'no limits' else coalesce('limits reached: ' || (
         select string_agg(format('%s %s of %s %s at %s', l.kind, coalesce(l.ceiling::text, l.delay::text), l.attribute, l.value, concat_ws('/', l.site, l.grid_ce)), '; ' order by l.limit_id)
           from taskqueue.site_limit l where l.setup = d.setup and l.limit_id = any (o.reached)), 'limits not reached') end, taskqueue.accepts_limits(d, o))
    ) c (condition, wanted, offered, holds)
$$;

comment on function taskqueue.condition(taskqueue.definition, taskqueue.offer) is
'Each condition of section 4 for a definition and an offer: what is wanted, what is offered, whether it holds. All hold exactly when taskqueue.accepts says so.';
-- file: taskqueue/correct_shares.sql
-- after: taskqueue.match
-- Section 9: a correction factor per owner and group from usage history (expected share / used share, clamped to [1/5, 5]).
-- Usage is the CPU time of the buckets matched within the window, among the entities that have queues now.
create or replace function taskqueue.correct_shares(p_setup text) returns void
language plpgsql
as $$
declare
  v_setting taskqueue.setting;
begin
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  if v_setting.share_correction is not true then
    delete from taskqueue.share_correction c where c.setup = p_setup;
    return;
  end if;
  insert into taskqueue.share_correction (setup, owner_group, owner_dn, factor)
  with entity as (
    select distinct q.owner_group, case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as owner_dn,
           coalesce(g.share, 1000) as share, coalesce(g.job_sharing, false) as job_sharing
      from taskqueue.task_queue q left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
     where q.setup = p_setup
  ), expected as (
    select e.owner_group, e.owner_dn, e.job_sharing, e.share / count(*) over (partition by e.owner_group) as share from entity e
  ), used as (
    select e.owner_group, e.owner_dn, e.share / sum(e.share) over () as expected,
           coalesce(sum(h.cpu_time), 0) / nullif(sum(sum(h.cpu_time)) over (), 0) as used
      from expected e
      left join taskqueue.match h
             on h.setup = p_setup and h.at > resource.clock(p_setup) - v_setting.correction_window
            and h.owner_group = e.owner_group and (e.job_sharing or h.owner_dn = e.owner_dn)
     group by e.owner_group, e.owner_dn, e.share
  )
  select p_setup, u.owner_group, u.owner_dn,
         case when u.used is null then 1 when u.used = 0 then 5 else greatest(0.2, least(5, u.expected / u.used)) end
    from used u order by u.owner_group, u.owner_dn
  on conflict (setup, owner_group, owner_dn) do update set factor = excluded.factor;
end $$;

comment on function taskqueue.correct_shares(text) is
'Keeps the factors of the setting share_correction; without the setting there are none.';
-- file: taskqueue/cpu_bucket_of.sql
-- Seed 004: "The Job CPU time is moved to the next value ... If the job CPU time exceeds 300000 the TaskQueue will have 300000."
create or replace function taskqueue.cpu_bucket_of(p_setup text, p_cpu_time numeric) returns bigint
language sql stable
as $$
  select coalesce((select b.cpu_time from taskqueue.cpu_bucket b where b.setup = p_setup and b.cpu_time >= p_cpu_time
                    order by b.cpu_time limit 1),
                  (select b.cpu_time from taskqueue.cpu_bucket b where b.setup = p_setup order by b.cpu_time desc limit 1))
$$;

comment on function taskqueue.cpu_bucket_of(text, numeric) is
'The CPU bucket of a CPU time, both in seconds: the next bucket at or above it, else the highest. Null where the setup has no buckets.';
-- file: taskqueue/definition_of.sql
-- Canonical requirements as a row of taskqueue.definition: found, or made. The row is locked against maintenance, which removes
-- definitions that nothing refers to, until the caller commits.
create or replace function taskqueue.definition_of(p_setup text, p_requirements jsonb) returns bigint
language plpgsql
as $$
declare
  v_digest uuid := md5(p_requirements::text)::uuid;
  v_definition_id bigint;
begin
  loop
    select d.definition_id into v_definition_id
      from taskqueue.definition d where d.setup = p_setup and d.digest = v_digest for key share;
    exit when found;
    insert into taskqueue.definition (setup, digest, family, requirements, owner_dn, owner_group, cpu_time, min_ram,
                                      pilot_types, sites, banned_sites, grid_ces, platforms, job_types, tags, created_at)
    select p_setup, v_digest, taskqueue.family_of(r), r, r ->> 'OwnerDN', r ->> 'OwnerGroup', (r ->> 'CPUTime')::bigint, (r ->> 'MinRAM')::float8,
           taskqueue.list_of(r, 'PilotTypes'), taskqueue.list_of(r, 'Sites'), taskqueue.list_of(r, 'BannedSites'), taskqueue.list_of(r, 'GridCEs'),
           taskqueue.list_of(r, 'Platforms'), taskqueue.list_of(r, 'JobTypes'), taskqueue.list_of(r, 'Tags'), resource.clock(p_setup)
      from (values (p_requirements)) v (r)
    on conflict (setup, digest) do nothing
    returning definition_id into v_definition_id;
    exit when found;
  end loop;
  return v_definition_id;
end $$;

comment on function taskqueue.definition_of(text, jsonb) is
'The definition of canonical requirements, made where there is none.';
-- file: taskqueue/definition_of_job.sql
-- The requirements of a job that waits or is leased.
create or replace function taskqueue.definition_of_job(p_setup text, p_job_id bigint) returns taskqueue.definition
language plpgsql stable
as $$
declare
  v_definition taskqueue.definition;
begin
  select d.* into v_definition
    from (select q.definition_id from taskqueue.job j join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
           where j.setup = p_setup and j.job_id = p_job_id
          union all
          select l.definition_id from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id) w
    join taskqueue.definition d on d.setup = p_setup and d.definition_id = w.definition_id;
  if not found then
    raise exception 'job % is %: its requirements are not kept', p_job_id, taskqueue.state_of_job(p_setup, p_job_id)
      using errcode = 'PB004', hint = 'Only jobs that wait or are leased have requirements.';
  end if;
  return v_definition;
end $$;

comment on function taskqueue.definition_of_job(text, bigint) is 'Requirements of a waiting or leased job. Errors: PB004.';
-- file: taskqueue/delete_empty_queues.sql
-- Section 6.
create or replace function taskqueue.delete_empty_queues(p_setup text) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  return (select count(*) filter (where taskqueue.drop_if_empty(p_setup, q.task_queue_id))
            from taskqueue.task_queue q
           where q.setup = p_setup
             and not exists (select from taskqueue.job j where j.setup = q.setup and j.task_queue_id = q.task_queue_id));
end $$;

comment on function taskqueue.delete_empty_queues(text) is 'Removes the TaskQueues without jobs; returns how many. Errors: PB002 (setup not granted).';
-- file: taskqueue/delete_job.sql
-- DIRAC's deleteJob: the job leaves the TaskQueues. It ends as closed, so that nothing is lost.
create or replace function taskqueue.delete_job(p_setup text, p_job_id bigint) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
begin
  perform taskqueue.enter(p_setup);
  return taskqueue.end_waiting(p_setup, p_job_id, 'closed', v_identity);
end $$;

comment on function taskqueue.delete_job(text, bigint) is
'Takes a waiting job out of the TaskQueues, ended as closed; returns the queue it was in, null when it did not wait. Errors: PB002 (setup or owner not granted).';
-- file: taskqueue/delete_queue_if_empty.sql
-- Section 6.
create or replace function taskqueue.delete_queue_if_empty(p_setup text, p_task_queue_id bigint) returns boolean
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  return taskqueue.drop_if_empty(p_setup, p_task_queue_id);
end $$;

comment on function taskqueue.delete_queue_if_empty(text, bigint) is
'Removes a TaskQueue without jobs; false when it has jobs, is not there, or another transaction works on it. Errors: PB002 (setup not granted).';
-- file: taskqueue/draw_key.sql
-- Section 5: order by random()/priority ascending (seed 004); the policy proportional orders by -ln(random())/priority.
-- The smallest of n draws with equal priority has the law (1 - (1 - u)^(1/n))/p, or -ln(u)/(n p): one draw serves n candidates. Given that all
-- n lie above a key, the smallest is v + (1 - v)(1 - (1 - u)^(1/n)) with v = p * key, or the key - ln(u)/(n p): so the next candidate is drawn when it is needed.
-- A double keeps 9 digits of 1 - (1 - u)^(1/n) at n = 10 million.
create or replace function taskqueue.draw_key(p_draw float8, p_count float8, p_priority float8, p_policy text, p_above float8 default 0) returns float8
language sql immutable
as $$
  select case when p_policy = 'proportional' then p_above - ln(p_draw) / (p_count * p_priority)
              else p_above + (1 / p_priority - p_above) * (1 - power(1 - p_draw, 1 / p_count))
         end
$$;

comment on function taskqueue.draw_key(float8, float8, float8, text, float8) is
'Key of the smallest draw of p_count candidates with the same priority, given that all are above p_above; the smallest key is taken first (section 5).';
-- file: taskqueue/drawn_queues.sql
-- after: taskqueue.accepts
-- Section 5, step 2, with a key a queue, for some definitions. In the bucket where points were drawn before (taskqueue.queue_point) the keys are drawn
-- given that they are above the last point. A queue has the same key each time it is asked for under a seed. The conditions are tested in the
-- drawn order until enough hold: filtering a drawn order is drawing over the filtered.
create or replace function taskqueue.drawn_queues(p_setup text, p_offer taskqueue.offer, p_definition_ids bigint[], p_bucket bigint, p_above float8,
                                                  p_passed bigint[], p_policy text, p_seed bigint) returns bigint[]
language plpgsql stable
as $$
begin
  return array(
    select c.task_queue_id
      from (select o.task_queue_id, o.definition_id, o.cpu_time, taskqueue.draw_key(o.draw, 1, o.priority, p_policy, o.above) as key
              from (select q.*, resource.draw(q.task_queue_id, p_seed) as draw, case when q.cpu_time = p_bucket then p_above else 0 end as above
                      from unnest(p_definition_ids) i (definition_id)
                      join taskqueue.task_queue q on q.setup = p_setup and q.definition_id = i.definition_id
                     where q.posted and q.cpu_time <= p_bucket and q.task_queue_id <> all (p_passed) offset 0) o  -- a fence, else each use of the draw is a draw of its own
             order by o.cpu_time desc, key offset 0) c
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = c.definition_id
     where taskqueue.accepts(d, p_offer)
     order by c.cpu_time desc, c.key
     limit 3);
end $$;

comment on function taskqueue.drawn_queues(text, taskqueue.offer, bigint[], bigint, float8, bigint[], text, bigint) is
'The next three queues that match an offer, in drawn order, of some definitions, those passed left out; p_bucket, p_above: where to go on.';
-- file: taskqueue/drop_empty_lists.sql
-- Lists that have run empty, in which no point falls any more. Locked first, looked at then: who appends holds the row until its commit, so what
-- it appended is seen. Nobody waits: a list that somebody works on is left for the next time.
create or replace function taskqueue.drop_empty_lists(p_setup text, p_list_ids bigint[]) returns bigint
language plpgsql
as $$
declare
  v_locked bigint[];
  v_count bigint;
begin
  v_locked := array(select l.list_id from taskqueue.posting_list l
                     where l.setup = p_setup and l.list_id = any (p_list_ids)
                       and not exists (select from taskqueue.posting p where p.setup = l.setup and p.list_id = l.list_id)
                       for update skip locked);
  if v_locked = '{}' then
    return 0;
  end if;
  delete from taskqueue.posting_list l
   where l.setup = p_setup and l.list_id = any (v_locked)
     and not exists (select from taskqueue.posting p where p.setup = l.setup and p.list_id = l.list_id);
  get diagnostics v_count = row_count;
  return v_count;
end $$;

comment on function taskqueue.drop_empty_lists(text, bigint[]) is 'Removes those of the lists that hold no queue; returns how many.';
-- file: taskqueue/drop_if_empty.sql
-- Section 6: empty queues disappear, never racing an insert: an inserter holds a key share lock on the queue until it commits, and a
-- queue that is locked is left for the next who finds it empty. Nobody waits. Its counts are left to taskqueue.clean_counts.
create or replace function taskqueue.drop_if_empty(p_setup text, p_task_queue_id bigint) returns boolean
language plpgsql
as $$
declare
  v_queue taskqueue.task_queue;
begin
  if exists (select from taskqueue.job j where j.setup = p_setup and j.task_queue_id = p_task_queue_id) then
    return false;
  end if;
  select q.* into v_queue from taskqueue.task_queue q
   where q.setup = p_setup and q.task_queue_id = p_task_queue_id for update skip locked;
  if not found or exists (select from taskqueue.job j where j.setup = p_setup and j.task_queue_id = p_task_queue_id) then
    return false;
  end if;
  perform taskqueue.vacate_places(p_setup, p_task_queue_id);
  delete from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = p_task_queue_id;
  perform taskqueue.note_weight(p_setup, v_queue.owner_group, v_queue.owner_dn, v_queue.mean_weight, -1);
  insert into taskqueue.share_mark (setup, owner_group, marked_at) values (p_setup, v_queue.owner_group, resource.clock(p_setup));
  return true;
end $$;

comment on function taskqueue.drop_if_empty(text, bigint) is
'Removes a queue without jobs and everything of it; false when it has jobs, is not there, or somebody works on it.';
-- file: taskqueue/dump_configuration.sql
-- World format: the sections task_queue_settings, cpu_buckets, groups, platform_compatibility and limits.
create or replace function taskqueue.dump_configuration(p_setup text) returns jsonb
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return (
    select jsonb_build_object(
             'task_queue_settings', jsonb_build_object(
               'ten_first', s.ten_first, 'strict_keys', s.strict_keys, 'required_keys', s.required_keys, 'queue_size', s.queue_size,
               'policy', s.policy, 'lease_time', extract(epoch from s.lease_time)::float8, 'share_delay', extract(epoch from s.share_delay)::float8,
               'share_correction', s.share_correction, 'correction_window', extract(epoch from s.correction_window)::float8,
               'history_kept', extract(epoch from s.history_kept)::float8),
             'cpu_buckets', (
               select coalesce(jsonb_agg(b.cpu_time order by b.cpu_time), '[]') from taskqueue.cpu_bucket b where b.setup = p_setup),
             'groups', (
               select coalesce(jsonb_object_agg(g.owner_group, jsonb_build_object(
                        'share', g.share, 'job_sharing', g.job_sharing, 'allow_background', g.allow_background)), '{}')
                 from taskqueue.owner_group g where g.setup = p_setup),
             'platform_compatibility', (
               select coalesce(jsonb_object_agg(c.offered, c.accepted), '{}')
                 from (select p.offered, jsonb_agg(p.accepted order by p.accepted collate "C") as accepted
                         from taskqueue.platform_compatibility p where p.setup = p_setup group by p.offered) c),
             'limits', (
               select coalesce(jsonb_agg(
                        jsonb_build_object('site', l.site, 'ce', l.grid_ce, 'kind', l.kind, 'attribute', l.attribute, 'value', l.value)
                        || case l.kind when 'running' then jsonb_build_object('limit', l.ceiling)
                                       else jsonb_build_object('seconds', extract(epoch from l.delay)::float8, 'burst', l.burst) end
                        order by l.site collate "C", l.grid_ce collate "C" nulls first, l.kind, l.attribute, l.value collate "C"), '[]')
                 from taskqueue.site_limit l where l.setup = p_setup))
      from taskqueue.setting s
     where s.setup = p_setup);
end $$;

comment on function taskqueue.dump_configuration(text) is
'Settings (times in seconds), CPU buckets (s), groups, compatible platforms and limits of a setup, in the sections of the world format; null = the setup has none. Errors: PB002 (setup not granted).';
-- file: taskqueue/dump_leases.sql
-- World format, dumped on request only: a lease holds the token that proves the attempt.
create or replace function taskqueue.dump_leases(p_setup text) returns table (lease jsonb)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return query
    select jsonb_build_object(
             'id', l.job_id, 'requirements', d.requirements, 'user_priority', l.user_priority, 'state', l.state,
             'attempt', taskqueue.attempt_text(l.attempt, l.token), 'site', l.site, 'ce', l.grid_ce, 'role', l.role_name,
             'matched_at', l.matched_at at time zone 'UTC', 'reported_at', l.reported_at at time zone 'UTC',
             'expires_at', l.expires_at at time zone 'UTC', 'kill_reason', l.kill_reason)
      from taskqueue.lease l
      join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id
     where l.setup = p_setup
     order by l.job_id;
end $$;

comment on function taskqueue.dump_leases(text) is
'The leases of a setup with the attempts that prove them (keep them secret), as taskqueue.load_leases takes them; times in UTC. Errors: PB002 (setup not granted).';
-- file: taskqueue/dump_task_queues.sql
-- World format, task_queues: what taskqueue.load_task_queues takes. The order depends on the content only, not on ids of queues, so that
-- a dump of what was loaded from a dump is the same.
create or replace function taskqueue.dump_task_queues(p_setup text) returns table (task_queue jsonb)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return query
    select jsonb_build_object('requirements', d.requirements, 'enabled', q.enabled, 'jobs', n.jobs)
      from taskqueue.task_queue q
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     cross join lateral (
            select min(j.job_id) as first_id, jsonb_agg(jsonb_build_array(j.job_id, j.user_priority) order by j.job_id) as jobs
              from taskqueue.job j where j.setup = q.setup and j.task_queue_id = q.task_queue_id) n
     where q.setup = p_setup and n.first_id is not null
     order by d.requirements::text collate "C", n.first_id;
end $$;

comment on function taskqueue.dump_task_queues(text) is
'The TaskQueues of a setup with their waiting jobs, one row {requirements, enabled, jobs: [[id, user_priority], ...]} a queue, as taskqueue.load_task_queues takes them. Holds are not part of it. Errors: PB002 (setup not granted).';
-- file: taskqueue/end_lease.sql
-- A lease ends: the job is in taskqueue.ended from the same commit on.
create or replace function taskqueue.end_lease(p_lease taskqueue.lease, p_outcome text) returns void
language plpgsql
as $$
begin
  delete from taskqueue.lease l where l.setup = p_lease.setup and l.job_id = p_lease.job_id;
  insert into taskqueue.ended (setup, job_id, attempts, token, task_queue_id, outcome, ended_at)
  values (p_lease.setup, p_lease.job_id, p_lease.attempt, p_lease.token, p_lease.task_queue_id, p_outcome, resource.clock(p_lease.setup));
  perform taskqueue.free_slots(p_lease.setup, p_lease.job_id);
  perform taskqueue.note_end(p_lease, p_outcome);
end $$;

comment on function taskqueue.end_lease(taskqueue.lease, text) is 'Ends a leased job with an outcome, which gives its limit slots back.';
-- file: taskqueue/end_waiting.sql
-- A waiting job ends without having run. It waits for an agent that is just taking the job; the agent wins.
create or replace function taskqueue.end_waiting(p_setup text, p_job_id bigint, p_outcome text, p_identity resource.identity) returns bigint
language plpgsql
as $$
declare
  v_job taskqueue.job;
begin
  delete from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id returning j.* into v_job;
  if not found then
    return null;
  end if;
  perform taskqueue.may_touch(p_identity, p_job_id, q.definition_id) from taskqueue.task_queue q
    where q.setup = p_setup and q.task_queue_id = v_job.task_queue_id;
  insert into taskqueue.ended (setup, job_id, attempts, task_queue_id, outcome, ended_at)
  values (p_setup, p_job_id, v_job.attempts, v_job.task_queue_id, p_outcome, resource.clock(p_setup));
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, user_priority, role_name)
  values (p_setup, resource.clock(p_setup), p_job_id, v_job.attempts, p_outcome, v_job.task_queue_id, v_job.user_priority, resource.caller());
  if not v_job.held then
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change) values (p_setup, v_job.task_queue_id, v_job.user_priority, -1);
  end if;
  perform taskqueue.drop_if_empty(p_setup, v_job.task_queue_id);
  return v_job.task_queue_id;
end $$;

comment on function taskqueue.end_waiting(text, bigint, text, resource.identity) is
'Ends a waiting job; returns the queue it was in, null when it does not wait. Errors: PB002 (not the caller''s).';
-- file: taskqueue/enter.sql
-- Every call that matches, inserts or returns jobs enters its setup; a reconfiguration (taskqueue.reconfigure) waits until those
-- inside have committed and keeps others out meanwhile. Without it a match that began before a limit was set would not count there.
-- A shared advisory lock: 1 us, no row, no session state.
create or replace function taskqueue.enter(p_setup text) returns void
language plpgsql
as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform resource.require_read_committed();
  end if;
  perform pg_advisory_xact_lock_shared(hashtext('taskqueue'), hashtext(p_setup));
end $$;

comment on function taskqueue.enter(text) is
'Marks the transaction as at work in the setup until it ends; see taskqueue.reconfigure. Errors: PB001 (isolation level).';
-- file: taskqueue/explain_job.sql
-- Section 10: against the resources seen lately: which conditions fail for how many of them, and what no resource offers.
create or replace function taskqueue.explain_job(p_setup text, p_job_id bigint)
returns table (condition text, wanted text, failing bigint, seen bigint, last_seen timestamptz, remark text)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_identity resource.identity := resource.look(p_setup);
  v_definition taskqueue.definition := taskqueue.definition_of_job(p_setup, p_job_id);
begin
  v_identity.private := false;
  return query
    with class as materialized (  -- else the offer is made anew for each condition: 33 times
      select r.class, r.last_seen, taskqueue.offer_once_made(p_setup, r.resource, v_identity) as offer from taskqueue.resource_kind r where r.setup = p_setup
    ), verdict as (
      select k.class, k.last_seen, c.condition, c.wanted, c.holds from class k cross join lateral taskqueue.condition(v_definition, k.offer) c
       where k.offer is distinct from null
    )
    select v.condition, min(v.wanted), count(*) filter (where not v.holds), count(*), max(v.last_seen) filter (where not v.holds),
           case when not bool_or(v.holds) then format('no resource seen lately offers %s: %s', v.condition, min(v.wanted))
                when not bool_and(v.holds) then format('%s of %s kinds of resources do not', count(*) filter (where not v.holds), count(*))
           end
      from verdict v group by v.condition
    union all
    select 'all of them', 'job ' || p_job_id || ', ' || taskqueue.state_of_job(p_setup, p_job_id), count(*) filter (where not a.holds), count(*),
           max(a.last_seen) filter (where a.holds),
           case when count(*) = 0 then 'no resource was seen lately'
                when not bool_or(a.holds) then 'no resource seen lately fulfils all conditions'
                else format('%s of %s kinds of resources match', count(*) filter (where a.holds), count(*)) end
      from (select v.class, max(v.last_seen) as last_seen, bool_and(v.holds) as holds from verdict v group by v.class) a
    order by 3 desc, 1;
end $$;

comment on function taskqueue.explain_job(text, bigint) is
'Why a job waits: for each condition how many kinds of resources seen lately fail it, out of how many, and when one was last seen; the row "all of them" counts those that fail any, and when one that matches was last seen. Errors: PB002 (setup not granted), PB004 (no such job).';
-- file: taskqueue/explain_match.sql
-- Section 10: why a job does, or does not, match a resource.
create or replace function taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb)
returns table (condition text, wanted text, offered text, holds boolean)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_offer taskqueue.offer := taskqueue.offer_of(p_setup, p_resource, resource.look(p_setup));
  v_state text := taskqueue.state_of_job(p_setup, p_job_id);
  v_queue taskqueue.task_queue;
  v_definition taskqueue.definition;
begin
  v_definition := taskqueue.definition_of_job(p_setup, p_job_id);
  select q.* into v_queue
    from taskqueue.job j join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
   where j.setup = p_setup and j.job_id = p_job_id;
  return query select * from taskqueue.condition(v_definition, v_offer);
  return query values
    ('waiting', 'a job that waits', 'it is ' || v_state, v_state = 'waiting'),
    ('queue', 'enabled, neither queue nor owner held', case when v_queue is null then 'in no queue'
                                           when not v_queue.enabled then format('queue %s is disabled', v_queue.task_queue_id)
                                           when v_queue.held then format('queue %s is held', v_queue.task_queue_id)
                                           when not taskqueue.is_open(v_queue) then format('owner %s is held', v_queue.owner_dn)
                                           else format('queue %s is open', v_queue.task_queue_id) end,
     taskqueue.is_open(v_queue)),
    ('JobID', 'job ' || p_job_id, coalesce('wants job ' || v_offer.job_id, 'any job'), coalesce(v_offer.job_id = p_job_id, true));
end $$;

comment on function taskqueue.explain_match(text, bigint, jsonb) is
'Why a job matches a resource description or not: one row a condition. The job can be matched by the resource exactly when all hold; whether it is the next one is drawn. Errors: PB001 (description), PB002 (setup not granted), PB004 (no such job, or its requirements are forgotten).';
-- file: taskqueue/family_of.sql
-- Section 9: queues equal but for Sites, BannedSites and RAM are one family.
create or replace function taskqueue.family_of(p_requirements jsonb) returns uuid
language sql immutable
as $$
  select md5((p_requirements - '{Sites,BannedSites,MinRAM,MaxRAM}'::text[])::text)::uuid
$$;

comment on function taskqueue.family_of(jsonb) is
'The family of canonical requirements: md5 of all but Sites, BannedSites, MinRAM and MaxRAM (section 9).';
-- file: taskqueue/fill_queues.sql
-- Jobs into queues, which the caller has locked against deletion. Ids that wait already are moved, whatever queue they are in. Ids are locked in
-- their order, so that two who insert the same ones do not wait for each other crosswise.
create or replace function taskqueue.fill_queues(p_setup text, p_task_queue_ids bigint[], p_job_ids bigint[], p_user_priorities int[],
                                                 p_identity resource.identity default null) returns void
language plpgsql
as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_todo bigint[];
  v_left bigint[];
  v_queue_id bigint;
begin
  loop
    with inserted as (
      insert into taskqueue.job (setup, job_id, task_queue_id, user_priority, inserted_at)
      select p_setup, n.job_id, n.task_queue_id, n.user_priority, v_now
        from unnest(p_task_queue_ids, p_job_ids, p_user_priorities) n (task_queue_id, job_id, user_priority)
       where v_todo is null or n.job_id = any (v_todo)
       order by n.job_id
      on conflict (setup, job_id) do nothing
      returning task_queue_id, job_id, user_priority
    ), counted as (
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id)
      select p_setup, i.task_queue_id, i.user_priority, count(*), min(i.job_id) from inserted i group by i.task_queue_id, i.user_priority
    )
    select array(select unnest(coalesce(v_todo, p_job_ids)) except select i.job_id from inserted i) into v_todo;
    exit when v_todo = '{}';
    with waiting as (
      select j.job_id, j.task_queue_id, j.user_priority, j.held from taskqueue.job j
       where j.setup = p_setup and j.job_id = any (v_todo) order by j.job_id for update
    ), moved as (
      update taskqueue.job j set task_queue_id = n.task_queue_id, user_priority = n.user_priority
        from waiting w join unnest(p_task_queue_ids, p_job_ids, p_user_priorities) n (task_queue_id, job_id, user_priority) using (job_id)
       where j.setup = p_setup and j.job_id = w.job_id
      returning j.job_id, w.task_queue_id as old_queue_id, w.user_priority as old_priority, j.task_queue_id, j.user_priority, w.held
    ), counted as (
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id)
      select p_setup, c.queue_id, c.user_priority, sum(c.change), min(m.job_id) filter (where c.change > 0)
        from moved m
       cross join lateral (values (m.old_queue_id, m.old_priority, -1), (m.task_queue_id, m.user_priority, 1)) c (queue_id, user_priority, change)
       where not m.held
       group by c.queue_id, c.user_priority
      having sum(c.change) <> 0 or count(*) filter (where c.change > 0) > 0
    )
    select array_agg(distinct m.old_queue_id), array(select unnest(v_todo) except select m.job_id from moved m)
      into v_left, v_todo from moved m;
    if p_identity.private then  -- the rows are locked, and were moved before this looks at whose they were
      perform taskqueue.may_submit(p_identity, d.requirements)
         from taskqueue.task_queue q join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
        where q.setup = p_setup and q.task_queue_id = any (v_left);
    end if;
    foreach v_queue_id in array coalesce(v_left, '{}') loop
      perform taskqueue.drop_if_empty(p_setup, v_queue_id);
    end loop;
    exit when v_todo = '{}';
  end loop;
end $$;

comment on function taskqueue.fill_queues(text, bigint[], bigint[], int[], resource.identity) is
'Inserts jobs into queues, one named for each, or moves those that wait already there, with their counts. Errors: PB002 (a private submitter would move the job of another).';
-- file: taskqueue/find_matching.sql
-- The definitions that match a description whatever its CPUTime and the limits of the moment, as of one snapshot. Kept with the description where they
-- are few; else only that they are many, so that nobody counts them again.
create or replace function taskqueue.find_matching(p_setup text, p_known taskqueue.known_offer) returns taskqueue.known_offer
language plpgsql
as $$
declare
  v_offer taskqueue.offer := p_known.offer;
  v_snapshot pg_snapshot;
  v_ids bigint[];
begin
  v_offer.cpu_time := 9223372036854775807;
  v_offer.reached := null;
  if v_offer.owner_groups is not null then  -- a private pilot: by the index of owners
    select pg_current_snapshot(), array(
             select d.definition_id from taskqueue.definition d
              where d.setup = p_setup and d.owner_group = any (v_offer.owner_groups) and taskqueue.accepts(d, v_offer))
      into v_snapshot, v_ids;
  else
    select pg_current_snapshot(), array(select d.definition_id from taskqueue.definition d where d.setup = p_setup and taskqueue.accepts(d, v_offer))
      into v_snapshot, v_ids;
  end if;
  perform taskqueue.keep_matching(p_setup, p_known, v_ids, v_snapshot);
  p_known.matching := case when cardinality(v_ids) <= 500 then v_ids end;
  p_known.matched_at := now();
  return p_known;
end $$;

comment on function taskqueue.find_matching(text, taskqueue.known_offer) is
'A known description with the definitions that match it, found out by testing each.';
-- file: taskqueue/finish_job.sql
-- Section 8. The same call again, its answer lost, is answered the same: the token of the last attempt is kept with the ended job.
create or replace function taskqueue.finish_job(p_setup text, p_job_id bigint, p_attempt text, p_outcome text default 'finished') returns text
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  perform resource.identify(p_setup);
  if p_outcome is null or p_outcome not in ('finished', 'failed', 'cancelled', 'closed') then
    raise exception 'outcome is %, which is not an end of a job', coalesce(quote_literal(p_outcome), 'null')
      using errcode = 'PB001', hint = 'Give finished, failed, cancelled or closed.';
  end if;
  perform taskqueue.enter(p_setup);
  -- The lock waits for the same call when it is still running (its client gave up on it); what it did is then to be seen.
  if taskqueue.holds_attempt(p_setup, p_job_id, p_attempt) then
    perform from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id for update;
  end if;
  if exists (select from taskqueue.ended e
              where e.setup = p_setup and e.job_id = p_job_id and e.outcome = p_outcome
                and taskqueue.attempt_text(e.attempts, e.token) = p_attempt) then
    return p_outcome;
  end if;
  perform taskqueue.end_lease(taskqueue.lease_of(p_setup, p_job_id, p_attempt), p_outcome);
  return p_outcome;
end $$;

comment on function taskqueue.finish_job(text, bigint, text, text) is
'Ends a leased job: finished, failed, cancelled or closed. The same call again is no error. Errors: PB001 (outcome), PB002 (setup not granted), PB003 (stale attempt).';
-- file: taskqueue/first_site.sql
-- Section 4, condition 5: with several sites offered, one and the same must be accepted and not banned.
create or replace function taskqueue.first_site(p_offered text[], p_sites text[], p_banned_sites text[]) returns text
language sql immutable
as $$
  select min(s) from unnest(p_offered) s where (cardinality(p_sites) = 0 or s = any (p_sites)) and not s = any (p_banned_sites)
$$;

comment on function taskqueue.first_site(text[], text[], text[]) is
'The first of the offered sites that a queue accepts and does not ban; null = none. It is the site of the lease.';
-- file: taskqueue/fold_counts.sql
-- after: taskqueue.job_level
-- A new base for the counts of a queue, by one match in sixteen (some nine changes are then read at a time) and by taskqueue.maintain. What this transaction itself changed stays a change: it may change more after this. Two who count at the same
-- time both write a count that is right; nobody waits, and nothing is updated.
create or replace function taskqueue.fold_counts(p_setup text, p_task_queue_id bigint) returns bigint
language sql
as $$
  insert into taskqueue.job_count (setup, task_queue_id, known_to, in_flight, jobs, first_ids)
  select p_setup, p_task_queue_id, s.known_to,
         array(select x from pg_snapshot_xip(s.snapshot) x union all select s.own where s.own < s.known_to), n.jobs, n.first_ids
    from (select pg_current_snapshot() as snapshot, pg_snapshot_xmax(pg_current_snapshot()) as known_to, pg_current_xact_id() as own) s
   cross join lateral (
          select array_agg(coalesce(l.jobs, 0) order by i.level) as jobs, array_agg(f.job_id order by i.level) as first_ids, sum(l.changes) as changes
            from generate_series(0, 10) i (level)
            left join taskqueue.job_level(p_setup, p_task_queue_id, s.own) l on l.user_priority = i.level
            left join lateral (select j.job_id from taskqueue.job j
                                where j.setup = p_setup and j.task_queue_id = p_task_queue_id and not j.held and j.user_priority = l.user_priority
                                  and j.job_id >= coalesce(l.first_id, 0)
                                order by j.job_id limit 1) f on true) n
   where n.changes > 0
  returning 1::bigint
$$;

comment on function taskqueue.fold_counts(text, bigint) is
'Counts the changes of a queue into a new base; null where there were none. The counts read the same before and after.';
-- file: taskqueue/fold_weights.sql
-- The rows of each owner become one, in one transaction with those that go: the sums are the same before, after, and if it is undone.
-- What another transaction is folding is passed over: nobody waits.
create or replace function taskqueue.fold_weights(p_setup text, p_group text) returns void
language sql
as $$
  with gone as (
    delete from taskqueue.owner_weight d where d.ctid = any (array(
      select w.ctid from taskqueue.owner_weight w
       where w.setup = p_setup and w.owner_group = p_group
         and (w.owner_dn, w.light) in (select m.owner_dn, m.light from taskqueue.owner_weight m
                                        where m.setup = p_setup and m.owner_group = p_group group by 1, 2 having count(*) > 1)
         for update skip locked))
    returning d.owner_dn, d.light, d.queues, d.weight
  )
  insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, queues, weight)
  select p_setup, p_group, g.owner_dn, g.light, sum(g.queues), sum(g.weight) from gone g
   group by g.owner_dn, g.light having sum(g.queues) <> 0 or sum(g.weight) <> 0
$$;

comment on function taskqueue.fold_weights(text, text) is
'Makes the rows of taskqueue.owner_weight of an owner group few again, without changing their sums.';
-- file: taskqueue/forget_ended.sql
-- Ended jobs are kept so that an id is known and its attempts go on counting; this forgets them.
create or replace function taskqueue.forget_ended(p_setup text, p_older_than interval default '1 day') returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_count bigint;
begin
  perform resource.identify(p_setup);
  if p_older_than is null or p_older_than < interval '0' then
    raise exception 'older_than is %', coalesce(p_older_than::text, 'null') using errcode = 'PB001', hint = 'Give an interval, not negative.';
  end if;
  delete from taskqueue.ended e where e.setup = p_setup and e.ended_at <= resource.clock(p_setup) - p_older_than;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

comment on function taskqueue.forget_ended(text, interval) is
'Forgets the jobs that ended at least that long ago; returns how many. Their attempts start at 1 if the ids come again. Errors: PB001, PB002 (setup not granted).';
-- file: taskqueue/forget_offers.sql
-- What known descriptions mean depends on settings, groups, compatible platforms and limits. Whoever changes these keeps everybody else out
-- (taskqueue.reconfigure), so that nobody writes down what was true before.
create or replace function taskqueue.forget_offers(p_setup text) returns void
language sql
as $$
  delete from taskqueue.known_offer k where k.setup = p_setup
$$;

comment on function taskqueue.forget_offers(text) is
'Forgets the descriptions that were parsed, because a configuration changes. The caller has called taskqueue.reconfigure.';
-- file: taskqueue/free_slots.sql
-- Section 7: a job that ends or goes back gives its slots back. Those that a lowered limit has too many go with the next match.
-- Rows of its own alone: nobody else deletes its uses, and nobody has a free slot of the same number, so this waits for nobody.
create or replace function taskqueue.free_slots(p_setup text, p_job_id bigint) returns void
language sql
as $$
  with gone as (
    delete from taskqueue.limit_use u where u.setup = p_setup and u.job_id = p_job_id returning u.limit_id, u.slot
  )
  insert into taskqueue.limit_slot (setup, limit_id, slot) select p_setup, g.limit_id, g.slot from gone g;
$$;

comment on function taskqueue.free_slots(text, bigint) is 'Gives back the limit slots of a job.';
-- file: taskqueue/hold.sql
-- Section 8.
create or replace function taskqueue.hold(p_setup text, p_kind text, p_name text) returns bigint
language sql
security definer set search_path = taskqueue, pg_temp
as $$
  select taskqueue.set_held(p_setup, p_kind, p_name, true)
$$;

comment on function taskqueue.hold(text, text, text) is
'Holds a waiting job (id), an owner (OwnerDN; its present and future queues) or a queue (id): not matched until let go. Returns how many jobs or queues changed. Errors: PB001, PB002, PB004, PB005 (leased).';
-- file: taskqueue/holds_attempt.sql
-- Section 8: whether an attempt is the one that has the job, without a lock.
create or replace function taskqueue.holds_attempt(p_setup text, p_job_id bigint, p_attempt text) returns boolean
language sql stable
as $$
  select exists (select from taskqueue.lease l
                  where l.setup = p_setup and l.job_id = p_job_id and taskqueue.attempt_text(l.attempt, l.token) = p_attempt)
$$;

comment on function taskqueue.holds_attempt(text, bigint, text) is 'Whether the attempt has the job now.';
-- file: taskqueue/insert_job.sql
-- Section 3.
create or replace function taskqueue.insert_job(p_setup text, p_job_id bigint, p_requirements jsonb, p_user_priority int default 1,
                                                p_request_id uuid default null) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_requirements jsonb;
  v_asked uuid := md5(jsonb_build_array(p_job_id, p_requirements, p_user_priority)::text)::uuid;
  v_answer jsonb;
  v_made bigint[];
begin
  perform taskqueue.enter(p_setup);
  perform taskqueue.require_setup(p_setup);
  v_answer := taskqueue.answer_given(v_identity, p_request_id, 'insert_job', v_asked);
  if v_answer is not null then
    return v_answer::bigint;
  end if;
  v_requirements := taskqueue.canonical_requirements(p_setup, p_requirements);
  perform taskqueue.may_submit(v_identity, v_requirements);
  -- Batches with the same id may lock crosswise with this: who PostgreSQL picks gives way and begins anew,
  -- a moment later, so that it does not meet the same ones again.
  for v_try in 1..20 loop
    begin
      select to_jsonb(p.task_queue_id), p.made into v_answer, v_made
        from taskqueue.place_jobs(p_setup, v_requirements, array[taskqueue.job_id(to_jsonb(p_job_id))],
                                  array[taskqueue.job_priority(p_job_id, p_user_priority)], v_identity) p;
      exit;
    exception when deadlock_detected then
      if v_try = 20 then
        raise exception 'other calls insert job % again and again', p_job_id using errcode = 'PB006', hint = 'Try again.';
      end if;
      perform pg_sleep(0.2 * random());
    end;
  end loop;
  perform taskqueue.open_queues(p_setup, v_made);
  perform taskqueue.keep_answer(v_identity, p_request_id, 'insert_job', v_asked, v_answer);
  return v_answer::bigint;
end $$;

comment on function taskqueue.insert_job(text, bigint, jsonb, int, uuid) is
'Inserts a waiting job and returns its TaskQueue; an id that waits already is moved. The same request id within ten minutes gives the same answer. Errors: PB001 (requirements, id, priority; section 3), PB002 (setup or owner not granted), PB005 (leased), PB006 (others insert the same job again and again).';
-- file: taskqueue/insert_jobs.sql
-- Section 3: the batch form, and the fast way to load.
create or replace function taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid default null) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_asked uuid := case when p_request_id is not null then md5(p_jobs::text)::uuid end;
  v_answer jsonb;
  v_count bigint;
  v_made bigint[];
begin
  perform taskqueue.enter(p_setup);
  perform taskqueue.require_setup(p_setup);
  v_answer := taskqueue.answer_given(v_identity, p_request_id, 'insert_jobs', v_asked);
  if v_answer is not null then
    return v_answer::bigint;
  end if;
  v_count := taskqueue.check_batch(p_jobs);
  -- Two batches with the same ids under different requirements may lock them crosswise: who PostgreSQL picks gives way and begins anew,
  -- a moment later, so that it does not meet the same ones again.
  for v_try in 1..20 loop
    begin
      v_made := taskqueue.place_batch(v_identity, p_jobs);
      exit;
    exception when deadlock_detected then
      if v_try = 20 then
        raise exception 'other calls insert the same jobs' using errcode = 'PB006', hint = 'Try again.';
      end if;
      perform pg_sleep(0.2 * random());
    end;
  end loop;
  perform taskqueue.open_queues(p_setup, v_made);
  perform taskqueue.keep_answer(v_identity, p_request_id, 'insert_jobs', v_asked, to_jsonb(v_count));
  return v_count;
end $$;

comment on function taskqueue.insert_jobs(text, jsonb, uuid) is
'Inserts jobs, up to 100,000 a call, all or none, and returns how many. An element is {job_id, requirements, user_priority} or a group {requirements, jobs: [[id, user_priority], ...]}. Errors: PB001, PB002, PB005, naming the job; PB006 (others insert the same jobs again and again).';
-- file: taskqueue/is_background.sql
-- Section 9: background queues (tp <= 0.1, where the group allows it).
create or replace function taskqueue.is_background(p_weight float8, p_allow_background boolean) returns boolean
language sql immutable
as $$
  select p_allow_background and p_weight <= 0.1
$$;

comment on function taskqueue.is_background(float8, boolean) is 'Whether a queue of this mean draw weight is background in its group.';
-- file: taskqueue/is_foreign.sql
-- Counts and known descriptions say up to which transaction they know. In a database restored from a dump these are another server's.
create or replace function taskqueue.is_foreign(p_setup text) returns boolean
language sql stable
as $$
  select exists (select from taskqueue.job_count c where c.setup = p_setup and c.known_to > pg_snapshot_xmax(pg_current_snapshot()))
      or exists (select from taskqueue.definition d where d.setup = p_setup and d.made_in > pg_snapshot_xmax(pg_current_snapshot())
                    and d.made_in is distinct from pg_current_xact_id_if_assigned())
      or exists (select from taskqueue.known_offer k where k.setup = p_setup and k.known_to > pg_snapshot_xmax(pg_current_snapshot()))
$$;

comment on function taskqueue.is_foreign(text) is
'Whether a setup was restored from another server and taskqueue.rebuild_matching was not called since.';
-- file: taskqueue/is_news.sql
-- Which calls note their resource (taskqueue.see_resource): the first of a description or of a CPU bucket, else one in fifty, in ten where nothing matched.
create or replace function taskqueue.is_news(p_known taskqueue.known_offer, p_cpu_time bigint, p_matched boolean) returns boolean
language sql
as $$
  select p_known.seen_at is null or random() < case when p_matched then 0.02 else 0.1 end
      or not coalesce(p_known.cpu_buckets[width_bucket(p_cpu_time, p_known.cpu_buckets)], 0)::bigint = any (p_known.seen)
$$;

comment on function taskqueue.is_news(taskqueue.known_offer, bigint, boolean) is
'Whether a call that found a job or not is to note its resource.';
-- file: taskqueue/is_open.sql
-- A queue is matched while it is enabled and neither it nor its owner is held; exactly then it is posted, or about to be.
create or replace function taskqueue.is_open(p_queue taskqueue.task_queue) returns boolean
language sql stable
as $$
  select p_queue.posted
      or p_queue.enabled and not p_queue.held
         and exists (select from taskqueue.unposted u where u.setup = p_queue.setup and u.task_queue_id = p_queue.task_queue_id)
         and not exists (select from taskqueue.held_owner h where h.setup = p_queue.setup and h.owner_dn = p_queue.owner_dn)
$$;

comment on function taskqueue.is_open(taskqueue.task_queue) is 'Whether a TaskQueue may be matched: enabled, and neither it nor its owner held.';
-- file: taskqueue/job_id.sql
-- Section 3: a job id is a positive bigint.
create or replace function taskqueue.job_id(p_value jsonb, p_key text default 'job_id') returns bigint
language plpgsql immutable
as $$
declare
  v_id numeric;
begin
  if jsonb_typeof(p_value) = 'number' then
    v_id := p_value::numeric;
    if v_id between 1 and 9223372036854775807 and v_id = trunc(v_id) then
      return v_id;
    end if;
  end if;
  raise exception '% is %, which is not a positive bigint', p_key, coalesce(p_value::text, 'missing')
    using errcode = 'PB001', hint = 'Job ids are integers within 1..9223372036854775807.';
end $$;

comment on function taskqueue.job_id(jsonb, text) is 'A job id from JSON, checked. Errors: PB001.';
-- file: taskqueue/job_level.sql
-- Architecture, Hot rows: counts are a base and changes. The base is the newest count of the queue, the changes those that its snapshot did not see:
-- two ranges of an index, however many rows were there before or could not be removed yet. One statement reads it all.
create or replace function taskqueue.job_level(p_setup text, p_task_queue_id bigint, p_except xid8 default null)
returns table (user_priority smallint, jobs bigint, changes bigint, first_id bigint)
language sql stable
rows 3
as $$
  select n.user_priority, sum(n.jobs)::bigint, sum(n.changes)::bigint, min(n.first_id)
    from (select b.jobs, b.first_ids, b.known_to, b.in_flight from taskqueue.job_count b
           where b.setup = p_setup and b.task_queue_id = p_task_queue_id
           order by b.known_to desc, b.count_id desc limit 1) t
   cross join lateral (
          select (l.number - 1)::smallint as user_priority, l.jobs, 0 as changes, l.first_id
            from unnest(t.jobs, t.first_ids) with ordinality l (jobs, first_id, number)
           where l.jobs <> 0
          union all
          select c.user_priority, c.change, 1, c.first_id from taskqueue.job_count_change c
           where c.setup = p_setup and c.task_queue_id = p_task_queue_id and c.made_in >= t.known_to and c.made_in is distinct from p_except
          union all
          select c.user_priority, c.change, 1, c.first_id from taskqueue.job_count_change c
           where c.setup = p_setup and c.task_queue_id = p_task_queue_id and c.made_in = any (t.in_flight) and c.made_in is distinct from p_except) n
   group by n.user_priority
$$;

comment on function taskqueue.job_level(text, bigint, xid8) is
'Waiting jobs of a queue that are not held by user priority, how many changes had to be read, and an id below which there is none; without what the transaction p_except changed.';
-- file: taskqueue/job_priority.sql
-- Section 3: user priority is an integer 0..10, others are refused.
create or replace function taskqueue.job_priority(p_job_id bigint, p_user_priority numeric) returns int
language plpgsql immutable
as $$
begin
  if p_user_priority between 0 and 10 and p_user_priority = trunc(p_user_priority) then
    return p_user_priority;
  end if;
  raise exception 'user_priority of job % is %, which is not an integer within 0..10', p_job_id, coalesce(p_user_priority::text, 'null')
    using errcode = 'PB001', hint = '1..10 weigh as they are, 0 is background.';
end $$;

comment on function taskqueue.job_priority(bigint, numeric) is 'The user priority of a job, checked. Errors: PB001.';
-- file: taskqueue/jobs_in.sql
-- after: taskqueue.job_level
create or replace function taskqueue.jobs_in(p_setup text, p_task_queue_id bigint) returns bigint
language sql stable
as $$
  select coalesce(sum(l.jobs), 0)::bigint from taskqueue.job_level(p_setup, p_task_queue_id) l
$$;

comment on function taskqueue.jobs_in(text, bigint) is 'Waiting jobs of a queue that are not held.';
-- file: taskqueue/keep_answer.sql
-- Section 3: see taskqueue.answer_given.
create or replace function taskqueue.keep_answer(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid, p_answer jsonb) returns void
language sql
as $$
  insert into taskqueue.request (setup, role_name, request_id, call, asked, answer, made_at)
  select p_identity.setup, p_identity.role_name, p_request_id, p_call, p_asked, p_answer, resource.clock(p_identity.setup)
   where p_request_id is not null
  on conflict (setup, role_name, request_id) do update
     set call = excluded.call, asked = excluded.asked, answer = excluded.answer, made_at = excluded.made_at
$$;

comment on function taskqueue.keep_answer(resource.identity, uuid, text, uuid, jsonb) is
'Keeps the answer of a request for ten minutes (taskqueue.maintain forgets it).';
-- file: taskqueue/keep_matching.sql
-- This transaction may make more definitions, so it counts as in flight.
-- In an unlogged table, so that a call without a match writes no WAL. Whoever finds the row locked leaves it: nobody waits.
create or replace function taskqueue.keep_matching(p_setup text, p_known taskqueue.known_offer, p_ids bigint[], p_snapshot pg_snapshot) returns void
language sql
as $$
  update taskqueue.known_offer k
     set matching = case when cardinality(p_ids) <= 500 then p_ids end, matched_at = now(),
         known_to = pg_snapshot_xmax(p_snapshot), in_flight = array(select x from pg_snapshot_xip(p_snapshot) x) || pg_current_xact_id_if_assigned()
   where k.ctid = any (array(select i.ctid from taskqueue.known_offer i
                              where i.setup = p_setup and i.digest = p_known.digest and i.resource = p_known.resource for update skip locked))
$$;

comment on function taskqueue.keep_matching(text, taskqueue.known_offer, bigint[], pg_snapshot) is
'Writes down which definitions match a description, as of a snapshot; more than 500 are not written down.';
-- file: taskqueue/known_offer_of.sql
-- What a description says is parsed once (30 us), and found again by its hash (5 us): JobAgents of a site send the same one again and again but for
-- CPUTime. A description with JobID is not worth keeping.
create or replace function taskqueue.known_offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) returns taskqueue.known_offer
language plpgsql
as $$
declare
  v_known taskqueue.known_offer;
  v_resource jsonb;
  v_digest bigint;
  v_cpu_time numeric;
begin
  v_resource := case when jsonb_typeof(p_resource) = 'object' then p_resource - '{CPUTime,JobID}'::text[] end;
  if p_identity.private then
    v_resource := v_resource || jsonb_build_object('OwnerDN', p_identity.owner_dn, 'OwnerGroup', p_identity.owner_group);
  end if;
  v_digest := jsonb_hash_extended(v_resource, 0);
  if jsonb_typeof(p_resource -> 'CPUTime') = 'number' and not p_resource ? 'JobID' then
    v_cpu_time := (p_resource -> 'CPUTime')::numeric;
    select k.* into v_known from taskqueue.known_offer k where k.setup = p_setup and k.digest = v_digest and k.resource = v_resource limit 1;
  end if;
  if v_known.digest is not null and v_cpu_time >= 0 and v_cpu_time < 1e300 then
    v_known.offer.cpu_time := floor(least(v_cpu_time, 9223372036854775807));
    if (v_known.offer).limited then
      v_known.offer := taskqueue.with_limits(p_setup, p_resource, v_known.offer);
    end if;
    return v_known;
  end if;
  v_known.setup := p_setup;
  v_known.digest := v_digest;
  v_known.resource := v_resource;
  v_known.offer := taskqueue.offer_of(p_setup, p_resource, p_identity);
  v_known.seen := '{}';
  v_known.tests := taskqueue.tests_of(v_known.offer);
  v_known.cpu_buckets := array(select b.cpu_time from taskqueue.cpu_bucket b where b.setup = p_setup order by b.cpu_time);
  select coalesce(s.ten_first, false), coalesce(s.policy, 'dirac'), coalesce(s.lease_time, '30 minutes') into v_known.ten_first, v_known.policy, v_known.lease_time
    from (values (1)) one left join taskqueue.setting s on s.setup = p_setup;
  if (v_known.offer).job_id is null and v_cpu_time is not null
     and exists (select from resource.setup s where s.setup = p_setup) and pg_try_advisory_xact_lock(v_digest) then
    insert into taskqueue.known_offer select v_known.*;
  end if;
  return v_known;
end $$;

comment on function taskqueue.known_offer_of(text, jsonb, resource.identity) is
'A resource description, parsed or known from before. Errors: PB001, naming key and value (taskqueue.offer_of).';
-- file: taskqueue/lease_batch.sql
-- after: taskqueue.lease_jobs
-- Sections 4 to 6 for a batch: the draws of its jobs side by side, each a stream of its own, in three statements instead of six a job.
-- The law is that of one after the other: what a queue is drawn by does not depend on the jobs it has, so all streams draw a queue first; of those that
-- drew the same queue, one at a time picks a job. Where that does not hold it goes on from where it stands one by one (taskqueue.lease_jobs): from the first
-- stream on whose queue is then empty, or that drew many points in vain or saw all lists; where a job was locked or just taken; and as a whole for
-- resources with limits, and for those that few queues match.
create or replace function taskqueue.lease_batch(p_setup text, p_resource jsonb, p_limit int, p_seed bigint default null)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
as $$
declare
  v_known taskqueue.known_offer;
  v_offer taskqueue.offer;
  v_sites text[];
  v_secret uuid := gen_random_uuid();
  v_streams taskqueue.stream[];
  v_leased taskqueue.stream[] := '{}'::taskqueue.stream[];
  v_turn bigint := 0;
  v_stop int;  -- the first stream that is to be gone on with one by one
  v_queue record;
begin
  if p_limit > 2 then
    v_known := taskqueue.known_offer_of(p_setup, p_resource, resource.identify(p_setup));
    v_offer := v_known.offer;
    v_sites := case when v_offer.sites is null then array[''] else v_offer.sites || '*'::text end;
  end if;
  if p_limit <= 2 or v_offer.limited or v_offer.job_id is not null or v_known.matching is not null then
    return query select * from taskqueue.lease_jobs(p_setup, p_resource, p_limit, p_seed);
    return;
  end if;
  with recursive point as (
    select n as number, hashint8extended(n, coalesce(p_seed, uuid_hash_extended(v_secret, 0))) as seed, width_bucket(v_offer.cpu_time, v_known.cpu_buckets) as entry,
           0 as points, 0::float8 as above, null::bigint as task_queue_id, null::bigint as definition_id, 8 as most
      from generate_series(1, p_limit) n
    union all
    select p.number, p.seed, case when o.enough is null then p.entry - 1 else p.entry end,
           case when o.enough is null then 0 else p.points + 1 end, case when o.enough is null then 0 else o.key end,
           case when f.fits then o.task_queue_id end, case when f.fits then (o.definition).definition_id end,
           case when o.enough is null then 8 else greatest(p.most, case when v_known.matched_at is null then least(o.enough, 32) else o.enough end) end
      from point p
      left join lateral taskqueue.queue_point(p_setup, v_sites, v_known.cpu_buckets[p.entry]::bigint, p.above, v_known.policy,
                                              p.seed # ((p.entry * 1000000::bigint + p.points + 1) * 64), v_offer, v_known.tests) o on true
     cross join lateral (
           select o.task_queue_id is not null
                  and coalesce(o.fits, taskqueue.accepts(o.definition, v_offer)
                                       and (cardinality(v_sites) <= 2 or o.site = '*'
                                            or o.site = taskqueue.first_site(v_offer.sites, (o.definition).sites, (o.definition).banned_sites))) as fits offset 0) f
     where p.task_queue_id is null and p.entry > 0 and p.points < p.most)
  select array_agg(e.stream order by (e.stream).number), coalesce(min((e.stream).number) filter (where (e.stream).task_queue_id is null), p_limit + 1)
    into v_streams, v_stop
    from (select row(p.number, p.seed, p.entry, p.points, p.above, p.task_queue_id, p.definition_id, row_number() over (partition by p.task_queue_id order by p.number),
                     null, null, null, null)::taskqueue.stream as stream
            from point p where p.task_queue_id is not null or p.entry = 0 or p.points >= p.most) e;
  loop
    v_turn := v_turn + 1;
    exit when not exists (select from unnest(v_streams) s where s.turn = v_turn and s.number < v_stop);
    with picked as materialized (
      select s.*, f.job_id as picked_id, f.jobs as jobs_now
        from unnest(v_streams) s
        left join lateral taskqueue.pick_job(p_setup, s.task_queue_id, v_known.ten_first, v_known.policy, s.seed # 4) f on true
       where s.turn = v_turn and s.number < v_stop
    ), stop as materialized (
      select least(v_stop, min(s.number)) as number from unnest(v_streams) s
        join picked p on p.task_queue_id = s.task_queue_id where s.turn - v_turn >= coalesce(p.jobs_now, 0)
    ), gone as (
      delete from taskqueue.job j
       where j.setup = p_setup and j.ctid = any (array(select l.ctid from picked p
                                                         join taskqueue.job l on l.setup = p_setup and l.job_id = p.picked_id and l.task_queue_id = p.task_queue_id
                                                        where p.number < (select t.number from stop t) and not l.held for update of l skip locked))
      returning j.job_id, j.task_queue_id, j.user_priority, j.attempts + 1 as attempt
    ), counted as (
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)
      select p_setup, g.task_queue_id, g.user_priority, -1 from gone g
    ), leased as (
      insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site, grid_ce, role_name, matched_at, expires_at)
      select p_setup, g.job_id, g.attempt, md5(v_secret || '/' || p.number)::uuid, g.task_queue_id, p.definition_id, g.user_priority,
             case when cardinality(v_offer.sites) = 1 then v_offer.sites[1] else taskqueue.first_site(v_offer.sites, d.sites, d.banned_sites) end,
             case when cardinality(v_offer.grid_ces) = 1 then v_offer.grid_ces[1] else taskqueue.first_site(v_offer.grid_ces, d.grid_ces, '{}') end,
             resource.caller(), t.now, t.now + v_known.lease_time
        from gone g
        join picked p on p.task_queue_id = g.task_queue_id
        join taskqueue.definition d on d.setup = p_setup and d.definition_id = p.definition_id
        join resource.setup_time t on t.setup = p_setup
      returning lease.job_id, lease.task_queue_id, lease.user_priority, taskqueue.attempt_text(lease.attempt, lease.token) as attempt
    )
    select v_leased || array_agg(row(p.number, p.seed, p.entry, p.points, p.above, p.task_queue_id, p.definition_id, p.turn, p.jobs_now,
                                     l.job_id, l.user_priority, l.attempt)::taskqueue.stream),
           (select t.number from stop t)
      into v_leased, v_stop
      from leased l join picked p on p.task_queue_id = l.task_queue_id;
  end loop;
  return query
    select s.job_id, s.task_queue_id, d.requirements, s.user_priority::int, s.attempt
      from unnest(v_leased) s
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = s.definition_id
     order by s.number;
  for v_queue in select s.task_queue_id, s.jobs from unnest(v_leased) s where s.jobs <= 1 or s.seed & 15 = 0 loop
    if v_queue.jobs <= 1 then
      perform taskqueue.drop_if_empty(p_setup, v_queue.task_queue_id);
    else
      perform taskqueue.fold_counts(p_setup, v_queue.task_queue_id);
      perform taskqueue.post_pending(p_setup);
    end if;
  end loop;
  if cardinality(v_leased) < p_limit then
    return query
      select m.* from taskqueue.lease_jobs(p_setup, p_resource, p_limit - cardinality(v_leased), p_seed,
                                           array(select s from unnest(v_streams) s where s.number <> all (array(select l.number from unnest(v_leased) l)) order by s.number)) m;
  end if;
  if taskqueue.is_news(v_known, v_offer.cpu_time, v_leased <> '{}' or found) then
    perform taskqueue.see_resource(p_setup, p_resource, v_known, v_leased <> '{}' or found);
  end if;
end $$;

comment on function taskqueue.lease_batch(text, jsonb, int, bigint) is
'Leases up to p_limit jobs to a resource, drawn side by side; given a seed, the draws follow from it. Errors: PB001 (description), PB002 (setup not granted).';
-- file: taskqueue/lease_jobs.sql
-- after: taskqueue.queue_point
-- after: taskqueue.drawn_queues
-- after: taskqueue.pick_job
-- after: taskqueue.is_news
-- Sections 4 to 6: jobs for a resource, one after the other, each with its own draws. CPU buckets from the highest down, queues in drawn order, user
-- priorities in drawn order, one of the first ten. Empty and locked candidates are passed over; the others keep their keys, so
-- the law holds over the rest.
-- Queues are drawn one after the other (taskqueue.queue_point), not sorted, so that a match costs the same whatever their number. After enough
-- points in vain (eight where there are few queues, else a hundred and more) the rest of the bucket is drawn a key a queue, given that all are above the last point. The first time
-- that 32 points were in vain the definitions that match are found out (taskqueue.find_matching) and kept with the description where they are few;
-- so a resource that matches nothing gets its answer at once.
-- Rejected: a key a queue, sorted (0.5 us a queue); conditions before the sort (1.7 us a queue); order statistics a band (0.9 us a band); eight points at a
-- time by a window (39 us, against 22 a point, of which 1.4 are needed); one statement for all (its 45 plan nodes cost 100 us more to set up).
-- What is set up anew in each call costs most here: a statement 1 us and 2 to 3 a table, an expression of this language 1 us a transaction.
-- So it is one function with few of both.
create or replace function taskqueue.lease_jobs(p_setup text, p_resource jsonb, p_limit int, p_seed bigint default null, p_streams taskqueue.stream[] default null)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
rows 1
as $$
declare
  v_resource jsonb;
  v_known taskqueue.known_offer;
  v_offer taskqueue.offer;
  v_sites text[];
  v_token uuid;
  v_seed bigint;
  v_entry int;
  v_points int;
  v_most int;  -- points, after which the rest of the bucket is drawn a key a queue
  v_above float8;
  v_definition_ids bigint[];  -- among which a key a queue is drawn; null: by points
  v_next bigint[];
  v_passed bigint[];
  v_queue record;
  v_pick record;
  v_job record;
  v_free boolean := true;
  v_listed boolean := false;  -- there are queues that the sites may see
  v_slots jsonb;
begin
  v_resource := case when jsonb_typeof(p_resource) = 'object' then p_resource - 'CPUTime' end;
  select k.* into v_known
    from resource.identity i
    join taskqueue.known_offer k on k.setup = p_setup and k.digest = jsonb_hash_extended(v_resource, 0) and k.resource = v_resource
   where i.setup = p_setup and i.role_name = resource.caller() and not i.private
   limit 1;
  if v_known.digest is null
     or (case when jsonb_typeof(p_resource -> 'CPUTime') = 'number' then (p_resource -> 'CPUTime')::numeric between 0 and 1e18 end) is not true then
    v_known := taskqueue.known_offer_of(p_setup, p_resource, resource.identify(p_setup));
    v_offer := v_known.offer;
  else
    v_offer := v_known.offer;
    v_offer.cpu_time := floor((p_resource -> 'CPUTime')::numeric);
  end if;
  v_sites := case when v_offer.sites is null then array[''] else v_offer.sites || '*'::text end;
  for v_number in 1..p_limit loop
    job_id := null;
    v_token := gen_random_uuid();
    v_seed := case when p_seed is null then uuid_hash_extended(v_token, 0) else hashint8extended(v_number, p_seed) end;  -- not random(): an agent could set that
    if v_offer.limited then
      v_offer := taskqueue.with_limits(p_setup, p_resource, v_offer);
    end if;
    for v_look in 0..1 loop
      v_entry := width_bucket(v_offer.cpu_time, v_known.cpu_buckets);
      v_points := 0;
      v_most := 8;
      v_above := 0;
      v_passed := '{}'::bigint[];
      v_next := null;
      v_definition_ids := null;
      if p_streams is not null and v_look = 0 then
        v_seed := (p_streams[v_number]).seed;
        v_entry := (p_streams[v_number]).entry;
        v_points := (p_streams[v_number]).points;
        v_above := (p_streams[v_number]).above;
        v_next := array[(p_streams[v_number]).task_queue_id];
        v_most := case when v_next[1] is null then v_points else 100 end;
        v_listed := true;
      end if;
      if v_offer.job_id is not null then
        v_entry := 0;
        v_next := taskqueue.wanted_queue(p_setup, v_offer);
      elsif v_known.matching is not null then
        v_definition_ids := v_known.matching || taskqueue.new_matching(p_setup, v_known);
      end if;
      loop
        if v_next <> '{}' then
          select q.task_queue_id, d.definition_id, d.requirements, d.sites, d.banned_sites, d.grid_ces into v_queue
            from taskqueue.task_queue q
            join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
           where q.setup = p_setup and q.task_queue_id = v_next[1] and (q.posted or v_offer.job_id is not null);  -- who wants a job does not need the lists
          v_next := v_next[2:];
          continue when not found;
        elsif v_entry = 0 then
          exit;
        elsif v_definition_ids is not null then
          v_next := taskqueue.drawn_queues(p_setup, v_offer, v_definition_ids, v_known.cpu_buckets[v_entry]::bigint, v_above, v_passed, v_known.policy, v_seed # 8 # v_look);
          if v_next = '{}' then
            exit when v_known.matching is not null;
            v_definition_ids := null;
            v_entry := v_entry - 1;
            v_points := 0;
            v_most := 8;
            v_above := 0;
          end if;
          continue;
        elsif v_points >= v_most then
          if v_points >= 32 and v_known.matched_at is null then
            v_known := taskqueue.find_matching(p_setup, v_known);
          end if;
          v_definition_ids := coalesce(v_known.matching, array(
            select distinct q.definition_id
              from taskqueue.task_queue q
             where q.setup = p_setup and q.task_queue_id = any (array(
                   select p.task_queue_id from taskqueue.posted_queue p
                    where p.setup = p_setup and p.site = any (v_sites) and p.cpu_time = v_known.cpu_buckets[v_entry]::bigint))));
          continue;
        else
          v_points := v_points + 1;
          select o.enough, o.key, o.task_queue_id, o.site, (o.definition).definition_id, (o.definition).requirements, (o.definition).sites, (o.definition).banned_sites,
                 (o.definition).grid_ces, o.task_queue_id <> all (v_passed) and o.fits as fits  -- null: to be looked at more closely
            into v_queue
            from taskqueue.queue_point(p_setup, v_sites, v_known.cpu_buckets[v_entry]::bigint, v_above, v_known.policy, v_seed # ((v_entry * 1000000::bigint + v_points) * 64 + v_look),
                                       v_offer, v_known.tests) o;
          if not found then
            v_entry := v_entry - 1;
            v_points := 0;
            v_most := 8;
            v_above := 0;
            continue;
          end if;
          v_listed := true;
          v_above := v_queue.key;
          v_most := greatest(v_most, case when v_known.matched_at is null then least(v_queue.enough, 32) else v_queue.enough end);
          if v_queue.fits is null and v_queue.task_queue_id is not null then  -- where several sites are offered, a queue counts in the list of one of them
            select taskqueue.accepts(d, v_offer)
                   and (cardinality(v_sites) <= 2 or v_queue.site = '*' or v_queue.site = taskqueue.first_site(v_offer.sites, d.sites, d.banned_sites)) into v_free
              from taskqueue.definition d where d.setup = p_setup and d.definition_id = v_queue.definition_id;
            continue when v_free is not true;
          else
            continue when v_queue.fits is not true;
          end if;
        end if;

        if v_offer.limited then
          select l.taken, l.slots into v_free, v_slots from taskqueue.lock_slots(p_setup, v_queue.requirements, v_offer) l;
          if not v_free then
            v_passed := v_passed || v_queue.task_queue_id;
            continue;
          end if;
        end if;
        if v_offer.job_id is null then
          select f.job_id, f.jobs into v_pick from taskqueue.pick_job(p_setup, v_queue.task_queue_id, v_known.ten_first, v_known.policy, v_seed # 4) f;
        else
          select v_offer.job_id, 0::bigint as jobs into v_pick;
        end if;
        delete from taskqueue.job j
         where j.setup = p_setup and j.ctid = (select l.ctid from taskqueue.job l
                                                where l.setup = p_setup and l.job_id = v_pick.job_id and l.task_queue_id = v_queue.task_queue_id and not l.held
                                                  for update skip locked)
        returning j.job_id, j.user_priority, j.attempts + 1 as attempt into v_job;
        if v_job.job_id is null and v_offer.job_id is null then
          select t.job_id, t.user_priority, t.attempts + 1 as attempt into v_job
            from taskqueue.take_job(p_setup, v_queue.task_queue_id, v_known.ten_first, v_known.policy, v_seed # 4) t;
        end if;
        if v_job.job_id is null then
          perform taskqueue.drop_if_empty(p_setup, v_queue.task_queue_id);
          v_passed := v_passed || v_queue.task_queue_id;
          continue;
        end if;
        insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)
        values (p_setup, v_queue.task_queue_id, v_job.user_priority, -1);
        insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site, grid_ce, role_name, matched_at, expires_at)
        select p_setup, v_job.job_id, v_job.attempt, v_token, v_queue.task_queue_id, v_queue.definition_id, v_job.user_priority,
               case when cardinality(v_offer.sites) = 1 then v_offer.sites[1] else taskqueue.first_site(v_offer.sites, v_queue.sites, v_queue.banned_sites) end,
               case when cardinality(v_offer.grid_ces) = 1 then v_offer.grid_ces[1] else taskqueue.first_site(v_offer.grid_ces, v_queue.grid_ces, '{}') end,
               resource.caller(), t.now, t.now + v_known.lease_time
          from resource.setup_time t where t.setup = p_setup;
        if v_slots <> '[]' then
          perform taskqueue.use_slots(p_setup, v_job.job_id, v_slots);
        end if;
        if coalesce(v_pick.jobs, 0) <= 1 then
          perform taskqueue.drop_if_empty(p_setup, v_queue.task_queue_id);
        elsif v_seed & 15 = 0 then
          perform taskqueue.fold_counts(p_setup, v_queue.task_queue_id);
          perform taskqueue.post_pending(p_setup);
        end if;
        job_id := v_job.job_id;
        task_queue_id := v_queue.task_queue_id;
        requirements := v_queue.requirements;
        user_priority := v_job.user_priority;
        attempt := taskqueue.attempt_text(v_job.attempt, v_token);
        return next;
        exit;
      end loop;
      exit when job_id is not null or v_look = 1 or not taskqueue.post_pending(p_setup);
    end loop;
    if v_number = 1 and p_streams is null and taskqueue.is_news(v_known, v_offer.cpu_time, job_id is not null) then
      v_known.offer := v_offer;
      perform taskqueue.see_resource(p_setup, p_resource, v_known, job_id is not null);
    end if;
    if v_known.matched_at is null and v_listed and job_id is null then
      v_known := taskqueue.find_matching(p_setup, v_known);
    end if;
    exit when job_id is null or v_offer.job_id is not null;
  end loop;
end $$;

comment on function taskqueue.lease_jobs(text, jsonb, int, bigint, taskqueue.stream[]) is
'Leases up to p_limit jobs to a resource; given a seed, the draws follow from it; given streams, they go on. Errors: PB001 (description), PB002 (setup not granted).';
-- file: taskqueue/lease_of.sql
-- Section 8: every call about a leased job needs the token of its attempt; an agent learns only that its own is stale.
create or replace function taskqueue.lease_of(p_setup text, p_job_id bigint, p_attempt text) returns taskqueue.lease
language plpgsql
as $$
declare
  v_lease taskqueue.lease;
begin
  if taskqueue.holds_attempt(p_setup, p_job_id, p_attempt) then  -- who is stale does not wait for who holds the job
    select l.* into v_lease from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id for update;
  end if;
  if taskqueue.attempt_text(v_lease.attempt, v_lease.token) = p_attempt then
    return v_lease;
  end if;
  raise exception 'attempt % of job % is stale', coalesce(split_part(p_attempt, '-', 1), 'null'), coalesce(p_job_id::text, 'null')
    using errcode = 'PB003', hint = 'The job was given back, has ended, or was given to another agent: stop working on it.';
end $$;

comment on function taskqueue.lease_of(text, bigint, text) is
'The lease of a job, locked, if the attempt is its own. Errors: PB003 (stale).';
-- file: taskqueue/let_go.sql
-- Section 8.
create or replace function taskqueue.let_go(p_setup text, p_kind text, p_name text) returns bigint
language sql
security definer set search_path = taskqueue, pg_temp
as $$
  select taskqueue.set_held(p_setup, p_kind, p_name, false)
$$;

comment on function taskqueue.let_go(text, text, text) is
'Lets go what taskqueue.hold holds. Returns how many jobs or queues changed. Errors: PB001, PB002, PB004, PB005 (leased).';
-- file: taskqueue/list_of.sql
-- One list of canonical requirements.
create or replace function taskqueue.list_of(p_requirements jsonb, p_key text) returns text[]
language plpgsql immutable
as $$
begin
  if p_requirements ? p_key then
    return array(select e from jsonb_array_elements_text(p_requirements -> p_key) e order by 1);
  end if;
  return '{}'::text[];  -- at once: nine lists are looked for, most are not there
end $$;

comment on function taskqueue.list_of(jsonb, text) is
'The values of a list of canonical requirements, sorted; empty where it is absent.';
-- file: taskqueue/lists.sql
-- Whether requirements list a value: one text or number, or a list.
create or replace function taskqueue.lists(p_requirements jsonb, p_attribute text, p_value text) returns boolean
language sql immutable
as $$
  select case jsonb_typeof(p_requirements -> p_attribute)
           when 'array' then p_requirements -> p_attribute ? p_value
           else p_requirements ->> p_attribute = p_value
         end
$$;

comment on function taskqueue.lists(jsonb, text, text) is
'Whether canonical requirements list the value under the key; null where they do not have the key.';
-- file: taskqueue/load_leases.sql
-- World format: leases as taskqueue.dump_leases gives them. Their agents go on with the attempts they hold. Limits that are
-- there count them, and nobody is inside meanwhile.
create or replace function taskqueue.load_leases(p_setup text, p_leases jsonb) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_lease record;
  v_count bigint := 0;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  if jsonb_typeof(p_leases) is distinct from 'array' then
    raise exception 'leases are %, not a JSON array', coalesce(left(p_leases::text, 100), 'null') using errcode = 'PB001', hint = 'Give leases as taskqueue.dump_leases writes them.';
  end if;
  for v_lease in
    select * from jsonb_to_recordset(p_leases) as l (id bigint, requirements jsonb, user_priority numeric, state text, attempt text, site text,
                                                     ce text, role text, matched_at timestamp, reported_at timestamp, expires_at timestamp, kill_reason text)
     order by l.id
  loop
    if v_lease.attempt is null or v_lease.attempt !~ '^[1-9][0-9]{0,8}-[0-9a-f]{32}$' then
      raise exception 'attempt of lease % is %', v_lease.id, coalesce(quote_literal(v_lease.attempt), 'null')
        using errcode = 'PB001', hint = 'An attempt is <number>-<32 hex digits>, as taskqueue.dump_leases writes it.';
    elsif v_lease.state is null or v_lease.state not in ('matched', 'running') or v_lease.role is null or v_lease.matched_at is null or v_lease.expires_at is null then
      raise exception 'lease % has state %, role %, matched_at %, expires_at %', v_lease.id, coalesce(v_lease.state, 'null'), coalesce(v_lease.role, 'null'),
            coalesce(v_lease.matched_at::text, 'null'), coalesce(v_lease.expires_at::text, 'null')
        using errcode = 'PB001', hint = 'A lease has state (matched or running), role, matched_at and expires_at.';
    elsif exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = v_lease.id) then
      raise exception 'job % waits: it cannot be leased, too', v_lease.id
        using errcode = 'PB005', hint = 'Load leases into a setup where these jobs do not wait.';
    end if;
    perform taskqueue.note_end(l, 'replaced') from taskqueue.lease l
      where l.setup = p_setup and l.job_id = v_lease.id and taskqueue.attempt_text(l.attempt, l.token) <> v_lease.attempt;
    insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, state, site, grid_ce, role_name,
                                 matched_at, reported_at, expires_at, kill_reason)
    values (p_setup, taskqueue.job_id(to_jsonb(v_lease.id)), split_part(v_lease.attempt, '-', 1)::int, split_part(v_lease.attempt, '-', 2)::uuid, 0,
            taskqueue.definition_of(p_setup, taskqueue.canonical_requirements(p_setup, v_lease.requirements)), taskqueue.job_priority(v_lease.id, v_lease.user_priority), v_lease.state,
            v_lease.site, v_lease.ce, v_lease.role, v_lease.matched_at at time zone 'UTC', v_lease.reported_at at time zone 'UTC',
            v_lease.expires_at at time zone 'UTC', v_lease.kill_reason)
    on conflict (setup, job_id) do update
       set attempt = excluded.attempt, token = excluded.token, definition_id = excluded.definition_id, user_priority = excluded.user_priority,
           state = excluded.state, site = excluded.site, grid_ce = excluded.grid_ce, role_name = excluded.role_name, matched_at = excluded.matched_at,
           reported_at = excluded.reported_at, expires_at = excluded.expires_at, kill_reason = excluded.kill_reason;
    delete from taskqueue.ended e where e.setup = p_setup and e.job_id = v_lease.id;
    v_count := v_count + 1;
  end loop;
  perform taskqueue.set_slots(p_setup, l.limit_id) from taskqueue.site_limit l where l.setup = p_setup and l.kind = 'running';
  return v_count;
end $$;

comment on function taskqueue.load_leases(text, jsonb) is
'Stores leases as taskqueue.dump_leases gives them, replacing those of the same jobs (in the history: replaced), and returns how many. Errors: PB001, PB002 (setup not granted), PB005 (a job waits), PB006 (busy).';
-- file: taskqueue/load_task_queues.sql
-- World format, task_queues: each element becomes a TaskQueue of its own, as large as it is, so that what was dumped comes back as it was
-- (insert_jobs would fill siblings up to queue_size instead). In the order of the digests, so that two loads never wait crosswise.
create or replace function taskqueue.load_task_queues(p_setup text, p_task_queues jsonb) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_bad jsonb;
  v_count bigint;
  v_ten_first boolean;
  v_queue record;
  v_id bigint;
  v_made bigint[] := '{}'::bigint[];
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  perform taskqueue.require_setup(p_setup);
  select e into v_bad from jsonb_array_elements(case jsonb_typeof(p_task_queues) when 'array' then p_task_queues else '[]' end) e
   where jsonb_typeof(e -> 'jobs') is distinct from 'array' or jsonb_typeof(coalesce(e -> 'enabled', 'true')) <> 'boolean'
   limit 1;
  if found then
    raise exception 'this element is not a task queue: %', left(v_bad::text, 200)
      using errcode = 'PB001', hint = 'An element is {requirements, enabled, jobs: [[id, user_priority], ...]}; enabled is true or false.';
  end if;
  v_count := taskqueue.check_batch(case when jsonb_typeof(p_task_queues) <> 'array' then p_task_queues
                                        else (select coalesce(jsonb_agg(e - 'enabled'), '[]') from jsonb_array_elements(p_task_queues) e) end);
  select s.ten_first into strict v_ten_first from taskqueue.setting s where s.setup = p_setup;
  for v_queue in
    select r.requirements, coalesce((e.element ->> 'enabled')::boolean, true) as enabled, j.ids, j.levels
      from jsonb_array_elements(p_task_queues) with ordinality e (element, number)
     cross join lateral (select taskqueue.canonical_requirements(p_setup, e.element -> 'requirements') as requirements) r
     cross join lateral (
            select array_agg((j -> 0)::bigint order by (j -> 0)::bigint) as ids, array_agg(coalesce(j -> 1, '1')::int order by (j -> 0)::bigint) as levels
              from jsonb_array_elements(e.element -> 'jobs') j) j
     where cardinality(j.ids) > 0
     order by md5(r.requirements::text)::uuid, e.number
  loop
    v_id := taskqueue.make_queue(p_setup, taskqueue.definition_of(p_setup, v_queue.requirements),
                                 (select avg(taskqueue.weight(l, v_ten_first)) from unnest(v_queue.levels) l));
    if not v_queue.enabled then
      update taskqueue.task_queue q set enabled = false where q.setup = p_setup and q.task_queue_id = v_id;
    end if;
    v_made := v_made || v_id;
    perform taskqueue.fill_queues(p_setup, array_fill(v_id, array[cardinality(v_queue.ids)]), v_queue.ids, v_queue.levels);
    perform taskqueue.settle_ids(p_setup, v_queue.ids);
  end loop;
  perform taskqueue.open_queues(p_setup, v_made);
  return v_count;
end $$;

comment on function taskqueue.load_task_queues(text, jsonb) is
'Opens a TaskQueue for each element {requirements, enabled, jobs: [[id, user_priority], ...]}, up to 100,000 jobs a call, all or none; jobs that wait already are moved there. Returns how many jobs. For operators: dumps, workloads. Errors: PB001, PB002 (setup not granted), PB005 (leased).';
-- file: taskqueue/lock_queue.sql
-- The row of a queue, for who changes its postings. Agents never wait for this lock: they pass the queue over when they find it empty.
create or replace function taskqueue.lock_queue(p_setup text, p_task_queue_id bigint) returns void
language plpgsql
as $$
begin
  perform from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = p_task_queue_id for update;
  if not found then
    raise exception 'there is no TaskQueue % in setup %', coalesce(p_task_queue_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'Look into monitor.task_queue; an empty queue disappears.';
  end if;
end $$;

comment on function taskqueue.lock_queue(text, bigint) is 'Locks the row of a TaskQueue until the transaction ends. Errors: PB004 (no such queue).';
-- file: taskqueue/lock_slots.sql
-- Section 7: before a job is taken, one free slot of every running limit that its queue counts at is locked, and the clock of every delay
-- moved on; a slot or clock that another transaction has locked makes the limit look reached until that ends. Nobody waits.
-- Nothing but a match ever locks the rows locked here, also where it gives up with rows still locked: a free slot is never the row of a job
-- that is to end. (When both were one row, a match that saw a slot free which had been taken since locked it, and the job waited to end.)
create or replace function taskqueue.lock_slots(p_setup text, p_requirements jsonb, p_offer taskqueue.offer, out taken boolean, out slots jsonb)
language plpgsql
as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_limit taskqueue.site_limit;
  v_slots int[];
  v_owed int[];
  v_surplus bigint;
begin
  slots := '[]';
  for v_limit in
    select l.* from taskqueue.site_limit l
     where l.setup = p_setup and l.site = p_offer.sites[1] and (l.grid_ce is null or l.grid_ce = any (p_offer.grid_ces))
       and taskqueue.lists(p_requirements, l.attribute, l.value)
     order by l.kind, l.limit_id
  loop
    if v_limit.kind = 'running' then
      -- After a limit was lowered, a match needs as many free slots as are too many and one more, and takes the former away. (Taking
      -- away each slot above the ceiling when its job ends would let jobs in at the others, with too many still running.)
      -- Which are too many are rows, too, so that no two matches take away for the same one: a limit would be left with too few.
      v_surplus := taskqueue.surplus_slots(p_setup, v_limit.limit_id);
      v_slots := array(select s.slot from taskqueue.limit_slot s
                        where s.setup = p_setup and s.limit_id = v_limit.limit_id and s.slot > 0
                        limit v_surplus + 1 for update skip locked);
      taken := cardinality(v_slots) > v_surplus;
      if taken and v_surplus > 0 then
        v_owed := array(select s.slot from taskqueue.limit_slot s
                         where s.setup = p_setup and s.limit_id = v_limit.limit_id and s.slot < 0 for update skip locked);
        taken := cardinality(v_owed) = v_surplus;
        if taken then
          delete from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = v_limit.limit_id and s.slot = any (v_owed || v_slots[2:]);
        end if;
      end if;
      slots := slots || jsonb_build_object('limit_id', v_limit.limit_id, 'slot', v_slots[1]);
    else
      select true into taken from taskqueue.site_limit l
       where l.setup = p_setup and l.limit_id = v_limit.limit_id and coalesce(l.next_at, v_now) <= v_now + (l.burst - 1) * l.delay
         for no key update skip locked;
      taken := found;
      slots := slots || jsonb_build_object('limit_id', v_limit.limit_id);
    end if;
    if not taken then
      return;
    end if;
  end loop;
  taken := true;
end $$;

comment on function taskqueue.lock_slots(text, jsonb, taskqueue.offer) is
'Locks what the limits of the site ask of a job with these requirements; taken = false: one of them is reached. taskqueue.use_slots books it.';
-- file: taskqueue/maintain.sql
-- What goes on in the background: called every few seconds by `broker maintain`, pg_cron or whoever. Safe to run twice at once; each step
-- passes over what somebody else has locked.
create or replace function taskqueue.maintain(p_setup text default null) returns table (step text, changed bigint)
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_setting taskqueue.setting;
begin
  for v_setting in select s.* from taskqueue.setting s where p_setup is null or s.setup = p_setup order by s.setup loop
    perform resource.identify(v_setting.setup);
    return query select m.step, m.changed from taskqueue.maintain_setup(v_setting) m;
  end loop;
  if p_setup is null then
    step := 'history partitions';
    changed := 0;
    begin
      changed := taskqueue.make_history_partitions();
    exception when lock_not_available then
      null;  -- somebody reads the history for long: next time
    end;
    return next;
  end if;
end $$;

comment on function taskqueue.maintain(text) is
'Background work of one setup or all: recomputes the shares of groups whose queues changed, folds counts, removes empty queues and forgotten definitions and requests, rolls up the resources seen; for all setups also makes and drops history partitions. Returns what it did, a row a step. Errors: PB002 (setup not granted).';
-- file: taskqueue/maintain_setup.sql
-- taskqueue.maintain for one setup.
create or replace function taskqueue.maintain_setup(p_setting taskqueue.setting) returns table (step text, changed bigint)
language plpgsql
as $$
declare
  v_setup text := p_setting.setup;
  v_queue_ids bigint[];
  v_definition_ids bigint[];
  v_now timestamptz := resource.clock(p_setting.setup);
begin
  step := 'shares';
  select coalesce(sum(taskqueue.recompute_shares(v_setup, g.owner_group)), 0) into changed
    from (select m.owner_group from taskqueue.share_mark m where m.setup = v_setup
           group by m.owner_group having min(m.marked_at) <= v_now - p_setting.share_delay / 2) g;
  return next;
  step := 'counts';
  v_queue_ids := array(select distinct i.task_queue_id from taskqueue.job_count_change i where i.setup = v_setup);
  if taskqueue.is_foreign(v_setup) then
    perform taskqueue.rebuild_matching(v_setup);
  end if;
  select coalesce(sum(taskqueue.fold_counts(v_setup, i)), 0) into changed from unnest(v_queue_ids) i;
  changed := changed + taskqueue.clean_counts(v_setup);
  insert into taskqueue.share_mark (setup, owner_group, marked_at)  -- means drift as jobs come and go: a tenth is worth a new price
  select distinct v_setup, q.owner_group, v_now
    from taskqueue.task_queue q
   cross join lateral taskqueue.weight_of_queue(q, p_setting.ten_first) w
   where q.setup = v_setup and q.task_queue_id = any (v_queue_ids) and abs(w.weight - q.mean_weight) > 0.1 * q.mean_weight;
  return next;
  step := 'empty queues';
  changed := taskqueue.delete_empty_queues(v_setup);
  return next;
  step := 'lists';
  changed := taskqueue.post_pending(v_setup, 100000)::int + taskqueue.close_gaps(v_setup);
  return next;
  step := 'definitions';
  -- locked first, looked at then: a job inserted and matched in between is seen
  v_definition_ids := array(select i.definition_id from taskqueue.definition i
                             where i.setup = v_setup and i.created_at < v_now - interval '1 hour'
                               and not exists (select from taskqueue.task_queue q where q.setup = i.setup and q.definition_id = i.definition_id)
                               and not exists (select from taskqueue.lease l where l.setup = i.setup and l.definition_id = i.definition_id)
                               for update skip locked);
  delete from taskqueue.definition d
   where d.setup = v_setup and d.definition_id = any (v_definition_ids)
     and not exists (select from taskqueue.task_queue q where q.setup = d.setup and q.definition_id = d.definition_id)
     and not exists (select from taskqueue.lease l where l.setup = d.setup and l.definition_id = d.definition_id);
  get diagnostics changed = row_count;
  return next;
  step := 'requests';
  delete from taskqueue.request r where r.ctid = any (array(
    select i.ctid from taskqueue.request i where i.setup = v_setup and i.made_at < v_now - interval '10 minutes' for update skip locked));
  get diagnostics changed = row_count;
  return next;
  step := 'known offers';
  delete from taskqueue.known_offer k where k.ctid = any (array(
    select i.ctid from taskqueue.known_offer i where i.setup = v_setup and i.seen_at < v_now - interval '10 minutes' for update skip locked));
  get diagnostics changed = row_count;
  return next;
  step := 'resources seen';
  changed := taskqueue.roll_up_resources(v_setup);
  return next;
end $$;

comment on function taskqueue.maintain_setup(taskqueue.setting) is 'Background work of one setup; see taskqueue.maintain.';
-- file: taskqueue/make_history_partitions.sql
-- Architecture, History: partitions by day made ahead, a default partition catches the rest, pruning is a drop. A day whose events are in
-- the default partition already stays there. All setups share the partitions, so the longest retention counts.
create or replace function taskqueue.make_history_partitions(p_days int default 3) returns bigint
language plpgsql
set lock_timeout = '300ms'
as $$
declare
  v_changed bigint := 0;
  v_day date;
  v_name text;
  v_oldest date := (now() at time zone 'utc')::date - (select coalesce(ceil(extract(epoch from max(s.history_kept)) / 86400), 30)::int from taskqueue.setting s);
begin
  for v_day in select generate_series((now() at time zone 'utc')::date, (now() at time zone 'utc')::date + p_days, interval '1 day')::date loop
    v_name := 'history_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass('taskqueue.' || v_name) is not null
               or exists (select from taskqueue.history_default h where h.at >= v_day::timestamp at time zone 'utc' and h.at < (v_day + 1)::timestamp at time zone 'utc');
    execute format('create table taskqueue.%I partition of taskqueue.history for values from (%L) to (%L)', v_name,
                   v_day::timestamp at time zone 'utc', (v_day + 1)::timestamp at time zone 'utc');
    v_changed := v_changed + 1;
  end loop;
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'taskqueue.history'::regclass and c.relname ~ '^history_[0-9]{8}$' and to_date(right(c.relname, 8), 'YYYYMMDD') < v_oldest
  loop
    execute format('drop table taskqueue.%I', v_name);
    v_changed := v_changed + 1;
  end loop;
  return v_changed;
end $$;

comment on function taskqueue.make_history_partitions(int) is
'Makes the partitions of the history for today (UTC) and the days ahead, and drops those beyond the retention; returns how many changed.';
-- file: taskqueue/make_queue.sql
-- A new TaskQueue with all its rows, in one transaction: nobody sees it before its requirements (in DIRAC one could).
-- The columns and tables written here are the truth that taskqueue.rebuild_matching starts from.
create or replace function taskqueue.make_queue(p_setup text, p_definition_id bigint, p_weight float8) returns bigint
language plpgsql
as $$
declare
  v_definition taskqueue.definition;
  v_id bigint;
begin
  select d.* into strict v_definition from taskqueue.definition d where d.setup = p_setup and d.definition_id = p_definition_id;
  insert into taskqueue.task_queue (setup, definition_id, owner_dn, owner_group, cpu_time, min_ram, max_ram, priority, mean_weight, created_at)
  values (p_setup, p_definition_id, v_definition.owner_dn, v_definition.owner_group, v_definition.cpu_time, v_definition.min_ram,
          (v_definition.requirements ->> 'MaxRAM')::float8, 0.001, p_weight, resource.clock(p_setup))
  returning task_queue_id into v_id;
  perform taskqueue.note_weight(p_setup, v_definition.owner_group, v_definition.owner_dn, p_weight, 1);
  insert into taskqueue.job_count (setup, task_queue_id, known_to, in_flight, jobs, first_ids)
  values (p_setup, v_id, '0', '{}', array_fill(0, array[11]), array_fill(null::bigint, array[11]));
  -- most lists are empty, and inserting nothing takes 8 us each
  if v_definition.sites <> '{}' then
    insert into taskqueue.task_queue_site (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.sites);
  end if;
  if v_definition.platforms <> '{}' then
    insert into taskqueue.task_queue_platform (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.platforms);
  end if;
  if v_definition.job_types <> '{}' then
    insert into taskqueue.task_queue_job_type (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.job_types);
  end if;
  if v_definition.banned_sites <> '{}' then
    insert into taskqueue.task_queue_banned_site (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.banned_sites);
  end if;
  if v_definition.grid_ces <> '{}' then
    insert into taskqueue.task_queue_grid_ce (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.grid_ces);
  end if;
  if v_definition.pilot_types <> '{}' then
    insert into taskqueue.task_queue_pilot_type (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.pilot_types);
  end if;
  if v_definition.tags <> '{}' then
    insert into taskqueue.task_queue_tag (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.tags);
  end if;
  if v_definition.requirements ? 'SubmitPools' then
    insert into taskqueue.task_queue_submit_pool (setup, task_queue_id, value)
    select p_setup, v_id, unnest(taskqueue.list_of(v_definition.requirements, 'SubmitPools'));
  end if;
  if v_definition.requirements ? 'GridMiddlewares' then
    insert into taskqueue.task_queue_grid_middleware (setup, task_queue_id, value)
    select p_setup, v_id, unnest(taskqueue.list_of(v_definition.requirements, 'GridMiddlewares'));
  end if;
  return v_id;
end $$;

comment on function taskqueue.make_queue(text, bigint, float8) is
'Makes a TaskQueue of the definition; the weight is the mean draw weight of its first jobs. The caller ends with taskqueue.open_queues. Returns its id.';
-- file: taskqueue/match.sql
-- A match is a lease, and a row of the history from the end of the lease on: so a match writes one row less. Who counts matches reads both here.
create or replace view taskqueue.match as
select h.setup, h.at, h.job_id, h.attempt, h.task_queue_id, h.definition_id, h.cpu_time, h.owner_group, h.owner_dn, h.user_priority, h.site, h.grid_ce, h.role_name
  from taskqueue.history h
 where h.event = 'matched'
union all
select l.setup, l.matched_at, l.job_id, l.attempt, l.task_queue_id, l.definition_id, d.cpu_time, d.owner_group, d.owner_dn, l.user_priority, l.site, l.grid_ce, l.role_name
  from taskqueue.lease l
  join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id;

comment on view taskqueue.match is 'Every match: in the history once its lease has ended, until then in the lease.';
comment on column taskqueue.match.setup is 'Tenant.';
comment on column taskqueue.match.at is 'When.';
comment on column taskqueue.match.job_id is 'Job.';
comment on column taskqueue.match.attempt is 'Number of the attempt.';
comment on column taskqueue.match.task_queue_id is 'TaskQueue it was taken from; 0 = loaded from a dump.';
comment on column taskqueue.match.definition_id is 'Its requirements.';
comment on column taskqueue.match.cpu_time is 'CPU bucket, seconds.';
comment on column taskqueue.match.owner_group is 'Owner group.';
comment on column taskqueue.match.owner_dn is 'Owner.';
comment on column taskqueue.match.user_priority is 'User priority.';
comment on column taskqueue.match.site is 'Site that got it.';
comment on column taskqueue.match.grid_ce is 'CE that got it.';
comment on column taskqueue.match.role_name is 'Database role that asked.';
-- file: taskqueue/match_job.sql
-- after: taskqueue.lease_jobs
-- Sections 4 and 5: which waiting job should the worker node that just asked get (seed 004).
-- The planner's settings: a plan made while job_count_change or resource_seen is empty reads them whole, and stays when they have grown
-- (p99 5.0 ms instead of 1.2 at 5,000 matches after a vacuum); one plan for all calls spares a connection its first five.
create or replace function taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid default null)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
rows 1
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  perform taskqueue.enter(p_setup);
  if p_request_id is null then
    return query select * from taskqueue.lease_jobs(p_setup, p_resource, 1);
  else
    return query select * from taskqueue.match_once(p_setup, p_resource, 1, p_request_id);
  end if;
end $$;

comment on function taskqueue.match_job(text, jsonb, uuid) is
'Leases one waiting job to a resource; no row: nothing matches now. Later calls about the job present the attempt. The same request id within ten minutes gives the same job. Errors: PB001 (description; section 4), PB002 (setup not granted).';
-- file: taskqueue/match_jobs.sql
-- after: taskqueue.lease_batch
-- Sections 4 and 5, the batch form: up to p_limit jobs for one resource in one call, each drawn by the same law. For its settings see taskqueue.match_job.
create or replace function taskqueue.match_jobs(p_setup text, p_resource jsonb, p_limit int, p_request_id uuid default null)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception 'limit is %, which is not within 1..1000', coalesce(p_limit::text, 'null') using errcode = 'PB001', hint = 'Ask for 1 to 1000 jobs.';
  end if;
  perform taskqueue.enter(p_setup);
  if p_request_id is null then
    return query select * from taskqueue.lease_batch(p_setup, p_resource, p_limit);
  else
    return query select * from taskqueue.match_once(p_setup, p_resource, p_limit, p_request_id);
  end if;
end $$;

comment on function taskqueue.match_jobs(text, jsonb, int, uuid) is
'Leases up to p_limit (1..1000) waiting jobs to a resource; no row: nothing matches now. The same request id within ten minutes gives the same jobs. Errors: PB001 (description; section 4), PB002 (setup not granted).';
-- file: taskqueue/match_jobs_with_seed.sql
-- Section 5: given a seed, the outcome is reproducible. For operators and tests; agents cannot choose their draws.
create or replace function taskqueue.match_jobs_with_seed(p_setup text, p_resource jsonb, p_limit int, p_seed bigint)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
begin
  perform taskqueue.enter(p_setup);
  return query select * from taskqueue.lease_batch(p_setup, p_resource, p_limit, p_seed);
end $$;

comment on function taskqueue.match_jobs_with_seed(text, jsonb, int, bigint) is
'taskqueue.match_jobs with draws that follow from a seed: the same seed over the same queues takes the same jobs. Errors: PB001, PB002.';
-- file: taskqueue/match_once.sql
-- after: taskqueue.lease_batch
-- Section 3: a match with a request id; the same call again gives the same jobs.
create or replace function taskqueue.match_once(p_setup text, p_resource jsonb, p_limit int, p_request_id uuid)
returns table (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text)
language plpgsql
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_asked uuid;
  v_answer jsonb;
begin
  v_asked := md5(jsonb_build_array(p_resource, p_limit)::text)::uuid;
  v_answer := taskqueue.answer_given(v_identity, p_request_id, 'match_jobs', v_asked);
  if v_answer is null then
    select jsonb_agg(to_jsonb(m)) into v_answer from taskqueue.lease_batch(p_setup, p_resource, p_limit) m;
    if v_answer is null then
      return;
    end if;
    perform taskqueue.keep_answer(v_identity, p_request_id, 'match_jobs', v_asked, v_answer);
  end if;
  return query select * from jsonb_to_recordset(v_answer) as (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text);
end $$;

comment on function taskqueue.match_once(text, jsonb, int, uuid) is
'taskqueue.match_jobs for a request that may be repeated. Errors: PB001 (description), PB002 (setup not granted).';
-- file: taskqueue/matching_queues.sql
-- Section 10: lists the matching queues and takes nothing; pilot submission uses it.
create or replace function taskqueue.matching_queues(p_setup text, p_resource jsonb)
returns table (task_queue_id bigint, cpu_time bigint, priority float8, jobs bigint, requirements jsonb)
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_offer taskqueue.offer := taskqueue.offer_of(p_setup, p_resource, resource.look(p_setup));
begin
  return query
    select q.task_queue_id, q.cpu_time, q.priority, n.jobs, d.requirements
      from taskqueue.task_queue q
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     cross join lateral taskqueue.jobs_in(q.setup, q.task_queue_id) n (jobs)
     where q.setup = p_setup and taskqueue.is_open(q) and n.jobs > 0 and taskqueue.accepts(d, v_offer)
       and (v_offer.job_id is null
            or q.task_queue_id = (select j.task_queue_id from taskqueue.job j where j.setup = p_setup and j.job_id = v_offer.job_id and not j.held))
     order by q.cpu_time desc, q.priority desc, q.task_queue_id;
end $$;

comment on function taskqueue.matching_queues(text, jsonb) is
'The open TaskQueues that match a resource description, with their jobs that are not held, highest CPU bucket and priority first. Errors: PB001 (description), PB002 (setup not granted).';
-- file: taskqueue/may_submit.sql
-- A private submitter submits for its own group and owner only (architecture, Roles).
create or replace function taskqueue.may_submit(p_identity resource.identity, p_requirements jsonb) returns void
language plpgsql stable
as $$
begin
  if p_identity.private and (p_requirements ->> 'OwnerGroup' <> p_identity.owner_group or p_requirements ->> 'OwnerDN' <> p_identity.owner_dn) then
    raise exception 'role % may not submit for OwnerDN % in OwnerGroup %', p_identity.role_name, p_requirements ->> 'OwnerDN', p_requirements ->> 'OwnerGroup'
      using errcode = 'PB002', hint = format('Its identity in setup %s is owner %s, group %s.', p_identity.setup,
                                             coalesce(p_identity.owner_dn, '(any)'), coalesce(p_identity.owner_group, '(any)'));
  end if;
end $$;

comment on function taskqueue.may_submit(resource.identity, jsonb) is
'Refuses jobs of others than the private submitter is. Errors: PB002.';
-- file: taskqueue/may_touch.sql
-- A private submitter touches its own jobs only (architecture, Roles). What it is told of others' is that they are not its own.
create or replace function taskqueue.may_touch(p_identity resource.identity, p_job_id bigint, p_definition_id bigint) returns void
language plpgsql stable
as $$
begin
  if p_identity.private and not exists (
       select from taskqueue.definition d
        where d.setup = p_identity.setup and d.definition_id = p_definition_id
          and (p_identity.owner_group is null or d.owner_group = p_identity.owner_group)
          and (p_identity.owner_dn is null or d.owner_dn = p_identity.owner_dn)) then
    raise exception 'job % is not one of role %', p_job_id, p_identity.role_name
      using errcode = 'PB002', hint = format('Its identity in setup %s is owner %s, group %s.', p_identity.setup,
                                             coalesce(p_identity.owner_dn, '(any)'), coalesce(p_identity.owner_group, '(any)'));
  end if;
end $$;

comment on function taskqueue.may_touch(resource.identity, bigint, bigint) is
'Refuses the job of others than the private submitter is; the definition is the job''s. Errors: PB002.';
-- file: taskqueue/measure_lists.sql
-- after: taskqueue.ceiling_of_band
-- What taskqueue.queue_point needs to know of a list beside its postings. The caller has locked the lists, so that nobody appends meanwhile; a queue
-- that goes leaves an empty place, which is right too. Only the bands named are looked at: what it costs goes with the bands, not with the queues.
create or replace function taskqueue.measure_lists(p_setup text, p_list_ids bigint[], p_bands int[]) returns void
language sql
as $$
  with measured as (
    select b.list_id, array_agg(b.band) as bands, array_agg(b.places) as places
      from (select i.list_id, i.band, (select max(p.place) from taskqueue.posting p where p.setup = p_setup and p.list_id = i.list_id and p.band = i.band) as places
              from (select distinct u.list_id, u.band from unnest(p_list_ids, p_bands) u (list_id, band)) i) b
     group by b.list_id
  )
  update taskqueue.posting_list l
     set bands = coalesce(m.bands, '{}'), places = coalesce(m.places, '{}'), ceilings = coalesce(m.ceilings, '{}'), sums = coalesce(m.sums, '{}'),
         rate = coalesce(m.rate, 0), top = coalesce(m.top, 0), room = coalesce(m.room, 0)
    from measured i
    join taskqueue.posting_list o on o.setup = p_setup and o.list_id = i.list_id
   cross join lateral (
          select array_agg(b.band order by b.band) as bands, array_agg(b.places order by b.band) as places, array_agg(b.ceiling order by b.band) as ceilings,
                 array_agg(b.sum order by b.band) as sums, max(b.sum) as rate, max(b.ceiling) as top, sum(b.places) as room
            from (select n.band, n.places, n.ceiling, sum(n.places * n.ceiling) over (order by n.band) as sum
                    from (select k.band, k.places, k.ceiling from unnest(o.bands, o.places, o.ceilings) k (band, places, ceiling)
                           where k.band <> all (i.bands)
                          union all
                          select c.band, c.places, taskqueue.ceiling_of_band(c.band) from unnest(i.bands, i.places) c (band, places)
                           where c.places is not null) n) b) m
   where l.setup = p_setup and l.list_id = i.list_id
$$;

comment on function taskqueue.measure_lists(text, bigint[], int[]) is
'Writes down how many places some bands of some lists have (pairs of list and band).';
-- file: taskqueue/new_matching.sql
-- Definitions made since those that match were found out are tested each time, until they are so many that it pays to write the result down.
create or replace function taskqueue.new_matching(p_setup text, p_known taskqueue.known_offer) returns bigint[]
language plpgsql
as $$
declare
  v_offer taskqueue.offer := p_known.offer;
  v_snapshot pg_snapshot;
  v_new bigint;
  v_ids bigint[];
begin
  v_offer.cpu_time := 9223372036854775807;
  v_offer.reached := null;
  select pg_current_snapshot(), count(*), coalesce(array_agg(d.definition_id) filter (where taskqueue.accepts(d, v_offer) and d.definition_id <> all (p_known.matching)), '{}')
    into v_snapshot, v_new, v_ids
    from (select n.* from taskqueue.definition n where n.setup = p_setup and n.made_in >= p_known.known_to
          union all
          select n.* from taskqueue.definition n where n.setup = p_setup and n.made_in = any (p_known.in_flight)) d;
  if v_new >= 64 then
    perform taskqueue.keep_matching(p_setup, p_known, p_known.matching || v_ids, v_snapshot);
  end if;
  return v_ids;
end $$;

comment on function taskqueue.new_matching(text, taskqueue.known_offer) is
'The definitions made since taskqueue.find_matching that match a description.';
-- file: taskqueue/note_end.sql
-- after: taskqueue.match
-- after: taskqueue.note_event
-- The end of a lease, and with it its match, as the lease has it, at the time it was made.
create or replace function taskqueue.note_end(p_lease taskqueue.lease, p_event text) returns void
language sql
as $$
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, cpu_time, owner_group, owner_dn, user_priority, site, grid_ce, role_name)
  select p_lease.setup, p_lease.matched_at, p_lease.job_id, p_lease.attempt, 'matched', p_lease.task_queue_id, p_lease.definition_id, d.cpu_time, d.owner_group, d.owner_dn,
         p_lease.user_priority, p_lease.site, p_lease.grid_ce, p_lease.role_name
    from taskqueue.definition d
   where d.setup = p_lease.setup and d.definition_id = p_lease.definition_id;
  select taskqueue.note_event(p_lease, p_event);
$$;

comment on function taskqueue.note_end(taskqueue.lease, text) is 'Writes the match and the end of a lease into the history.';
-- file: taskqueue/note_event.sql
-- History of a lease. Its match is written with its end; until then the lease itself says it (taskqueue.match).
create or replace function taskqueue.note_event(p_lease taskqueue.lease, p_event text) returns void
language sql
as $$
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, user_priority, site, grid_ce, role_name)
  values (p_lease.setup, resource.clock(p_lease.setup), p_lease.job_id, p_lease.attempt, p_event, p_lease.task_queue_id, p_lease.definition_id,
          p_lease.user_priority, p_lease.site, p_lease.grid_ce, resource.caller())
$$;

comment on function taskqueue.note_event(taskqueue.lease, text) is 'Writes an event of a lease into the history.';
-- file: taskqueue/note_weight.sql
-- after: taskqueue.is_background
create or replace function taskqueue.note_weight(p_setup text, p_group text, p_owner text, p_weight float8, p_queues int) returns void
language sql
as $$
  insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, queues, weight)
  values (p_setup, p_group, p_owner, taskqueue.is_background(p_weight, true), p_queues, p_queues * p_weight::numeric)
$$;

comment on function taskqueue.note_weight(text, text, text, float8, int) is
'Notes in taskqueue.owner_weight that an owner has a queue of this mean weight more (1) or fewer (-1).';
-- file: taskqueue/offer_of.sql
-- Section 4: a resource description, checked and parsed. One pass over the keys that are there: it is on the hot path.
create or replace function taskqueue.offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) returns taskqueue.offer
language plpgsql stable
as $$
declare
  v_offer taskqueue.offer;
  v_setting taskqueue.setting;
  v_key text;
  v_value jsonb;
begin
  if jsonb_typeof(p_resource) is distinct from 'object' then
    raise exception 'resource description is %, not a JSON object', coalesce(p_resource::text, 'null')
      using errcode = 'PB001', hint = 'Give an object with CPUTime at least.';
  end if;
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  v_setting.required_keys := coalesce(v_setting.required_keys, '{CPUTime}');
  if not p_resource ?& v_setting.required_keys or v_setting.required_keys <> '{CPUTime}' and exists (
       select from unnest(v_setting.required_keys) k where p_resource -> k in ('null', '[]')) then
    raise exception '% is missing in the resource description',
          (select string_agg(k, ', ') from unnest(v_setting.required_keys) k where coalesce(p_resource -> k, 'null') in ('null', '[]'))
      using errcode = 'PB001', hint = 'These keys are required in this setup: ' || array_to_string(v_setting.required_keys, ', ') || '.';
  end if;
  v_offer.pilot_types := '{}';
  v_offer.tags := '{}';
  if v_setting.strict_keys <> '{}' then
    v_offer.sites := taskqueue.offered('Site', null, v_setting.strict_keys);
    v_offer.grid_ces := taskqueue.offered('GridCE', null, v_setting.strict_keys);
    v_offer.platforms := taskqueue.offered('Platform', null, v_setting.strict_keys);
    v_offer.job_types := taskqueue.offered('JobType', null, v_setting.strict_keys);
  end if;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_resource) e loop
    case v_key
      when 'CPUTime' then v_offer.cpu_time := floor(least(taskqueue.one_number(v_key, v_value), 9223372036854775807));
      when 'Site' then v_offer.sites := taskqueue.offered(v_key, v_value, v_setting.strict_keys);
      when 'GridCE' then v_offer.grid_ces := taskqueue.offered(v_key, v_value, v_setting.strict_keys);
      when 'JobType' then v_offer.job_types := taskqueue.offered(v_key, v_value, v_setting.strict_keys);
      when 'Platform' then
        v_offer.platforms := taskqueue.compatible_platforms(p_setup, taskqueue.offered(v_key, v_value, v_setting.strict_keys));
      when 'PilotType' then v_offer.pilot_types := taskqueue.texts(v_key, v_value);
      when 'Tag', 'NumberOfProcessors', 'WholeNode' then null;
      when 'RequiredTag' then v_offer.required_tags := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedSite' then v_offer.banned_sites := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedGridCE' then v_offer.banned_grid_ces := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedPlatform' then v_offer.banned_platforms := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedJobType' then v_offer.banned_job_types := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedTag' then v_offer.banned_tags := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'MaxRAM' then v_offer.max_ram := taskqueue.one_number(v_key, v_value);
      when 'OwnerGroup' then v_offer.owner_groups := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'OwnerDN' then v_offer.owner_dn := taskqueue.one_text(v_key, v_value);
      when 'Setup' then
        if taskqueue.one_text(v_key, v_value) <> p_setup then
          raise exception 'Setup is %, but the match is asked in setup %', v_value, p_setup
            using errcode = 'PB001', hint = 'Leave Setup out of the resource description, or name the same.';
        end if;
      when 'JobID' then
        v_offer.job_id := taskqueue.job_id(v_value, v_key);
      else
        raise exception 'key % (value %) of the resource description is not known', v_key, v_value
          using errcode = 'PB001', hint = 'Known: Setup, OwnerDN, OwnerGroup, CPUTime, PilotType, Site, GridCE, Platform, JobType, Tag, RequiredTag, BannedSite, BannedGridCE, BannedPlatform, BannedJobType, BannedTag, MaxRAM, NumberOfProcessors, WholeNode, JobID.';
    end case;
  end loop;
  v_offer.cpu_time := coalesce(v_offer.cpu_time, 9223372036854775807);
  if p_resource ?| '{Tag,NumberOfProcessors,WholeNode}' then
    v_offer.tags := taskqueue.tags_offered(p_resource);
  end if;
  if not v_offer.required_tags <@ v_offer.tags then
    raise exception 'RequiredTag holds %, which the resource does not offer', p_resource -> 'RequiredTag'
      using errcode = 'PB001', hint = 'RequiredTag must be within what Tag, NumberOfProcessors and WholeNode offer.';
  end if;
  if p_identity.private then
    v_offer.owner_dn := p_identity.owner_dn;
    v_offer.owner_groups := array[p_identity.owner_group];
    if p_identity.owner_group is null then
      v_offer.owner_groups := null;
    end if;
  end if;
  if v_offer.owner_dn is not null and v_offer.owner_groups is not null then
    v_offer.sharing_groups := array(select g.owner_group from taskqueue.owner_group g
                                     where g.setup = p_setup and g.owner_group = any (v_offer.owner_groups) and g.job_sharing);
  end if;
  return taskqueue.with_limits(p_setup, p_resource, v_offer);
end $$;

comment on function taskqueue.offer_of(text, jsonb, resource.identity) is
'A resource description (section 4) as taskqueue.offer; a private identity overrides OwnerDN and OwnerGroup. Errors: PB001, naming key and value.';
-- file: taskqueue/offer_once_made.sql
-- A description that was accepted when it was made may not be any more (a limit was set for one of its sites): it explains nothing then.
create or replace function taskqueue.offer_once_made(p_setup text, p_resource jsonb, p_identity resource.identity) returns taskqueue.offer
language plpgsql stable
as $$
begin
  return taskqueue.offer_of(p_setup, p_resource, p_identity);
exception when sqlstate 'PB001' then
  return null;
end $$;

comment on function taskqueue.offer_once_made(text, jsonb, resource.identity) is
'taskqueue.offer_of for a description seen before; null where it would be refused now.';
-- file: taskqueue/offered.sql
-- Section 4, condition 4: a key that is absent, empty or contains "any" (any case, surrounding punctuation ignored) puts no condition;
-- absent or empty under strict_keys, it offers nothing.
create or replace function taskqueue.offered(p_key text, p_value jsonb, p_strict_keys text[]) returns text[]
language plpgsql immutable
as $$
declare
  v_texts text[] := taskqueue.texts(p_key, p_value);
begin
  if cardinality(v_texts) = 0 then
    return case when p_key = any (p_strict_keys) then '{}'::text[] end;
  end if;
  if taskqueue.says_any(v_texts) then
    return null;
  end if;
  return v_texts;
end $$;

comment on function taskqueue.offered(text, jsonb, text[]) is
'What a resource offers under a key: null = no condition, empty = nothing. Errors: PB001.';
-- file: taskqueue/offered_text.sql
-- For taskqueue.condition: null = no condition, empty = nothing.
create or replace function taskqueue.offered_text(p_values text[]) returns text
language sql stable
as $$
  select case when cardinality(p_values) = 0 then 'offers none' else array_to_string(p_values, ', ') end
$$;

comment on function taskqueue.offered_text(text[]) is 'What is offered, in words.';
-- file: taskqueue/one_number.sql
-- A JSON value that is one number, not negative. JSON knows no infinity and no NaN; a number too large for a double is refused.
create or replace function taskqueue.one_number(p_key text, p_value jsonb) returns numeric
language plpgsql immutable
as $$
declare
  v_number numeric;
begin
  if jsonb_typeof(p_value) is distinct from 'number' then
    raise exception '% is %, which is not a number', p_key, coalesce(p_value::text, 'missing')
      using errcode = 'PB001', hint = format('Give %s a number, not negative.', p_key);
  end if;
  v_number := p_value::numeric;
  if v_number < 0 or v_number > 1e300 or (v_number > 0 and v_number < 1e-300) then
    raise exception '% is %, which is not within 0..1e300', p_key, p_value
      using errcode = 'PB001', hint = format('Give %s a number, not negative and finite.', p_key);
  end if;
  return v_number;
end $$;

comment on function taskqueue.one_number(text, jsonb) is
'The number of a JSON value, within 0..1e300. Errors: PB001, naming the key.';
-- file: taskqueue/one_text.sql
-- A JSON value that is exactly one text.
create or replace function taskqueue.one_text(p_key text, p_value jsonb) returns text
language plpgsql immutable
as $$
begin
  if jsonb_typeof(p_value) is distinct from 'string' or p_value = '""' then
    raise exception '% is %, which is not a text', p_key, coalesce(p_value::text, 'missing')
      using errcode = 'PB001', hint = format('Give %s one non-empty text.', p_key);
  end if;
  if length(p_value #>> '{}') > 1000 then
    raise exception '% is a text of % characters', p_key, length(p_value #>> '{}') using errcode = 'PB001', hint = 'A text may have 1,000 characters.';
  end if;
  return p_value #>> '{}';
end $$;

comment on function taskqueue.one_text(text, jsonb) is 'The text of a JSON value. Errors: PB001, naming the key.';
-- file: taskqueue/open_queues.sql
-- after: taskqueue.weight_of_queue
-- after: taskqueue.own_priority
-- Section 9: a new queue has its own right priority when it becomes visible; the others of its entity follow (taskqueue.share_mark).
-- Counting the jobs of a queue takes 20 us: up to ten queues of an entity are counted as they are now; with more, their weights are those by which
-- they have their own priorities (taskqueue.owner_weight), which maintenance keeps within a tenth. Two that open queues of an entity at the same
-- time do not see each other's; both leave a mark.
create or replace function taskqueue.open_queues(p_setup text, p_task_queue_ids bigint[]) returns void
language plpgsql
as $$
declare
  v_entity record;
  v_owners bigint;
  v_queues bigint;
  v_weight float8;
begin
  if p_task_queue_ids = '{}' then
    return;
  end if;
  for v_entity in
    select q.owner_group, case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as owner_dn, coalesce(g.share, 1000) * coalesce(c.factor, 1) as share,
           coalesce(g.job_sharing, false) as job_sharing, coalesce(g.allow_background, false) as allow_background, s.ten_first,
           array_agg(q.task_queue_id) as ids
      from taskqueue.task_queue q
      join taskqueue.setting s on s.setup = q.setup
      left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
      left join taskqueue.share_correction c
             on c.setup = q.setup and c.owner_group = q.owner_group and c.owner_dn = case when coalesce(g.job_sharing, false) then '' else q.owner_dn end
     where q.setup = p_setup and q.task_queue_id = any (p_task_queue_ids)
     group by 1, 2, 3, 4, 5, 6
  loop
    select count(*), sum(o.queues) filter (where o.mine), sum(o.weight) filter (where o.mine) into v_owners, v_queues, v_weight
      from (select sum(w.queues) as queues, sum(w.weight) filter (where not (w.light and v_entity.allow_background)) as weight,
                   v_entity.job_sharing or w.owner_dn = v_entity.owner_dn as mine
              from taskqueue.owner_weight w where w.setup = p_setup and w.owner_group = v_entity.owner_group
             group by w.owner_dn having sum(w.queues) > 0) o;
    if v_queues <= 10 then
      select sum(w.weight) filter (where not taskqueue.is_background(w.weight, v_entity.allow_background)) into v_weight
        from taskqueue.task_queue q
       cross join lateral taskqueue.weight_of_queue(q, v_entity.ten_first) w
       where q.setup = p_setup and q.owner_group = v_entity.owner_group and (v_entity.job_sharing or q.owner_dn = v_entity.owner_dn);
    end if;
    if v_entity.job_sharing then
      v_owners := 1;
    end if;
    update taskqueue.task_queue q set priority = p.priority
      from (select n.task_queue_id,
                   sum(taskqueue.own_priority(v_entity.share / v_owners, w.weight, v_weight, v_entity.allow_background)) as priority
              from taskqueue.task_queue n
              join taskqueue.definition d on d.setup = n.setup and d.definition_id = n.definition_id
              join taskqueue.definition f on f.setup = d.setup and f.family = d.family
              join taskqueue.task_queue m on m.setup = f.setup and m.definition_id = f.definition_id
             cross join lateral (select m.mean_weight as weight where v_queues > 10
                                 union all
                                 select c.weight from taskqueue.weight_of_queue(m, v_entity.ten_first) c where v_queues <= 10) w
             where n.setup = p_setup and n.task_queue_id = any (v_entity.ids)
             group by n.task_queue_id) p
     where q.setup = p_setup and q.task_queue_id = p.task_queue_id;
    insert into taskqueue.share_mark (setup, owner_group, marked_at) values (p_setup, v_entity.owner_group, resource.clock(p_setup));
    if random() < 1.0 / 16 then
      perform taskqueue.fold_weights(p_setup, v_entity.owner_group);
    end if;
  end loop;
  perform taskqueue.post_queues(p_setup, p_task_queue_ids, false);
end $$;

comment on function taskqueue.open_queues(text, bigint[]) is
'Gives queues that taskqueue.make_queue made in this transaction their priorities (section 9) and their postings.';
-- file: taskqueue/own_priority.sql
-- Section 9: the priority of one queue within its entity, before the sum over its family.
create or replace function taskqueue.own_priority(p_share float8, p_weight float8, p_sum float8, p_allow_background boolean) returns float8
language sql immutable
as $$
  select case when taskqueue.is_background(p_weight, p_allow_background) then 0.001 else greatest(p_share * p_weight / p_sum, 0.001) end
$$;

comment on function taskqueue.own_priority(float8, float8, float8, boolean) is
'Priority of a queue: its part of the share of its entity by mean draw weight, at least 0.001; background queues get 0.001 (section 9).';
-- file: taskqueue/pick_job.sql
-- after: taskqueue.user_priority_order
-- after: resource.draw
-- Section 5, steps 3 and 4: the user priority with the smallest key, and of its first ten jobs by id one. The caller locks it, and looks for another
-- (taskqueue.take_job) where that fails.
create or replace function taskqueue.pick_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint)
returns table (job_id bigint, user_priority smallint, jobs bigint)
language sql stable
rows 1
as $$
  select f.job_id, o.user_priority, o.jobs
    from (select u.user_priority, u.jobs, u.first_id
            from taskqueue.user_priority_order(p_setup, p_task_queue_id, p_seed, p_ten_first, p_policy) u limit 1) o
   cross join lateral (
         select i.job_id from taskqueue.job i
          where i.setup = p_setup and i.task_queue_id = p_task_queue_id and not i.held and i.user_priority = o.user_priority
            and i.job_id >= coalesce(o.first_id, 0)
          order by i.job_id offset floor(resource.draw(o.user_priority, p_seed # 1) * least(o.jobs, 10)) limit 1) f
$$;

comment on function taskqueue.pick_job(text, bigint, boolean, text, bigint) is
'The job of a queue that the draws point at, its user priority, and how many jobs it has. No row: the counts are wrong, or it is empty.';
-- file: taskqueue/place_batch.sql
-- after: taskqueue.queues_with_room
-- The work of taskqueue.insert_jobs. Requirements are made canonical once per distinct text. Jobs for which there is a queue with room for all that
-- come are filled in at once (a queue by itself takes 0.1 ms); the others go in the order of their digests, so that two batches that open the same
-- queues never wait for each other crosswise.
create or replace function taskqueue.place_batch(p_identity resource.identity, p_jobs jsonb) returns bigint[]
language plpgsql
as $$
declare
  v_setup text := p_identity.setup;
  v_requirements jsonb[];
  v_digests uuid[];
  v_numbers int[];
  v_job_ids bigint[];
  v_user_priorities int[];
  v_queue_ids bigint[];
  v_batch record;
  v_made bigint[] := '{}'::bigint[];
begin
  with raw as materialized (
    select r.requirements, taskqueue.canonical_requirements(v_setup, r.requirements) as canonical
      from (select distinct e -> 'requirements' as requirements from jsonb_array_elements(p_jobs) e) r
  ), canonical as materialized (
    select c.canonical, c.digest, row_number() over (order by c.digest) as number
      from (select distinct r.canonical, md5(r.canonical::text)::uuid as digest from raw r) c
  ), job as materialized (
    select c.number, n.job_id::bigint as job_id, n.user_priority::int as user_priority
      from jsonb_array_elements(p_jobs) e
      join raw r on r.requirements = e -> 'requirements'
      join canonical c using (canonical)
     cross join lateral (
            select e -> 'job_id' as job_id, coalesce(e -> 'user_priority', '1') as user_priority where not e ? 'jobs'
            union all
            select j -> 0, coalesce(j -> 1, '1') from jsonb_array_elements(e -> 'jobs') j) n
  )
  select array(select c.canonical from canonical c order by c.number), array(select c.digest from canonical c order by c.number),
         array_agg(j.number), array_agg(j.job_id), array_agg(j.user_priority)
    into v_requirements, v_digests, v_numbers, v_job_ids, v_user_priorities from job j;
  perform taskqueue.may_submit(p_identity, r) from unnest(v_requirements) r;
  with wanted as materialized (
    select d.definition_id, r.number, n.jobs
      from unnest(v_digests) with ordinality r (digest, number)
      join (select u.number, count(*) as jobs from unnest(v_numbers) u (number) group by u.number) n using (number)
      join taskqueue.definition d on d.setup = v_setup and d.digest = r.digest
  ), there as materialized (
    select w.number, q.task_queue_id
      from taskqueue.queues_with_room(v_setup, (select array_agg(i.definition_id) from wanted i),
                                      (select s.queue_size from taskqueue.setting s where s.setup = v_setup)) q
      join wanted w using (definition_id)
     where q.room >= w.jobs
  )
  select array_agg(t.task_queue_id order by n.place) into v_queue_ids
    from unnest(v_numbers) with ordinality n (number, place) left join there t using (number);
  for v_batch in
    select array_agg(n.task_queue_id) as queue_ids, array_agg(n.job_id) as job_ids, array_agg(n.user_priority) as user_priorities
      from unnest(v_queue_ids, v_job_ids, v_user_priorities) n (task_queue_id, job_id, user_priority)
     where n.task_queue_id is not null
    having count(*) > 0
  loop
    perform taskqueue.fill_queues(v_setup, v_batch.queue_ids, v_batch.job_ids, v_batch.user_priorities, p_identity);
    perform taskqueue.settle_ids(v_setup, v_batch.job_ids);
  end loop;
  for v_batch in
    select r.canonical, array_agg(n.job_id order by n.job_id) as job_ids, array_agg(n.user_priority order by n.job_id) as user_priorities
      from unnest(v_numbers, v_queue_ids, v_job_ids, v_user_priorities) n (number, task_queue_id, job_id, user_priority)
      join unnest(v_requirements) with ordinality r (canonical, number) using (number)
     where n.task_queue_id is null
     group by r.number, r.canonical order by r.number
  loop
    v_made := v_made || (select p.made from taskqueue.place_jobs(v_setup, v_batch.canonical, v_batch.job_ids, v_batch.user_priorities, p_identity) p);
  end loop;
  return v_made;
end $$;

comment on function taskqueue.place_batch(resource.identity, jsonb) is
'Puts the jobs of a checked batch into queues; returns the queues made, for taskqueue.open_queues. Errors: PB001, PB002, PB005, naming the job.';
-- file: taskqueue/place_jobs.sql
-- Jobs with the same requirements into their queues (section 3). The order of steps is what makes it safe:
-- 1. the rows go in first; an id that another transaction is moving makes the primary key wait for it;
-- 2. ids that were waiting already are moved; 3. only then leases and ended rows are looked at: nobody can change these ids any more.
create or replace function taskqueue.place_jobs(p_setup text, p_requirements jsonb, p_job_ids bigint[], p_user_priorities int[],
                                                p_identity resource.identity default null, out task_queue_id bigint, out made bigint[])
language plpgsql
as $$
declare
  v_setting taskqueue.setting;
  v_definition_id bigint;
  v_room bigint;
  v_from int := 1;
  v_to int;
begin
  made := '{}'::bigint[];
  select s.* into strict v_setting from taskqueue.setting s where s.setup = p_setup;
  v_definition_id := taskqueue.definition_of(p_setup, p_requirements);
  while v_from <= cardinality(p_job_ids) loop
    select r.task_queue_id, r.room into place_jobs.task_queue_id, v_room from taskqueue.queues_with_room(p_setup, array[v_definition_id], v_setting.queue_size) r;
    if task_queue_id is null then
      perform pg_advisory_xact_lock(hashtextextended(p_setup || p_requirements, 0));
      select r.task_queue_id, r.room into place_jobs.task_queue_id, v_room from taskqueue.queues_with_room(p_setup, array[v_definition_id], v_setting.queue_size) r;
    end if;
    if task_queue_id is null then
      v_room := v_setting.queue_size;
      task_queue_id := taskqueue.make_queue(p_setup, v_definition_id, (
        select avg(taskqueue.weight(p, v_setting.ten_first)) from unnest(p_user_priorities[v_from:v_from + v_setting.queue_size - 1]) p));
      made := made || task_queue_id;
    end if;
    v_to := least(v_from + v_room - 1, cardinality(p_job_ids));
    perform taskqueue.fill_queues(p_setup, array_fill(task_queue_id, array[v_to - v_from + 1]), p_job_ids[v_from:v_to], p_user_priorities[v_from:v_to],
                                  p_identity);
    v_from := v_to + 1;
  end loop;
  perform taskqueue.settle_ids(p_setup, p_job_ids);
end $$;

comment on function taskqueue.place_jobs(text, jsonb, bigint[], int[], resource.identity) is
'Puts jobs with the same canonical requirements into the newest queue with room, opening queues as needed. Returns the queue of the last, and the queues made, for taskqueue.open_queues. Errors: PB002 (a private submitter would move the job of another), PB005 (leased).';
-- file: taskqueue/post_pending.sql
-- after: taskqueue.post_queues
-- Queues that could not be posted when they were opened (taskqueue.post_queues). Nobody waits: what is locked is left for the next. A few at a time,
-- since an agent does it.
create or replace function taskqueue.post_pending(p_setup text, p_limit int default 20) returns boolean
language plpgsql
as $$
declare
  v_ids bigint[];
begin
  if not exists (select from taskqueue.unposted u where u.setup = p_setup) then
    return false;
  end if;
  with gone as (
    delete from taskqueue.unposted u
     where u.ctid = any (array(select i.ctid from taskqueue.unposted i where i.setup = p_setup limit p_limit for update skip locked))
    returning u.task_queue_id
  )
  select array_agg(distinct g.task_queue_id) into v_ids from gone g;
  insert into taskqueue.unposted (setup, task_queue_id)  -- a queue that somebody is closing or dropping
  select p_setup, i from unnest(v_ids) i
   where i <> all (array(select q.task_queue_id from taskqueue.task_queue q
                          where q.setup = p_setup and q.task_queue_id = any (v_ids) for no key update skip locked))
     and exists (select from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = i);
  v_ids := array(select i from unnest(v_ids) i where not exists (select from taskqueue.unposted u where u.setup = p_setup and u.task_queue_id = i));
  return v_ids <> '{}' and taskqueue.post_queues(p_setup, v_ids, false);
end $$;

comment on function taskqueue.post_pending(text, int) is
'Posts the queues that were opened while somebody else worked on their lists; at most p_limit at a time; true when there were any, and it could be done.';
-- file: taskqueue/post_queues.sql
-- after: taskqueue.wanted_posting
-- after: taskqueue.posted_queue
-- The postings of queues are there while they are open: enabled, and neither they nor their owners held. The caller has locked the queues' rows,
-- or just made them, so that postings never outlive a change. Whoever appends to a list holds its row until the commit: places are given once.
-- Lists are locked in the order of their keys, all at once, so that two who open queues never wait for each other crosswise.
-- Agents and submitters do not wait (p_wait false): where somebody works on one of the lists, the queues are left to taskqueue.post_pending.
create or replace function taskqueue.post_queues(p_setup text, p_task_queue_ids bigint[], p_wait boolean default true) returns boolean
language plpgsql
as $$
declare
  v_sites text[];
  v_cpu_times bigint[];
  v_bands int[];
  v_ids bigint[];
  v_list_ids bigint[];
  v_left_lists bigint[];
  v_left_bands int[];
  v_wanted int;
  v_new record;
begin
  if p_task_queue_ids = '{}' then
    return true;
  end if;
  if p_wait then  -- maintenance posts group by group: those who wait do so one after the other, before any list
    perform pg_advisory_xact_lock(hashtextextended(p_setup, 7));
  end if;
  with gone as (
    delete from taskqueue.posting d
     where d.setup = p_setup and d.task_queue_id = any (p_task_queue_ids)
       and not exists (select from taskqueue.posted_queue p
                         join taskqueue.wanted_posting w using (setup, site, cpu_time, band, task_queue_id)
                        where p.setup = p_setup and p.list_id = d.list_id and p.band = d.band and p.place = d.place)
    returning d.list_id, d.band
  )
  select array_agg(g.list_id), array_agg(g.band) into v_left_lists, v_left_bands from gone g;
  select array_agg(w.site), array_agg(w.cpu_time), array_agg(w.band), array_agg(w.task_queue_id), count(distinct (w.site, w.cpu_time))
    into v_sites, v_cpu_times, v_bands, v_ids, v_wanted
    from (select i.* from taskqueue.wanted_posting i
           where i.setup = p_setup and i.task_queue_id = any (p_task_queue_ids)
             and not exists (select from taskqueue.posted_queue p
                              where p.setup = p_setup and p.task_queue_id = i.task_queue_id and (p.site, p.cpu_time, p.band) = (i.site, i.cpu_time, i.band))
           order by i.task_queue_id, i.site) w;
  while v_wanted > 0 loop  -- maintenance may remove a list that is empty before it is locked here
    for v_new in  -- a lock for each list that is to be made, since an insert would wait for another of the same list
      select distinct w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time)
       where not exists (select from taskqueue.posting_list l where l.setup = p_setup and l.site = w.site and l.cpu_time = w.cpu_time)
       order by 1, 2
    loop
      if p_wait then
        perform pg_advisory_xact_lock(hashtextextended(p_setup || '/' || v_new.site, v_new.cpu_time));
      end if;
      if p_wait or pg_try_advisory_xact_lock(hashtextextended(p_setup || '/' || v_new.site, v_new.cpu_time)) then
        insert into taskqueue.posting_list (setup, site, cpu_time) values (p_setup, v_new.site, v_new.cpu_time) on conflict do nothing;
      end if;
    end loop;
    if p_wait then
      v_list_ids := array(select l.list_id from taskqueue.posting_list l
                           where l.setup = p_setup and (l.site, l.cpu_time) in (select w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time))
                           order by l.site, l.cpu_time
                             for update);
      exit when cardinality(v_list_ids) = v_wanted;
    else
      v_list_ids := array(select l.list_id from taskqueue.posting_list l
                           where l.setup = p_setup and (l.site, l.cpu_time) in (select w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time))
                           order by l.site, l.cpu_time
                             for update skip locked);
      exit when cardinality(v_list_ids) = v_wanted;
      insert into taskqueue.unposted (setup, task_queue_id) select p_setup, unnest(p_task_queue_ids);
      return false;
    end if;
  end loop;
  update taskqueue.task_queue q set posted = not q.posted
   where q.setup = p_setup and q.task_queue_id = any (p_task_queue_ids)
     and q.posted <> (q.task_queue_id = any (coalesce(v_ids, '{}'))
                      or exists (select from taskqueue.posting p where p.setup = p_setup and p.task_queue_id = q.task_queue_id));
  if v_left_lists is not null then  -- the ends of bands that were left; gaps are for taskqueue.close_gaps
    select array_agg(g.list_id), array_agg(g.band) into v_left_lists, v_left_bands
      from unnest(v_left_lists, v_left_bands) g (list_id, band)
      join (select l.list_id from taskqueue.posting_list l
             where l.setup = p_setup and l.list_id = any (v_left_lists) order by l.site, l.cpu_time for update skip locked) i using (list_id);
    perform taskqueue.measure_lists(p_setup, v_left_lists, v_left_bands);
  end if;
  if v_ids is null then
    return true;
  end if;
  with posted as (
    insert into taskqueue.posting (setup, list_id, band, place, task_queue_id)
    select p_setup, l.list_id, w.band,
           coalesce(l.places[array_position(l.bands, w.band)], 0) + row_number() over (partition by l.list_id, w.band order by w.task_queue_id), w.task_queue_id
      from unnest(v_sites, v_cpu_times, v_bands, v_ids) w (site, cpu_time, band, task_queue_id)
      join taskqueue.posting_list l on l.setup = p_setup and (l.site, l.cpu_time) = (w.site, w.cpu_time)
    returning list_id, band
  )
  select array_agg(p.list_id), array_agg(p.band) into v_list_ids, v_bands from posted p;
  perform taskqueue.measure_lists(p_setup, v_list_ids, v_bands);
  return true;
end $$;

comment on function taskqueue.post_queues(text, bigint[], boolean) is
'Makes the postings of queues what taskqueue.wanted_posting says, changing only what differs; false: left to taskqueue.post_pending.';
-- file: taskqueue/posted_queue.sql
-- The postings with the key of their list, to compare with taskqueue.wanted_posting.
create or replace view taskqueue.posted_queue as
select l.setup, l.site, l.cpu_time, p.band, p.task_queue_id, l.list_id, p.place
  from taskqueue.posting_list l
  join taskqueue.posting p on p.setup = l.setup and p.list_id = l.list_id;

comment on view taskqueue.posted_queue is 'Which open queues a site may see, by CPU bucket.';
comment on column taskqueue.posted_queue.setup is 'Tenant.';
comment on column taskqueue.posted_queue.site is 'A site listed and not banned; * = the queue lists none; empty = every open queue.';
comment on column taskqueue.posted_queue.cpu_time is 'CPU bucket, seconds.';
comment on column taskqueue.posted_queue.band is 'Band of its priority.';
comment on column taskqueue.posted_queue.task_queue_id is 'TaskQueue.';
comment on column taskqueue.posted_queue.list_id is 'List.';
comment on column taskqueue.posted_queue.place is 'Place in the list.';
-- file: taskqueue/queue_count.sql
-- Waiting jobs a queue, base and changes read in one statement, as taskqueue.job_level does by user priority. Not through that function: what a view
-- calls has the rights of whoever reads the view.
create or replace view taskqueue.queue_count as
select q.setup, q.task_queue_id,
       (coalesce((select sum(j) from unnest(t.jobs) j), 0)
        + coalesce((select sum(c.change) from taskqueue.job_count_change c
                     where c.setup = q.setup and c.task_queue_id = q.task_queue_id and (c.made_in >= t.known_to or c.made_in = any (t.in_flight))), 0))::bigint as jobs
  from taskqueue.task_queue q
  left join lateral (select b.jobs, b.known_to, b.in_flight from taskqueue.job_count b
                      where b.setup = q.setup and b.task_queue_id = q.task_queue_id
                      order by b.known_to desc, b.count_id desc limit 1) t on true;

comment on view taskqueue.queue_count is
'Waiting jobs that are not held, by TaskQueue.';
comment on column taskqueue.queue_count.setup is 'Tenant.';
comment on column taskqueue.queue_count.task_queue_id is 'TaskQueue.';
comment on column taskqueue.queue_count.jobs is 'Waiting jobs that are not held.';
-- file: taskqueue/queue_of_job.sql
-- DIRAC's getTaskQueueForJob.
create or replace function taskqueue.queue_of_job(p_setup text, p_job_id bigint) returns bigint
language plpgsql stable
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_queue taskqueue.task_queue;
begin
  select q.* into v_queue
    from taskqueue.job j join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
   where j.setup = p_setup and j.job_id = p_job_id;
  if found then
    perform taskqueue.may_touch(v_identity, p_job_id, v_queue.definition_id);
  end if;
  return v_queue.task_queue_id;
end $$;

comment on function taskqueue.queue_of_job(text, bigint) is 'TaskQueue that a job waits in; null when it does not wait. Errors: PB002 (setup or owner not granted).';
-- file: taskqueue/queue_point.sql
-- after: resource.draw
-- after: taskqueue.accepts_owner
-- Section 5, step 2, without a key a queue. The key random()/p of a queue of priority p comes at x with the rate p/(1 - p x) when it has not come
-- before; under the policy proportional the rate is p. So the queues of a list come in the order of their keys when points of a rate that is
-- higher are thinned out: as if every place held a queue of its band's ceiling c, and every rate were that of the highest ceiling m. Each list has its
-- next point by one draw, and the first of them is the next of all; the place is uniform over places weighed by their ceilings, and the
-- queue there comes with the probability (p/c) (1 - m x)/(1 - p x): where within its place the point lies is a draw, too. An empty place is a queue of
-- priority 0. Points have no memory: from one that was passed over the draw goes on as if it began there.
-- Most definitions are compared with the offer here; where more is to be tested (taskqueue.tests_of), the caller looks more closely: to start up all
-- conditions costs 25 us.
-- When points were in vain so often that a key a queue costs no more, they are enough: a point takes some ten times as long as a queue.
-- What a point costs goes neither with the queues nor with the bands. The fences (offset 0) spare looking into the arrays again for each use of what was found.
create or replace function taskqueue.queue_point(p_setup text, p_sites text[], p_bucket bigint, p_above float8, p_policy text, p_seed bigint, p_offer taskqueue.offer, p_tests int)
returns table (enough int, key float8, fits boolean, site text, task_queue_id bigint, definition taskqueue.definition)
language sql stable
rows 1
as $$
  select case when s.room <= 16 then 8 else greatest(100, s.room / 16)::int end, s.key,
         s.rest - (s.place - 1) * s.ceiling < q.priority * case when p_policy = 'proportional' then 1 else (1 - s.top * s.key) / (1 - q.priority * s.key) end
         and case when d.demands & p_tests = 0
                  then p_sites[1] <> all (d.banned_sites)
                       and (p_offer.platforms is null or cardinality(d.platforms) = 0 or d.platforms && p_offer.platforms)
                       and (p_offer.tags is null or d.tags <@ p_offer.tags)
                       and taskqueue.accepts_owner(d, p_offer)
             end,
         s.site, q.task_queue_id, d
    from (select b.*, 1 + floor(b.rest / b.ceiling)::int as place
            from (select e.room, e.key, e.top, e.site, e.list_id, e.bands[e.entry] as band, e.point - coalesce(e.sums[e.entry - 1], 0) as rest, e.ceilings[e.entry] as ceiling
                    from (select l.*, 1 + width_bucket(l.point, l.sums) as entry
                            from (select i.room, i.top, i.site, i.list_id, i.bands, i.sums, i.ceilings, resource.draw(-1, p_seed) * i.rate as point,
                                         case when p_policy = 'proportional' then p_above - ln(resource.draw(i.list_id, p_seed)) / i.rate
                                              else (1 - (1 - i.top * p_above) * power(resource.draw(i.list_id, p_seed), i.top / i.rate)) / i.top end as key
                                    from taskqueue.posting_list i
                                   where i.setup = p_setup and i.site = any (p_sites) and i.cpu_time = p_bucket and i.room > 0
                                   order by key limit 1) l offset 0) e offset 0) b) s
    left join taskqueue.posting p on p.setup = p_setup and p.list_id = s.list_id and p.band = s.band and p.place = s.place
    left join taskqueue.task_queue q on q.setup = p_setup and q.task_queue_id = p.task_queue_id and q.posted
    left join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
$$;

comment on function taskqueue.queue_point(text, text[], bigint, float8, text, bigint, taskqueue.offer, int) is
'The next point above a key over the lists of some sites in a CPU bucket, and the queue at its place; fits = it is the next in the drawn order, if it has not come before, and matches the offer; null: to be looked at more closely. enough = the points that are worth drawing in such a list. No row: there is no list.';
-- file: taskqueue/queues_with_room.sql
-- after: taskqueue.job_level
-- Section 2, Size: new jobs go to the newest queue with room. Key share: the queue cannot be deleted before the caller commits. A queue that
-- somebody is deleting is passed over, so nobody waits for a deletion.
create or replace function taskqueue.queues_with_room(p_setup text, p_definition_ids bigint[], p_size bigint)
returns table (definition_id bigint, task_queue_id bigint, room bigint)
language sql
as $$
  select d.definition_id, n.task_queue_id, n.room
    from unnest(p_definition_ids) d (definition_id)
   cross join lateral (
          select q.task_queue_id, p_size - c.jobs as room
            from taskqueue.task_queue q
           cross join lateral (select coalesce(sum(l.jobs), 0)::bigint as jobs from taskqueue.job_level(q.setup, q.task_queue_id) l) c
           where q.setup = p_setup and q.definition_id = d.definition_id and c.jobs < p_size
           order by q.task_queue_id desc
           limit 1
             for key share of q skip locked) n
$$;

comment on function taskqueue.queues_with_room(text, bigint[], bigint) is
'The newest queue of each definition with fewer jobs than the size given, locked against deletion, and how many more it takes; no row = none.';
-- file: taskqueue/reaches.sql
-- Section 7: a job counts at every value that its queue lists, and each limit acts on its own. (DIRAC combines them: a real bug.)
create or replace function taskqueue.reaches(p_requirements jsonb, p_limits bigint[], p_setup text) returns boolean
language sql stable
as $$
  select exists (select from taskqueue.site_limit l
                  where l.setup = p_setup and l.limit_id = any (p_limits) and taskqueue.lists(p_requirements, l.attribute, l.value))
$$;

comment on function taskqueue.reaches(jsonb, bigint[], text) is
'Whether requirements list a value of one of the limits.';
-- file: taskqueue/rebuild_matching.sql
-- Everything derived, made anew from the truth: task_queue, its requirement tables, job, lease.
create or replace function taskqueue.rebuild_matching(p_setup text) returns void
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_limit_id bigint;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.unposted u where u.setup = p_setup;
  delete from taskqueue.posting p where p.setup = p_setup;
  delete from taskqueue.posting_list l where l.setup = p_setup;
  -- a definition that was changed by hand, its digest telling what it was
  update taskqueue.definition d set requirements = w.requirements
    from (select t.definition_id, taskqueue.requirements_of_queue(t) as requirements from taskqueue.task_queue t where t.setup = p_setup) w
   where d.setup = p_setup and d.definition_id = w.definition_id and d.requirements <> w.requirements and d.digest = md5(w.requirements::text)::uuid;
  update taskqueue.task_queue q set definition_id = taskqueue.definition_of(p_setup, w.requirements)
    from (select t.task_queue_id, t.definition_id, taskqueue.requirements_of_queue(t) as requirements from taskqueue.task_queue t where t.setup = p_setup) w
    left join taskqueue.definition d on d.setup = p_setup and d.definition_id = w.definition_id
   where q.setup = p_setup and q.task_queue_id = w.task_queue_id and not (d.requirements = w.requirements);
  update taskqueue.definition d
     set made_in = pg_current_xact_id(), family = taskqueue.family_of(r), digest = md5(r::text)::uuid, owner_dn = r ->> 'OwnerDN', owner_group = r ->> 'OwnerGroup',
         cpu_time = (r ->> 'CPUTime')::bigint, min_ram = (r ->> 'MinRAM')::float8,
         pilot_types = taskqueue.list_of(r, 'PilotTypes'), sites = taskqueue.list_of(r, 'Sites'), banned_sites = taskqueue.list_of(r, 'BannedSites'),
         grid_ces = taskqueue.list_of(r, 'GridCEs'), platforms = taskqueue.list_of(r, 'Platforms'), job_types = taskqueue.list_of(r, 'JobTypes'),
         tags = taskqueue.list_of(r, 'Tags')
    from (select i.definition_id, i.requirements as r from taskqueue.definition i where i.setup = p_setup) i
   where d.setup = p_setup and d.definition_id = i.definition_id;
  delete from taskqueue.job_count_change c where c.setup = p_setup;
  delete from taskqueue.job_count c where c.setup = p_setup;
  insert into taskqueue.job_count (setup, task_queue_id, known_to, in_flight, jobs, first_ids)
  select p_setup, q.task_queue_id, '0', '{}', array_agg(coalesce(n.jobs, 0) order by i.level), array_agg(n.first_id order by i.level)
    from taskqueue.task_queue q
   cross join generate_series(0, 10) i (level)
    left join (select j.task_queue_id, j.user_priority, count(*) as jobs, min(j.job_id) as first_id
                 from taskqueue.job j where j.setup = p_setup and not j.held group by 1, 2) n
           on n.task_queue_id = q.task_queue_id and n.user_priority = i.level
   where q.setup = p_setup
   group by q.task_queue_id;
  delete from taskqueue.owner_weight w where w.setup = p_setup;
  perform taskqueue.note_weight(p_setup, q.owner_group, q.owner_dn, q.mean_weight, 1) from taskqueue.task_queue q where q.setup = p_setup;
  perform taskqueue.fold_weights(p_setup, g.owner_group) from (select distinct q.owner_group from taskqueue.task_queue q where q.setup = p_setup) g;
  perform taskqueue.post_queues(p_setup, array(select q.task_queue_id from taskqueue.task_queue q where q.setup = p_setup));
  for v_limit_id in select l.limit_id from taskqueue.site_limit l where l.setup = p_setup and l.kind = 'running' loop
    perform taskqueue.set_slots(p_setup, v_limit_id);
  end loop;
end $$;

comment on function taskqueue.rebuild_matching(text) is
'Makes everything that matching reads anew (definitions, postings, counts, weights of owners, limit slots) from TaskQueues, requirement tables, jobs and leases. Errors: PB002 (setup not granted), PB006 (busy).';
-- file: taskqueue/recompute_shares.sql
-- Section 9. A queue that another transaction is deleting or posting is passed over: nobody waits for this, and this waits for nobody.
create or replace function taskqueue.recompute_shares(p_setup text, p_group text default null) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_locked bigint[];
  v_changed bigint;
  v_elsewhere bigint[];
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  perform taskqueue.correct_shares(p_setup);
  delete from taskqueue.share_mark m where m.ctid = any (array(
    select k.ctid from taskqueue.share_mark k where k.setup = p_setup and (p_group is null or k.owner_group = p_group) for update skip locked));
  v_locked := array(select q.task_queue_id from taskqueue.task_queue q
                     where q.setup = p_setup and (p_group is null or q.owner_group = p_group) for no key update skip locked);
  insert into taskqueue.share_mark (setup, owner_group, marked_at)  -- those passed over are for the next time
  select distinct p_setup, q.owner_group, resource.clock(p_setup) from taskqueue.task_queue q
   where q.setup = p_setup and (p_group is null or q.owner_group = p_group) and q.task_queue_id <> all (v_locked);
  with changed as (
    update taskqueue.task_queue q set priority = s.priority, mean_weight = s.mean_weight
      from taskqueue.share_of_queue(p_setup, p_group) s
      join taskqueue.task_queue o on o.setup = p_setup and o.task_queue_id = s.task_queue_id
     where q.setup = p_setup and q.task_queue_id = s.task_queue_id and q.task_queue_id = any (v_locked)
       and (q.priority <> s.priority or q.mean_weight <> s.mean_weight)
    returning q.task_queue_id, q.owner_group, q.owner_dn, o.mean_weight as old_weight, q.mean_weight,
              q.posted and taskqueue.band_of(q.priority) <> taskqueue.band_of(o.priority) as elsewhere
  ), noted as (  -- the queues are locked: nobody else changes or drops what is taken away here
    insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, queues, weight)
    select p_setup, c.owner_group, c.owner_dn, taskqueue.is_background(v.weight, true), sum(v.queues), sum(v.queues * v.weight::numeric)
      from changed c cross join lateral (values (c.old_weight, -1), (c.mean_weight, 1)) v (weight, queues)
     group by 2, 3, 4 having sum(v.queues) <> 0 or sum(v.queues * v.weight::numeric) <> 0
  )
  select count(*), coalesce(array_agg(c.task_queue_id) filter (where c.elsewhere), '{}') into v_changed, v_elsewhere from changed c;
  perform taskqueue.fold_weights(p_setup, g.owner_group)
     from (select distinct w.owner_group from taskqueue.owner_weight w where w.setup = p_setup and (p_group is null or w.owner_group = p_group)) g;
  perform taskqueue.post_queues(p_setup, v_elsewhere);
  return v_changed;
end $$;

comment on function taskqueue.recompute_shares(text, text) is
'Gives the queues of a setup, or of one owner group, the priorities of section 9 as things are now; returns how many queues changed. Errors: PB002 (setup not granted).';
-- file: taskqueue/reconfigure.sql
-- The exclusive side of taskqueue.enter. It gives way: agents that queue up behind it wait at most 300 ms at a time.
create or replace function taskqueue.reconfigure(p_setup text) returns void
language plpgsql
set lock_timeout = '300ms'
as $$
begin
  perform resource.require_read_committed();
  for v_try in 1..10 loop
    begin
      perform pg_advisory_xact_lock(hashtext('taskqueue'), hashtext(p_setup));
      return;
    exception when lock_not_available then
      perform pg_sleep(0.05 + 0.1 * random());
    end;
  end loop;
  raise exception 'setup % is busy: a call has been open there for over 3 s', p_setup
    using errcode = 'PB006', hint = 'Try again; look for transactions that stay open in pg_stat_activity.';
end $$;

comment on function taskqueue.reconfigure(text) is
'Keeps matching, inserting and returning out of the setup until the transaction ends. Errors: PB001 (isolation level), PB006 (open transactions do not end).';
-- file: taskqueue/refresh_statistics.sql
-- After a bulk load: a setup that the planner's statistics do not know looks as if it had one row, and then an index by setup alone looks
-- as good as the right one (a match took 6 ms instead of 0.5). Autovacuum comes a minute later at best.
create or replace function taskqueue.refresh_statistics() returns void
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
begin
  analyze (skip_locked) taskqueue.definition, taskqueue.task_queue, taskqueue.posting_list, taskqueue.posting, taskqueue.job, taskqueue.job_count, taskqueue.job_count_change;
end $$;

comment on function taskqueue.refresh_statistics() is
'Tells the planner how much the room holds now; after a bulk load, before the agents come. Takes about 50 ms.';
-- file: taskqueue/release_job.sql
-- Section 8: a returned job keeps id, user priority and attempt count; its requirements stay with the lease, so that a queue that vanished
-- is opened anew. A job marked for kill does not go back.
create or replace function taskqueue.release_job(p_setup text, p_job_id bigint, p_attempt text) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_lease taskqueue.lease;
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  v_lease := taskqueue.lease_of(p_setup, p_job_id, p_attempt);
  if v_lease.kill_reason is not null then
    perform taskqueue.end_lease(v_lease, 'cancelled');
    return null;
  end if;
  return taskqueue.return_job(v_lease);
end $$;

comment on function taskqueue.release_job(text, bigint, text) is
'Puts a leased job back into its queue and returns the queue; null when it had been marked for kill: then it ended as cancelled. Errors: PB002 (setup not granted), PB003 (stale attempt).';
-- file: taskqueue/remove_setup.sql
-- Takes a whole setup away (a demo's, a test's, an experiment that ended). Nobody is inside it meanwhile.
create or replace function taskqueue.remove_setup(p_setup text) returns boolean
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  delete from taskqueue.job j where j.setup = p_setup;
  delete from taskqueue.job_count_change c where c.setup = p_setup;
  delete from taskqueue.job_count c where c.setup = p_setup;
  delete from taskqueue.lease l where l.setup = p_setup;
  delete from taskqueue.limit_slot s where s.setup = p_setup;
  delete from taskqueue.limit_use u where u.setup = p_setup;
  delete from taskqueue.ended e where e.setup = p_setup;
  delete from taskqueue.history h where h.setup = p_setup;
  delete from taskqueue.request r where r.setup = p_setup;
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.resource_seen r where r.setup = p_setup;
  delete from taskqueue.unposted u where u.setup = p_setup;
  delete from taskqueue.owner_weight w where w.setup = p_setup;
  delete from taskqueue.share_mark m where m.setup = p_setup;
  delete from taskqueue.task_queue q where q.setup = p_setup;
  delete from resource.setup s where s.setup = p_setup;
  return found;
end $$;

comment on function taskqueue.remove_setup(text) is
'Deletes a setup with all its TaskQueues, jobs, leases, history, configuration and identities; false when there is none. Errors: PB002 (setup not granted), PB006 (busy).';
-- file: taskqueue/replace_definition.sql
-- Two definitions have become equal (re-bucketing): leases and queues follow, and the jobs go to the oldest queue there is.
-- What an operator disabled or held stays so: such queues are siblings then.
create or replace function taskqueue.replace_definition(p_setup text, p_old bigint, p_new bigint) returns void
language plpgsql
as $$
declare
  v_ids bigint[];
begin
  update taskqueue.lease l set definition_id = p_new where l.setup = p_setup and l.definition_id = p_old;
  if exists (select from taskqueue.task_queue q where q.setup = p_setup and q.definition_id = p_new) then
    v_ids := array(select q.task_queue_id from taskqueue.task_queue q
                    where q.setup = p_setup and q.definition_id in (p_old, p_new) and q.enabled and not q.held order by q.task_queue_id);
    update taskqueue.job j set task_queue_id = v_ids[1] where j.setup = p_setup and j.task_queue_id = any (v_ids[2:]);
    delete from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = any (v_ids[2:]);
  end if;
  update taskqueue.task_queue q set definition_id = p_new where q.setup = p_setup and q.definition_id = p_old;
  delete from taskqueue.definition d where d.setup = p_setup and d.definition_id = p_old;
end $$;

comment on function taskqueue.replace_definition(text, bigint, bigint) is
'Gives the queues and leases of one definition to another; where that has queues, all jobs go to the oldest of both; disabled and held queues stay as they are, beside it. Counts and postings are for taskqueue.rebuild_matching.';
-- file: taskqueue/report_job.sql
-- Section 8: the first report makes the lease running; each is answered continue or kill.
create or replace function taskqueue.report_job(p_setup text, p_job_id bigint, p_attempt text) returns table (action text, reason text)
language plpgsql
security definer set search_path = taskqueue, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan
as $$
declare
  v_lease taskqueue.lease;
  v_now timestamptz := resource.clock(p_setup);
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  v_lease := taskqueue.lease_of(p_setup, p_job_id, p_attempt);
  update taskqueue.lease l
     set state = 'running', reported_at = v_now,
         expires_at = v_now + (select s.lease_time from taskqueue.setting s where s.setup = p_setup)
   where l.setup = p_setup and l.job_id = p_job_id;
  if v_lease.state = 'matched' then
    perform taskqueue.note_event(v_lease, 'running');
  end if;
  return query select case when v_lease.kill_reason is null then 'continue' else 'kill' end, v_lease.kill_reason;
end $$;

comment on function taskqueue.report_job(text, bigint, text) is
'An agent says that it works on the job; answers continue, or kill with the reason. Errors: PB002 (setup not granted), PB003 (stale attempt).';
-- file: taskqueue/require_setup.sql
-- Gives a new setup its settings and the four CPU buckets of seed 004.
create or replace function taskqueue.require_setup(p_setup text) returns void
language plpgsql
as $$
begin
  if exists (select from taskqueue.setting s where s.setup = p_setup) then
    return;
  end if;
  perform resource.require_setup(p_setup);
  insert into taskqueue.cpu_bucket (setup, cpu_time)
  select p_setup, b from unnest(array[500, 5000, 50000, 300000]) b
  on conflict do nothing;
  insert into taskqueue.setting (setup) values (p_setup) on conflict do nothing;
end $$;

comment on function taskqueue.require_setup(text) is
'Makes the settings of a setup where there are none: the defaults, and the CPU buckets 500, 5000, 50000, 300000 s (seed 004). Errors: PB001.';
-- file: taskqueue/requirements_of_queue.sql
-- The canonical requirements of a TaskQueue as its columns and requirement tables say: the truth that definitions are derived from.
create or replace function taskqueue.requirements_of_queue(p_queue taskqueue.task_queue) returns jsonb
language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'OwnerDN', p_queue.owner_dn, 'OwnerGroup', p_queue.owner_group, 'CPUTime', p_queue.cpu_time, 'MinRAM', p_queue.min_ram, 'MaxRAM', p_queue.max_ram,
    'SubmitPools', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_submit_pool v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'GridMiddlewares', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_grid_middleware v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'PilotTypes', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_pilot_type v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'Sites', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_site v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'BannedSites', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_banned_site v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'GridCEs', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_grid_ce v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'Platforms', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_platform v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'JobTypes', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_job_type v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'Tags', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_tag v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id)))
$$;

comment on function taskqueue.requirements_of_queue(taskqueue.task_queue) is
'Canonical requirements of a TaskQueue, from its columns and requirement tables.';
-- file: taskqueue/resource_kind.sql
-- Classes of resources: rolled up by taskqueue.maintain, and seen since.
create or replace view taskqueue.resource_kind as
select s.setup, s.class, (array_agg(s.resource))[1] as resource, min(s.first_seen) as first_seen, max(s.last_seen) as last_seen,
       sum(s.samples)::bigint as samples, sum(s.matched)::bigint as matched
  from (select c.setup, c.class, c.resource, c.first_seen, c.last_seen, c.samples, c.matched from taskqueue.resource_class c
        union all
        select r.setup, r.class, r.resource, r.seen_at, r.seen_at, 1, r.matched::int from taskqueue.resource_seen r) s
 group by s.setup, s.class;

comment on view taskqueue.resource_kind is
'Kinds of resources seen lately, rolled up or not.';
comment on column taskqueue.resource_kind.setup is 'Tenant.';
comment on column taskqueue.resource_kind.class is 'Kind of resource.';
comment on column taskqueue.resource_kind.resource is 'Description.';
comment on column taskqueue.resource_kind.first_seen is 'First seen.';
comment on column taskqueue.resource_kind.last_seen is 'Last seen.';
comment on column taskqueue.resource_kind.samples is 'Ten-second windows in which it asked.';
comment on column taskqueue.resource_kind.matched is 'Those of them whose sampled request got a job.';
-- file: taskqueue/return_job.sql
-- Section 8: from a lease back to waiting.
create or replace function taskqueue.return_job(p_lease taskqueue.lease) returns bigint
language plpgsql
as $$
declare
  v_queue_id bigint;
  v_made bigint[];
begin
  delete from taskqueue.lease l where l.setup = p_lease.setup and l.job_id = p_lease.job_id;
  select p.task_queue_id, p.made into v_queue_id, v_made
    from taskqueue.definition d
   cross join lateral taskqueue.place_jobs(p_lease.setup, d.requirements, array[p_lease.job_id], array[p_lease.user_priority::int]) p
   where d.setup = p_lease.setup and d.definition_id = p_lease.definition_id;
  perform taskqueue.open_queues(p_lease.setup, v_made);
  update taskqueue.job j set attempts = p_lease.attempt where j.setup = p_lease.setup and j.job_id = p_lease.job_id;
  perform taskqueue.free_slots(p_lease.setup, p_lease.job_id);
  perform taskqueue.note_end(p_lease, 'released');
  return v_queue_id;
end $$;

comment on function taskqueue.return_job(taskqueue.lease) is 'Puts a leased job back into a queue of its requirements, with its attempts; returns the queue.';
-- file: taskqueue/roll_up_resources.sql
-- Architecture, Hot rows: what resources were seen is appended, and rolled up in the background; at most 10,000 classes, the ones seen last.
create or replace function taskqueue.roll_up_resources(p_setup text) returns bigint
language plpgsql
as $$
declare
  v_count bigint;
begin
  with gone as (
    delete from taskqueue.resource_seen s
     where s.ctid = any (array(select i.ctid from taskqueue.resource_seen i
                                where i.setup = p_setup and i.seen_at < resource.clock(p_setup) - interval '10 seconds' for update skip locked))
    returning s.class, s.seen_at, s.matched, s.resource
  ), kept as (
    insert into taskqueue.resource_class as c (setup, class, resource, first_seen, last_seen, samples, matched)
    select p_setup, g.class, (array_agg(g.resource))[1], min(g.seen_at), max(g.seen_at), count(*), count(*) filter (where g.matched)
      from gone g group by g.class order by g.class
    on conflict (setup, class) do update
       set last_seen = greatest(c.last_seen, excluded.last_seen), samples = c.samples + excluded.samples, matched = c.matched + excluded.matched
  )
  select count(*) into v_count from gone;
  delete from taskqueue.resource_class c
   where c.setup = p_setup
     and c.class in (select o.class from taskqueue.resource_class o where o.setup = p_setup order by o.last_seen desc, o.class offset 10000);
  return v_count;
end $$;

comment on function taskqueue.roll_up_resources(text) is
'Moves the resources seen over ten seconds ago into their classes, and keeps the 10,000 classes seen last; returns how many rows moved.';
-- file: taskqueue/round_cpu_time.sql
-- The CPU-bucketing trigger (seed 004, "Task Queue Implementation").
create or replace function taskqueue.round_cpu_time() returns trigger
language plpgsql
as $$
begin
  new.cpu_time := taskqueue.cpu_bucket_of(new.setup, new.cpu_time);
  return new;
end $$;

comment on function taskqueue.round_cpu_time() is
'Trigger: rounds the CPU time of a TaskQueue up to its bucket, by taskqueue.cpu_bucket_of.';
-- file: taskqueue/says_any.sql
-- Section 4, condition 4: "any", in any case, surrounding punctuation ignored ("ANY", "'any'", "[any]").
create or replace function taskqueue.says_any(p_texts text[]) returns boolean
language plpgsql immutable
as $$
begin
  return array_to_string(p_texts, ' ') ilike '%any%'
         and exists (select from unnest(p_texts) t where t ~* '^[[:punct:][:space:]]*any[[:punct:][:space:]]*$');
end $$;

comment on function taskqueue.says_any(text[]) is 'Whether one of the texts is "any".';
-- file: taskqueue/see_resource.sql
-- Section 10 explains jobs against the resources seen lately. At most one row per class in ten seconds, in an unlogged table: a call that
-- finds no match writes no WAL, and no agent waits for another. A description that is known is noted again by one call in fifty (in ten where
-- nothing matched), so that ten thousand kinds of resources cost little.
create or replace function taskqueue.see_resource(p_setup text, p_resource jsonb, p_known taskqueue.known_offer, p_matched boolean) returns void
language plpgsql
as $$
declare
  v_offer taskqueue.offer;
  v_resource jsonb;
  v_class uuid;
  v_now timestamptz := resource.clock(p_setup);
  v_bucket bigint := p_known.cpu_buckets[width_bucket((p_known.offer).cpu_time, p_known.cpu_buckets)];
begin
  if coalesce(v_bucket, 0) = any (p_known.seen) and p_known.seen_at > v_now - interval '10 seconds' then
    return;
  end if;
  v_offer := p_known.offer;
  v_resource := p_resource - '{JobID,Setup,OwnerDN,OwnerGroup}'::text[];
  if v_resource ? 'CPUTime' then
    v_resource := v_resource || jsonb_build_object('CPUTime', coalesce(v_bucket, 0));
  end if;
  if v_offer.owner_dn is not null then
    v_resource := v_resource || jsonb_build_object('OwnerDN', v_offer.owner_dn);
  end if;
  if v_offer.owner_groups is not null then
    v_resource := v_resource || jsonb_build_object('OwnerGroup', v_offer.owner_groups);
  end if;
  if v_resource @? 'strict $.* ? (@.type() == "array")' then  -- lists are sets; one value is the value, none is no key
    select jsonb_object_agg(e.key, case when v.texts is null then e.value when cardinality(v.texts) = 1 then to_jsonb(v.texts[1]) else to_jsonb(v.texts) end)
      into v_resource
      from jsonb_each(v_resource) e
     cross join lateral (select case when jsonb_typeof(e.value) = 'array' then taskqueue.texts(e.key, e.value) end as texts) v
     where v.texts is distinct from '{}';
  end if;
  v_class := md5(v_resource::text)::uuid;
  if not exists (select from taskqueue.resource_seen s
                  where s.setup = p_setup and s.class = v_class and s.seen_at > v_now - interval '10 seconds')
     and pg_try_advisory_xact_lock(hashtextextended(p_setup || v_class, 2)) then
    insert into taskqueue.resource_seen (setup, class, seen_at, matched, resource) values (p_setup, v_class, v_now, p_matched, v_resource);
  end if;
  update taskqueue.known_offer k
     set seen_at = v_now, seen = case when coalesce(v_bucket, 0) = any (k.seen) then k.seen else k.seen || coalesce(v_bucket, 0) end
   where k.ctid = any (array(select i.ctid from taskqueue.known_offer i
                              where i.setup = p_setup and i.digest = p_known.digest and i.resource = p_known.resource for update skip locked));
end $$;

comment on function taskqueue.see_resource(text, jsonb, taskqueue.known_offer, boolean) is
'Notes the class of a resource description: CPUTime as the highest bucket it covers (s), lists as sets, the owner as the identity has it, JobID left out.';
-- file: taskqueue/set_cpu_buckets.sql
-- Section 2: changing the buckets re-buckets the existing queues in one call, merging those that become equal: their jobs go to the oldest.
-- Only buckets are stored, so a queue goes to the next new bucket at or above its old one. Re-bucketing may exceed queue_size.
create or replace function taskqueue.set_cpu_buckets(p_setup text, p_buckets bigint[]) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_changed bigint;
  v_queue record;
begin
  perform resource.identify(p_setup);
  if coalesce(cardinality(p_buckets), 0) = 0 or array_position(p_buckets, null) is not null or exists (select from unnest(p_buckets) b where b <= 0) then
    raise exception 'buckets are %, which are not positive seconds', coalesce(p_buckets::text, 'null') using errcode = 'PB001', hint = 'Give at least one bucket, seconds.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  delete from taskqueue.cpu_bucket b where b.setup = p_setup and b.cpu_time <> all (p_buckets);
  insert into taskqueue.cpu_bucket (setup, cpu_time) select distinct p_setup, b from unnest(p_buckets) b on conflict do nothing;
  update taskqueue.task_queue q set cpu_time = q.cpu_time
   where q.setup = p_setup and q.cpu_time <> taskqueue.cpu_bucket_of(p_setup, q.cpu_time);
  get diagnostics v_changed = row_count;
  for v_queue in
    select d.definition_id, d.requirements || jsonb_build_object('CPUTime', taskqueue.cpu_bucket_of(p_setup, d.cpu_time)) as requirements
      from taskqueue.definition d
     where d.setup = p_setup and d.cpu_time <> taskqueue.cpu_bucket_of(p_setup, d.cpu_time)
     order by d.definition_id
  loop
    perform taskqueue.replace_definition(p_setup, v_queue.definition_id, taskqueue.definition_of(p_setup, v_queue.requirements));
  end loop;
  perform taskqueue.rebuild_matching(p_setup);
  perform taskqueue.recompute_shares(p_setup);
  return v_changed;
end $$;

comment on function taskqueue.set_cpu_buckets(text, bigint[]) is
'Sets the CPU buckets of a setup (seconds) and re-buckets its queues, merging those that become equal; returns how many queues changed their bucket. Errors: PB001, PB002 (setup not granted), PB006 (busy).';
-- file: taskqueue/set_group.sql
-- Section 9: each owner group has a share (default 1000) and properties.
create or replace function taskqueue.set_group(p_setup text, p_group text, p_share float8 default 1000, p_job_sharing boolean default false,
                                               p_allow_background boolean default false) returns void
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  if p_group is null or p_group = '' then
    raise exception 'group is %', coalesce(quote_literal(p_group), 'null') using errcode = 'PB001', hint = 'Name the owner group.';
  elsif p_share is null or not (p_share > 0 and p_share < 'infinity') or p_job_sharing is null or p_allow_background is null then
    raise exception 'group % cannot have share %, job_sharing %, allow_background %', p_group, coalesce(p_share::text, 'null'),
          coalesce(p_job_sharing::text, 'null'), coalesce(p_allow_background::text, 'null')
      using errcode = 'PB001', hint = 'The share is a positive number, the properties are true or false.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  insert into taskqueue.owner_group (setup, owner_group, share, job_sharing, allow_background)
  values (p_setup, p_group, p_share, p_job_sharing, p_allow_background)
  on conflict (setup, owner_group) do update
     set share = excluded.share, job_sharing = excluded.job_sharing, allow_background = excluded.allow_background;
  perform taskqueue.recompute_shares(p_setup, p_group);
end $$;

comment on function taskqueue.set_group(text, text, float8, boolean, boolean) is
'Sets the share and the properties of an owner group, and recomputes its priorities. Errors: PB001, PB002 (setup not granted), PB006 (busy).';
-- file: taskqueue/set_held.sql
-- Section 8: jobs, owners and queues can be held and let go again.
create or replace function taskqueue.set_held(p_setup text, p_kind text, p_name text, p_held boolean) returns bigint
language plpgsql
as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_setup(p_setup);
  if p_kind is null or p_kind not in ('job', 'owner', 'queue') then
    raise exception 'kind is %, which is not job, owner or queue', coalesce(quote_literal(p_kind), 'null')
      using errcode = 'PB001', hint = 'Hold a job by its id, an owner by OwnerDN, a queue by its id.';
  elsif p_name is null or p_name = '' or p_kind <> 'owner' and (p_name !~ '^[0-9]{1,19}$' or p_name::numeric > 9223372036854775807) then
    raise exception 'name of the % is %', p_kind, coalesce(quote_literal(p_name), 'null')
      using errcode = 'PB001', hint = 'A job or queue is named by its id, an owner by OwnerDN.';
  end if;
  if p_kind = 'owner' then
    return taskqueue.set_owner_held(p_setup, p_name, p_held);
  end if;
  perform taskqueue.enter(p_setup);
  if p_kind = 'job' then
    return taskqueue.set_job_held(p_setup, p_name::bigint, p_held);
  end if;
  perform taskqueue.lock_queue(p_setup, p_name::bigint);
  update taskqueue.task_queue q set held = p_held where q.setup = p_setup and q.task_queue_id = p_name::bigint and q.held <> p_held;
  if not found then
    return 0;
  end if;
  perform taskqueue.post_queues(p_setup, array[p_name::bigint]);
  return 1;
end $$;

comment on function taskqueue.set_held(text, text, text, boolean) is
'Holds or lets go a job, an owner or a queue; returns how many jobs or queues changed. Each is held on its own: letting a queue go does not let its owner go. Errors: PB001, PB002, PB004, PB005.';
-- file: taskqueue/set_job_held.sql
-- Section 8: a held job stays in its queue and is not matched, nor counted as waiting for a match.
create or replace function taskqueue.set_job_held(p_setup text, p_job_id bigint, p_held boolean) returns bigint
language plpgsql
as $$
declare
  v_job taskqueue.job;
begin
  update taskqueue.job j set held = p_held where j.setup = p_setup and j.job_id = p_job_id and j.held <> p_held returning j.* into v_job;
  if found then
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id)
    values (p_setup, v_job.task_queue_id, v_job.user_priority, case when p_held then -1 else 1 end, case when not p_held then p_job_id end);
    return 1;
  end if;
  if exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id) then
    return 0;
  elsif exists (select from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id) then
    raise exception 'job % is leased', p_job_id using errcode = 'PB005', hint = 'Only a waiting job can be held; cancel_job asks its agent to kill it.';
  end if;
  raise exception 'job % does not wait in setup %', p_job_id, p_setup using errcode = 'PB004', hint = 'It has ended, or was never inserted.';
end $$;

comment on function taskqueue.set_job_held(text, bigint, boolean) is
'Holds or lets go a waiting job; 1 = changed. Errors: PB004 (does not wait), PB005 (leased).';
-- file: taskqueue/set_limit.sql
-- Section 7. Nobody is inside the setup while a limit is set, so that the leases counted are all there are; lowering evicts nobody.
create or replace function taskqueue.set_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text,
                                               p_limit numeric, p_burst int default 1) returns bigint
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_key text := taskqueue.attribute_key(p_attribute);
  v_id bigint;
begin
  perform resource.identify(p_setup);
  if p_kind is null or p_kind not in ('running', 'delay') then
    raise exception 'kind is %, which is not running or delay', coalesce(quote_literal(p_kind), 'null') using errcode = 'PB001', hint = 'Give running or delay.';
  elsif p_site is null or p_site = '' or p_ce = '' or p_value is null or p_value = '' then
    raise exception 'site is %, CE is %, value is %', coalesce(quote_literal(p_site), 'null'), coalesce(quote_literal(p_ce), 'null'), coalesce(quote_literal(p_value), 'null')
      using errcode = 'PB001', hint = 'Name a site and a value; CE null = the whole site.';
  elsif p_limit is null or p_limit not between 0 and 100000 or p_kind = 'running' and p_limit <> trunc(p_limit) then
    raise exception 'limit is %, which is not % within 0..100000', coalesce(p_limit::text, 'null'),
          case p_kind when 'running' then 'an integer' else 'a number of seconds' end
      using errcode = 'PB001', hint = 'A running limit is jobs at a time, a delay is seconds between two matches.';
  elsif p_burst is null or p_burst not between 1 and 100000 then
    raise exception 'burst is %, which is not within 1..100000', coalesce(p_burst::text, 'null') using errcode = 'PB001', hint = 'Matches that may come at once after a pause.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  insert into taskqueue.site_limit as l (setup, kind, site, grid_ce, attribute, value, ceiling, delay, burst)
  values (p_setup, p_kind, p_site, p_ce, v_key, p_value, case p_kind when 'running' then p_limit::int end,
          case p_kind when 'delay' then make_interval(secs => p_limit::float8) end, case p_kind when 'delay' then p_burst end)
  on conflict on constraint site_limit_once do update
     set ceiling = excluded.ceiling, delay = excluded.delay, burst = excluded.burst,
         -- the last match was one delay before the clock; it counts with the new delay. No match yet: no clock
         next_at = case when l.next_at is not null
                        then least(l.next_at - l.delay + excluded.delay, resource.clock(p_setup) + excluded.burst * excluded.delay) end
  returning l.limit_id into v_id;
  if p_kind = 'running' then
    perform taskqueue.set_slots(p_setup, v_id);
  end if;
  return v_id;
end $$;

comment on function taskqueue.set_limit(text, text, text, text, text, text, numeric, int) is
'Limits the jobs with a value of an attribute at a site or CE: how many may be matched or running there (kind running; 0 blocks), or seconds between two matches (kind delay, p_burst at once after a pause). Existing leases count; lowering evicts nobody. Returns the limit. Errors: PB001, PB002 (setup not granted), PB006 (busy).';
-- file: taskqueue/set_owner_held.sql
-- Section 8. Nobody is inside the setup meanwhile, so that no queue of the owner opens unseen.
create or replace function taskqueue.set_owner_held(p_setup text, p_owner_dn text, p_held boolean) returns bigint
language plpgsql
as $$
declare
  v_ids bigint[] := '{}'::bigint[];
begin
  perform taskqueue.reconfigure(p_setup);
  if p_held then
    insert into taskqueue.held_owner (setup, owner_dn, held_at) values (p_setup, p_owner_dn, resource.clock(p_setup)) on conflict do nothing;
  else
    delete from taskqueue.held_owner h where h.setup = p_setup and h.owner_dn = p_owner_dn;
  end if;
  if found then
    v_ids := array(select q.task_queue_id from taskqueue.task_queue q where q.setup = p_setup and q.owner_dn = p_owner_dn);
    perform taskqueue.post_queues(p_setup, v_ids);
  end if;
  return cardinality(v_ids);
end $$;

comment on function taskqueue.set_owner_held(text, text, boolean) is
'Holds or lets go the queues of an owner, those to come included; returns how many queues there are now, 0 when nothing changed. Errors: PB006 (busy).';
-- file: taskqueue/set_platform_compatibility.sql
-- Section 4: a table of compatible platforms (offered -> accepted) expands what the resource offers.
create or replace function taskqueue.set_platform_compatibility(p_setup text, p_offered text, p_accepted text[]) returns void
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  if p_offered is null or p_offered = '' or p_accepted is null or '' = any (p_accepted) or array_position(p_accepted, null) is not null then
    raise exception 'platform % cannot be compatible with %', coalesce(quote_literal(p_offered), 'null'), coalesce(p_accepted::text, 'null')
      using errcode = 'PB001', hint = 'Name platforms by non-empty texts; an empty list clears.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.platform_compatibility c where c.setup = p_setup and c.offered = p_offered and c.accepted <> all (p_accepted);
  insert into taskqueue.platform_compatibility (setup, offered, accepted) select p_setup, p_offered, unnest(p_accepted) on conflict do nothing;
end $$;

comment on function taskqueue.set_platform_compatibility(text, text, text[]) is
'Says which platforms a resource offers besides the one it names; replaces what was said, an empty list clears. Errors: PB001, PB002 (setup not granted), PB006 (busy).';
-- file: taskqueue/set_queue_enabled.sql
-- Section 6: queues can be enabled and disabled by an operator; a disabled queue is not matched.
create or replace function taskqueue.set_queue_enabled(p_setup text, p_task_queue_id bigint, p_enabled boolean) returns void
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  if p_enabled is null then
    raise exception 'enabled is null' using errcode = 'PB001', hint = 'Give true or false.';
  end if;
  perform taskqueue.lock_queue(p_setup, p_task_queue_id);
  update taskqueue.task_queue q set enabled = p_enabled where q.setup = p_setup and q.task_queue_id = p_task_queue_id;
  perform taskqueue.post_queues(p_setup, array[p_task_queue_id]);
end $$;

comment on function taskqueue.set_queue_enabled(text, bigint, boolean) is
'Takes a TaskQueue out of matching, or back in. Errors: PB001, PB002 (setup not granted), PB004 (no such queue).';
-- file: taskqueue/set_settings.sql
-- Settings of matching, all or none of the keys given.
create or replace function taskqueue.set_settings(p_setup text, p_settings jsonb) returns void
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_key text;
  v_value jsonb;
  v_new taskqueue.setting;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  if jsonb_typeof(p_settings) is distinct from 'object' then
    raise exception 'settings are %, not a JSON object', coalesce(p_settings::text, 'null') using errcode = 'PB001', hint = 'Give an object, for example {"ten_first": true}.';
  end if;
  select s.* into v_new from taskqueue.setting s where s.setup = p_setup;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_settings) e loop
    begin
      case v_key
        when 'ten_first' then v_new.ten_first := v_value::boolean;
        when 'share_correction' then v_new.share_correction := v_value::boolean;
        when 'strict_keys' then v_new.strict_keys := taskqueue.texts(v_key, v_value);
        when 'required_keys' then v_new.required_keys := taskqueue.texts(v_key, v_value);
        when 'queue_size' then v_new.queue_size := v_value::int;
        when 'policy' then v_new.policy := taskqueue.one_text(v_key, v_value);
        when 'lease_time' then v_new.lease_time := make_interval(secs => v_value::float8);
        when 'share_delay' then v_new.share_delay := make_interval(secs => v_value::float8);
        when 'correction_window' then v_new.correction_window := make_interval(secs => v_value::float8);
        when 'history_kept' then v_new.history_kept := make_interval(secs => v_value::float8);
        else
          raise exception 'setting % (value %) is not known', v_key, v_value
            using errcode = 'PB001', hint = 'Known: ten_first, strict_keys, required_keys, queue_size, policy, lease_time, share_delay, share_correction, correction_window, history_kept (times in seconds).';
      end case;
      update taskqueue.setting s
         set ten_first = v_new.ten_first, share_correction = v_new.share_correction, strict_keys = v_new.strict_keys,
             required_keys = v_new.required_keys, queue_size = v_new.queue_size, policy = v_new.policy, lease_time = v_new.lease_time,
             share_delay = v_new.share_delay, correction_window = v_new.correction_window, history_kept = v_new.history_kept
       where s.setup = p_setup;
    exception when invalid_parameter_value or check_violation or not_null_violation or cannot_coerce or invalid_text_representation
                or numeric_value_out_of_range or datetime_field_overflow then
      raise exception 'setting % is %, which it cannot be', v_key, v_value using errcode = 'PB001', hint = 'See the comments of taskqueue.setting.';
    end;
  end loop;
  if not v_new.strict_keys <@ '{Site,GridCE,Platform,JobType}' or not v_new.required_keys <@
     '{OwnerDN,OwnerGroup,CPUTime,PilotType,Site,GridCE,Platform,JobType,Tag,RequiredTag,BannedSite,BannedGridCE,BannedPlatform,BannedJobType,BannedTag,MaxRAM,NumberOfProcessors,WholeNode,JobID,Setup}' then
    raise exception 'strict_keys is %, required_keys is %: not keys for that', v_new.strict_keys, v_new.required_keys
      using errcode = 'PB001', hint = 'strict_keys: Site, GridCE, Platform, JobType. required_keys: keys of a resource description.';
  end if;
  perform taskqueue.recompute_shares(p_setup);
end $$;

comment on function taskqueue.set_settings(text, jsonb) is
'Changes settings of matching (columns of taskqueue.setting; times in seconds), all or none, and recomputes the shares. Errors: PB001 (key or value), PB002, PB006 (busy).';
-- file: taskqueue/set_slots.sql
-- Section 7: the slots of a running limit made to its ceiling, the leases that count at it holding theirs. Where these are more than the
-- ceiling, one row with a negative number for each that is too many.
create or replace function taskqueue.set_slots(p_setup text, p_limit_id bigint) returns void
language sql
as $$
  delete from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = p_limit_id;
  delete from taskqueue.limit_use u where u.setup = p_setup and u.limit_id = p_limit_id;
  insert into taskqueue.limit_use (setup, job_id, limit_id, slot)
  select p_setup, e.job_id, p_limit_id, row_number() over (order by e.job_id)
    from taskqueue.lease e
    join taskqueue.site_limit l on l.setup = p_setup and l.limit_id = p_limit_id
    join taskqueue.definition d on d.setup = e.setup and d.definition_id = e.definition_id
   where e.setup = p_setup and e.site = l.site and (l.grid_ce is null or l.grid_ce = e.grid_ce)
     and taskqueue.lists(d.requirements, l.attribute, l.value);
  insert into taskqueue.limit_slot (setup, limit_id, slot)
  select p_setup, p_limit_id, n.slot
    from taskqueue.site_limit l
   cross join lateral (select count(*)::int as used from taskqueue.limit_use u where u.setup = p_setup and u.limit_id = p_limit_id) c
   cross join lateral (select generate_series(c.used + 1, l.ceiling) union all select generate_series(l.ceiling - c.used, -1)) n (slot)
   where l.setup = p_setup and l.limit_id = p_limit_id;
$$;

comment on function taskqueue.set_slots(text, bigint) is
'Makes the slots of a running limit anew from the leases there are.';
-- file: taskqueue/settle_ids.sql
-- Sections 3 and 8: the last step of putting jobs into queues, when nobody can change these ids any more: a leased id is an error, and
-- an ended one goes on counting its attempts. Each id is looked up by itself: without statistics a join of the tables was planned as a
-- scan of all jobs (1 ms a queue).
create or replace function taskqueue.settle_ids(p_setup text, p_job_ids bigint[]) returns void
language plpgsql
as $$
declare
  v_leased bigint;
  v_ended record;
begin
  select min(l.job_id) into v_leased from taskqueue.lease l where l.setup = p_setup and l.job_id = any (p_job_ids);
  if v_leased is not null then
    raise exception 'job % is leased', v_leased using errcode = 'PB005', hint = 'A leased job cannot be inserted; cancel it, or wait until it has ended.';
  end if;
  for v_ended in delete from taskqueue.ended e where e.setup = p_setup and e.job_id = any (p_job_ids) returning e.job_id, e.attempts loop
    update taskqueue.job j set attempts = v_ended.attempts where j.setup = p_setup and j.job_id = v_ended.job_id;
  end loop;
end $$;

comment on function taskqueue.settle_ids(text, bigint[]) is
'Refuses ids just inserted that are leased, and lets those that had ended go on counting their attempts. Errors: PB005 (leased).';
-- file: taskqueue/share_of_queue.sql
-- after: taskqueue.weight_of_queue
-- Section 9: the priorities of all queues of a setup or a group, as their jobs are now.
create or replace function taskqueue.share_of_queue(p_setup text, p_group text default null)
returns table (task_queue_id bigint, mean_weight float8, priority float8)
language sql stable
as $$
  with queue as (
    select q.task_queue_id, q.owner_group, case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as entity, d.family, w.weight as mean_weight,
           coalesce(g.share, 1000) as share, coalesce(g.job_sharing, false) as job_sharing, coalesce(g.allow_background, false) as allow_background
      from taskqueue.task_queue q
      join taskqueue.setting s on s.setup = q.setup
     cross join lateral taskqueue.weight_of_queue(q, s.ten_first) w
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
      left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
     where q.setup = p_setup and (p_group is null or q.owner_group = p_group)
  ), owner as (
    select o.owner_group, count(distinct o.owner_dn) as owners
      from taskqueue.task_queue o where o.setup = p_setup and (p_group is null or o.owner_group = p_group)
     group by o.owner_group
  ), own as (
    select q.task_queue_id, q.family, q.mean_weight,
           taskqueue.own_priority(q.share * coalesce(c.factor, 1) / case when q.job_sharing then 1 else o.owners end,
                                  q.mean_weight,
                                  sum(q.mean_weight) filter (where not taskqueue.is_background(q.mean_weight, q.allow_background))
                                    over (partition by q.owner_group, q.entity),
                                  q.allow_background) as priority
      from queue q join owner o using (owner_group)
      left join taskqueue.share_correction c on c.setup = p_setup and c.owner_group = q.owner_group and c.owner_dn = q.entity
  )
  select w.task_queue_id, w.mean_weight, sum(w.priority) over (partition by w.family) from own w
$$;

comment on function taskqueue.share_of_queue(text, text) is
'Mean draw weight and priority of each TaskQueue of a setup or of one owner group, from the shares, the jobs as they are and the corrections (section 9).';
-- file: taskqueue/state_of_job.sql
-- The states of a job in this room: waiting (or held), leased (matched or running), ended.
create or replace function taskqueue.state_of_job(p_setup text, p_job_id bigint) returns text
language plpgsql stable
as $$
declare
  v_state text;
begin
  select case when j.held then 'held' else 'waiting' end into v_state from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id;
  if v_state is null then
    select 'leased (' || l.state || ')' into v_state from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id;
  end if;
  if v_state is null then
    select 'ended (' || e.outcome || ')' into v_state from taskqueue.ended e where e.setup = p_setup and e.job_id = p_job_id;
  end if;
  if v_state is null then
    raise exception 'there is no job % in setup %', coalesce(p_job_id::text, 'null'), p_setup using errcode = 'PB004', hint = 'It was never inserted, or ended and forgotten.';
  end if;
  return v_state;
end $$;

comment on function taskqueue.state_of_job(text, bigint) is 'State of a job, in words. Errors: PB004 (no such job).';
-- file: taskqueue/surplus_slots.sql
-- Section 7: lowering a limit evicts nobody, so there may be more slots, free and used, than its ceiling: as many as there are rows with
-- negative numbers. They are never made but where nobody is inside the setup, so that a match which has read them has read all.
create or replace function taskqueue.surplus_slots(p_setup text, p_limit_id bigint) returns bigint
language sql stable
as $$
  select count(*) from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = p_limit_id and s.slot < 0
$$;

comment on function taskqueue.surplus_slots(text, bigint) is
'How many slots a running limit has above its ceiling, since it was lowered.';
-- file: taskqueue/tags_offered.sql
-- Section 4, condition 6: NumberOfProcessors n (1..1024) offers 1Processors..nProcessors and, for n > 1, MultiProcessor; WholeNode offers WholeNode.
create or replace function taskqueue.tags_offered(p_resource jsonb) returns text[]
language plpgsql immutable
as $$
declare
  v_tags text[] := taskqueue.texts('Tag', p_resource -> 'Tag');
  v_any boolean := taskqueue.says_any(v_tags);
  v_number numeric;
begin
  if p_resource ? 'NumberOfProcessors' then
    v_number := taskqueue.one_number('NumberOfProcessors', p_resource -> 'NumberOfProcessors');
    if v_number < 1 or v_number > 1024 or v_number <> trunc(v_number) then
      raise exception 'NumberOfProcessors is %, which is not an integer within 1..1024', p_resource -> 'NumberOfProcessors'
        using errcode = 'PB001', hint = 'Give the number of processors of the slot.';
    end if;
    v_tags := v_tags || array(select i || 'Processors' from generate_series(1, v_number::int) i);
    if v_number > 1 then
      v_tags := v_tags || 'MultiProcessor'::text;
    end if;
  end if;
  if p_resource ? 'WholeNode' then
    if jsonb_typeof(p_resource -> 'WholeNode') <> 'boolean' then
      raise exception 'WholeNode is %, which is not true or false', p_resource -> 'WholeNode' using errcode = 'PB001', hint = 'Give true or false.';
    end if;
    if (p_resource -> 'WholeNode')::boolean then
      v_tags := v_tags || 'WholeNode'::text;
    end if;
  end if;
  return case when not v_any then v_tags end;
end $$;

comment on function taskqueue.tags_offered(jsonb) is
'The tags that a resource offers by Tag, NumberOfProcessors and WholeNode; null = no condition (Tag says any). Errors: PB001.';
-- file: taskqueue/take_job.sql
-- Section 5, steps 3 and 4, where the job that the draws point at is locked or was just taken: the user priorities in drawn order, of each the first ten
-- by id in drawn order, then those after them. A job that another transaction has locked is passed over, as if it were not there.
create or replace function taskqueue.take_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) returns taskqueue.job
language plpgsql
as $$
declare
  v_job taskqueue.job;
  v_level record;
  v_ids bigint[];
  v_id bigint;
  v_after bigint;
begin
  for v_level in select u.user_priority, u.first_id from taskqueue.user_priority_order(p_setup, p_task_queue_id, p_seed, p_ten_first, p_policy) u loop
    v_after := coalesce(v_level.first_id, 1) - 1;
    loop
      v_ids := array(select j.job_id from taskqueue.job j
                      where j.setup = p_setup and j.task_queue_id = p_task_queue_id and j.user_priority = v_level.user_priority and not j.held
                        and j.job_id > v_after
                      order by j.job_id limit 10);
      for v_id in select i from unnest(v_ids) i order by resource.draw(i, p_seed # 1) loop
        delete from taskqueue.job j
         where j.setup = p_setup and j.ctid = (
               select l.ctid from taskqueue.job l
                where l.setup = p_setup and l.job_id = v_id and l.task_queue_id = p_task_queue_id and l.user_priority = v_level.user_priority and not l.held
                  for update skip locked)
        returning j.* into v_job;
        if found then
          return v_job;
        end if;
      end loop;
      exit when cardinality(v_ids) < 10;
      v_after := v_ids[10];
    end loop;
  end loop;
  return null;
end $$;

comment on function taskqueue.take_job(text, bigint, boolean, text, bigint) is
'Takes a job of a queue out of waiting; null when there is none that is not locked.';
-- file: taskqueue/task_queue_bucket.sql
-- The CPU-bucketing trigger (seed 004, "Task Queue Implementation").
create or replace trigger task_queue_bucket
before insert or update of cpu_time on taskqueue.task_queue
for each row execute function taskqueue.round_cpu_time();

comment on trigger task_queue_bucket on taskqueue.task_queue is
'Rounds CPU time up to the next bucket of the setup.';
-- file: taskqueue/tests_of.sql
-- Most definitions ask for little, and most offers can refuse little: where no bit is set in both (taskqueue.definition.demands), the conditions need not
-- be evaluated one by one, which costs 25 us of starting them up. Owner, Site, BannedSites, Platform and Tag are compared all the same.
create or replace function taskqueue.tests_of(p_offer taskqueue.offer) returns int
language sql immutable
as $$
  select case when p_offer.required_tags is not null or p_offer.banned_sites is not null
                   or p_offer.banned_grid_ces is not null or p_offer.banned_platforms is not null or p_offer.banned_job_types is not null
                   or p_offer.banned_tags is not null or p_offer.limited or cardinality(p_offer.sites) <> 1 or cardinality(p_offer.grid_ces) <> 1 then 1 else 0 end
         | case when p_offer.max_ram is null then 0 else 2 end | 4 | case when p_offer.job_types is null then 0 else 8 end
         | case when p_offer.grid_ces is null then 0 else 16 end
$$;

comment on function taskqueue.tests_of(taskqueue.offer) is
'Which demands of a definition an offer may not meet, as bits of taskqueue.definition.demands; bit 1: all conditions are to be tested.';
-- file: taskqueue/texts.sql
-- A JSON value that is one text or a list of texts, as a set: sorted, without duplicates (section 2: lists are compared as sets).
create or replace function taskqueue.texts(p_key text, p_value jsonb) returns text[]
language plpgsql immutable
as $$
declare
  v_texts text[];
begin
  case coalesce(jsonb_typeof(p_value), 'null')
    when 'null' then
      return '{}'::text[];
    when 'string' then
      v_texts := array[p_value #>> '{}'];
    when 'array' then
      if jsonb_array_length(p_value) = 0 then
        return '{}'::text[];
      end if;
      if p_value @? 'strict $[*] ? (@.type() != "string")' then  -- lax would look into lists within the list
        raise exception '% holds %, which is not a text', p_key, jsonb_path_query_first(p_value, 'strict $[*] ? (@.type() != "string")')
          using errcode = 'PB001', hint = format('Give %s one text or a list of texts.', p_key);
      end if;
      select array_agg(distinct t order by t) into v_texts from jsonb_array_elements_text(p_value) t;
    else
      raise exception '% is %, which is not a text or a list of texts', p_key, p_value
        using errcode = 'PB001', hint = format('Give %s one text or a list of texts.', p_key);
  end case;
  if length(array_to_string(v_texts, '')) > 1000 and exists (select from unnest(v_texts) t where length(t) > 1000) then
    raise exception '% holds a text of % characters', p_key, (select max(length(t)) from unnest(v_texts) t)
      using errcode = 'PB001', hint = 'A text may have 1,000 characters.';
  end if;
  if '' = any (v_texts) then
    raise exception '% holds an empty text: %', p_key, p_value
      using errcode = 'PB001', hint = format('Leave %s out where nothing is asked.', p_key);
  end if;
  return v_texts;
end $$;

comment on function taskqueue.texts(text, jsonb) is
'The texts of a JSON value (one text or a list; null, [] and nothing at all give none), sorted and without duplicates. Errors: PB001, naming the key.';
-- file: taskqueue/use_slots.sql
-- Section 7: see taskqueue.lock_slots. A delay is a token bucket kept as a clock: next_at is when the bucket is full again.
create or replace function taskqueue.use_slots(p_setup text, p_job_id bigint, p_slots jsonb) returns void
language sql
as $$
  with gone as (
    delete from taskqueue.limit_slot s
     using jsonb_to_recordset(p_slots) as l (limit_id bigint, slot int)
     where s.setup = p_setup and s.limit_id = l.limit_id and s.slot = l.slot
    returning s.limit_id, s.slot
  )
  insert into taskqueue.limit_use (setup, job_id, limit_id, slot) select p_setup, p_job_id, g.limit_id, g.slot from gone g;
  update taskqueue.site_limit d set next_at = greatest(d.next_at, resource.clock(p_setup)) + d.delay
    from jsonb_to_recordset(p_slots) as l (limit_id bigint, slot int)
   where d.setup = p_setup and d.limit_id = l.limit_id and l.slot is null;
$$;

comment on function taskqueue.use_slots(text, bigint, jsonb) is
'Gives the slots locked by taskqueue.lock_slots to a job, and moves the clocks of its delays.';
-- file: taskqueue/user_priority_order.sql
-- after: taskqueue.job_level
-- Section 5, steps 3 and 4: the user priorities of a queue in the order in which they are tried, one draw each instead of one a job:
-- 4 us against 18.5 ms for the literal draw at 300,000 jobs. 0 is a class after all others, 10 with ten_first one before them (section 3).
create or replace function taskqueue.user_priority_order(p_setup text, p_task_queue_id bigint, p_seed bigint, p_ten_first boolean, p_policy text)
returns table (user_priority smallint, jobs bigint, changes bigint, first_id bigint)
language sql stable
rows 3
as $$
  select n.user_priority, n.jobs, n.changes, n.first_id
    from (select l.*, resource.draw(l.user_priority, p_seed) as draw, greatest(l.jobs, 1)::float8 as count, greatest(l.user_priority, 1)::float8 as weight
            from taskqueue.job_level(p_setup, p_task_queue_id) l offset 0) n  -- a fence, else taskqueue.draw_key is not inlined
   order by case when n.jobs <= 0 then 3 when n.user_priority = 0 then 2 when n.user_priority = 10 and p_ten_first then 0 else 1 end,
            taskqueue.draw_key(n.draw, n.count, n.weight, p_policy)
$$;

comment on function taskqueue.user_priority_order(text, bigint, bigint, boolean, text) is
'User priorities of a queue in drawn order, with the jobs counted there and how many changes of counts are not folded; those counted empty come last.';
-- file: taskqueue/vacate_places.sql
-- after: taskqueue.measure_lists
-- A queue leaves its lists: at each of its places the last queue of the band takes over, so that no draw hits an empty place. Nobody waits: a list that
-- somebody works on, or whose last queue somebody is dropping, keeps a gap until taskqueue.close_gaps. And an agent that finds a queue empty while
-- it is being moved leaves that queue for the next.
create or replace function taskqueue.vacate_places(p_setup text, p_task_queue_id bigint) returns void
language plpgsql
as $$
declare
  v_list_ids bigint[];
  v_bands int[];
  v_places int[];
  v_movable bigint[];
begin
  v_list_ids := array(select l.list_id from taskqueue.posting_list l
                       where l.setup = p_setup
                         and l.list_id in (select p.list_id from taskqueue.posting p where p.setup = p_setup and p.task_queue_id = p_task_queue_id)
                       order by l.site, l.cpu_time
                         for update skip locked);
  with gone as (
    delete from taskqueue.posting p where p.setup = p_setup and p.task_queue_id = p_task_queue_id returning p.list_id, p.band, p.place
  )
  select array_agg(g.list_id), array_agg(g.band), array_agg(g.place) into v_list_ids, v_bands, v_places from gone g where g.list_id = any (v_list_ids);
  if v_list_ids is null then
    return;
  end if;
  v_movable := array(select q.task_queue_id from taskqueue.task_queue q
                      where q.setup = p_setup
                        and q.task_queue_id in (select o.task_queue_id from unnest(v_list_ids, v_bands) g (list_id, band)
                                                 cross join lateral (select p.task_queue_id from taskqueue.posting p
                                                                      where p.setup = p_setup and p.list_id = g.list_id and p.band = g.band
                                                                      order by p.place desc limit 1) o)
                        for no key update skip locked);
  update taskqueue.posting p set place = g.place
    from unnest(v_list_ids, v_bands, v_places) g (list_id, band, place)
   cross join lateral (select i.place, i.task_queue_id from taskqueue.posting i
                        where i.setup = p_setup and i.list_id = g.list_id and i.band = g.band
                        order by i.place desc limit 1) o
   where p.setup = p_setup and p.list_id = g.list_id and p.band = g.band and p.place = o.place and o.place > g.place and o.task_queue_id = any (v_movable);
  perform taskqueue.measure_lists(p_setup, v_list_ids, v_bands);
end $$;

comment on function taskqueue.vacate_places(text, bigint) is
'Removes the postings of a queue that goes, and closes the gaps.';
-- file: taskqueue/wanted_posting.sql
-- after: taskqueue.band_of
-- What the postings must be, from the truth: task_queue, task_queue_site, task_queue_banned_site, held_owner.
create or replace view taskqueue.wanted_posting as
select q.setup, s.site, q.cpu_time, taskqueue.band_of(q.priority) as band, q.task_queue_id
  from taskqueue.task_queue q
 cross join lateral (
        select '' as site
        union all
        select '*' where not exists (select from taskqueue.task_queue_site l where l.setup = q.setup and l.task_queue_id = q.task_queue_id)
        union
        select l.value from taskqueue.task_queue_site l
         where l.setup = q.setup and l.task_queue_id = q.task_queue_id
           and not exists (select from taskqueue.task_queue_banned_site b
                            where b.setup = l.setup and b.task_queue_id = l.task_queue_id and b.value = l.value)) s
 where q.enabled and not q.held
   and not exists (select from taskqueue.held_owner h where h.setup = q.setup and h.owner_dn = q.owner_dn);

comment on view taskqueue.wanted_posting is
'The postings that the requirement tables ask for; taskqueue.posting holds exactly these (taskqueue.check_matching compares).';
comment on column taskqueue.wanted_posting.setup is 'Tenant.';
comment on column taskqueue.wanted_posting.site is 'A site listed and not banned; * = the queue lists none; empty = every open queue.';
comment on column taskqueue.wanted_posting.cpu_time is 'CPU bucket, seconds.';
comment on column taskqueue.wanted_posting.band is 'Band of its priority.';
comment on column taskqueue.wanted_posting.task_queue_id is 'TaskQueue.';
-- file: taskqueue/wanted_queue.sql
-- after: taskqueue.accepts
-- Section 4, condition 11: with JobID only that job, if it is waiting and its queue matches.
create or replace function taskqueue.wanted_queue(p_setup text, p_offer taskqueue.offer) returns bigint[]
language sql stable
as $$
  select array(
    select j.task_queue_id
      from taskqueue.job j
      join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     where j.setup = p_setup and j.job_id = p_offer.job_id and not j.held and taskqueue.is_open(q) and taskqueue.accepts(d, p_offer))
$$;

comment on function taskqueue.wanted_queue(text, taskqueue.offer) is
'The queue of the job that an offer wants; none: the job does not wait or is held, or its queue does not match.';
-- file: taskqueue/weight.sql
-- Section 9: for the mean draw weight, 10 counts as 1e6 with ten_first and 0 as 1e-5; else a user priority weighs as it is.
create or replace function taskqueue.weight(p_user_priority int, p_ten_first boolean) returns float8
language sql immutable
as $$
  select case when p_user_priority = 0 then 1e-5 when p_user_priority = 10 and p_ten_first then 1e6 else p_user_priority end::float8
$$;

comment on function taskqueue.weight(int, boolean) is
'Draw weight of a user priority for the shares (section 9).';
-- file: taskqueue/weight_of_queue.sql
-- after: taskqueue.job_level
-- Section 9: tp is the mean draw weight of a queue's jobs. A queue without jobs that could be matched keeps the one it had.
create or replace function taskqueue.weight_of_queue(p_queue taskqueue.task_queue, p_ten_first boolean) returns table (weight float8)
language sql stable
rows 1
as $$
  select coalesce(sum(c.jobs * taskqueue.weight(c.user_priority, p_ten_first)) / nullif(sum(c.jobs), 0), p_queue.mean_weight)
    from taskqueue.job_level(p_queue.setup, p_queue.task_queue_id) c
$$;

comment on function taskqueue.weight_of_queue(taskqueue.task_queue, boolean) is
'Mean draw weight of the jobs of a TaskQueue, as they are now.';
-- file: taskqueue/with_limits.sql
-- Section 7: which limits of the offered site are reached. A lease records one site and CE, so where an offered site has a limit the
-- description must name exactly one. Without limits this is one index probe.
create or replace function taskqueue.with_limits(p_setup text, p_resource jsonb, p_offer taskqueue.offer) returns taskqueue.offer
language plpgsql stable
as $$
declare
  v_named text[] := taskqueue.texts('Site', p_resource -> 'Site');
  v_key text;
begin
  p_offer.limited := exists (select from taskqueue.site_limit l where l.setup = p_setup and l.site = any (v_named));
  if not p_offer.limited then
    return p_offer;
  end if;
  v_key := case when cardinality(p_offer.sites) is distinct from 1 then 'Site'
                when cardinality(p_offer.grid_ces) is distinct from 1
                     and exists (select from taskqueue.site_limit l where l.setup = p_setup and l.site = any (v_named) and l.grid_ce is not null) then 'GridCE' end;
  if v_key is not null then
    raise exception '% is %, and limits are set at %', v_key, coalesce((p_resource -> v_key)::text, 'missing'), array_to_string(v_named, ', ')
      using errcode = 'PB001', hint = 'Name exactly one site, and one CE where limits are set for CEs.';
  end if;
  p_offer.reached := array(
    select l.limit_id
      from taskqueue.site_limit l
     where l.setup = p_setup and l.site = p_offer.sites[1]
       and (l.grid_ce is null or l.grid_ce = any (p_offer.grid_ces))
       and case l.kind
             when 'running' then not exists (select from taskqueue.limit_slot s
                                              where s.setup = l.setup and s.limit_id = l.limit_id and s.slot > 0
                                             offset taskqueue.surplus_slots(l.setup, l.limit_id))
             else l.next_at > resource.clock(p_setup) + (l.burst - 1) * l.delay
           end);
  return p_offer;
end $$;

comment on function taskqueue.with_limits(text, jsonb, taskqueue.offer) is
'The offer with the limits of its site that are reached (section 7). Errors: PB001 (not exactly one site or CE named where limits are set).';
-- file: workload/digest_input.sql
-- G12, G13: what the input of tasks amounts to. Jobs are groups of primary files; the other datasets are sliced in parallel.
-- Joins go to tables by their keys and nothing is joined to what was computed: for a setup that the planner has no statistics of it expects one row
-- and would loop (a thousand tasks with 60,000 files: minutes, against a second).
create or replace function workload.digest_input(p_setup text, p_task_ids bigint[]) returns bigint
language plpgsql
security definer set search_path = workload, pg_temp
as $$
declare
  v_digested bigint;
begin
  perform resource.identify(p_setup);
  delete from workload.input_digest i where i.setup = p_setup and i.task_id = any (p_task_ids);
  insert into workload.input_digest (setup, task_id, files, size, shared_files, jobs, job_events, job_input_mb, job_input_bytes, events)
  with task as materialized (
    select t.task_id, greatest(case when t.is_merging then t.n_files_per_merge_job else t.n_files_per_job end, 1) as files_per_job,
           (select min(d.position) from workload.task_dataset d where d.setup = p_setup and d.task_id = t.task_id and d.direction = 'input') as main
      from workload.task t
     where t.setup = p_setup and t.task_id = any (p_task_ids)
  ),
  placed as (
    select t.task_id, d.position, d.position = t.main as is_main, coalesce(workload.is_pseudo(s), false) as is_pseudo, f.lfn,
           coalesce(f.size, 0) as size, coalesce(f.nevents, 0) as nevents,
           (row_number() over (partition by t.task_id, d.position order by f.position) - 1) / t.files_per_job as job
      from task t
      join workload.task_dataset d on d.setup = p_setup and d.task_id = t.task_id and d.direction = 'input'
      join workload.dataset_file f on f.setup = p_setup and f.dataset = d.dataset
      left join workload.dataset s on s.setup = p_setup and s.dataset = d.dataset
  ),
  file as materialized (
    select p.*, max(p.job) filter (where p.is_main) over (partition by p.task_id) as last_job from placed p
  )
  select p_setup, x.task_id, max(x.files), max(x.size), bool_or(x.is_shared), max(x.jobs), max(x.job_events), max(x.job_mb), max(x.job_bytes), max(x.events)
    from (
      select t.task_id, 0::bigint as files, 0::numeric as size, false as is_shared, 0::bigint as jobs, 0::numeric as job_events, 0::float8 as job_mb,
             0::numeric as job_bytes, 0::numeric as events
        from task t
      union all
      select n.task_id, count(*), sum(n.size), bool_or(n.is_shared), 0, 0, 0, 0, 0
        from (select f.task_id, (array_agg(f.size order by f.position))[1] as size, min(f.position) <> max(f.position) as is_shared
                from file f where not f.is_pseudo group by f.task_id, f.lfn) n
       group by n.task_id
      union all
      select j.task_id, 0, 0, false, count(*), max(j.events), max(j.mb), 0, sum(j.events)
        from (select f.task_id, sum(f.nevents) as events, sum(case when f.size = 0 then 1 else f.size::float8 / 1048576 end) as mb
                from file f where f.is_main group by f.task_id, f.job) j
       group by j.task_id
      union all
      select b.task_id, 0, 0, false, 0, 0, 0, sum(b.size), 0
        from (select f.task_id, f.job, max(f.size) as size from file f where f.job <= f.last_job group by f.task_id, f.job, f.lfn) b
       group by b.task_id, b.job) x
   group by x.task_id;
  get diagnostics v_digested = row_count;
  return v_digested;
end $$;

comment on function workload.digest_input(text, bigint[]) is
'Computes workload.input_digest of tasks from their input datasets anew and returns how many tasks there were; call it when tasks or datasets change. Errors: PB002 (setup not granted).';
-- file: workload/digest_loaded_input.sql
-- After a load: a task is digested once, whether it was loaded or a dataset that it reads was.
create or replace function workload.digest_loaded_input(p_setup text, p_task_ids bigint[], p_datasets text[]) returns bigint
language plpgsql
security definer set search_path = workload, pg_temp
as $$
begin
  perform workload.digest_input(p_setup, array(
            select unnest(p_task_ids)
             union
            select d.task_id from workload.task_dataset d where d.setup = p_setup and d.direction = 'input' and d.dataset = any (p_datasets)));
  return (select coalesce(sum(i.jobs), 0) from workload.input_digest i where i.setup = p_setup and i.task_id = any (p_task_ids));
end $$;

comment on function workload.digest_loaded_input(text, bigint[], text[]) is
'Computes workload.input_digest anew for tasks that were loaded, and for all that read one of the datasets. Returns how many jobs the tasks loaded have. Errors: PB002 (setup not granted).';
-- file: workload/is_pseudo.sql
-- Datasets that stand for no files: JEDI makes jobs of them, but nothing is read (G12).
create or replace function workload.is_pseudo(p_dataset workload.dataset) returns boolean
language sql immutable parallel safe
as $$
  select coalesce((p_dataset).type in ('pseudo_input', 'pp_input'), false) or (p_dataset).dataset in ('pseudo_dataset', 'seq_number')
$$;

comment on function workload.is_pseudo(workload.dataset) is 'Whether a dataset is a pseudo dataset: it makes jobs, but has no files to read.';
-- file: workload/job_count.sql
-- after: workload.job_statistic
-- Jobs by queue, share and status side by side: what brokerage counts (G9).
create or replace view workload.job_count as
select s.setup, s.queue, s.gshare,
       coalesce(sum(s.njobs) filter (where s.status = 'defined'), 0)::bigint as defined,
       coalesce(sum(s.njobs) filter (where s.status = 'assigned'), 0)::bigint as assigned,
       coalesce(sum(s.njobs) filter (where s.status = 'activated'), 0)::bigint as activated,
       coalesce(sum(s.njobs) filter (where s.status = 'starting'), 0)::bigint as starting,
       coalesce(sum(s.njobs) filter (where s.status = 'running'), 0)::bigint as running,
       coalesce(sum(s.njobs) filter (where s.status = 'transferring'), 0)::bigint as transferring,
       sum(s.diskio * s.njobs) filter (where s.status = 'running') as diskio,
       sum(s.njobs) filter (where s.status = 'running' and s.diskio is not null) as diskio_jobs
  from workload.job_statistic s
 group by s.setup, s.queue, s.gshare;

comment on view workload.job_count is 'Jobs by unified queue and global share (null = jobs without one), in the statuses that brokerage reads.';
comment on column workload.job_count.setup is 'Tenant.';
comment on column workload.job_count.queue is 'Unified queue.';
comment on column workload.job_count.gshare is 'Global share.';
comment on column workload.job_count.defined is 'Defined jobs.';
comment on column workload.job_count.assigned is 'Assigned jobs.';
comment on column workload.job_count.activated is 'Activated jobs.';
comment on column workload.job_count.starting is 'Starting jobs.';
comment on column workload.job_count.running is 'Running jobs.';
comment on column workload.job_count.transferring is 'Transferring jobs.';
comment on column workload.job_count.diskio is 'Sum of the diskIO of the running jobs that say one (kB/s per core).';
comment on column workload.job_count.diskio_jobs is 'How many running jobs say one.';
-- file: workload/job_statistic.sql
-- World format: counts kept elsewhere (section statistics) add to those of the jobs in this database.
create or replace view workload.job_statistic as
select s.setup, s.queue, s.gshare, s.resource_type, s.nucleus, s.label, s.status, s.njobs, s.ncores, s.diskio
  from workload.statistic s
union all
select j.setup, j.queue, j.gshare, j.resource_type, t.nucleus, j.label, j.status, count(*), sum(j.cores), null::float8
  from workload.job j
  left join workload.task t on t.setup = j.setup and t.task_id = j.task_id
 where j.queue is not null
 group by j.setup, j.queue, j.gshare, j.resource_type, t.nucleus, j.label, j.status;

comment on view workload.job_statistic is
'Jobs counted by queue, share, resource type, nucleus, label and status: the rows of workload.statistic, and the jobs of workload.job. Sum them.';
comment on column workload.job_statistic.setup is 'Tenant.';
comment on column workload.job_statistic.queue is 'Unified queue.';
comment on column workload.job_statistic.gshare is 'Global share.';
comment on column workload.job_statistic.resource_type is 'Resource type.';
comment on column workload.job_statistic.nucleus is 'Nucleus that outputs go to.';
comment on column workload.job_statistic.label is 'prodSourceLabel.';
comment on column workload.job_statistic.status is 'Status of the jobs.';
comment on column workload.job_statistic.njobs is 'Jobs.';
comment on column workload.job_statistic.ncores is 'Cores; null = not known.';
comment on column workload.job_statistic.diskio is 'Mean diskIO of running jobs (kB/s per core); null = not known.';
-- file: workload/missing_reference.sql
-- Loads may come in any order, so that a name of what is not there is no error; but it may be a misspelt one, and brokerage then decides as if there were nothing.
create or replace function workload.missing_reference(p_setup text) returns table (kind text, rows bigint, example text)
language plpgsql stable
security definer set search_path = workload, pg_temp
as $$
begin
  perform resource.look(p_setup);
  return query
  with missing (kind, place, name, at) as (
    select 'input', d.task_id, format('task %s: %s', d.task_id, d.dataset), d.task_id::text
      from workload.task_dataset d
     where d.setup = p_setup and d.direction = 'input' and not exists (select from workload.dataset s where s.setup = p_setup and s.dataset = d.dataset)
       and d.dataset not in ('pseudo_dataset', 'seq_number')
    union all
    select 'nucleus', t.task_id, format('task %s: %s', t.task_id, t.nucleus), t.task_id::text
      from workload.task t
     where t.setup = p_setup and t.nucleus <> '' and not exists (select from resource.nucleus n where n.setup = p_setup and n.nucleus = t.nucleus)
       and not exists (select from resource.queue q where q.setup = p_setup and q.role = 'nucleus' and q.panda_site = t.nucleus)
    union all
    select 'storage', null, format('%s: %s', a.queue, a.storage), a.queue
      from resource.queue_storage a
     where a.setup = p_setup and not exists (select from resource.storage s where s.setup = p_setup and s.storage = a.storage)
    union all
    select 'replica', null, format('%s: %s', r.dataset, r.storage), r.dataset
      from workload.replica r
     where r.setup = p_setup and not exists (select from resource.storage s where s.setup = p_setup and s.storage = r.storage)
  )
  select m.kind, count(distinct m.at), (array_agg(m.name order by m.place, m.name collate "C"))[1] from missing m group by m.kind order by m.kind;
end $$;

comment on function workload.missing_reference(text) is
'What names things that are not there, counted, with an example: tasks their input datasets (input) and nucleus, queues their storages (storage), datasets those of their replicas (replica). Errors: PB001, PB002 (setup not granted).';
-- file: workload/replica_state.sql
-- Replicas with what the world format leaves out: an empty one is complete, lfns without a number found are as many as are named.
create or replace view workload.replica_state as
select r.setup, r.dataset, r.storage, r.vp, r.lfns, n.total, f.found, f.found = n.total as is_complete
  from workload.replica r
 cross join lateral (select coalesce(r.total, (select count(*) from workload.dataset_file d where d.setup = r.setup and d.dataset = r.dataset)) offset 0) n(total)
 cross join lateral (select coalesce(r.found, cardinality(r.lfns), n.total)) f(found);

comment on view workload.replica_state is 'Replicas with the files found and in all, and whether they are complete (found = total).';
comment on column workload.replica_state.setup is 'Tenant.';
comment on column workload.replica_state.dataset is 'Dataset.';
comment on column workload.replica_state.storage is 'Storage.';
comment on column workload.replica_state.vp is 'A virtual placement.';
comment on column workload.replica_state.lfns is 'Files there, where they are named.';
comment on column workload.replica_state.total is 'Files of the dataset.';
comment on column workload.replica_state.found is 'Files there.';
comment on column workload.replica_state.is_complete is 'Whether all are there.';
-- file: workload/world/dump.sql
-- World format: the rows of a table of this room as workload.store takes them.
create or replace function workload.dump(p_setup text, p_table text) returns setof jsonb
language plpgsql stable
security definer set search_path = workload, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return query select resource.dump_rows(p_setup, workload.world_table(p_table));
end $$;

comment on function workload.dump(text, text) is
'The rows of a table of the room workload as objects, in key order and without defaults; what workload.store takes. Errors: PB001, PB002 (setup not granted).';
-- file: workload/world/store.sql
-- World format: loads rows into a table of this room.
create or replace function workload.store(p_setup text, p_table text, p_rows jsonb, p_parents jsonb default null, p_merge boolean default false) returns bigint
language plpgsql
security definer set search_path = workload, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  return resource.store_rows(p_setup, workload.world_table(p_table), p_rows, p_parents, p_merge);
end $$;

comment on function workload.store(text, text, jsonb, jsonb, boolean) is
'Upserts an array of objects into a table of the room workload and returns how many; keys are columns, one left out gets its default (p_merge: keeps what the row has that is there), null is null. Rows of p_parents (values of the first key column, or objects with it and others; true = all) are deleted first. Errors: PB001, PB002 (setup not granted).';
-- file: workload/world/world_table.sql
-- World format: the tables of this room that worlds are loaded into and dumped from; no other is written by name.
create or replace function workload.world_table(p_table text) returns regclass
language plpgsql stable
as $$
begin
  if p_table in ('dataset', 'dataset_file', 'replica', 'task', 'task_dataset', 'task_result', 'statistic', 'job', 'user_queue_statistic', 'to_running_rate', 'remaining_work') then
    return ('workload.' || p_table)::regclass;
  end if;
  raise exception 'table is %, which worlds do not hold', coalesce(quote_literal(p_table), 'null')
    using errcode = 'PB001', hint = $h$Tables of workload that they hold: 'dataset', 'dataset_file', 'replica', 'task', 'task_dataset', 'task_result', 'statistic', 'job', 'user_queue_statistic', 'to_running_rate', 'remaining_work'.$h$;
end $$;

comment on function workload.world_table(text) is
'A table of the room workload that the world format covers. Errors: PB001 (another one).';
