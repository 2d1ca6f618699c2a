create or replace function workload.forget_parts(p_setup text, p_task_ids bigint[], p_numbers bigint[]) returns void
language sql as $$
  delete from workload.failed_part p
   using (select distinct u.task_id, u.number from unnest(p_task_ids, p_numbers) u (task_id, number)) g
   where p.setup = p_setup and p.task_id = g.task_id and p.number = g.number
     and not exists (select from workload.job j
                      where j.setup = p.setup and j.task_id = p.task_id and j.number = p.number)
$$;

comment on function workload.forget_parts(text, bigint[], bigint[]) is
  'Deletes the failures of the given parts (parallel arrays) of which no job is kept.';
