-- World format: the tables of this room that worlds are loaded into and dumped from; no other is written by name.
create or replace function brokerage.world_table(p_table text) returns regclass
language plpgsql stable
as $$
begin
  if p_table in ('live_counter') then
    return ('brokerage.' || p_table)::regclass;
  end if;
  raise exception 'table is %, which worlds do not hold', coalesce(quote_literal(p_table), 'null')
    using errcode = 'PB001', hint = $h$Tables of brokerage that they hold: 'live_counter'.$h$;
end $$;

comment on function brokerage.world_table(text) is
  'A table of the room brokerage that the world format covers. Errors: PB001 (another one).';
