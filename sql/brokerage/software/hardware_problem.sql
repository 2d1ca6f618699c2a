-- software-check.md, Hardware (measured properties of GPUs: brokerage.gpu_problem).
create or replace function brokerage.hardware_problem(p_requirement jsonb, p_published jsonb, p_base_profile text)
returns text
language plpgsql stable as $$
declare
  v_kind text;
  v_wanted jsonb;
  v_published jsonb;
  v_alternative jsonb;
  v_problem text;
  v_problems text[];
begin
  foreach v_kind in array array['cpu', 'gpu'] loop
    v_wanted := nullif(p_requirement -> v_kind, 'null');
    v_published := p_published -> v_kind;
    v_problems := '{}'::text[];
    if v_wanted is null and v_published is null
       or v_wanted is null and p_base_profile <> 'documented' and not v_published @? '$.*[*] ? (@ == "excl")' then
      continue;
    elsif v_wanted is null and p_base_profile <> 'documented' then
      return format('only tasks that ask for a %s are accepted', v_kind);
    elsif v_published is null then
      return format('%s %s is wanted, and no %s is published', v_kind, brokerage.requirement_text(v_wanted), v_kind);
    elsif v_wanted is not null and v_kind = 'cpu' and not v_published ? 'arch' then
      return format('cpu %s is wanted, and the cpu published has no arch', brokerage.requirement_text(v_wanted));
    elsif v_kind = 'gpu' and p_base_profile <> 'documented' then
      continue;
    end if;
    for v_alternative in
      select *
        from jsonb_array_elements(
          case jsonb_typeof(v_wanted) when 'array' then v_wanted else jsonb_build_array(coalesce(v_wanted, '{}')) end)
    loop
      if v_kind = 'gpu' then
        v_alternative := jsonb_build_object(
          'vendor', v_alternative -> 'vendor', 'model',
          case jsonb_typeof(v_alternative -> 'model') when 'string' then v_alternative ->> 'model' end);
      else
        v_alternative := jsonb_build_object('arch', v_alternative -> 'arch', 'vendor', v_alternative -> 'vendor',
                                            'instr', v_alternative -> 'instr');
      end if;
      v_problem := brokerage.attribute_problem(v_kind, v_alternative, v_published, p_base_profile);
      v_problems := v_problems || v_problem;
      exit when v_problem is null;
    end loop;
    if v_problem is not null then
      return array_to_string(v_problems, ' or ');
    end if;
  end loop;
  return null;
end $$;

comment on function brokerage.hardware_problem(jsonb, jsonb, text) is
  'The reason why published hardware (brokerage.published_hardware) does not meet a requirement {cpu, gpu}; null if it '
  'does. Base profile documented or panda2026.';
