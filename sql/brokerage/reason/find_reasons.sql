-- conventions.md, Reasons. The queue that comes nearest is the one that was rejected by the last rule in the order of
-- the profile, since it passed all earlier rules. A decision is read once, after the run. The rule that rejected the
-- most queues is also kept (monitor.task.why), so that a list of tasks need not unpack their decisions.
create or replace function brokerage.find_reasons(p_setup text, p_limit int default 1000) returns bigint
language plpgsql security definer set search_path = brokerage, pg_temp as $$
declare
  v_found bigint;
begin
  perform resource.identify(p_setup);
  if p_limit is null or p_limit < 1 then
    raise exception 'limit is %, which is below 1', coalesce(p_limit::text, 'null')
      using errcode = 'PB001', hint = 'Give the number of tasks to look at.';
  end if;
  perform from resource.setup s where s.setup = p_setup for key share;  -- keeps the setup from being removed
  if not found or not pg_try_advisory_xact_lock(hashtext('brokerage.find_reasons'), hashtext(p_setup)) then
    return null;
  end if;
  delete from brokerage.waiting_reason w
   where w.setup = p_setup
     and not exists (select from brokerage.task_state s
                      where s.setup = w.setup and s.task_id = w.task_id and s.algorithm = w.algorithm
                        and s.run_id = w.run_id);
  with decided as materialized (
    select s.task_id, s.algorithm, s.run_id, d.status, d.rule, coalesce(x.profile, r.profile) as profile
      from brokerage.task_state s
      join brokerage.run r on r.setup = s.setup and r.run_id = s.run_id
      join brokerage.task_decision d on d.setup = s.setup and d.run_id = s.run_id and d.task_id = s.task_id
      left join brokerage.trial x on x.setup = r.setup and x.trial = r.trial and d.arm = 'trial'
     where s.setup = p_setup and d.status <> 'candidates'
       and not exists (select from brokerage.waiting_reason w
                        where w.setup = s.setup and w.task_id = s.task_id and w.algorithm = s.algorithm)
     order by s.run_id, s.task_id
     limit p_limit
  ), ordered as materialized (
    select f.profile, f.algorithm, coalesce(f.parameters ->> 'as', f.rule) as rule, max(f.position) as position,
           bool_or(f.temporary) as temporary
      from brokerage.rule_in_force f
     where f.profile in (select d.profile from decided d)
     group by 1, 2, 3
  ), judged as materialized (
    select d.task_id, d.algorithm, d.status, q.rule, o.position, o.temporary, q.rejected, q.queue, q.places
      from decided d
     cross join lateral (
       select i.rule, count(*) filter (where i.verdict = 'r') as rejected,
              sum(count(*) filter (where i.verdict <> 'n')) over ()::bigint as places,
              (array_agg(i.queue order by i.queue collate "C") filter (where i.verdict = 'r'))[1] as queue
         from brokerage.decision i
        where i.setup = p_setup and i.run_id = d.run_id and i.task_id = d.task_id
        group by i.rule) q
      left join ordered o on o.profile = d.profile and o.algorithm = d.algorithm and o.rule = q.rule
     where q.rejected > 0
  ), nearest as (
    select distinct on (j.task_id, j.algorithm) j.*
      from judged j where j.status = 'pending'
     order by j.task_id, j.algorithm, j.position desc nulls last, j.rule
  ), most as (
    select distinct on (j.task_id, j.algorithm) j.*
      from judged j where j.rule is not null
     order by j.task_id, j.algorithm, j.rejected desc, j.rule
  )
  insert into brokerage.waiting_reason (setup, task_id, algorithm, run_id, reason, rule, queue, queues, most_rule,
                                        rejected, places)
  select p_setup, d.task_id, d.algorithm, d.run_id,
         case when d.status = 'error' then 'misconfigured'
              when d.status <> 'pending' and brokerage.reason_of_rule(d.rule, false) = 'input_missing'
              then 'input_missing'
              when d.status = 'failed' then 'misconfigured'
              when d.status = 'throttled' then 'throttled'
              else brokerage.reason_of_rule(coalesce(n.rule, d.rule), n.temporary) end,
         coalesce(n.rule, d.rule), n.queue, n.rejected, m.rule, m.rejected, m.places
    from decided d
    left join nearest n on n.task_id = d.task_id and n.algorithm = d.algorithm
    left join most m on m.task_id = d.task_id and m.algorithm = d.algorithm;
  get diagnostics v_found = row_count;
  return v_found;
end $$;

comment on function brokerage.find_reasons(text, int) is
  'Finds the reasons of waiting tasks that their last run could not decide or gave no queue '
  '(brokerage.waiting_reason), for at most p_limit tasks. Returns how many, or null while another call does this. '
  '`broker run` calls it every few seconds (loop summarize). Errors: PB001 (limit), PB002 (setup not granted).';
