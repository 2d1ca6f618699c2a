create or replace function lifecycle.worded_clock(p_clock text) returns text
language sql immutable
as $$
  select case p_clock when 'created' then 'created'
                      when 'modified' then 'last heard of'
                      when 'state_changed' then 'so'
                      else 'activated or created' end
$$;

comment on function lifecycle.worded_clock(text) is
  'What an age of lifecycle.timeout_rule is the age of, for a sentence that ends in ago.';
