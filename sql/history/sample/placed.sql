-- Each figure gives places to its largest new series first. The series named other have places beyond the limit.
create or replace function history.placed(p_setup text, p_at timestamptz, p_values history.value[], p_most int)
returns setof history.value
language plpgsql as $$
declare
  v_there bigint := (select count(*) from history.series s
                      where s.setup = p_setup and s.labels <> history.labels_of_others(s.labels));
  v_values history.value[];
begin
  insert into history.series (setup, place, figure, labels, since, last_at)
  select p_setup, p.place, v.figure, v.labels, p_at, p_at
    from (select i.figure, i.labels, row_number() over (order by i.rank, i.figure, i.labels) as n
            from (select u.figure, u.labels,
                         row_number() over (partition by u.figure order by u.value desc, u.labels) as rank
                    from unnest(p_values) u
                   where not exists (select from history.series s
                                      where s.setup = p_setup and s.figure = u.figure and s.labels = u.labels)) i
           order by n limit greatest(p_most - v_there, 0)) v
    join (select * from history.free_places(p_setup, cardinality(p_values))) p on p.n = v.n;
  v_values := array(
    select (f.figure, f.labels, case g.fold when 'max' then max(f.value) else sum(f.value) end)::history.value
      from (select v.figure, v.value,
                   case when s.place is null then history.labels_of_others(v.labels) else v.labels end as labels
              from unnest(p_values) v
              left join history.series s on s.setup = p_setup and s.figure = v.figure and s.labels = v.labels) f
      join history.figure g on g.figure = f.figure
     group by f.figure, f.labels, g.fold);
  insert into history.series (setup, place, figure, labels, since, last_at)
  select p_setup, p.place, v.figure, v.labels, p_at, p_at
    from (select u.figure, u.labels, row_number() over (order by u.figure) as n
            from unnest(v_values) u
           where not exists (select from history.series s
                              where s.setup = p_setup and s.figure = u.figure and s.labels = u.labels)) v
    join (select * from history.free_places(p_setup, cardinality(v_values))) p on p.n = v.n;
  return query select * from unnest(v_values);
end $$;

comment on function history.placed(text, timestamptz, history.value[], int) is
  'The values, each with a series: a new series gets a place, and values beyond p_most series are added up as other.';
