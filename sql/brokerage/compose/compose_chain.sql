-- One level of the composed query: rules in a row, each evaluated only where those before it accept. Every item is
-- 'rule<tab>' || its function, which is null if the rule accepts. Queues that do not enter the list come first.
-- p_beside: more columns of the level.
create or replace function brokerage.compose_chain(
  p_begins text, p_from text, p_level int, p_alive text, p_outside text[], p_persistent text[], p_temporary text[],
  p_all_failures boolean, p_beside text
) returns text
language sql immutable parallel safe as $$
  select format('(select %8$s%7$s, case when %1$s then coalesce(%2$s) end as failed_%3$s, '
                'case when %1$s then coalesce(%4$s) end as marked_%3$s, %5$s as failures_%3$s '
                'from %6$s offset 0) x',
                p_alive, array_to_string(p_outside || p_persistent || 'null::text'::text, ', '), p_level,
                array_to_string(p_temporary || 'null::text'::text, ', '),
                case when p_all_failures
                     then format('case when coalesce(%s) is null then array_remove(array[%s]::text[], null) end',
                                 array_to_string(p_outside || 'null::text'::text, ', '),
                                 array_to_string(p_persistent || p_temporary, ', '))
                     else 'null::text[]' end,
                p_from, p_beside, p_begins)
$$;

comment on function brokerage.compose_chain(text, text, int, text, text[], text[], text[], boolean, text) is
  'SQL of one level of a profile: the first persistent rule that fails, the last temporary one in order, and all that '
  'fail if they are requested.';
