-- Leadership is a row that expires, by the server's clock: no session holds it, so it works behind PgBouncer,
-- and who dies loses it by itself. A lead that was renewed later than now is of a clock that was put back since.
create or replace function lifecycle.lead(p_name text, p_holder uuid, p_held_by text, p_for interval)
returns table (leads boolean, leader text, until timestamptz)
language plpgsql security definer set search_path = lifecycle, pg_temp as $$
begin
  if p_name is null or p_holder is null or p_held_by is null or p_for is null or p_for <= interval '0'
     or p_for > interval '100 years' then
    raise exception 'name, holder, held_by or time is null, or the time % is not above 0 and at most 100 years', p_for
      using errcode = 'PB001', hint = 'Say what is led, by whom (a uuid and words), and for how long.';
  end if;
  perform resource.require_short('name', p_name);
  insert into lifecycle.leader as l (name, holder, held_by, renewed_at, expires_at)
  values (p_name, p_holder, p_held_by, clock_timestamp(), clock_timestamp() + p_for)
  on conflict (name) do update
     set holder = excluded.holder, held_by = excluded.held_by, renewed_at = excluded.renewed_at,
         expires_at = excluded.expires_at
     where l.holder = excluded.holder or l.expires_at < clock_timestamp() or l.renewed_at > clock_timestamp() + p_for;
  return query select l.holder = p_holder, l.held_by, l.expires_at from lifecycle.leader l where l.name = p_name;
end $$;

comment on function lifecycle.lead(text, uuid, text, interval) is
  'Takes or renews the lead of something for some time, where nobody else has it; says whether the caller leads, '
  'and who does until when. Errors: PB001.';
