-- The sequences jump far beyond these ids, so that concurrent calls of nextval stay below the new value.
create or replace function instance.reserve_ids(p_setup text) returns void
language plpgsql as $$
begin
  perform setval('instance.step_id', least(m.most, 9223372036853775807) + 1000000)
     from (select max(s.step_id) as most from instance.step s where s.setup = p_setup) m
    where m.most >= (select s.last_value + s.is_called::int from instance.step_id s);
  perform setval('instance.instance_id', least(m.most, 9223372036853775807) + 1000000)
     from (select max(i.instance_id) as most from instance.instance i where i.setup = p_setup) m
    where m.most >= (select s.last_value + s.is_called::int from instance.instance_id s);
end $$;

comment on function instance.reserve_ids(text) is
  'Moves the sequences of step ids and instance ids beyond the ids in a setup, since callers may choose ids.';
