-- World format: the tables of this room that worlds are loaded into and dumped from; no other is written by name.
create or replace function instance.world_table(p_table text) returns regclass
language plpgsql stable
as $$
begin
  if p_table in ('instance', 'step') then
    return ('instance.' || p_table)::regclass;
  end if;
  raise exception 'table is %, which worlds do not hold', coalesce(quote_literal(p_table), 'null')
    using errcode = 'PB001', hint = $h$Tables of instance that they hold: 'instance', 'step'.$h$;
end $$;

comment on function instance.world_table(text) is
  'A table of the room instance that the world format covers. Errors: PB001 (another one).';
