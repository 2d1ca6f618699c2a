-- RETRIES.md.
create or replace function taskqueue.set_retry_rules(p_setup text, p_rows jsonb) returns void
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_rules taskqueue.retry_rule[];
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter_setup(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform from taskqueue.setting s where s.setup = p_setup for no key update;  -- one change at a time
  v_rules := taskqueue.read_retry_rules(p_setup, p_rows);
  delete from taskqueue.retry_rule r
   where r.setup = p_setup and r.position not in (select n.position from unnest(v_rules) n);
  insert into taskqueue.retry_rule as r
  select n.* from unnest(v_rules) n
  on conflict (setup, position) do update
     set name = excluded.name, classes = excluded.classes, source = excluded.source, code_from = excluded.code_from,
         code_to = excluded.code_to, pattern = excluded.pattern, sites = excluded.sites,
         owner_groups = excluded.owner_groups, job_types = excluded.job_types,
         failures_from = excluded.failures_from, failures_to = excluded.failures_to, decision = excluded.decision,
         delay = excluded.delay, memory_factor = excluded.memory_factor, time_factor = excluded.time_factor,
         elsewhere = excluded.elsewhere, less_input = excluded.less_input, passive = excluded.passive;
end $$;

comment on function taskqueue.set_retry_rules(text, jsonb) is
  'Replaces the retry rules of a setup by an array of {position, name, classes, source, '
  'code_from, code_to, pattern, sites, owner_groups, job_types, failures_from, failures_to, decision, delay (seconds), '
  'memory_factor, time_factor, elsewhere (host or site), less_input, passive}; an empty array leaves none. Errors: '
  'PB001, PB002 (setup not granted).';
