-- SHARES.md, Global shares: each group has one factor. A factor that changed by at most p_tolerance stays as it is.
create or replace function taskqueue.set_factors(p_setup text, p_tolerance float8 default 0) returns text[]
language sql as $$
  with wanted as materialized (
    select f.owner_group, f.factor from taskqueue.global_factor(p_setup) f
  ), gone as (
    delete from taskqueue.share_correction c
     where c.setup = p_setup and (c.owner_dn <> '' or c.owner_group not in (select w.owner_group from wanted w))
    returning c.owner_group
  ), moved as (
    insert into taskqueue.share_correction (setup, owner_group, owner_dn, factor)
    select p_setup, w.owner_group, '', w.factor
      from wanted w
      left join taskqueue.share_correction c on c.setup = p_setup and c.owner_group = w.owner_group and c.owner_dn = ''
     where c.factor is null or abs(w.factor - c.factor) > p_tolerance * c.factor
     order by w.owner_group
    on conflict (setup, owner_group, owner_dn) do update set factor = excluded.factor
    returning owner_group
  )
  select coalesce(array_agg(distinct g.owner_group), '{}')
    from (select m.owner_group from moved m union all select o.owner_group from gone o) g
$$;

comment on function taskqueue.set_factors(text, float8) is
  'Writes the factors of taskqueue.global_factor that moved by more than p_tolerance, and drops all others of the '
  'setup; returns the groups that it changed.';
