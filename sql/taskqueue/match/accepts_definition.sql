-- Tests all conditions of a candidate that taskqueue.match_job cannot test itself. The candidate is in a posting list
-- of the bucket of the requested CPUTime, so the CPUTime of the known description does not matter.
create or replace function taskqueue.accepts_definition(
  p_setup text, p_definition_id bigint, p_offer taskqueue.offer
) returns boolean
language plpgsql stable as $$
begin
  p_offer.cpu_time := 9223372036854775807;
  -- plan: all conditions of a point
  return (select taskqueue.accepts(d, p_offer) from taskqueue.definition d
           where d.setup = p_setup and d.definition_id = p_definition_id);
end $$;

comment on function taskqueue.accepts_definition(text, bigint, taskqueue.offer) is
  'Whether a definition matches an offer, whatever its CPUTime.';
