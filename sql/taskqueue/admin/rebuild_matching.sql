-- Rebuilds all derived data from its source: task_queue, its requirement tables, job and lease.
create or replace function taskqueue.rebuild_matching(p_setup text) returns void
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_limit_id bigint;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.forget_descriptions(p_setup);
  delete from taskqueue.unposted u where u.setup = p_setup;
  delete from taskqueue.posting p where p.setup = p_setup;
  delete from taskqueue.posting_list l where l.setup = p_setup;
  delete from taskqueue.clause c where c.setup = p_setup;
  -- this repairs a definition that was changed by hand; its digest still identifies the requirements
  update taskqueue.definition d set requirements = w.requirements
    from (select t.definition_id, taskqueue.requirements_of_task_queue(t) as requirements
            from taskqueue.task_queue t
           where t.setup = p_setup) w
   where d.setup = p_setup and d.definition_id = w.definition_id and d.requirements <> w.requirements
     and d.digest = md5(w.requirements::text)::uuid;
  update taskqueue.task_queue q set definition_id = taskqueue.definition_of(p_setup, w.requirements)
    from (select t.task_queue_id, t.definition_id, taskqueue.requirements_of_task_queue(t) as requirements
            from taskqueue.task_queue t
           where t.setup = p_setup) w
    left join taskqueue.definition d on d.setup = p_setup and d.definition_id = w.definition_id
   where q.setup = p_setup and q.task_queue_id = w.task_queue_id and not (d.requirements = w.requirements);
  update taskqueue.definition d
     set made_in = pg_current_xact_id(), family = taskqueue.family_of(r),
         sibling_key = taskqueue.sibling_key_of(r), digest = md5(r::text)::uuid,
         owner_dn = r ->> 'OwnerDN', owner_group = r ->> 'OwnerGroup',
         cpu_time = (r ->> 'CPUTime')::bigint, min_ram = (r ->> 'MinRAM')::float8,
         pilot_types = taskqueue.list_of(r, 'PilotTypes'), sites = taskqueue.list_of(r, 'Sites'),
         banned_sites = taskqueue.list_of(r, 'BannedSites'),
         grid_ces = taskqueue.list_of(r, 'GridCEs'), platforms = taskqueue.list_of(r, 'Platforms'),
         job_types = taskqueue.list_of(r, 'JobTypes'), tags = taskqueue.list_of(r, 'Tags'),
         clauses = case when r ? 'Clauses' then taskqueue.bits_of_clauses(p_setup, r -> 'Clauses') else '' end,
         search_keys = taskqueue.definition_keys(p_setup, taskqueue.list_of(r, 'Sites'), taskqueue.list_of(r, 'Tags')),
         is_limited = taskqueue.counts_at_limit(p_setup, r)
    from (select i.definition_id, i.requirements as r from taskqueue.definition i where i.setup = p_setup) i
   where d.setup = p_setup and d.definition_id = i.definition_id;
  perform taskqueue.list_bounds(p_setup);
  delete from taskqueue.job_count_change c where c.setup = p_setup;
  delete from taskqueue.hand c where c.setup = p_setup;
  insert into taskqueue.hand (setup, task_queue_id, known_to, in_flight, jobs, first_ids, rest)
  select p_setup, q.task_queue_id, '0', '{}', array_agg(coalesce(n.jobs, 0) order by i.level),
         array_agg(n.first_id order by i.level), coalesce(sum(n.jobs), 0)
    from taskqueue.task_queue q
   cross join generate_series(0, 10) i (level)
    left join (select j.task_queue_id, j.user_priority, count(*) as jobs, min(j.job_id) as first_id
                 from taskqueue.job j where j.setup = p_setup and not j.held group by 1, 2) n
           on n.task_queue_id = q.task_queue_id and n.user_priority = i.level
   where q.setup = p_setup
   group by q.task_queue_id;
  delete from taskqueue.guard_mark m where m.setup = p_setup;  -- the rows of the history may have new transactions
  delete from taskqueue.owner_weight w where w.setup = p_setup;
  perform taskqueue.note_weights(
    p_setup, array(select q from taskqueue.task_queue q where q.setup = p_setup), 1);
  perform taskqueue.fold_weights(p_setup, g.owner_group)
     from (select distinct q.owner_group from taskqueue.task_queue q where q.setup = p_setup) g;
  perform taskqueue.post_task_queues(
    p_setup, array(select q.task_queue_id from taskqueue.task_queue q where q.setup = p_setup));
  for v_limit_id in select l.limit_id from taskqueue.site_limit l where l.setup = p_setup and l.kind = 'running' loop
    perform taskqueue.set_slots(p_setup, v_limit_id);
  end loop;
end $$;

comment on function taskqueue.rebuild_matching(text) is
  'Rebuilds all derived data that matching reads (definitions, postings, counts, weights of owners, limit slots) from '
  'TaskQueues, requirement tables, jobs and leases. Errors: PB002 (setup not granted), PB006 (busy).';
