-- zero-share.md, process-groups, has PanDA's names of pilot tests.
create or replace function brokerage.process_group(p_processing_type text) returns text
language sql immutable parallel safe as $$
  select case
    when p_processing_type in ('evgen', 'simul', 'reprocessing', 'mcore', 'group', 'deriv', 'pile', 'merge')
    then p_processing_type
    when p_processing_type in ('prod_test', 'validation', 'ptest', 'rc_test', 'rc_test2', 'rc_alrb') then 'test'
    else 'others'
  end
$$;

comment on function brokerage.process_group(text) is
  'The process group of a processing type, which policies name as type: evgen, simul, reprocessing, test, mcore, '
  'group, deriv, pile, merge, or others.';
