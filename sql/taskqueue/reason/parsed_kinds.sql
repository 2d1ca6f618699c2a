-- A query that names an unlogged table fails on a standby when it is planned; the statement of a function is planned
-- only when it is reached.
create or replace function taskqueue.parsed_kinds(p_setup text, p_classes uuid[]) returns setof taskqueue.kind_offer
language plpgsql stable as $$
begin
  if not pg_is_in_recovery() then
    return query select k.* from taskqueue.kind_offer k where k.setup = p_setup and k.class = any (p_classes);
  end if;
end $$;

comment on function taskqueue.parsed_kinds(text, uuid[]) is
  'Kinds of resources as they were parsed (taskqueue.kind_offer). On a standby there are none, since it does not have '
  'the table.';
