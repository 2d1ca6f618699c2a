-- MATCHING.md, Conditions on lists: a table of compatible platforms (offered, accepted) extends what a resource offers.
create or replace function taskqueue.set_platform_compatibility(p_setup text, p_offered text, p_accepted text[])
returns void
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  if p_offered is null or p_offered = '' or p_accepted is null
     or exists (select from unnest(p_accepted) a where a = '' or a is null) then
    raise exception 'platform % cannot be compatible with %', coalesce(quote_literal(left(p_offered, 100)), 'null'),
      coalesce(left(p_accepted::text, 100), 'null')
      using errcode = 'PB001', hint = 'Name platforms by non-empty texts; an empty list removes the earlier one.';
  end if;
  perform resource.require_short('platform', a) from (select p_offered union all select unnest(p_accepted)) p(a);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_descriptions(p_setup);
  delete from taskqueue.platform_compatibility c
   where c.setup = p_setup and c.offered = p_offered and c.accepted <> all (p_accepted);
  insert into taskqueue.platform_compatibility (setup, offered, accepted)
  select p_setup, p_offered, unnest(p_accepted)
  on conflict do nothing;
end $$;

comment on function taskqueue.set_platform_compatibility(text, text, text[]) is
  'Sets the platforms that a resource offers in addition to p_offered. The list replaces the earlier one; an empty '
  'list removes it. Errors: PB001, PB002 (setup not granted), PB006 (busy).';
