-- CLAUSES.md, Processors.
create or replace function taskqueue.with_processor_tag(p_requirements jsonb) returns jsonb
language sql immutable as $$
  select p_requirements - 'MinNumberOfProcessors'::text
         || case when n = '1' then '{}'
                 else jsonb_build_object('Tags', (
                        select jsonb_agg(distinct t.tag order by t.tag)
                          from (select jsonb_array_elements_text(p_requirements -> 'Tags') as tag
                                union all select n || 'Processors') t)) end
    from (values (p_requirements ->> 'MinNumberOfProcessors')) v (n)
$$;

comment on function taskqueue.with_processor_tag(jsonb) is
  'Requirements with the tag nProcessors instead of MinNumberOfProcessors n; 1 needs no tag.';
