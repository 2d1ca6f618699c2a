-- MATCHING.md, Refused requirements: a job id is a positive integer; an id that a submitter gives is below 10^12
-- (taskqueue.submitted_id).
create or replace function taskqueue.job_id(
  p_value jsonb, p_key text default 'job_id', p_most bigint default 9223372036854775807
) returns bigint
language plpgsql immutable as $$
declare
  v_id numeric;
begin
  if jsonb_typeof(p_value) = 'number' then
    v_id := p_value::numeric;
    if v_id between 1 and p_most and v_id = trunc(v_id) then
      return v_id;
    end if;
  end if;
  raise exception '% is %, which is not an integer within 1..%', p_key,
    coalesce(resource.shown(p_value), 'missing'), p_most
    using errcode = 'PB001', hint = concat_ws(' ',
      case when jsonb_typeof(p_value) = 'string' and p_value #>> '{}' ~ '^[0-9]+$'
           then 'It is a text: leave the quotation marks out.' end,
      case when p_most < 9223372036854775807
           then format('Ids above %s are reserved for jobs that brokerage makes.', p_most)
           else 'Name a job by its id.' end);
end $$;

comment on function taskqueue.job_id(jsonb, text, bigint) is
  'A job id from JSON, from 1 to p_most, checked. Errors: PB001.';
