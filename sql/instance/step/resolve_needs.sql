-- PACKING.md, Unknown needs.
create or replace function instance.resolve_needs(p_setup text, p_step_ids bigint[]) returns void
language plpgsql as $$
declare
  v_step instance.step;
  v_wrong record;
  v_hint text;
begin
  for v_step in
    select l.*
      from instance.locked_steps(p_setup, p_step_ids) l
     where coalesce(l.cpu_expression, l.ram_expression) is not null
  loop
    begin
      v_step.cpu := case when v_step.cpu_expression is null then v_step.cpu
                        else instance.evaluate(v_step.cpu_expression, v_step.inputs) end;
      v_step.ram := case when v_step.ram_expression is null then v_step.ram
                        else instance.evaluate(v_step.ram_expression, v_step.inputs) end;
    exception when sqlstate 'PB001' then
      get stacked diagnostics v_hint = pg_exception_hint;
      raise exception 'step %: %', v_step.step_id, sqlerrm using errcode = 'PB001', hint = v_hint;
    end;
    select x.need, x.value
      into v_wrong
      from (values ('cpu', v_step.cpu, 1e9), ('ram', v_step.ram, 1e15)) x (need, value, bound)
     where x.value between 0 and x.bound - 1 is false
     limit 1;
    if found then
      raise exception 'step %: % comes to %', v_step.step_id, v_wrong.need, resource.shown(to_jsonb(v_wrong.value))
        using errcode = 'PB001', hint = 'An expression gives 0 or more: less than 1e9 cores, less than 1e15 MB.';
    end if;
    update instance.step s
       set cpu = v_step.cpu, ram = v_step.ram
     where s.setup = p_setup and s.step_id = v_step.step_id
       and (s.cpu, s.ram) is distinct from (v_step.cpu, v_step.ram);
  end loop;
end $$;

comment on function instance.resolve_needs(text, bigint[]) is
  'Evaluates the expressions whose inputs are known, and stores the results as the needs of the steps. Errors: PB001 '
  '(an expression gives a value that a step cannot need).';
