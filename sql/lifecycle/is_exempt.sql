-- lifecycle.md, Timeouts: no timeout applies at queues that are paused, or have disableReassign in their catchall.
create or replace function lifecycle.is_exempt(p_queue resource.queue) returns boolean
language sql stable
as $$
  select coalesce((p_queue).status = 'paused', false) or coalesce(resource.catchall((p_queue).catchall) ? 'disableReassign', false)
$$;

comment on function lifecycle.is_exempt(resource.queue) is 'Whether timeouts pass over the jobs of a queue.';
