-- instance.refuse_needs has checked that each step is an object.
create or replace function instance.refuse_large_steps(p_setup text, p_steps jsonb) returns void
language sql stable as $$
  select taskqueue.require_within(p_setup, 'requirements_size', format('steps[%s]', e.place - 1),
                                  pg_column_size(e.step))
    from jsonb_array_elements(p_steps) with ordinality e (step, place)
   where pg_column_size(e.step) > 4096
$$;

comment on function instance.refuse_large_steps(text, jsonb) is
  'Refuses steps with more bytes than the setting requirements_size of taskqueue.setting allows. Errors: PB001.';
