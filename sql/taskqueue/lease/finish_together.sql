-- LEASES.md, Ended jobs: the ends of a call that nothing stands in the way of, in a few statements for all.
create or replace function taskqueue.finish_together(p_setup text, p_jobs jsonb)
returns table (job_id bigint, outcome text)
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_known taskqueue.presented[];
  v_leases taskqueue.lease[];
  v_moved bigint[];
  v_group record;
begin
  v_known := taskqueue.presented_leases(p_setup, p_jobs, 'outcome', 'finished', '{finished,failed,cancelled,closed}');
  if exists (select from unnest(v_known) k where (k.lease).brokered) then
    select workload.move_jobs(p_setup, array_agg((k.lease).job_id), array_agg(coalesce(k.wish, 'finished')),
                              array_agg(coalesce(case when k.wish = 'cancelled' then (k.lease).kill_reason end,
                                                 'finish_job')))
      into v_moved
      from unnest(v_known) k
     where (k.lease).brokered;
    v_known := array(select k from unnest(v_known) k
                      where not (k.lease).brokered or (k.lease).job_id = any (v_moved));
  end if;
  v_leases := array(select k.lease from unnest(v_known) k);
  if exists (select from unnest(v_leases) l
              where l.request_id is not null and l.matched_at > v_now - interval '10 minutes') then
    perform taskqueue.keep_leased_answers(v_leases);
  end if;
  delete from taskqueue.lease l
   where l.setup = p_setup and l.job_id = any (array(select o.job_id from unnest(v_leases) o));
  insert into taskqueue.ended (setup, job_id, attempts, token, task_queue_id, outcome, ended_at)
  select p_setup, (k.lease).job_id, (k.lease).attempt, (k.lease).token, (k.lease).task_queue_id,
         coalesce(k.wish, 'finished'), v_now
    from unnest(v_known) k;
  perform taskqueue.free_slots(p_setup, array(select o.job_id from unnest(v_leases) o));
  for v_group in
    select coalesce(k.wish, 'finished') as outcome, array_agg(k.lease) as leases, array_agg(k.subject) as subjects
      from unnest(v_known) k
     group by coalesce(k.wish, 'finished')
  loop
    perform taskqueue.note_ends(v_group.leases, v_group.outcome, v_group.subjects);
  end loop;
  return query select (k.lease).job_id, coalesce(k.wish, 'finished') from unnest(v_known) k;
end $$;

comment on function taskqueue.finish_together(text, jsonb) is
  'The ends of a call that nothing stands in the way of, with their outcomes. The others are left to '
  'taskqueue.finish_job, which names what is wrong. Errors: PB002 (a subject, from another login than the service).';
