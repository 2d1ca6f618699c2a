-- MATCHING.md, Refused requirements: a job id is a positive bigint.
create or replace function taskqueue.job_id(p_value jsonb, p_key text default 'job_id') returns bigint
language plpgsql immutable as $$
declare
  v_id numeric;
begin
  if jsonb_typeof(p_value) = 'number' then
    v_id := p_value::numeric;
    if v_id between 1 and 9223372036854775807 and v_id = trunc(v_id) then
      return v_id;
    end if;
  end if;
  raise exception '% is %, which is not a positive bigint', p_key, coalesce(resource.shown(p_value), 'missing')
    using errcode = 'PB001', hint = 'Job ids are integers within 1..9223372036854775807.';
end $$;

comment on function taskqueue.job_id(jsonb, text) is 'A job id from JSON, checked. Errors: PB001.';
