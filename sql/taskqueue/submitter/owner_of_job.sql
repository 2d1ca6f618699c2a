-- The owner of a job comes from its TaskQueue, its lease, the job of brokerage (lifecycle.requirements_of makes the
-- owner from its user and share), its requirements if it has ended, or, if it was forgotten, the history of its last
-- match, or of its end if it was waiting.
create or replace function taskqueue.owner_of_job(p_setup text, p_job_id bigint)
returns table (owner_dn text, owner_group text)
language sql stable as $$
  select o.owner_dn, o.owner_group
    from (select 1 as place, q.owner_dn, q.owner_group, null::timestamptz as at
            from taskqueue.job j
            join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
           where j.setup = p_setup and j.job_id = p_job_id
          union all
          select 2, d.owner_dn, d.owner_group, null
            from taskqueue.lease l
            join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id
           where l.setup = p_setup and l.job_id = p_job_id
          union all
          select 3, w.user_name, w.gshare, null
            from workload.job w
           where w.setup = p_setup and w.job_id = p_job_id and w.user_name is not null and w.gshare is not null
          union all
          select 4, k.owner_dn, k.owner_group, null
            from taskqueue.ended e
            join taskqueue.kept_definition k on k.setup = e.setup and k.definition_id = e.definition_id
           where e.setup = p_setup and e.job_id = p_job_id
          union all
          select 5, h.owner_dn, h.owner_group, h.at
            from taskqueue.history h
           where h.setup = p_setup and h.job_id = p_job_id and h.owner_dn is not null) o
   order by o.place, o.at desc
   limit 1
$$;

comment on function taskqueue.owner_of_job(text, bigint) is
  'OwnerDN and OwnerGroup of a job that waits, is leased, has ended, or whose history is kept. No row means that they '
  'are not known.';
