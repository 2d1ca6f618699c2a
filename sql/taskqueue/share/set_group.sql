-- SHARES.md, Groups.
create or replace function taskqueue.set_group(
  p_setup text, p_owner_group text, p_share float8 default null, p_job_sharing boolean default null,
  p_allow_background boolean default null
) returns void
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  if p_owner_group is null or p_owner_group = '' then
    raise exception 'invalid group %', coalesce(quote_literal(p_owner_group), 'null')
      using errcode = 'PB001', hint = 'Name the owner group.';
  elsif not (p_share > 0 and p_share <= 1e15) then
    raise exception 'invalid share % of group %', p_share, left(p_owner_group, 100)
      using errcode = 'PB001',
            hint = 'The share is a positive number, at most 1e15; a group of which nothing was set has 1000.';
  end if;
  perform resource.require_short('group', p_owner_group);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_descriptions(p_setup);
  insert into taskqueue.owner_group as g (setup, owner_group, share, job_sharing, allow_background)
  values (p_setup, p_owner_group, coalesce(p_share, 1000), coalesce(p_job_sharing, false),
          coalesce(p_allow_background, false))
  on conflict (setup, owner_group) do update
     set share = coalesce(p_share, g.share), job_sharing = coalesce(p_job_sharing, g.job_sharing),
         allow_background = coalesce(p_allow_background, g.allow_background);
  perform taskqueue.correct_shares(p_setup);
  perform taskqueue.recompute_shares(p_setup, p_owner_group);
end $$;

comment on function taskqueue.set_group(text, text, float8, boolean, boolean) is
  'Sets the share and the properties of an owner group, and recomputes its priorities. What is null stays; a new group '
  'has the share 1000 and neither property. Errors: PB001, PB002 (setup not granted), PB006 (busy).';
