-- MATCHING.md, Conditions on lists: a table of compatible platforms (offered, accepted) extends what a resource offers.
create or replace function taskqueue.set_platform_compatibility(p_setup text, p_offered text, p_accepted text[])
returns void
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
begin
  perform resource.identify(p_setup);
  if p_offered is null or p_offered = '' or p_accepted is null or '' = any (p_accepted)
     or array_position(p_accepted, null) is not null then
    raise exception 'platform % cannot be compatible with %', coalesce(quote_literal(p_offered), 'null'),
      coalesce(p_accepted::text, 'null')
      using errcode = 'PB001', hint = 'Name platforms by non-empty texts; an empty list clears.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.platform_compatibility c
   where c.setup = p_setup and c.offered = p_offered and c.accepted <> all (p_accepted);
  insert into taskqueue.platform_compatibility (setup, offered, accepted)
  select p_setup, p_offered, unnest(p_accepted)
  on conflict do nothing;
end $$;

comment on function taskqueue.set_platform_compatibility(text, text, text[]) is
  'Sets the platforms that a resource offers beside p_offered; replaces the earlier list, and an empty list removes '
  'it. Errors: PB001, PB002 (setup not granted), PB006 (busy).';
