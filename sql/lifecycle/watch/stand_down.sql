create or replace function lifecycle.stand_down(p_name text, p_holder uuid) returns boolean
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
begin
  delete from lifecycle.leader l where l.name = p_name and l.holder = p_holder;
  return found;
end $$;

comment on function lifecycle.stand_down(text, uuid) is
  'Gives up a lead before it expires, so that another takes it at once; false when the caller did not lead.';
