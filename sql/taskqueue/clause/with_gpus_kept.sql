-- CLAUSES.md, GPUs.
create or replace function taskqueue.with_gpus_kept(p_requirements jsonb, p_keep boolean) returns jsonb
language sql immutable as $$
  select case
    when p_keep and not exists (
           select from jsonb_array_elements(p_requirements -> 'Clauses') c
            cross join jsonb_object_keys(c -> 'Attributes') a (name)
            where starts_with(a.name, 'gpu.'))
    then p_requirements || jsonb_build_object('Clauses', (
           select jsonb_agg(e.c order by e.c::text collate "C")
             from (select jsonb_array_elements(p_requirements -> 'Clauses') as c union all select k.clause) e))
    when not p_keep and p_requirements -> 'Clauses' = jsonb_build_array(k.clause) then p_requirements - 'Clauses'::text
    when not p_keep and p_requirements -> 'Clauses' @> jsonb_build_array(k.clause)
    then p_requirements || jsonb_build_object('Clauses', (
           select jsonb_agg(e.c order by e.n)
             from jsonb_array_elements(p_requirements -> 'Clauses') with ordinality e (c, n) where e.c <> k.clause))
    else p_requirements end
    from (values ('{"Attributes": {"gpu.count": [{"max": 0}]}}'::jsonb)) k (clause)
$$;

comment on function taskqueue.with_gpus_kept(jsonb, boolean) is
  'Canonical requirements with the setting keep_gpus (p_keep): requirements that name no attribute gpu.* demand '
  'gpu.count 0, or no longer do.';
