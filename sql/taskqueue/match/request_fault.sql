-- A request of taskqueue.match_many with a fault is refused before its resources are read. Inlined: the function is not
-- declared immutable, since format is not.
create or replace function taskqueue.request_fault(p_request jsonb) returns text
language sql stable as $$
  select case
    when jsonb_typeof(p_request) <> 'object' then format('request is %s, not an object', resource.shown(p_request))
    when p_request - '{resources,n,request_id,subject}'::text[] <> '{}'
      then format('request has the unknown key %s',
                  taskqueue.first_key(p_request - '{resources,n,request_id,subject}'::text[]))
    when jsonb_typeof(p_request -> 'resources') is distinct from 'array'
      then format('resources is %s, not an array', coalesce(resource.shown(p_request -> 'resources'), 'missing'))
    when jsonb_array_length(p_request -> 'resources') not between 1 and 10
      then format('resources has %s elements, not 1 to 10', jsonb_array_length(p_request -> 'resources'))
    when p_request ? 'n' and (jsonb_typeof(p_request -> 'n') <> 'number'
                              or p_request ->> 'n' !~ '^([1-9][0-9]{0,2}|1000)$')
      then format('n is %s, which is not within 1..1000', resource.shown(p_request -> 'n'))
    when coalesce(p_request ->> 'request_id', '') !~* '^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$'
      then format('request_id is %s, not a UUID', resource.shown(p_request -> 'request_id'))
    when jsonb_typeof(p_request -> 'subject') not in ('string', 'null') or length(p_request ->> 'subject') > 2000
      then format('subject is %s, not a text of at most 2000 characters', resource.shown(p_request -> 'subject'))
  end
$$;

comment on function taskqueue.request_fault(jsonb) is 'The reason why a request is refused; null if its form is right.';
