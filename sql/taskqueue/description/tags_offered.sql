-- MATCHING.md, Condition Tag: NumberOfProcessors n (1 to 1024) offers the tags 1Processors to nProcessors and, for n
-- above 1, MultiProcessor; WholeNode offers WholeNode.
create or replace function taskqueue.tags_offered(p_resource jsonb) returns text[]
language plpgsql immutable as $$
declare
  v_tags text[] := taskqueue.text_set('Tag', p_resource -> 'Tag', true);
  v_any boolean := taskqueue.includes_any(v_tags);
  v_number int;
begin
  if p_resource ? 'NumberOfProcessors' then
    v_number := taskqueue.number_of_processors('NumberOfProcessors', p_resource -> 'NumberOfProcessors');
    v_tags := v_tags || array(select i || 'Processors' from generate_series(1, v_number) i);
    if v_number > 1 then
      v_tags := v_tags || 'MultiProcessor'::text;
    end if;
  end if;
  if p_resource ? 'WholeNode' then
    if jsonb_typeof(p_resource -> 'WholeNode') <> 'boolean' then
      raise exception 'WholeNode is %, which is not true or false', resource.shown(p_resource -> 'WholeNode')
        using errcode = 'PB001', hint = 'Give true or false.';
    end if;
    if (p_resource -> 'WholeNode')::boolean then
      v_tags := v_tags || 'WholeNode'::text;
    end if;
  end if;
  return case when not v_any then v_tags end;
end $$;

comment on function taskqueue.tags_offered(jsonb) is
  'The tags that a resource offers by Tag, NumberOfProcessors and WholeNode; null means no condition (Tag is any). '
  'Errors: PB001.';
