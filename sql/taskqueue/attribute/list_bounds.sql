-- CLAUSES.md, Rounding: one statement reads the bounds and the clauses that the new list covers.
create or replace function taskqueue.list_bounds(p_setup text) returns int
language plpgsql as $$
declare
  v_version int := (select coalesce(max(b.version), 0) + 1 from taskqueue.attribute_bounds b where b.setup = p_setup);
  v_ids int[];
  v_lists jsonb;
begin
  select array(select c.clause_id from taskqueue.clause c
                where c.setup = p_setup and c.clause is not null and (c.version is null or c.version >= v_version)),
         (select jsonb_object_agg(n.name, n.bounds)
            from (select a.name, to_jsonb(array(
                           select distinct x.bound[1] from taskqueue.literal l
                            cross join lateral (values (l.lower), (l.upper)) x (bound)
                            where l.setup = p_setup and l.kind = 'range' and l.name = a.name and x.bound is not null
                            order by 1)) as bounds
                    from taskqueue.attribute a where a.setup = p_setup and a.type = 'number') n)
    into v_ids, v_lists;
  if v_lists = (select jsonb_object_agg(b.name, b.bounds)
                  from taskqueue.attribute_bounds b where b.setup = p_setup) then
    v_version := v_version - 1;
  else
    delete from taskqueue.attribute_bounds b where b.setup = p_setup;
    insert into taskqueue.attribute_bounds (setup, name, version, bounds)
    select p_setup, n.key, v_version, array(select jsonb_array_elements(n.value)::numeric) from jsonb_each(v_lists) n;
  end if;
  update taskqueue.clause c set version = v_version where c.setup = p_setup and c.clause_id = any (v_ids);
  return v_version;
end $$;

comment on function taskqueue.list_bounds(text) is
  'Makes the next version of the list of bounds (taskqueue.attribute_bounds), unless nothing changed, and returns the '
  'number of the newest version.';
