-- CLAUSES.md, GPUs: existing TaskQueues get the requirements of the setting in one call, as taskqueue.set_cpu_buckets
-- moves them to new buckets.
create or replace function taskqueue.rewrite_gpus(p_setup text) returns void
language plpgsql as $$
declare
  v_keep boolean := (select s.keep_gpus from taskqueue.setting s where s.setup = p_setup);
  v_definition record;
begin
  if v_keep and not exists (select from taskqueue.attribute a
                             where a.setup = p_setup and a.name = 'gpu.count' and a.type = 'number'
                               and a.absent <> '"fails"') then
    raise exception 'keep_gpus is true, but the setup has no attribute gpu.count of the type number that may be absent'
      using errcode = 'PB001',
            hint = 'taskqueue.set_attributes makes it; in the preset diracx its absence counts as 0.';
  end if;
  for v_definition in
    select d.definition_id, n.requirements
      from taskqueue.definition d
     cross join lateral taskqueue.with_gpus_kept(d.requirements, v_keep) n (requirements)
     where d.setup = p_setup and n.requirements <> d.requirements
     order by d.definition_id
  loop
    delete from taskqueue.task_queue_requirement v
     using taskqueue.task_queue q
     where v.setup = p_setup and v.attribute = 'Clauses' and q.setup = p_setup and q.task_queue_id = v.task_queue_id
       and q.definition_id = v_definition.definition_id;
    insert into taskqueue.task_queue_requirement (setup, task_queue_id, attribute, value)
    select p_setup, q.task_queue_id, 'Clauses', c
      from taskqueue.task_queue q
     cross join jsonb_array_elements_text(v_definition.requirements -> 'Clauses') c
     where q.setup = p_setup and q.definition_id = v_definition.definition_id;
    perform taskqueue.replace_definition(p_setup, v_definition.definition_id,
                                         taskqueue.definition_of(p_setup, v_definition.requirements));
  end loop;
  if found then
    perform taskqueue.rebuild_matching(p_setup);
  end if;
end $$;

comment on function taskqueue.rewrite_gpus(text) is
  'Gives all definitions of a setup the form of the setting keep_gpus, merging those that become equal. The caller has '
  'called taskqueue.reconfigure, and the setting is on or was just switched off. Errors: PB001 (no attribute '
  'gpu.count).';
