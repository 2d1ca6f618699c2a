-- RETRIES.md, Presets of retry rules. Sources: DIRACGrid/DIRAC v9.0.0a31, JobWrapper and JobAgent (texts),
-- MaxRescheduling of the JobManager (3); PanDAWMS/panda-server 9cc36033, retryModule.py (actions),
-- increaseRamLimitJobJEDI (1000, 2000, 3000, 4000, 6000, 8000 MB).
create or replace function taskqueue.shipped_retry_rules(p_preset text) returns jsonb
language plpgsql immutable as $$
begin
  if p_preset = 'dirac' then
    return '[
      {"position": 10, "name": "dirac-reschedule", "source": "dirac",
       "pattern": "^(Job Rescheduled|Going to reschedule job)", "failures_to": 3, "decision": "retry"},
      {"position": 20, "name": "dirac-reschedule-limit", "source": "dirac",
       "pattern": "^(Job Rescheduled|Going to reschedule job)", "failures_from": 4, "decision": "fail"}]'::jsonb;
  elsif p_preset = 'panda' then
    return '[
      {"position": 10, "name": "panda-increase-memory", "classes": ["memory"], "decision": "retry",
       "memory_factor": 1.5},
      {"position": 20, "name": "panda-increase-cputime", "classes": ["time"], "decision": "retry", "time_factor": 1.5},
      {"position": 30, "name": "panda-retry", "decision": "retry"}]'::jsonb;
  end if;
  raise exception 'preset is %, not dirac or panda', coalesce(quote_literal(left(p_preset, 100)), 'null')
    using errcode = 'PB001', hint = 'Presets of retry rules are dirac and panda.';
end $$;

comment on function taskqueue.shipped_retry_rules(text) is
  'The retry rules of a preset, dirac or panda, as taskqueue.set_retry_rules takes them. Errors: PB001 (no such '
  'preset).';
