-- RETRIES.md: an empty list would fit no end, nor would a class that no error has.
create or replace function taskqueue.rule_lists_fault(p_setup text, p_rule jsonb) returns text
language sql stable as $$
  select case when l.value = '[]' then l.key || ' is an empty list'
              when jsonb_array_length(l.value) > 1000
              then format('%s has %s values, not at most 1,000', l.key, jsonb_array_length(l.value))
              when v.value = '' then l.key || ' has an empty text'
              when length(v.value) > 1000 then format('%s has a value of more than 1,000 characters', l.key)
              when v.times > 1 then format('%s has %s twice', l.key, resource.shown(to_jsonb(v.value)))
              else format('classes has %s, which neither error class nor shipped class gives',
                          resource.shown(to_jsonb(v.value))) end
    from jsonb_each(p_rule) l
    left join lateral (select e.value, count(*) as times from jsonb_array_elements_text(l.value) e group by e.value) v
           on true
   where l.key in ('classes', 'sites', 'owner_groups', 'job_types') and jsonb_typeof(l.value) = 'array'
     and (l.value = '[]' or jsonb_array_length(l.value) > 1000 or v.value = '' or length(v.value) > 1000 or v.times > 1
          or l.key = 'classes' and v.value not in (select s.class from taskqueue.shipped_class s)
             and v.value not in (select c.class from taskqueue.error_class c where c.setup = p_setup))
   order by l.key, v.value limit 1
$$;

comment on function taskqueue.rule_lists_fault(text, jsonb) is
  'The reason why a retry rule with these lists is refused, with key and value; null if they are valid.';
