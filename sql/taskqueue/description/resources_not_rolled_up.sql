-- A query that names an unlogged table fails on a standby when it is planned, whatever it selects. The statement of a
-- function is planned only when it is reached. Since views call this function, it checks the rights of the caller as
-- they do.
create or replace function taskqueue.resources_not_rolled_up(p_setup text) returns setof taskqueue.resource_seen
language plpgsql stable rows 10 security definer set search_path = taskqueue, pg_temp as $$
begin
  if not pg_is_in_recovery() then
    return query select r.* from taskqueue.resource_seen r
                  where r.setup = p_setup and (p_setup = (select resource.bound_setup())) is not false;
  end if;
end $$;

comment on function taskqueue.resources_not_rolled_up(text) is
  'Descriptions of resources seen since taskqueue.maintain rolled them up, for views. On a standby there are none, '
  'since it does not have the table.';
