-- RETRIES.md, Jobs of tasks: the changes of the part stay.
create or replace function workload.forget_failures(p_setup text, p_task_id bigint, p_number bigint) returns void
language sql as $$
  delete from workload.failed_part p
   where p.setup = p_setup and p.task_id = p_task_id and p.number = p_number
     and workload.changes_of_part(p) is null and not p.less_input;
  update workload.failed_part p set failures = 0
   where p.setup = p_setup and p.task_id = p_task_id and p.number = p_number
$$;

comment on function workload.forget_failures(text, bigint, bigint) is
  'Sets the number of failures of a part of a task''s input to 0.';
