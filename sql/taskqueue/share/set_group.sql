-- SHARES.md, Groups.
create or replace function taskqueue.set_group(
  p_setup text, p_owner_group text, p_share float8 default 1000, p_job_sharing boolean default false,
  p_allow_background boolean default false
) returns void
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  if p_owner_group is null or p_owner_group = '' then
    raise exception 'invalid group %', coalesce(quote_literal(p_owner_group), 'null')
      using errcode = 'PB001', hint = 'Name the owner group.';
  elsif p_share is null or not (p_share > 0 and p_share <= 1e15) then
    raise exception 'invalid share % of group %', coalesce(p_share::text, 'null'), left(p_owner_group, 100)
      using errcode = 'PB001',
            hint = 'The share is a positive number, at most 1e15; a group of which nothing was set has 1000.';
  elsif p_job_sharing is null or p_allow_background is null then
    raise exception '% of group % is null',
      case when p_job_sharing is null then 'job_sharing' else 'allow_background' end, left(p_owner_group, 100)
      using errcode = 'PB001', hint = 'Give true or false.';
  end if;
  perform resource.require_short('group', p_owner_group);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_descriptions(p_setup);
  insert into taskqueue.owner_group (setup, owner_group, share, job_sharing, allow_background)
  values (p_setup, p_owner_group, p_share, p_job_sharing, p_allow_background)
  on conflict (setup, owner_group) do update
     set share = excluded.share, job_sharing = excluded.job_sharing, allow_background = excluded.allow_background;
  perform taskqueue.correct_shares(p_setup);
  perform taskqueue.recompute_shares(p_setup, p_owner_group);
end $$;

comment on function taskqueue.set_group(text, text, float8, boolean, boolean) is
  'Sets the share and the properties of an owner group, and recomputes its priorities. Errors: PB001, PB002 (setup not '
  'granted), PB006 (busy).';
