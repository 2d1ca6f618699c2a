-- PACKING.md, New instances.
create or replace function instance.refusal(
  p_setup text, p_step_id bigint, p_cpu numeric, p_ram numeric, p_instance_type text
) returns text
language sql stable as $$
  select case
           when p_instance_type is not null and t.name is null
           then format('step %s wants instance type %s, which is not in the catalogue', p_step_id, p_instance_type)
           when p_instance_type is not null then
             format('step %s wants instance type %s, which is too small: %s', p_step_id, p_instance_type,
                    concat_ws(', ', case when t.cpu < p_cpu then format('it has %s cores of %s', trim_scale(t.cpu),
                                                                        trim_scale(p_cpu)) end,
                              case when t.ram < p_ram then format('it has %s MB of %s', trim_scale(t.ram),
                                                                  trim_scale(p_ram)) end))
           when m.types = 0 then format('step %s fits no instance type: the catalogue is empty', p_step_id)
           when m.cpu >= p_cpu and m.ram >= p_ram then
             format('step %s fits no instance type: none has %s cores and %s MB together', p_step_id,
                    trim_scale(p_cpu), trim_scale(p_ram))
           else format('step %s fits no instance type: %s', p_step_id,
                       concat_ws(', ', case when m.cpu < p_cpu then format('the most cores are %s of %s',
                                                                           trim_scale(m.cpu), trim_scale(p_cpu)) end,
                                 case when m.ram < p_ram then format('the most memory is %s MB of %s',
                                                                     trim_scale(m.ram), trim_scale(p_ram)) end))
         end
    from (select max(i.cpu) as cpu, max(i.ram) as ram, count(*) as types
            from resource.instance_type i
           where i.setup = p_setup) m
    left join resource.instance_type t on t.setup = p_setup and t.name = p_instance_type
$$;

comment on function instance.refusal(text, bigint, numeric, numeric, text) is
  'The reason why no instance type can take a step for which instance.required_type finds no type: the missing cores '
  'or memory, or a hint that is unknown or too small.';
