-- Names of queues as like reads them: * stands for anything. Only PanDA's code looks for a pattern anywhere in a name (D-35).
create or replace function brokerage.name_patterns(p_names text[], p_anywhere boolean) returns text[]
language sql immutable parallel safe
as $$
  select array_agg(case when p_anywhere and n.name like '%*%' then '%' || e.escaped || '%' else e.escaped end order by n.number)
    from unnest(p_names) with ordinality n(name, number)
   cross join lateral (select replace(replace(replace(replace(n.name, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%')) e(escaped)
   where n.name <> ''
$$;

comment on function brokerage.name_patterns(text[], boolean) is
'Patterns (like) for names with *; null = no name. p_anywhere: a name with * may stand anywhere in what is compared.';
