-- New kinds of resources (after a change of the configuration, all kinds) are parsed once and compared with the
-- requirements that no resource fits; no other call compares these again. Hashes find the few requirements that may fit
-- (taskqueue.search_keys), whatever their tags.
create or replace function taskqueue.note_kinds(p_setup text, p_now timestamptz, p_end timestamptz)
returns bigint
language plpgsql as $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_kind record;
  v_offer taskqueue.offer;
  v_size taskqueue.offer;
  v_noted bigint := 0;
  v_may_fit boolean := exists (select from taskqueue.waiting_reason r
                                where r.setup = p_setup and r.reason in ('no_resource_seen', 'too_large'));
begin
  v_identity.private := false;  -- the description alone defines the resource, not the identity of the caller
  for v_kind in
    select c.class, c.resource
      from taskqueue.resource_class c
      left join taskqueue.kind_offer k on k.setup = c.setup and k.class = c.class
     where c.setup = p_setup and k.class is null
     order by c.last_seen desc
  loop
    exit when clock_timestamp() > p_end;
    v_noted := v_noted + 1;
    v_offer := taskqueue.offer_once_made(p_setup, v_kind.resource, v_identity);
    if v_offer is distinct from null then
      v_offer := taskqueue.with_clauses(p_setup, v_offer);
      v_offer.reached := null;
    end if;
    insert into taskqueue.kind_offer (setup, class, offer) values (p_setup, v_kind.class, v_offer)
    on conflict do nothing;
    continue when v_offer is not distinct from null or not v_may_fit;
    v_size := v_offer;
    v_size.tags := null;
    update taskqueue.waiting_reason r
       set reason = case when taskqueue.accepts(d, v_offer) then 'waiting' else 'too_large' end, class = v_kind.class,
           found_at = p_now
      from taskqueue.definition d
     where r.setup = p_setup and r.reason in ('no_resource_seen', 'too_large')
       and d.setup = p_setup and d.definition_id = r.definition_id
       and d.search_keys && taskqueue.offer_keys(p_setup, v_size)
       and taskqueue.accepts_but_size(d, taskqueue.tags_but_size(d.tags), v_offer)
       and (r.reason = 'no_resource_seen' or taskqueue.accepts(d, v_offer));
  end loop;
  return v_noted;
end $$;

comment on function taskqueue.note_kinds(text, timestamptz, timestamptz) is
  'Parses the new kinds of resources (taskqueue.kind_offer), and finds the requirements that they are the first to '
  'fit, until p_end (by the clock of the server); returns how many kinds were new.';
