-- A private submitter touches its own jobs only (architecture, Roles).
create or replace function taskqueue.may_touch(p_identity resource.identity, p_job_id bigint) returns void
language plpgsql stable
as $$
begin
  if p_identity.private then
    perform taskqueue.may_submit(p_identity, (
      select d.requirements
        from (select q.definition_id from taskqueue.job j join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
               where j.setup = p_identity.setup and j.job_id = p_job_id
              union all
              select l.definition_id from taskqueue.lease l where l.setup = p_identity.setup and l.job_id = p_job_id) w
        join taskqueue.definition d on d.setup = p_identity.setup and d.definition_id = w.definition_id));
  end if;
end $$;

comment on function taskqueue.may_touch(resource.identity, bigint) is 'Refuses the job of others than the private submitter is. Errors: PB002.';
