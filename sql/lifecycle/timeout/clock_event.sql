create or replace function lifecycle.clock_event(p_clock text) returns text
language sql immutable as $$
  select case p_clock when 'created' then 'created'
                      when 'modified' then 'last heard of'
                      when 'state_changed' then 'status changed'
                      else 'activated or created' end
$$;

comment on function lifecycle.clock_event(text) is
  'The event from which the clock of a timeout counts, as words before "ago".';
