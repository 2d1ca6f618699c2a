-- zero-share.md, policy-syntax: sub-policies of the form field:...:share, separated by commas. A sub-policy that cannot
-- be read (an unknown field, an invalid regular expression, a priority that is not compared with a number) has no
-- effect. Each policy is read once per run.
create or replace function brokerage.read_policy(p_policy text, p_base_profile text)
returns table (number bigint, sub_policy text, type text, working_group text, gshare text, operator text,
               priority numeric, share text, amount numeric)
language sql stable rows 3 as $$
  with part as (
    select s.number, trim(s.sub_policy) as sub_policy, regexp_split_to_array(trim(s.sub_policy), ':') as fields
      from string_to_table(p_policy, ',') with ordinality s(sub_policy, number)
     where trim(s.sub_policy) <> ''
  ), read as (
    select p.number, p.sub_policy, p.fields[cardinality(p.fields)] as share, f.*,
           regexp_match(f.comparison, '^priority(>=|<=|==|!=|=|>|<) *(-?[0-9]{1,9}(?:[.][0-9]{1,9})?)$') as compared
      from part p
     cross join lateral (
           select (array_agg(regexp_replace(v.field, '^.*=', '')
                             order by v.number desc) filter (where v.field like 'type=%'))[1],
                  (array_agg(regexp_replace(v.field, '^.*=', '')
                             order by v.number desc) filter (where v.field like 'group=%'))[1],
                  (array_agg(regexp_replace(v.field, '^.*=', '')
                             order by v.number desc) filter (where v.field like 'gshare=%'))[1],
                  (array_agg(v.field order by v.number desc) filter (where v.field like 'priority%'))[1],
                  coalesce(bool_or(v.field !~ '^(type=|group=|gshare=|priority)' and v.number < cardinality(p.fields)),
                           false)
             from unnest(p.fields) with ordinality v(field, number)) f(
               type, working_group, gshare, comparison, has_unknown)
  ), pattern as (
    select r.*,
           brokerage.policy_pattern(nullif(r.type, 'any'), p_base_profile) as types,
           brokerage.policy_pattern(nullif(r.working_group, 'any'), p_base_profile) as groups,
           brokerage.policy_pattern(nullif(r.gshare, 'any'), p_base_profile) as gshares
      from read r
  )
  select p.number, p.sub_policy, brokerage.anchored(p.types), brokerage.anchored(p.groups),
         brokerage.anchored(p.gshares),
         case p.compared[1] when '=' then '==' else p.compared[1] end, p.compared[2]::numeric, p.share,
         case when p.share ~ '^[0-9]{1,9}([.][0-9]{1,9})?%?$' then rtrim(p.share, '%')::numeric end
    from pattern p
   where not p.has_unknown and (p.comparison is null or p.compared is not null)
     and resource.pattern_problem(p.types) is null and resource.pattern_problem(p.groups) is null
     and resource.pattern_problem(p.gshares) is null
$$;

comment on function brokerage.read_policy(text, text) is
  'The sub-policies of a fairsharepolicy that can be read, in order: patterns of process group, working group and '
  'global share (null means any; brokerage.fits), comparison of the current priority, share as written and as a '
  'number. Base profile documented or panda2026.';
