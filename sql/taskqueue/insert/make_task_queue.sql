-- MATCHING.md, Insertion: a new TaskQueue with all its rows, in one transaction, so that no transaction sees it before
-- its requirements (DIRAC can show it earlier). The columns and tables written here are the source from which
-- taskqueue.rebuild_matching derives all other data.
create or replace function taskqueue.make_task_queue(p_setup text, p_definition_id bigint, p_weight float8)
returns bigint
language plpgsql as $$
declare
  v_definition taskqueue.definition;
  v_id bigint;
begin
  select d.*
    into strict v_definition
    from taskqueue.definition d
   where d.setup = p_setup and d.definition_id = p_definition_id;
  insert into taskqueue.task_queue (setup, definition_id, owner_dn, owner_group, cpu_time, min_ram, max_ram,
                                    most_processors, ram_per_processor, priority, mean_weight, is_open, created_at)
  select p_setup, p_definition_id, v_definition.owner_dn, v_definition.owner_group, v_definition.cpu_time,
         v_definition.min_ram, (r ->> 'MaxRAM')::float8, (r ->> 'MaxNumberOfProcessors')::int,
         (r ->> 'RAMPerProcessor')::float8, 0.001, p_weight,
         not exists (select from taskqueue.held_owner h
                      where h.setup = p_setup and h.owner_dn = v_definition.owner_dn), resource.clock(p_setup)
    from (values (v_definition.requirements)) v (r)
  returning task_queue_id into v_id;
  insert into taskqueue.hand (setup, task_queue_id, known_to, in_flight, jobs, first_ids)
  values (p_setup, v_id, '0', '{}', array_fill(0, array[11]), array_fill(null::bigint, array[11]));
  insert into taskqueue.task_queue_requirement (setup, task_queue_id, attribute, value)
  select p_setup, v_id, r.key, e.value
    from jsonb_each(v_definition.requirements) r
   cross join lateral jsonb_array_elements_text(r.value) e (value)
   where jsonb_typeof(r.value) = 'array';
  return v_id;
end $$;

comment on function taskqueue.make_task_queue(text, bigint, float8) is
  'Makes a TaskQueue of the definition and returns its id; p_weight is the mean weight of its first jobs. The caller '
  'ends with taskqueue.open_task_queues.';
