-- PACKING.md, Unknown needs. A step whose expression gives no value that a step can need does not stop the others: it
-- keeps the fault, and is unschedulable.
create or replace function instance.resolve_needs(p_setup text, p_step_ids bigint[]) returns void
language plpgsql as $$
declare
  v_step instance.step;
begin
  for v_step in
    select l.*
      from instance.locked_steps(p_setup, p_step_ids) l
     where coalesce(l.cpu_expression, l.ram_expression) is not null
  loop
    v_step.fault := null;
    begin
      v_step.cpu := case when v_step.cpu_expression is null then v_step.cpu
                        else instance.evaluate(v_step.cpu_expression, v_step.inputs) end;
      v_step.ram := case when v_step.ram_expression is null then v_step.ram
                        else instance.evaluate(v_step.ram_expression, v_step.inputs) end;
    exception when sqlstate 'PB001' or numeric_value_out_of_range then
      v_step.fault := left(sqlerrm, 1000);
    end;
    select coalesce(v_step.fault, format('%s comes to %s, an expression gives 0 or more, less than 1e%s %s', x.need,
                                         resource.shown(to_jsonb(x.value)), x.digits, x.unit))
      into v_step.fault
      from (values ('cpu', v_step.cpu, 9, 'cores'), ('ram', v_step.ram, 15, 'MB')) x (need, value, digits, unit)
     where v_step.fault is not null or x.value between 0 and 10::numeric ^ x.digits - 1 is false
     limit 1;
    if v_step.fault is not null then
      v_step.cpu := case when v_step.cpu_expression is null then v_step.cpu end;
      v_step.ram := case when v_step.ram_expression is null then v_step.ram end;
    end if;
    update instance.step s
       set cpu = v_step.cpu, ram = v_step.ram, fault = v_step.fault
     where s.setup = p_setup and s.step_id = v_step.step_id
       and (s.cpu, s.ram, s.fault) is distinct from (v_step.cpu, v_step.ram, v_step.fault);
  end loop;
end $$;

comment on function instance.resolve_needs(text, bigint[]) is
  'Evaluates the expressions whose inputs are known, and stores the results, or the fault of an expression, in the '
  'steps.';
