create or replace function taskqueue.refuse_foreign_job(p_identity resource.identity, p_job_id bigint) returns void
language plpgsql as $$
begin
  raise exception 'job % does not belong to role %', p_job_id, p_identity.role_name
    using errcode = 'PB002', hint = format('Its identity in setup %s is owner %s, group %s.', p_identity.setup,
                                           coalesce(p_identity.owner_dn, '(any)'),
                                           coalesce(p_identity.owner_group, '(any)'));
end $$;

comment on function taskqueue.refuse_foreign_job(resource.identity, bigint) is
  'Raises the error that a job does not belong to a private submitter; it names the identity of the submitter. '
  'Errors: PB002.';
