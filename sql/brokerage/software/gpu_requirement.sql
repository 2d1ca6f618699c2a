-- software-check.md, Task architecture: vendor[-model][:key<op>value ...]; unknown keys are ignored. documented reads
-- only vendor and model.
create or replace function brokerage.gpu_requirement(p_text text) returns jsonb
language sql immutable parallel safe as $$
  select jsonb_build_object('vendor', coalesce(nullif(split_part(f.fields[1], '-', 1), ''), '*'), 'model',
                            coalesce(nullif(split_part(f.fields[1], '-', 2), ''), '*'))
         || coalesce((select jsonb_object_agg(
                               case m.part[1] when 'cuda' then 'version'
                                              when 'driver' then 'driver_version'
                                              when 'uarch' then 'microarchitecture'
                                              else m.part[1] end,
                               case when m.part[1] = 'model' and m.part[2] = '!='
                                    then jsonb_build_object('pattern', m.part[3], 'excl', true)
                                    when m.part[1] in ('model', 'uarch') then to_jsonb(m.part[3])
                                    else to_jsonb(case m.part[2] when '=' then '==' else m.part[2] end || m.part[3]) end
                               order by a.number)
                        from unnest(f.fields[2:]) with ordinality a(field, number)
                       cross join regexp_match(a.field,
                                               '^(vram|cuda|driver|uarch|model)(>=|<=|!=|==|>|<|=)(.*)$') m(part)
                       where m.part is not null), '{}')
    from (select string_to_array(p_text, ':')) f(fields)
   where p_text is not null
$$;

comment on function brokerage.gpu_requirement(text) is
  'A GPU requirement as an object: vendor, model (* for any), and conditions on vram, version, driver_version, '
  'microarchitecture.';
