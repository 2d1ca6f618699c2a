-- CLAUSES.md, Numbers: definitions that met no free number get theirs, and offers that were parsed before a clause was
-- numbered learn its truth. Until then such a clause is tested by itself. Rows that another transaction has locked are
-- left to the next call.
create or replace function taskqueue.maintain_clauses(p_setup text, p_end timestamptz) returns bigint
language plpgsql as $$
declare
  v_ids int[] := array(select c.clause_id from taskqueue.clause c where c.setup = p_setup and c.clause is not null);
  v_all bit varying := taskqueue.bits_of(v_ids, (select coalesce(max(i), 0) from unnest(v_ids) i));
  v_version int := (select max(b.version) from taskqueue.attribute_bounds b where b.setup = p_setup);
  v_row record;
  v_changed bigint := 0;
begin
  if not exists (select from taskqueue.definition d where d.setup = p_setup and d.clauses is null) and v_ids = '{}' then
    return 0;
  end if;
  if (select count(*) < 32 from taskqueue.clause c where c.setup = p_setup and c.clause is null) then
    perform taskqueue.make_clause_numbers(p_setup);
  end if;
  for v_row in
    select d.definition_id, d.requirements -> 'Clauses' as clauses
      from taskqueue.definition d where d.setup = p_setup and d.clauses is null for no key update skip locked limit 1000
  loop
    update taskqueue.definition d set clauses = n.bits
      from (select taskqueue.bits_of_clauses(p_setup, v_row.clauses) as bits) n
     where d.setup = p_setup and d.definition_id = v_row.definition_id and n.bits is not null;
    v_changed := v_changed + found::int;
    exit when clock_timestamp() > p_end;
  end loop;
  if exists (select from taskqueue.clause c where c.setup = p_setup and c.clause is not null and c.version is null)
     and pg_try_advisory_xact_lock(hashtext('taskqueue.attribute_bounds'), hashtext(p_setup)) then
    v_version := taskqueue.list_bounds(p_setup);
  end if;
  for v_row in
    select k.ctid, k.offer from taskqueue.parsed_description k
     where k.setup = p_setup and taskqueue.lacks_clauses(k.offer, v_all, v_version)
     order by k.seen_at desc nulls last for no key update skip locked
  loop
    exit when clock_timestamp() > p_end;
    update taskqueue.parsed_description k set offer = taskqueue.with_clauses(p_setup, v_row.offer)
     where k.ctid = v_row.ctid;
    v_changed := v_changed + 1;
  end loop;
  for v_row in
    select k.class, k.offer from taskqueue.kind_offer k
     where k.setup = p_setup and taskqueue.lacks_clauses(k.offer, v_all, v_version)
       for no key update skip locked
  loop
    exit when clock_timestamp() > p_end;
    update taskqueue.kind_offer k set offer = taskqueue.with_clauses(p_setup, v_row.offer)
     where k.setup = p_setup and k.class = v_row.class;
    v_changed := v_changed + 1;
  end loop;
  return v_changed;
end $$;

comment on function taskqueue.maintain_clauses(text, timestamptz) is
  'Gives numbers to clauses without one, and tests new clauses for parsed descriptions and kinds of resources, until '
  'p_end (by the clock of the server); returns how many rows changed.';
