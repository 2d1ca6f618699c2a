create or replace function cluster.place(p_setup text, p_shard text default null) returns text
language plpgsql security definer set search_path = cluster, pg_temp as $$
declare
  v_shard text := p_shard;
begin
  perform cluster.require_front();
  perform resource.require_short('setup', p_setup, 100);
  if p_setup is null or p_setup = '' then
    raise exception 'setup is %', coalesce(quote_literal(p_setup), 'null')
      using errcode = 'PB001', hint = 'Name the setup, for example default.';
  elsif p_shard is null then
    v_shard := (select s.shard
                  from cluster.shard s left join cluster.placement p on p.shard = s.shard
                 group by s.shard order by count(p.setup), s.number limit 1);
  elsif not exists (select from cluster.shard s where s.shard = p_shard) then
    raise exception 'there is no shard %', coalesce(quote_literal(left(p_shard, 100)), 'null')
      using errcode = 'PB001',
            hint = format('There are: %s.', (select coalesce(string_agg(s.shard, ', ' order by s.number), 'none')
                                               from cluster.shard s));
  end if;
  insert into cluster.placement (setup, shard) values (p_setup, v_shard) on conflict (setup) do nothing;
  v_shard := (select p.shard from cluster.placement p where p.setup = p_setup);
  if v_shard <> p_shard then
    raise exception 'setup % is on shard %', p_setup, v_shard
      using errcode = 'PB005', hint = format('To move it: broker cluster move %s %s.', p_setup, p_shard);
  end if;
  return v_shard;
end $$;

comment on function cluster.place(text, text) is
  'Places a new setup on a shard of a front; null = on the shard with the fewest setups. Returns the shard. Errors: '
  'PB001 (no such shard, no name), PB005 (this database is not a front; the setup is on another shard).';
