-- The match of a lease is written with its end, at the time when it was made; until then taskqueue.match reads the
-- lease.
create or replace function taskqueue.note_events(p_events taskqueue.lease_event[], p_are_ends boolean default false)
returns void
language plpgsql as $$
declare
  v_caller text := resource.caller();
  v_subject text := (resource.subject()).name;
begin
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, cpu_time, owner_group,
                                 owner_dn, user_priority, site, grid_ce, role_name, subject, host, error,
                                 error_class, cpu_used, wall_used, ram_used, cores_used, failures, retry_rule,
                                 passive_rule, why)
  select l.setup, n.at, l.job_id, l.attempt, n.event, l.task_queue_id, l.definition_id, n.cpu_time, n.owner_group,
         n.owner_dn, l.user_priority, l.site, l.grid_ce, n.role_name, n.subject,
         (n.facts).host, (n.facts).error,
         case when n.event = 'failed' then k.error_class end,
         (n.facts).cpu_used, (n.facts).wall_used, (n.facts).ram_used, (n.facts).cores_used,
         (n.verdict).failures, (n.verdict).retry_rule, (n.verdict).passive_rule,
         case when n.event in ('kill asked', 'cancelled') then coalesce(l.kill_reason, k.why) end
    from unnest(p_events) k
   cross join lateral (select (k.lease).*) l
   cross join lateral (
     select l.matched_at, 'matched', d.cpu_time, d.owner_group, d.owner_dn, l.role_name, l.subject, null, null
       from taskqueue.definition d
      where p_are_ends and d.setup = l.setup and d.definition_id = l.definition_id
     union all
     select resource.clock(l.setup), k.event, null, null, null, v_caller, coalesce(k.subject, v_subject),
            case when p_are_ends and k.event = 'failed' then k.facts
                 when p_are_ends then taskqueue.facts_of_end(l, k.facts) end, k.verdict
   ) n (at, event, cpu_time, owner_group, owner_dn, role_name, subject, facts, verdict);
end $$;

comment on function taskqueue.note_events(taskqueue.lease_event[], boolean) is
  'Writes events of leases into the history; the end of a lease is written together with its match, '
  'and has the facts of the run. A failed end has its facts, class and verdict already (taskqueue.judge_ends).';
