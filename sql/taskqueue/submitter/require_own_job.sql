-- A caller that may cancel a job may look at it (taskqueue.may_touch), even when the job has ended. A job whose owner
-- is no longer known belongs to nobody.
create or replace function taskqueue.require_own_job(p_identity resource.identity, p_job_id bigint) returns void
language plpgsql stable as $$
declare
  v_owner record;
begin
  if not p_identity.private then
    return;
  end if;
  select * into v_owner from taskqueue.owner_of_job(p_identity.setup, p_job_id);
  if not found then
    raise exception 'there is no job % in setup %', coalesce(p_job_id::text, 'null'), p_identity.setup
      using errcode = 'PB004', hint = 'It was never inserted, or it ended and its history is not kept.';
  elsif v_owner.owner_dn <> p_identity.owner_dn or v_owner.owner_group <> p_identity.owner_group then
    perform taskqueue.refuse_foreign_job(p_identity, p_job_id);
  end if;
end $$;

comment on function taskqueue.require_own_job(resource.identity, bigint) is
  'Refuses a job (waiting, leased or ended) that does not belong to the private submitter. Errors: PB002 (not its '
  'own), PB004 (its owner is not known).';
