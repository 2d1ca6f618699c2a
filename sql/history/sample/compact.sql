create or replace function history.compact(p_setup text, p_step interval, p_finer interval, p_until timestamptz)
returns void
language plpgsql as $$
declare
  v_done timestamptz := (select max(s.at) + p_step from history.sample s where s.setup = p_setup and s.step = p_step);
  v_from timestamptz;
begin
  for v_from in
    select distinct date_bin(p_step, s.at, 'epoch')
      from history.sample s
     where s.setup = p_setup and s.step = p_finer and s.at >= coalesce(v_done, '-infinity')
       and s.at < date_bin(p_step, p_until, 'epoch')
     order by 1
  loop
    insert into history.sample (setup, step, at, samples, mean, most)
    with finer as (
      select s.samples, s.mean, coalesce(s.most, s.mean) as most
        from history.sample s
       where s.setup = p_setup and s.step = p_finer and s.at >= v_from and s.at < v_from + p_step
    ), total as (
      select sum(f.samples) as samples from finer f
    )
    select p_setup, p_step, v_from, t.samples, v.mean, v.most
      from total t
     cross join lateral (
       select coalesce(array_agg(i.mean order by i.place), '{}') as mean,
              coalesce(array_agg(i.most order by i.place), '{}') as most
         from (select u.place, (sum(u.mean::float8 * f.samples) / t.samples)::real as mean, max(u.most) as most
                 from finer f
                cross join lateral unnest(f.mean, f.most) with ordinality u (mean, most, place)
                group by u.place) i) v;
    update history.series s set last_at = v_from
      from history.sample h
     where s.setup = p_setup and s.last_at < v_from - interval '1 day'
       and h.setup = p_setup and h.step = p_step and h.at = v_from and h.most[s.place] <> 0;
  end loop;
end $$;

comment on function history.compact(text, interval, interval, timestamptz) is
  'Makes the means of spans of a step from those of a finer step, for spans that are over at p_until and have no means '
  'yet.';
