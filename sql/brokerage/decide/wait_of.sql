-- In {"wait": "1 hour", "950": "10 minutes", "900": "30 minutes"}, the time of the highest priority that the task
-- reaches counts, else the general time.
create or replace function brokerage.wait_of(p_parameters jsonb, p_priority int) returns interval
language sql stable parallel safe as $$
  select coalesce((select w.value::interval from jsonb_each_text(p_parameters) w(key, value)
                    where w.key ~ '^[0-9]{1,9}$' and w.key::int <= p_priority order by w.key::int desc limit 1),
                  (p_parameters ->> 'wait')::interval, interval '1 hour')
$$;

comment on function brokerage.wait_of(jsonb, int) is
  'The time that a task of a priority without a candidate waits before it is brokered again, from the parameters of a '
  'pending rule; by default an hour.';
