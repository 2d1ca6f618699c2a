-- One level of the composed query is a sequence of rules, each evaluated only if those before it accept. Every item is
-- 'rule<tab>' || the result of its function, which is null if the rule accepts. Rules of candidates come first, then
-- rules that reject. Among rules that only mark a queue, the last mark counts.
create or replace function brokerage.compose_chain(
  p_begins text, p_beside text, p_from text, p_alive text, p_step brokerage.plan_step[], p_all_failures boolean
) returns text
language sql stable as $$
  with item as (
    select r.ordinality as number, r.kind = 'candidate' as is_outside, r.is_mark,
           format('%L || %s', case when r.kind = 'candidate' then '!' else '' end || r.reason_begins, r.call) as said
      from unnest(p_step) with ordinality r
  ), list as (
    select coalesce(array_agg(i.said order by i.number) filter (where i.is_outside), '{}') as outside,
           coalesce(array_agg(i.said order by i.number) filter (where not i.is_outside and not i.is_mark),
                    '{}') as persistent,
           coalesce(array_agg(i.said order by i.number desc) filter (where not i.is_outside and i.is_mark),
                    '{}') as temporary
      from item i
  )
  select brokerage.filled(
           $q$(select {begins}{beside}, case when {alive} then coalesce({rejects}) end as failed_{level},
                      case when {alive} then coalesce({marks}) end as marked_{level}, {failures} as failures_{level}
                 from {from} offset 0) x$q$,
           jsonb_build_object(
             'begins', p_begins, 'beside', p_beside, 'from', p_from, 'alive', p_alive,
             'level', coalesce(p_step[1].level, 0),
             'rejects', array_to_string(l.outside || l.persistent || 'null::text'::text, ', '),
             'marks', array_to_string(l.temporary || 'null::text'::text, ', '),
             'failures', case when p_all_failures
                              then format('case when %s then array_remove(array[%s]::text[], null) end',
                                          brokerage.compose_alive(l.outside || 'null::text'::text),
                                          array_to_string(l.persistent || l.temporary, ', '))
                              else 'null::text[]' end))
    from list l
$$;

comment on function brokerage.compose_chain(text, text, text, text, brokerage.plan_step[], boolean) is
  'SQL of one level of a profile: the first persistent rule that fails, the last temporary rule that fails, and, on '
  'request, all rules that fail. p_begins: the beginning of the select list; p_beside: more columns of the level; '
  'p_alive: the pairs to test.';
