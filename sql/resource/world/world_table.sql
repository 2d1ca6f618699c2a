-- World format: the tables of this room that worlds are loaded into and dumped from; no other is written by name.
create or replace function resource.world_table(p_table text) returns regclass
language plpgsql stable
as $$
begin
  if p_table in ('resource_type', 'queue', 'queue_activity', 'queue_storage', 'slot', 'nucleus', 'storage', 'link',
                 'software', 'software_tag', 'architecture_level', 'worker_gpu', 'share', 'account',
                 'queue_lock', 'instance_type') then
    return ('resource.' || p_table)::regclass;
  end if;
  raise exception 'table is %, which worlds do not hold', coalesce(quote_literal(p_table), 'null')
    using errcode = 'PB001',
          hint = $h$Tables of resource that they hold: 'resource_type', 'queue', 'queue_activity', 'queue_storage', 'slot', 'nucleus', 'storage', 'link', 'software', 'software_tag', 'architecture_level', 'worker_gpu', 'share', 'account', 'queue_lock', 'instance_type'.$h$;
end $$;

comment on function resource.world_table(text) is
  'A table of the room resource that the world format covers. Errors: PB001 (another one).';
