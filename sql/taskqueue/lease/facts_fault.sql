-- ENDS.md, Facts of ends. Texts of pilots are cut (taskqueue.facts_of); a wrong form is a fault of the program that
-- sends it.
create or replace function taskqueue.facts_fault(p_given jsonb) returns text
language sql immutable as $$
  select coalesce(
    case when p_given ? 'host' and taskqueue.host_of(jsonb_build_object('HostName', p_given -> 'host')) is null
         then format('host is %s, not a name of 1 to 255 printable characters', resource.shown(p_given -> 'host')) end,
    case jsonb_typeof(p_given -> 'error')
      when 'array' then coalesce(
        case when jsonb_array_length(p_given -> 'error') > 7
             then format('error has %s elements, not at most 7', jsonb_array_length(p_given -> 'error')) end,
        (select format('error has %s, not an object {"source", "code", "text"}', resource.shown(e.e))
           from jsonb_array_elements(p_given -> 'error') e (e)
          where case jsonb_typeof(e.e)
                  when 'object' then e.e - '{source,code,text}'::text[] <> '{}'
                                     or coalesce(jsonb_typeof(e.e -> 'text'), 'null') not in ('string', 'null')
                  else true end
          limit 1),
        (select format('source is %s, not 1 to 32 of a-z, 0-9, _, . and -', coalesce(resource.shown(e.e -> 'source'),
                                                                                    'missing'))
           from jsonb_array_elements(p_given -> 'error') e (e)
          where coalesce(jsonb_typeof(e.e -> 'source') <> 'string' or e.e ->> 'source' !~ '^[a-z0-9_.-]{1,32}$', true)
          limit 1),
        (select format('code is %s, not an integer of 32 bits', resource.shown(e.e -> 'code'))
           from jsonb_array_elements(p_given -> 'error') e (e)
          where coalesce(jsonb_typeof(e.e -> 'code'), 'null') <> 'null'
            and not taskqueue.is_number_within(e.e -> 'code', -2147483648, 2147483647, true) limit 1))
      else case when coalesce(p_given -> 'error', 'null') <> 'null'
                then format('error is %s, not a list', resource.shown(p_given -> 'error')) end end,
    case jsonb_typeof(p_given -> 'used')
      when 'object' then (
        select case when u.key in ('cpu', 'wall', 'ram', 'cores')
                    then format('%s of used is %s, not %s', u.key, resource.shown(u.value),
                                case u.key when 'cores' then 'an integer from 0 to 32767'
                                           else 'a number from 0 to 1e15' end)
                    else format('used has the key %L, not cpu, wall, ram or cores', left(u.key, 100)) end
          from jsonb_each(p_given -> 'used') u
         where u.key not in ('cpu', 'wall', 'ram', 'cores')
            or u.value <> 'null'
               and not taskqueue.is_number_within(u.value, 0, case u.key when 'cores' then 32767 else 1e15 end,
                                                  u.key = 'cores')
         limit 1)
      else case when coalesce(p_given -> 'used', 'null') <> 'null'
                then format('used is %s, not an object', resource.shown(p_given -> 'used')) end end)
$$;

comment on function taskqueue.facts_fault(jsonb) is
  'The fault of {"host", "error", "used"} as given with a report or an end, naming the key and the value; null if '
  'there is none.';
