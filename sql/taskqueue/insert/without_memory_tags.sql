-- MATCHING.md, Requirements: a job of DIRAC 8 asks for the tag 4GB, and a JobAgent offers MaxRAM. The two would never
-- meet.
create or replace function taskqueue.without_memory_tags(p_setup text, p_requirements jsonb) returns jsonb
language sql stable as $$
  select case when t.memory is null then p_requirements
              else p_requirements - 'Tags'::text
                   || case when t.tags is null then '{}' else jsonb_build_object('Tags', t.tags) end
                   || jsonb_build_object('MinRAM', greatest(t.memory, (p_requirements ->> 'MinRAM')::float8)) end
    from (select jsonb_agg(u.tag order by u.place) filter (where not u.is_memory) as tags,
                 max(case when u.is_memory then rtrim(u.tag, 'GB')::float8 * 1000 end) as memory
            from (select e.tag, e.place, e.tag ~ '^[0-9]{1,6}GB$' as is_memory
                    from jsonb_array_elements_text(p_requirements -> 'Tags') with ordinality e (tag, place)) u
           where coalesce((select s.memory_tags from taskqueue.setting s where s.setup = p_setup), true)) t
$$;

comment on function taskqueue.without_memory_tags(text, jsonb) is
  'Requirements whose tags of the form NGB became MinRAM, N x 1000 MB, where this is the larger value. With the '
  'setting memory_tags off, they are tags as others.';
