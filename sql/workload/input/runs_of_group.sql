-- See workload.cut_input. Where cuts continue in the next file, the number of files of a job changes with the place of
-- its first event in a file, which repeats after a period of jobs. The largest of 1,000 jobs is looked for; if there
-- are more, that of a whole period is taken.
create or replace function workload.runs_of_group(
  p_group workload.file_group, p_kind int, p_number bigint, p_file bigint, p_taken bigint, p_events bigint,
  p_cuts bigint, p_files float8
) returns setof workload.cut_run
language plpgsql immutable as $$
declare
  v_run workload.cut_run;
  v_open workload.cut_run;  -- without a number: the last job, which stays open
  v_all bigint := p_group.files * p_group.events;
  v_each bigint := p_group.bytes + p_group.side;
  v_period bigint;
begin
  v_open.jobs := 1;
  v_open.first_event := 0;
  v_run.number := p_number;
  if p_kind = 2 then
    v_run.first_file := p_file + p_taken / p_group.events;
    v_run.first_event := p_taken % p_group.events;
    v_run.jobs := (v_all - p_taken - 1) / p_events;
    if p_group.files = 1 then
      v_run.most_mb := 1;
      v_run.most_bytes := case when p_taken = 0 then v_each else p_group.bytes end;
    else
      v_period := p_group.events / gcd(p_events, p_group.events);
      select max(n.files), max(n.files * p_group.bytes + (n.files - (n.place > 0)::int) * p_group.side)
        into v_run.most_mb, v_run.most_bytes
        from (select p.place, least((p.place + p_events - 1) / p_group.events + 1, p_group.files) as files
                from (select ((v_run.first_event + i::numeric * p_events) % p_group.events)::bigint
                        from generate_series(0, least(v_run.jobs, v_period, 1000) - 1) i
                      union all
                      select p_group.events - p_group.events / v_period + v_run.first_event
                                                                          % (p_group.events / v_period)
                       where least(v_run.jobs, v_period) > 1000) p(place)) n;
    end if;
    v_open.most_events := v_all - p_taken - v_run.jobs * p_events;
    v_open.first_file := p_file + (v_all - v_open.most_events) / p_group.events;
    v_open.first_event := (v_all - v_open.most_events) % p_group.events;
    v_open.files := p_file + p_group.files - v_open.first_file;
    v_open.events := v_open.most_events;
  elsif p_cuts is not null then
    v_run.first_file := p_file;
    v_run.first_event := p_taken;
    v_run.jobs := p_group.files * p_cuts - 1 - (p_taken > 0)::int;
    v_run.cuts := p_cuts;
    v_run.most_mb := 1;
    v_run.most_bytes := case when p_taken = 0 or p_group.files > 1 then v_each else p_group.bytes end;
    v_open.first_file := p_file + p_group.files - 1;
    v_open.first_event := (p_cuts - 1) * p_events;
    v_open.files := 1;
    v_open.events := p_group.events - v_open.first_event;
    v_open.most_events := v_open.events;
  else
    v_run.first_file := p_file + p_taken;
    v_run.first_event := 0;
    v_run.files := least(p_files, p_group.files);
    v_run.jobs := (p_group.files - p_taken - 1) / v_run.files;
    v_run.most_mb := v_run.files;
    v_run.most_events := v_run.files * p_group.events;
    v_run.most_bytes := v_run.files * v_each;
    v_open.first_file := v_run.first_file + v_run.jobs * v_run.files;
    v_open.files := p_file + p_group.files - v_open.first_file;
    v_open.most_events := v_open.files * p_group.events;
  end if;
  if p_kind = 2 or p_cuts is not null then
    v_run.events := p_events;
    v_run.file_events := p_group.events;
    v_run.most_events := p_events;
  end if;
  v_run.most_mb := v_run.most_mb * p_group.mb;
  v_open.most_mb := v_open.files * p_group.mb;
  v_open.most_bytes := v_open.files * p_group.bytes
                       + (v_open.files - (v_open.first_event > 0)::int) * p_group.side;
  if v_run.jobs > 0 then
    return next v_run;
  end if;
  return next v_open;
end $$;

comment on function workload.runs_of_group(workload.file_group, int, bigint, bigint, bigint, bigint, bigint, float8) is
  'The run of equal jobs that split rules make of a group of equal files from p_taken on (files, or events where files '
  'are cut), and the last job of the group, without a number, which the next group may fill. p_kind and p_events: see '
  'workload.cut_input; p_files: most files of a job.';
