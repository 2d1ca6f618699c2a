-- Tables may be loaded in any order, so a reference to a missing object is no error. But the name may be misspelt;
-- brokerage then decides as if nothing were there. Words that no rule knows are stored as well, since sites may have
-- words of their own.
create or replace function workload.missing_reference(p_setup text) returns table (kind text, rows bigint, example text)
language plpgsql stable security definer set search_path = workload, pg_temp as $$
begin
  perform resource.identify_viewer(p_setup);
  return query
  with missing (kind, place, name, at) as (
    select 'input', d.task_id, format('task %s: %s', d.task_id, d.dataset), d.task_id::text
      from workload.task_dataset d
     where d.setup = p_setup and d.direction = 'input'
       and not exists (select from workload.dataset s where s.setup = p_setup and s.dataset = d.dataset)
       and d.dataset not in ('pseudo_dataset', 'seq_number')
    union all
    select 'nucleus', t.task_id, format('task %s: %s', t.task_id, t.nucleus), t.task_id::text
      from workload.task t
     where t.setup = p_setup and t.nucleus <> ''
       and not exists (select from resource.nucleus n where n.setup = p_setup and n.nucleus = t.nucleus)
       and not exists (select from resource.queue q
                        where q.setup = p_setup and q.role = 'nucleus' and q.panda_site = t.nucleus)
    union all
    select 'storage', null, format('%s: %s', a.queue, a.storage), a.queue
      from resource.queue_storage a
     where a.setup = p_setup
       and not exists (select from resource.storage s where s.setup = p_setup and s.storage = a.storage)
    union all
    select 'replica', null, format('%s: %s', r.dataset, r.storage), r.dataset
      from workload.replica r
     where r.setup = p_setup
       and not exists (select from resource.storage s where s.setup = p_setup and s.storage = r.storage)
    union all
    select 'lfn', null, format('%s at %s: %s', r.dataset, r.storage, l.lfn), r.dataset
      from workload.replica r
     cross join unnest(r.lfns) l(lfn)
     where r.setup = p_setup
       and exists (select from workload.dataset_file f where f.setup = p_setup and f.dataset = r.dataset)
       and not exists (select from workload.dataset_file f
                        where f.setup = p_setup and f.dataset = r.dataset and f.lfn = l.lfn)
    union all
    select 'status', null, format('%s: %s', q.queue, q.status), q.queue
      from resource.queue q
     where q.setup = p_setup
       and q.status <> all (array['online', 'offline', 'brokeroff', 'test', 'standby', 'paused', 'downtime'])
    union all
    select 'label', t.task_id, format('task %s: %s', t.task_id, t.label), t.task_id::text
      from workload.task t
     where t.setup = p_setup
       and t.label <> all (array['managed', 'user', 'panda', 'test', 'prod_test', 'ptest', 'rc_test', 'rc_test2',
                                 'rc_alrb', 'install', 'service', 'ddm', 'rucio', 'validation'])
    union all
    select 'gshare', t.task_id, format('task %s: %s', t.task_id, t.gshare), t.task_id::text
      from workload.task t
     where t.setup = p_setup
       and exists (select from resource.share s where s.setup = p_setup)
       and not exists (select from resource.share s where s.setup = p_setup and s.gshare = t.gshare)
  )
  select m.kind, count(distinct m.at), (array_agg(m.name order by m.place, m.name collate "C"))[1]
    from missing m
   group by m.kind
   order by m.kind;
end $$;

comment on function workload.missing_reference(text) is
  'References to missing objects, counted by kind, with an example: input datasets (input) and nuclei (nucleus) of '
  'tasks, storages of queues (storage), storages of replicas (replica), files of replicas (lfn), and shares of tasks '
  '(gshare; only if shares exist). Further kinds are unknown words: the status of queues (status) and the labels of '
  'tasks (label). Errors: PB001, PB002 (setup not granted).';
