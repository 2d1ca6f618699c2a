-- STATES.md, From task to TaskQueue. Brokerage compares the properties of the GPUs of a queue: vendor and model as the
-- beginning of a name, in any case, and nothing that a pilot does not state. Clauses cannot say this, and a job that
-- demanded more than brokerage does would wait for ever at the queue that it got. So the demand is for a GPU alone.
create or replace function lifecycle.gpu_demand(p_setup text, p_architecture text) returns jsonb
language sql stable as $$
  select '{"gpu.count": {"min": 1}}'::jsonb
   where exists (select from taskqueue.attribute a
                  where a.setup = p_setup and a.name = 'gpu.count' and a.type = 'number')
     and jsonb_typeof(brokerage.read_architecture(p_architecture, 'documented') -> 'gpu') = 'object'
$$;

comment on function lifecycle.gpu_demand(text, text) is
  'The key Attributes of the requirements of jobs whose architecture asks for a GPU; null if it does not, or if the '
  'setup has no number gpu.count.';
