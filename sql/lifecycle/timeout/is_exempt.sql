-- lifecycle.md, Timeouts: in the profile documented no timeout applies at queues that are paused, or have
-- disableReassign in their catchall; panda2026 skips some at each.
create or replace function lifecycle.is_exempt(p_queue resource.queue, p_skipped_at text[]) returns boolean
language sql stable
as $$
  select 'paused' = any (p_skipped_at) and coalesce((p_queue).status = 'paused', false)
      or 'disableReassign' = any (p_skipped_at)
         and coalesce((p_queue).catchall like '%disableReassign%'
                      and resource.catchall((p_queue).catchall) ? 'disableReassign',
                      false)
$$;

comment on function lifecycle.is_exempt(resource.queue, text[]) is
  'Whether a rule that is skipped at such queues (lifecycle.timeout_rule.skipped_at) passes over the jobs of a queue.';
