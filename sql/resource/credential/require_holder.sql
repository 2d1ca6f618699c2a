-- A submitter without an owner could cancel the jobs of everybody in its setup.
create or replace function resource.require_holder(
  p_setup text, p_what text, p_name text, p_kind text, p_names_owner boolean
) returns void
language plpgsql as $$
begin
  perform resource.identify(p_setup);
  perform resource.require_setup(p_setup);
  if coalesce(p_name, '') = '' then
    raise exception 'name of the % is %', p_what, coalesce(quote_literal(p_name), 'null')
      using errcode = 'PB001', hint = 'Give it a name by which it can be found and removed.';
  end if;
  perform resource.require_short('name', p_name, 200);
  if p_kind is null or p_kind not in ('agent', 'submitter', 'operator', 'viewer') then
    raise exception 'kind of the % % is %', p_what, p_name, coalesce(quote_literal(left(p_kind, 100)), 'null')
      using errcode = 'PB001', hint = 'Kinds are agent, submitter, operator and viewer.';
  end if;
  if p_kind = 'submitter' and not p_names_owner then
    raise exception 'the % % of kind submitter names no owner and no owner group', p_what, p_name
      using errcode = 'PB001', hint = 'Name the owner or the owner group for which the holder submits.';
  elsif p_kind in ('operator', 'viewer') and p_names_owner then
    raise exception 'the % % of kind % names an owner or an owner group', p_what, p_name, p_kind
      using errcode = 'PB001', hint = 'An owner binds agents and submitters. Others see the whole setup.';
  end if;
end $$;

comment on function resource.require_holder(text, text, text, text, boolean) is
  'Refuses a credential, pilot secret or token with an invalid name, kind or owner. Errors: PB001 (name, kind, no '
  'owner), PB002 (setup not granted).';
