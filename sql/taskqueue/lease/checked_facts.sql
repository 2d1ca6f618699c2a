-- ENDS.md, Facts of ends.
create or replace function taskqueue.checked_facts(p_error jsonb, p_used jsonb, p_host text)
returns taskqueue.run_facts
language plpgsql immutable as $$
declare
  v_given jsonb := jsonb_build_object('error', p_error, 'used', p_used)
                   || case when p_host is null then '{}' else jsonb_build_object('host', p_host) end;
  v_facts taskqueue.run_facts := taskqueue.read_facts(v_given);
begin
  if v_facts.fault is not null then
    raise exception '%', v_facts.fault
      using errcode = 'PB001', hint = 'error is [{"source": "pilot", "code": 1305, "text": "..."}], used is '
                                      '{"cpu": seconds, "wall": seconds, "ram": MB, "cores": n}.';
  end if;
  return v_facts;
end $$;

comment on function taskqueue.checked_facts(jsonb, jsonb, text) is
  'The facts of a single report or end. Errors: PB001, naming the key and the value.';
