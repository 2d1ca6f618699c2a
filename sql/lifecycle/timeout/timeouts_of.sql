create or replace function lifecycle.timeouts_of(p_setup text) returns setof lifecycle.timeout
language plpgsql stable rows 30 as $$
begin
  return query
    select t.position, t.rule, t.statuses, t.labels, t.not_labels, t.priority_from, t.priority_to, t.conditions,
           t.clock,
           t.key_by_name, t.key, t.queue_column, t.queue_setting, t.constant, t.action, t.skipped_at, t.description
      from lifecycle.timeout_in_force t
     where t.setup = p_setup;
end $$;

comment on function lifecycle.timeouts_of(text) is
  'Timeouts that apply in a setup, as rows of the type that lifecycle.judge_timeouts reads.';
