-- LEASES.md, Limits: a job counts at the values of its canonical requirements. CPUTime is a bucket there, a memory tag
-- is MinRAM, and the word any is left out, so a limit on another form of a value would never act.
create or replace function taskqueue.require_limit_value(p_setup text, p_key text, p_value text) returns void
language plpgsql stable as $$
declare
  v_value jsonb := to_jsonb(p_value);
  v_found jsonb;
begin
  if exists (select from taskqueue.requirement_key k
              where k.key = p_key and k.type in ('number', 'processors', 'cpu_time')) then
    v_value := coalesce(to_jsonb(resource.number_or_null(jsonb_build_object(p_key, p_value), p_key)), v_value);
  end if;
  v_found := taskqueue.canonical_requirements(
    p_setup, jsonb '{"OwnerDN": "-", "OwnerGroup": "-", "CPUTime": 0}' || jsonb_build_object(p_key, v_value));
  if taskqueue.requires_value(v_found, p_key, p_value) is not true then
    raise exception '% of a job is never %', p_key, quote_literal(p_value)
      using errcode = 'PB001',
            hint = case when v_found ? p_key and p_key not in ('Tags', 'OwnerDN', 'OwnerGroup')
                        then format('Give %s, the form that requirements have.', v_found ->> p_key)
                        when p_key = 'Tags' then 'A tag NGB becomes MinRAM, unless the setting memory_tags is off.'
                        else 'The word any in a requirement asks for nothing.' end;
  end if;
end $$;

comment on function taskqueue.require_limit_value(text, text, text) is
  'Refuses a value of a limit that no canonical requirements have under the key: a number in another form, a CPU time '
  'that is no CPU bucket (seconds), a memory tag, the word any. Errors: PB001.';
