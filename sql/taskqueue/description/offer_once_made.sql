-- A description that was accepted before may be refused now, for example because a limit was set for one of its sites.
-- Explanations skip such a description.
create or replace function taskqueue.offer_once_made(p_setup text, p_resource jsonb, p_identity resource.identity)
returns taskqueue.offer
language plpgsql stable as $$
begin
  return taskqueue.offer_of(p_setup, p_resource, p_identity);
exception when sqlstate 'PB001' then
  return null;
end $$;

comment on function taskqueue.offer_once_made(text, jsonb, resource.identity) is
  'The result of taskqueue.offer_of for a description seen before; null if it would be refused now.';
