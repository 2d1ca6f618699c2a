-- software-check.md, Hardware: dictionaries of type cpu and gpu, whose attributes are lists of texts. The last
-- dictionary of a type counts, in capitals, too; a single text means a list of that text.
create or replace function brokerage.published_hardware(p_architectures jsonb) returns jsonb
language sql immutable parallel safe as $$
  select coalesce(jsonb_object_agg(lower(d.dictionary ->> 'type'), l.lists order by d.number), '{}')
    from jsonb_array_elements(case when jsonb_typeof(p_architectures) = 'array' then p_architectures
                                   else '[]' end) with ordinality d(dictionary, number)
   cross join lateral (
         select coalesce(jsonb_object_agg(a.key, case when jsonb_typeof(a.value) = 'array' then a.value
                                                      else jsonb_build_array(a.value) end), '{}')
           from jsonb_each(case when jsonb_typeof(d.dictionary) = 'object' then d.dictionary else '{}' end) a
          where a.key <> 'type' and jsonb_typeof(a.value) in ('array', 'string')) l(lists)
   where jsonb_typeof(d.dictionary -> 'type') = 'string'
$$;

comment on function brokerage.published_hardware(jsonb) is
  'The hardware that a queue publishes: an object of type (cpu, gpu) to attribute to list of values.';
