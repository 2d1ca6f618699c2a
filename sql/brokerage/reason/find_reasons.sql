-- conventions.md, Reasons. The queue that comes nearest is the one that the last rule rejected, in the order of the
-- profile: it passed all rules before. A decision is looked at once, after the run.
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
  perform from resource.setup s where s.setup = p_setup for key share;  -- it is not removed meanwhile
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
  )
  insert into brokerage.waiting_reason (setup, task_id, algorithm, run_id, reason, rule, queue, queues)
  select p_setup, d.task_id, d.algorithm, d.run_id,
         case when d.status = 'error' then 'misconfigured'
              when d.status <> 'pending' and brokerage.reason_of_rule(d.rule, false) = 'input_missing'
              then 'input_missing'
              when d.status = 'failed' then 'misconfigured'
              when d.status = 'throttled' then 'throttled'
              else coalesce(brokerage.reason_of_rule(n.rule, o.temporary), 'no_queue_accepts') end,
         coalesce(n.rule, d.rule), n.queue, n.queues
    from decided d
    left join lateral (
      select q.rule, (array_agg(q.queue order by q.queue collate "C"))[1] as queue, count(*) as queues
        from brokerage.decision q
        left join ordered p on p.profile = d.profile and p.algorithm = d.algorithm and p.rule = q.rule
       where d.status = 'pending' and q.setup = p_setup and q.run_id = d.run_id and q.task_id = d.task_id
         and q.verdict = 'r'
       group by q.rule, p.position
       order by p.position desc nulls last, q.rule
       limit 1) n on true
    left join ordered o on o.profile = d.profile and o.algorithm = d.algorithm and o.rule = n.rule;
  get diagnostics v_found = row_count;
  return v_found;
end $$;

comment on function brokerage.find_reasons(text, int) is
  'Finds why tasks wait that their last run could not decide or found no queue for (brokerage.waiting_reason), of at '
  'most p_limit tasks; returns how many, null where another call is at it. `broker run` calls it every few seconds '
  '(loop summarize). Errors: PB001 (limit), PB002 (setup not granted).';
