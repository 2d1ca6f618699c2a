create or replace function taskqueue.with_numbers(p_parsed taskqueue.parsed_description, p_numbers jsonb)
returns taskqueue.parsed_description
language plpgsql immutable as $$
begin
  if p_parsed.digest is not null then
    p_parsed.offer.attributes := (p_parsed.offer).attributes || p_numbers;
  end if;
  return p_parsed;
end $$;

comment on function taskqueue.with_numbers(taskqueue.parsed_description, jsonb) is
  'A known description with the numbers that were sent this time (taskqueue.rounded_description).';
