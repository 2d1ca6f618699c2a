-- ARCHITECTURE.md, Roles: a private submitter may change only its own jobs. For any other job, the error says only that
-- the job is not its own.
create or replace function taskqueue.may_touch(p_identity resource.identity, p_job_id bigint, p_definition_id bigint)
returns void
language plpgsql stable as $$
begin
  if p_identity.private and not exists (
       select from taskqueue.definition d
        where d.setup = p_identity.setup and d.definition_id = p_definition_id
          and (p_identity.owner_group is null or d.owner_group = p_identity.owner_group)
          and (p_identity.owner_dn is null or d.owner_dn = p_identity.owner_dn)) then
    perform taskqueue.refuse_foreign_job(p_identity, p_job_id);
  end if;
end $$;

comment on function taskqueue.may_touch(resource.identity, bigint, bigint) is
  'Refuses a job that does not belong to the private submitter; p_definition_id is the definition of the job. Errors: '
  'PB002.';
