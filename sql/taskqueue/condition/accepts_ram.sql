-- MATCHING.md, Condition MaxRAM.
create or replace function taskqueue.accepts_ram(p_definition taskqueue.definition, p_offer taskqueue.offer)
returns boolean
language sql stable as $$
  select (p_definition).min_ram is null or (p_offer).max_ram is null or (p_definition).min_ram <= (p_offer).max_ram
$$;

comment on function taskqueue.accepts_ram(taskqueue.definition, taskqueue.offer) is
  'Condition MaxRAM: MinRAM of the TaskQueue is at most the memory offered, MB; there is no condition if either one is '
  'absent.';
