-- PACKING.md, Order of steps.
create or replace function instance.required_type(p_setup text, p_cpu numeric, p_ram numeric, p_instance_type text)
returns resource.instance_type
language sql stable as $$
  select t.*
    from resource.instance_type t
   where t.setup = p_setup and t.cpu >= p_cpu and t.ram >= p_ram
     and (p_instance_type is null or t.name = p_instance_type)
   order by t.price, t.cpu, t.ram, t.name collate "C" limit 1
$$;

comment on function instance.required_type(text, numeric, numeric, text) is
  'The instance type that a step with these needs (cores, MB) requires: the cheapest type with enough of both, or its '
  'hint. Null if no type fits.';
