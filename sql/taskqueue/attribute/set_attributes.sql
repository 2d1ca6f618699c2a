-- CLAUSES.md, Attributes.
create or replace function taskqueue.set_attributes(p_setup text, p_attributes jsonb) returns void
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_name text;
  v_given jsonb;
  v_fault text;
  v_row taskqueue.attribute;
  v_rows taskqueue.attribute[] := '{}'::taskqueue.attribute[];
  v_definitions bigint;
begin
  perform resource.identify(p_setup);
  if p_attributes = '"diracx"' then
    p_attributes := '{"arch": "text", "level": "number", "profile": "version",
                      "features": {"type": "text", "exclusive": false},
                      "system": "text", "glibc": "version", "userns": "flag", "wall": "number",
                      "work": {"type": "number", "absent": "passes"}, "work.per_core": "number", "cores": "number",
                      "ram": {"type": "number", "absent": "passes"}, "scratch": {"type": "number", "absent": "passes"},
                      "gpu.count": {"type": "number", "absent": {"value": 0}}, "gpu.ram": "number",
                      "gpu.vendor": "text", "gpu.model": "text", "gpu.architecture": "text",
                      "gpu.compute_capability": "version", "gpu.driver": "version", "gpu.runtime": "version"}';
  elsif jsonb_typeof(p_attributes) is distinct from 'object' then
    raise exception 'attributes are %, not an object', coalesce(resource.shown(p_attributes), 'null')
      using errcode = 'PB001',
            hint = concat('The nearest preset is ' || resource.nearest_name(p_attributes #>> '{}', '{diracx}') || '. ',
                          'Give {"glibc": "version", "work": {"type": "number", "absent": "passes"}}, or "diracx" for '
                          'the attributes of DiracX.');
  end if;
  for v_name, v_given in select e.key, e.value from jsonb_each(p_attributes) e loop
    perform resource.require_short('name of an attribute', v_name, 100);
    v_row := row(p_setup, v_name, case jsonb_typeof(v_given) when 'string' then v_given #>> '{}'
                                                             when 'object' then v_given ->> 'type' end,
                 coalesce(nullif(v_given -> 'absent', 'null'), '"fails"'),
                 coalesce(nullif(v_given -> 'exclusive', 'null'), 'true') = 'true');
    v_fault := case
      when v_name = '' then 'the name is empty'
      when jsonb_typeof(v_given) not in ('string', 'object')
           or jsonb_typeof(v_given) = 'object' and v_given - '{type,absent,exclusive}'::text[] <> '{}'
      then 'not a type, or an object with type, absent and exclusive'
      when v_row.type in ('number', 'version', 'text', 'flag') is not true
      then 'the type is not number, version, text or flag'
      when v_given -> 'exclusive' not in ('true', 'false', 'null') then 'exclusive is not true or false'
      when not v_row.exclusive and v_row.type <> 'text' then 'only a text may have several values'
      when v_row.absent not in ('"fails"', '"passes"')
           and (jsonb_typeof(v_row.absent) <> 'object' or not v_row.absent ? 'value' or v_row.absent - 'value' <> '{}')
      then 'absent is not "fails", "passes" or {"value": V}' end;
    if v_fault is not null then
      raise exception 'attribute % is %: %', v_name, resource.shown(v_given), v_fault
        using errcode = 'PB001',
              hint = 'Give the type, or {"type": "number", "absent": {"value": 0}}. The key absent is the '
                     'meaning of a missing attribute. With "exclusive": false, a resource may give a list of texts.';
    end if;
    if jsonb_typeof(v_row.absent) = 'object' then
      perform taskqueue.offered_value(v_row, v_row.absent -> 'value');
    end if;
    v_rows := v_rows || v_row;
  end loop;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  select a.name, count(*) into v_name, v_definitions
    from taskqueue.attribute a
    join taskqueue.definition d on d.setup = a.setup
   where a.setup = p_setup and a <> all (v_rows)
     and exists (select from jsonb_array_elements(d.requirements -> 'Clauses') c where c -> 'Attributes' ? a.name)
   group by a.name order by a.name limit 1;
  if found then
    raise exception '% the attribute %, which would be changed or removed',
      case v_definitions when 1 then '1 definition names' else v_definitions || ' definitions name' end, v_name
      using errcode = 'PB005',
            hint = 'Give the attribute as it is, or wait until no job names it.'
                   || (select case when s.keep_gpus and v_name = 'gpu.count'
                                   then ' The setting keep_gpus names gpu.count.' else '' end
                         from taskqueue.setting s where s.setup = p_setup);
  end if;
  perform taskqueue.forget_descriptions(p_setup);
  delete from taskqueue.attribute a
   where a.setup = p_setup and a.name not in (select r.name from unnest(v_rows) r);
  insert into taskqueue.attribute as a
  select r.* from unnest(v_rows) r
  on conflict (setup, name) do update
     set type = excluded.type, absent = excluded.absent, exclusive = excluded.exclusive;
  perform taskqueue.list_bounds(p_setup);
  perform taskqueue.rewrite_gpus(p_setup)  -- refuses to remove the attribute that keep_gpus needs
     from taskqueue.setting s where s.setup = p_setup and s.keep_gpus;
end $$;

comment on function taskqueue.set_attributes(text, jsonb) is
  'Sets the attributes of a setup in place of the earlier ones: an object of name and type (number, version, text, '
  'flag), or name and {"type", "absent", "exclusive"}; "diracx" for those of DiracX (times in seconds, memory and '
  'scratch in MB). An attribute that requirements name cannot change. Errors: PB001, PB002 (setup not granted), PB005 '
  '(requirements name it), PB006 (busy).';
