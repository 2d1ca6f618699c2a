create or replace function cluster.require_front() returns void
language plpgsql stable as $$
begin
  if (select i.kind from resource.installation i) <> 'front' then
    raise exception 'this database is not a front'
      using errcode = 'PB005', hint = 'Placement is for a front that broker cluster init made.';
  end if;
end $$;

comment on function cluster.require_front() is
  'Refuses a call that only a front can answer. Errors: PB005 (this database is not a front).';
