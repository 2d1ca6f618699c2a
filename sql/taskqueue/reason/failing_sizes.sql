create or replace function taskqueue.failing_sizes(p_found taskqueue.found_reason) returns text
language plpgsql stable as $$
declare
  v_identity resource.identity;
  v_definition taskqueue.definition;
begin
  v_identity.private := false;  -- the description alone defines the resource, not the identity of the caller
  select d.* into v_definition from taskqueue.definition d
   where d.setup = (p_found).setup and d.definition_id = (p_found).definition_id;
  return (select string_agg(format('%s (wanted: %s; offered: %s)', c.condition, c.wanted, c.offered), ', '
                            order by c.condition)
            from taskqueue.condition(v_definition, taskqueue.offer_once_made(
                   (p_found).setup, ((p_found).kind).resource, v_identity)) c
           where not c.holds and c.condition <> 'Limits');
end $$;

comment on function taskqueue.failing_sizes(taskqueue.found_reason) is
  'The conditions that the kind of resource named by a reason fails, in words; null if there is none.';
