-- Priorities of the queues of workloads U and N: log-uniform between 0.1 and 1000, the same for the same requirements as
-- long as they are known. They replace shares of groups. A trigger sets them, so that a queue that a run emptied has its
-- priority at once when its jobs come back.
create function bench.set_priority() returns trigger language plpgsql as $$
begin
  new.priority := 0.1 * power(10, 4 * ((hashint8extended(new.definition_id, 1) & 9007199254740991) / 9007199254740992.0::float8));
  return new;
end $$;
create trigger bench_priority before insert or update of priority on taskqueue.task_queue
for each row execute function bench.set_priority();
