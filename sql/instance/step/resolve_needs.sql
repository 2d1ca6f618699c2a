-- instance-scheduling.md: expressions are evaluated when the sizes are known. What comes out is what a job needs, so
-- it must be something that a job can need.
create or replace function instance.resolve_needs(p_setup text, p_job_ids bigint[]) returns void
language plpgsql
as $$
declare
  v_job instance.job;
  v_wrong record;
  v_hint text;
begin
  for v_job in
    select l.*
      from instance.locked_jobs(p_setup, p_job_ids) l
     where coalesce(l.cpu_expression, l.ram_expression) is not null
  loop
    begin
      v_job.cpu := case when v_job.cpu_expression is null then v_job.cpu
                        else instance.evaluate(v_job.cpu_expression, v_job.inputs) end;
      v_job.ram := case when v_job.ram_expression is null then v_job.ram
                        else instance.evaluate(v_job.ram_expression, v_job.inputs) end;
    exception when sqlstate 'PB001' then
      get stacked diagnostics v_hint = pg_exception_hint;
      raise exception 'job %: %', v_job.job_id, sqlerrm using errcode = 'PB001', hint = v_hint;
    end;
    select x.need, x.value
      into v_wrong
      from (values ('cpu', v_job.cpu, 1e9), ('ram', v_job.ram, 1e15)) x (need, value, bound)
     where x.value between 0 and x.bound - 1 is false
     limit 1;
    if found then
      raise exception 'job %: % comes to %', v_job.job_id, v_wrong.need, trim_scale(v_wrong.value)
        using errcode = 'PB001', hint = 'Expressions give 0 or more: less than 1e9 cores, less than 1e15 MB.';
    end if;
    update instance.job j
       set cpu = v_job.cpu, ram = v_job.ram
     where j.setup = p_setup and j.job_id = v_job.job_id and (j.cpu, j.ram) is distinct from (v_job.cpu, v_job.ram);
  end loop;
end $$;

comment on function instance.resolve_needs(text, bigint[]) is
  'Works out what jobs need, where expressions say it and their inputs are known. '
  'Errors: PB001 (an expression gives nothing that a job can need).';
