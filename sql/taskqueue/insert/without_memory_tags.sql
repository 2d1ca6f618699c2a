-- MATCHING.md, Requirements: a job of DIRAC 8 asks for the tag 4GB, and a JobAgent offers MaxRAM. The two would never
-- meet.
create or replace function taskqueue.without_memory_tags(
  p_setup text, p_tags text[], out tags text[], out memory bigint
)
language sql stable as $$
  select coalesce(array_agg(t.tag order by t.place) filter (where not t.is_memory), '{}'),
         max(case when t.is_memory then rtrim(t.tag, 'GB')::bigint * 1000 end)
    from (select u.tag, u.place, u.tag ~ '^[0-9]{1,6}GB$'
                                 and coalesce((select s.memory_tags from taskqueue.setting s where s.setup = p_setup),
                                              true) as is_memory
            from unnest(p_tags) with ordinality u(tag, place)) t
$$;

comment on function taskqueue.without_memory_tags(text, text[]) is
  'The tags of requirements without those of the form NGB, and the largest memory that these ask for: N x 1000 MB. '
  'With the setting memory_tags off, they are tags as others.';
