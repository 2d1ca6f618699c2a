-- RETRIES.md, Changes. Inlined.
create or replace function taskqueue.requirements_after(p_requirements jsonb, p_change taskqueue.pending_change)
returns jsonb
language sql stable as $$
  select c.changed || jsonb_build_object('CPUTime', taskqueue.cpu_bucket_of((p_change).setup,
                                                                            (c.changed ->> 'CPUTime')::numeric))
    from (select taskqueue.changed_requirements(p_requirements, (p_change).memory_factor, (p_change).time_factor,
                                                (p_change).site, (p_change).ram_used) as changed offset 0) c
$$;

comment on function taskqueue.requirements_after(jsonb, taskqueue.pending_change) is
  'Canonical requirements of a job after a pending change.';
