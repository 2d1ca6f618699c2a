create or replace function taskqueue.forget_known_conditions(p_setup text, p_now timestamptz) returns bigint
language plpgsql as $$
declare
  v_forgotten bigint;
begin
  delete from taskqueue.known_condition k
   where k.setup = p_setup
     and (k.made_at not between p_now - interval '1 hour' and p_now
          or k.made_at < (select o.made_at from taskqueue.known_condition o
                           where o.setup = p_setup order by o.made_at desc offset 10000 limit 1));
  get diagnostics v_forgotten = row_count;
  return v_forgotten;
end $$;

comment on function taskqueue.forget_known_conditions(text, timestamptz) is
  'Forgets known conditions after an hour, and all but the newest 10,000; returns how many.';
