create or replace function lifecycle.is_exempt(p_queue_status text, p_catchall text, p_skipped_at text[])
returns boolean
language sql stable as $$
  select 'paused' = any (p_skipped_at) and coalesce(p_queue_status = 'paused', false)
      or 'disableReassign' = any (p_skipped_at)
         and coalesce(p_catchall like '%disableReassign%' and resource.catchall(p_catchall) ? 'disableReassign', false)
$$;

comment on function lifecycle.is_exempt(text, text, text[]) is
  'Whether a timeout with lifecycle.timeout_rule.skipped_at skips the jobs of a queue.';
