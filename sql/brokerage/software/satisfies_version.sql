-- software-check.md, Hardware: the operator != is not known, so it always fails.
create or replace function brokerage.satisfies_version(p_version text, p_condition text) returns boolean
language sql immutable parallel safe as $$
  select coalesce(case c.part[1] when '==' then v.given = v.wanted
                                 when '>=' then v.given >= v.wanted
                                 when '<=' then v.given <= v.wanted
                                 when '>' then v.given > v.wanted when '<' then v.given < v.wanted end, false)
    from (select regexp_match(p_condition, '^([=><]+) *([0-9]{1,18}(?:[.][0-9]{1,18})*) *$')) c(part)
   cross join lateral (
         select case when p_version ~ '^[0-9]{1,18}([.][0-9]{1,18})*$'
                     then string_to_array(regexp_replace(p_version, '([.]0+)+$', ''), '.')::bigint[] end,
                string_to_array(regexp_replace(c.part[2], '([.]0+)+$', ''), '.')::bigint[]) v(given, wanted)
$$;

comment on function brokerage.satisfies_version(text, text) is
  'Whether a version such as 12.4 meets a condition such as >=12.0, part by part; false if one of them cannot be read. '
  'Operators ==, >=, <=, >, <.';
