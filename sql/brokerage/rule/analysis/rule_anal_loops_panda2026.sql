-- See analysis-candidates.md, anal-loops. A second pass requires that all of the input can be read over WAN. If the
-- remaining queues have only problems that may pass by themselves, a second pass needs one more reason.
create or replace function brokerage.rule_anal_loops_panda2026(t brokerage.task_facts) returns text
language sql stable parallel safe as $$
  select case
    when t.wan_problem is not null then null
    when t.task_priority >= 2000
         or t.io_intensity <> 0 and t.io_intensity_cutoff_user <> 0 and t.io_intensity <= t.io_intensity_cutoff_user
         or t.now - t.frozen > t.data_check_timeout_user * interval '1 hour' then 'any'
    else 'persistent'
  end
$$;

comment on function brokerage.rule_anal_loops_panda2026(brokerage.task_facts) is
  'anal-loops of panda2026: a task is decided once more, without anal-locality, if its input can be read over WAN.';
