-- See conventions.md, Job size. The function goes over groups of equal files, not over files or events, so its work
-- does not grow with a number that somebody typed. The last job of a group stays open, since the next group may go on
-- with it. There are three kinds of groups: files by number or size (1), cuts of all events in a row (2), and equal
-- cuts of each file (3). The limits 1e18 and 1e30 mean no limit.
create or replace function workload.cut_input(p_cutting workload.cutting, p_groups workload.file_group[])
returns setof workload.cut_run
language plpgsql immutable as $$
declare
  v_length bigint := least(p_cutting.files::numeric * p_cutting.events, 1e18);  -- events of a job of kind 2
  v_number bigint := 1;
  v_file bigint := 1;  -- place of the first file of the group
  v_open workload.cut_run;
  v_open_kind int;
  v_size float8;  -- part of the limit that the open job has used
  v_group workload.file_group;
  v_kind int;
  v_weight float8;  -- part of the limit that a file uses
  v_limit float8;
  v_most float8;  -- most files of a job
  v_events bigint;  -- events of a file, of which a cut takes some
  v_cuts bigint;
  v_cut bigint;  -- events of a cut of kind 3; null = files stay whole
  v_some bigint;  -- files, or events where files are cut, that the open job takes
  v_files bigint;
begin
  if p_cutting.less is not null then
    return query select r.* from workload.cut_in_steps(p_cutting, p_groups) r;
    return;
  end if;
  if num_nonnulls(p_cutting.events, p_cutting.target, p_cutting.bytes) = 0 then
    return query select r.* from workload.cut_by_files(p_cutting.files, p_groups) r;
    return;
  end if;
  foreach v_group in array coalesce(p_groups, '{}') loop
    v_events := v_group.events;
    v_kind := case when v_events > 0 and p_cutting.events is not null then 2
                   when v_events > 0 and p_cutting.target is not null then 3 else 1 end;
    v_weight := case when v_kind = 3 then v_events
                     when p_cutting.bytes is not null
                     then v_group.bytes + v_group.side + coalesce(p_cutting.output_per_event * v_events, 0)
                          + coalesce(p_cutting.output_per_mb * v_group.mb, 0) else 0 end;
    v_limit := case when v_kind = 3 then p_cutting.target
                    else coalesce(p_cutting.bytes::float8 - coalesce(p_cutting.work, 0), 1e30) end;
    v_most := case when v_kind = 3 then 1e18 else coalesce(p_cutting.files, p_cutting.most_files, 1) end;
    v_cuts := case when v_kind = 3 and v_events > p_cutting.target then ceil(v_events::numeric / p_cutting.target) end;
    v_cut := ceil(v_events::numeric / v_cuts);
    v_some := case
      when v_open.jobs is null or v_open_kind <> v_kind then 0
      when v_kind = 2 then least(v_length - v_open.most_events, v_group.files * v_events)
      when v_cuts is not null then case when v_open.most_events + v_cut <= p_cutting.target then v_cut else 0 end
      else greatest(least(v_group.files, v_most - v_open.files,
                          case when v_weight > 0 then floor((v_limit - v_size) / v_weight)
                               when v_size <= v_limit then v_most else 0 end), 0) end;
    if v_some > 0 then
      v_files := case when v_kind = 2 or v_cuts is not null then (v_some - 1) / v_events + 1 else v_some end;
      v_open.files := v_open.files + v_files;
      v_open.most_mb := v_open.most_mb + v_files * v_group.mb;
      v_open.most_bytes := v_open.most_bytes + v_files * (v_group.bytes + v_group.side);
      v_open.most_events := v_open.most_events + case when v_kind = 2 or v_cuts is not null then v_some
                                                      else v_some * v_events end;
      v_open.events := case when v_kind = 2 or v_cuts is not null or v_open.events is not null
                            then v_open.most_events end;
      v_size := v_size + v_files * v_weight;
    end if;
    if v_some < (case when v_kind = 2 or v_cuts is not null then v_group.files * v_events else v_group.files end) then
      if v_open.jobs is not null then
        return next v_open;
        v_number := v_number + 1;
      end if;
      if v_kind <> 2 and v_cuts is null and v_group.files - v_some = 1 then  -- the usual case, without a call
        v_open := row(v_number, 1, v_file + v_some, 0, 1, null, null, null, v_events, v_group.mb,
                      v_group.bytes + v_group.side);
        v_open_kind := v_kind;
        v_size := v_weight;
        v_file := v_file + v_group.files;
        continue;
      end if;
      for v_open in select r.* from workload.runs_of_group(v_group, v_kind, v_number, v_file, v_some,
                                     case v_kind when 2 then v_length else v_cut end, v_cuts,
                                     greatest(least(v_most, case when v_weight > 0 then floor(v_limit / v_weight)
                                                                 else v_most end), 1)) r loop
        exit when v_open.number is null;
        return next v_open;
        v_number := v_number + v_open.jobs;
      end loop;
      v_open.number := v_number;
      v_open_kind := v_kind;
      v_size := case when v_kind = 3 then v_open.most_events else v_open.files * v_weight end;
    end if;
    v_file := v_file + v_group.files;
  end loop;
  if v_open.jobs is not null then
    return next v_open;
  end if;
end $$;

comment on function workload.cut_input(workload.cutting, workload.file_group[]) is
  'The jobs that split rules make of groups of primary files, in the order of the files, as runs of equal jobs.';
