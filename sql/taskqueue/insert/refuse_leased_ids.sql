-- MATCHING.md, Insertion: this is the last step of placing jobs, when no other transaction can change these ids. A
-- leased id is an error; an ended one continues the count of its attempts. Each id is looked up separately: without
-- statistics, a join of the tables was planned as a scan of all jobs (1 ms per TaskQueue).
create or replace function taskqueue.refuse_leased_ids(
  p_setup text, p_job_ids bigint[], p_identity resource.identity default null
) returns taskqueue.ended[]
language plpgsql as $$
declare
  v_leased bigint;
  v_ended taskqueue.ended;
  v_all_ended taskqueue.ended[] := '{}'::taskqueue.ended[];
begin
  select min(l.job_id) into v_leased from taskqueue.lease l where l.setup = p_setup and l.job_id = any (p_job_ids);
  if v_leased is not null then
    raise exception 'job % is leased', v_leased
      using errcode = 'PB005', hint = 'A leased job cannot be inserted; cancel it, or wait until it has ended.';
  end if;
  for v_ended in
    delete from taskqueue.ended e
     where e.setup = p_setup and e.job_id = any (p_job_ids)
    returning e.*
  loop
    update taskqueue.job j set attempts = v_ended.attempts where j.setup = p_setup and j.job_id = v_ended.job_id;
    v_all_ended := v_all_ended || v_ended;
  end loop;
  if p_identity.private then
    perform taskqueue.refuse_foreign_job(p_identity, e.job_id)
       from unnest(v_all_ended) e
       join taskqueue.kept_definition k on k.setup = p_setup and k.definition_id = e.definition_id
      where k.owner_dn <> p_identity.owner_dn or k.owner_group <> p_identity.owner_group;
  end if;
  return v_all_ended;
end $$;

comment on function taskqueue.refuse_leased_ids(text, bigint[], resource.identity) is
  'Refuses newly inserted ids that are leased; a job that had ended continues the count of its attempts. Returns the '
  'rows of the jobs that had ended, which it deletes. Errors: PB002 (a private submitter would start the job of '
  'another owner again), PB005 (leased).';
