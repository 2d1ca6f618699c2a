-- Priorities of the queues of workloads U and N: log-uniform between 0.1 and 1000, the same for the same requirements as long as they are known.
-- They stand in for shares of groups. A trigger, so that a queue that a run emptied and that came back with its jobs has its priority at once,
-- whatever matching derives from it.
create function bench.set_priority() returns trigger language plpgsql as $$
begin
  new.priority := 0.1 * power(10, 4 * ((hashint8extended(new.definition_id, 1) & 9007199254740991) / 9007199254740992.0::float8));
  return new;
end $$;
create trigger bench_priority before insert or update of priority on taskqueue.task_queue
for each row execute function bench.set_priority();
