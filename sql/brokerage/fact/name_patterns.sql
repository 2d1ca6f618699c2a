-- Names of queues become patterns of like, in which * matches any text. Only PanDA's code looks for a pattern anywhere
-- in a name, and reads it as a regular expression (analysis-candidates.md, include-exclude): the dot matches any
-- character, and an expression with other special characters is replaced by the names that it finds. An invalid
-- expression finds none; brokerage.task_problems reports it.
create or replace function brokerage.name_patterns(p_setup text, p_names text[], p_anywhere boolean) returns text[]
language sql stable as $$
  select coalesce(array_agg(u.pattern order by n.number, u.pattern) filter (where u.pattern is not null),
                  case when count(*) > 0 then '{}'::text[] end)
    from unnest(p_names) with ordinality n(name, number)
   cross join lateral (select brokerage.like_text(n.name),
                              case when p_anywhere then brokerage.name_expression(n.name) end) e(escaped, expression)
    left join lateral unnest(case
                when e.expression is null then array[case when not p_anywhere then replace(e.escaped, '*', '%')
                                                          when n.name like '%*%'
                                                          then '%' || replace(replace(e.escaped, '.', '_'), '*', '%')
                                                               || '%'
                                                          else e.escaped end]
                when resource.pattern_problem(e.expression) is null
                then array(select distinct brokerage.like_text(m.name)
                             from resource.queue q
                             left join resource.resource_type_in_force r on r.setup = q.setup and q.capability = 'ucore'
                            cross join lateral (select case
                              when q.queue ~ e.expression then q.queue
                              when q.queue || '/' || r.name ~ e.expression then q.queue || '/' || r.name
                            end) m(name)
                            where q.setup = p_setup and m.name is not null) end) u(pattern) on true
   where n.name <> ''
$$;

comment on function brokerage.name_patterns(text, text[], boolean) is
  'Patterns (like) for names with *; null if there is no name. p_anywhere: as in PanDA''s code, a regular expression '
  'that may match anywhere in the compared text.';
