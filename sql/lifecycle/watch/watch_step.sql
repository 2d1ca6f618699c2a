-- Each call does one step of lifecycle.watch in one transaction.
create or replace function lifecycle.watch_step(p_setup text, p_step text, p_dry_run boolean, p_limit int) returns jsonb
language plpgsql as $$
declare
  v_said jsonb;
begin
  if p_step = 'leases' then
    select jsonb_agg(to_jsonb(s))
      into v_said
      from lifecycle.expire_leases(p_setup, p_dry_run, p_limit) s
     where s.jobs > 0;
  elsif p_step = 'timeouts' then
    select jsonb_agg(to_jsonb(s))
      into v_said
      from lifecycle.watch_timeouts(p_setup, p_dry_run, p_limit) s
     where s.jobs > 0 or s.action like 'error: %';
  elsif p_step = 'fast-rebroker' then
    select jsonb_agg(jsonb_build_object('rule', 'fast-rebroker', 'action', 'rebroker', 'queue', s.queue, 'gshare',
                                        s.gshare, 'jobs', s.jobs))
      into v_said
      from lifecycle.fast_rebroker(p_setup, p_dry_run, p_limit) s where s.jobs > 0;
  elsif p_step = 'retries' then
    select jsonb_build_array(jsonb_build_object('rule', 'retry', 'action', 'give back', 'jobs', g.jobs)) into v_said
      from lifecycle.give_back(p_setup, p_limit) g (jobs) where g.jobs > 0;
  elsif p_step = 'activate' then
    select jsonb_agg(jsonb_build_object('rule', 'input', 'action', s.status, 'jobs', s.jobs))
      into v_said
      from lifecycle.activate(p_setup, coalesce(p_limit, 10000)) s
     where s.jobs > 0;
  elsif p_step = 'shares' then
    perform lifecycle.measure_shares(p_setup);
  elsif p_step = 'ended' then
    select jsonb_agg(jsonb_build_object('rule', m.step, 'action', 'forget', 'jobs', m.changed))
      into v_said
      from lifecycle.maintain(p_setup) m
     where m.changed > 0;
  end if;
  return coalesce(v_said, '[]');
end $$;

comment on function lifecycle.watch_step(text, text, boolean, int) is
  'Does one step of lifecycle.watch in a setup (leases, timeouts, fast-rebroker, retries, activate, shares, ended), '
  'and returns the number of jobs that it touched, by rule and action. Errors: PB001 (no '
  'such setup), PB002 (setup not granted).';
