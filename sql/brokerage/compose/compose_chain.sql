-- One level of the composed query: rules in a row, each evaluated only where those before it accept. Every item is
-- 'rule<tab>' || its function, which is null if the rule accepts. Queues that do not enter the list come first, then
-- rules that reject; of the rules that only mark a queue the last mark that was written counts. p_beside: more columns
-- of the level.
create or replace function brokerage.compose_chain(
  p_begins text, p_from text, p_level int, p_alive text, p_rules brokerage.profile_rule[], p_calls text[],
  p_reasons text[], p_marks boolean[], p_all_failures boolean, p_beside text
) returns text
language sql stable as $$
  with item as (
    select r.ordinality as number, r.kind = 'candidate' as is_outside, p_marks[r.ordinality] as is_mark,
           format('%L || %s', case when r.kind = 'candidate' then '!' else '' end || p_reasons[r.ordinality],
                  p_calls[r.ordinality]) as said
      from unnest(p_rules) with ordinality r
  ), list as (
    select coalesce(array_agg(i.said order by i.number) filter (where i.is_outside), '{}') as outside,
           coalesce(array_agg(i.said order by i.number) filter (where not i.is_outside and not i.is_mark),
                    '{}') as persistent,
           coalesce(array_agg(i.said order by i.number desc) filter (where not i.is_outside and i.is_mark),
                    '{}') as temporary
      from item i
  )
  select format('(select %8$s%7$s, case when %1$s then coalesce(%2$s) end as failed_%3$s, '
                'case when %1$s then coalesce(%4$s) end as marked_%3$s, %5$s as failures_%3$s '
                'from %6$s offset 0) x',
                p_alive, array_to_string(l.outside || l.persistent || 'null::text'::text, ', '), p_level,
                array_to_string(l.temporary || 'null::text'::text, ', '),
                case when p_all_failures
                     then format('case when coalesce(%s) is null then array_remove(array[%s]::text[], null) end',
                                 array_to_string(l.outside || 'null::text'::text, ', '),
                                 array_to_string(l.persistent || l.temporary, ', '))
                     else 'null::text[]' end,
                p_from, p_beside, p_begins)
    from list l
$$;

comment on function brokerage.compose_chain(text, text, int, text, brokerage.profile_rule[], text[], text[], boolean[],
                                            boolean, text) is
  'SQL of one level of a profile: the first persistent rule that fails, the last temporary one in order, and all that '
  'fail if they are requested. p_reasons: what the reasons of the rules begin with.';
