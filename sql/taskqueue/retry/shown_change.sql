-- RETRIES.md, Changes: the keys are those that taskqueue.changed_requirements may change.
create or replace function taskqueue.shown_change(p_before jsonb, p_after jsonb) returns text
language sql stable as $$
  select coalesce(string_agg(case k.key
                    when 'BannedSites'
                    then 'BannedSites + ' || (select string_agg(a.site, ', ' order by a.site)
                                                from jsonb_array_elements_text(p_after -> k.key) a (site)
                                               where (p_before -> k.key ? a.site) is not true)
                    else format('%s %s -> %s', k.key, coalesce(p_before ->> k.key, 'none'), p_after ->> k.key)
                    end, ', ' order by k.n), 'no change')
    from unnest('{MinRAM,MaxRAM,CPUTime,BannedSites}'::text[]) with ordinality k (key, n)
   where p_before -> k.key is distinct from p_after -> k.key
$$;

comment on function taskqueue.shown_change(jsonb, jsonb) is
  'The changes that a retry rule made to requirements: "MinRAM 2000 -> 3000, BannedSites + CERN".';
