-- CLAUSES.md, Processors: MinRAM is the memory at the least number of processors, so that no condition needs the range.
create or replace function taskqueue.with_processors(p_requirements jsonb) returns jsonb
language plpgsql immutable as $$
declare
  v_least int;
  v_most int := (p_requirements ->> 'MaxNumberOfProcessors')::int;
  v_each float8 := (p_requirements ->> 'RAMPerProcessor')::float8;
  v_ram float8 := (p_requirements ->> 'MinRAM')::float8;
begin
  if num_nonnulls(v_most, v_each) = 0 then
    return p_requirements;
  end if;
  v_least := taskqueue.least_processors(p_requirements);
  if v_most < v_least then
    raise exception 'MaxNumberOfProcessors is %, below the % processors that the job needs', v_most, v_least
      using errcode = 'PB001', hint = 'The tags nProcessors and MinNumberOfProcessors say how many a job needs.';
  elsif v_ram < v_each * v_least then
    raise exception 'MinRAM is % MB, below RAMPerProcessor x %, which is % MB', v_ram, v_least, v_each * v_least
      using errcode = 'PB001', hint = 'MinRAM is the memory at the least number of processors.';
  elsif v_each * v_least > 1e300 then
    raise exception 'RAMPerProcessor is % MB, which is more than 1e300 MB for % processors', v_each, v_least
      using errcode = 'PB001', hint = 'Give the memory that each processor takes, MB.';
  elsif v_each > 0 and v_ram is null then
    p_requirements := p_requirements || jsonb_build_object('MinRAM', v_each * v_least);
  end if;
  return p_requirements;
end $$;

comment on function taskqueue.with_processors(jsonb) is
  'Canonical requirements with the MinRAM that RAMPerProcessor asks for. Errors: PB001 (they contradict each other).';
