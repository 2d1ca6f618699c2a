-- after: instance.evaluate
-- instance-scheduling.md: expressions are evaluated when the sizes are known. What comes out is what a job needs, so it must be something that a job can need.
create or replace function instance.resolve_needs(p_setup text, p_job_ids bigint[]) returns void
language plpgsql
set enable_seqscan = off set plan_cache_mode = force_generic_plan  -- each row by its key, however many they are
as $$
declare
  v_wrong record;
begin
  with value as materialized (
    select j.job_id, case when j.cpu_expression is null then j.cpu else instance.evaluate(j.cpu_expression, j.inputs) end as cpu,
           case when j.ram_expression is null then j.ram else instance.evaluate(j.ram_expression, j.inputs) end as ram
      from unnest(p_job_ids) u (job_id) join instance.job j on j.setup = p_setup and j.job_id = u.job_id
     where coalesce(j.cpu_expression, j.ram_expression) is not null
  ), stored as (
    update instance.job j set cpu = v.cpu, ram = v.ram from value v
     where j.setup = p_setup and j.job_id = v.job_id and v.cpu between 0 and 1e9 - 1 is not false and v.ram between 0 and 1e15 - 1 is not false
  )
  select v.job_id, x.need, x.value into v_wrong
    from value v cross join lateral (values ('cpu', v.cpu, 1e9), ('ram', v.ram, 1e15)) x (need, value, bound)
   where x.value between 0 and x.bound - 1 is false
   order by v.job_id limit 1;
  if found then
    raise exception 'job %: % comes to %', v_wrong.job_id, v_wrong.need, trim_scale(v_wrong.value)
      using errcode = 'PB001', hint = 'Expressions give 0 or more: less than 1e9 cores, less than 1e15 MB.';
  end if;
end $$;

comment on function instance.resolve_needs(text, bigint[]) is
'Works out what jobs need, where expressions say it and their inputs are known. Errors: PB001 (an expression gives nothing that a job can need).';
