-- Only this view has the limit of five minutes, so that pages, metrics and alerts agree whether figures are current.
-- Counting waiting jobs takes at most a twentieth of the time, so slow counts may be older.
create or replace view history.freshness as
select t.setup, m.at as sampled_at, coalesce(m.at > t.now - f.most, false) as is_sampled,
       m.at + interval '1 minute' as figures_end, w.counted_at,
       coalesce(w.counted_at > t.now - greatest(f.most, 40 * w.took), false) as is_counted
  from resource.setup_time t
 cross join (select interval '5 minutes' as most) f
  left join lateral (select s.at
                       from history.sample s
                      where s.setup = t.setup and s.step = '1 minute'
                      order by s.at desc limit 1) m on true
  left join taskqueue.summary w on w.setup = t.setup
 where (t.setup = (select resource.bound_setup())) is not false;

comment on view history.freshness is
  'The age of the figures of each setup. Metrics and alerts use no sample that is older than five minutes, and pages '
  'show when it ended.';
comment on column history.freshness.setup is 'Setup.';
comment on column history.freshness.sampled_at is
  'Beginning of the last minute that was sampled (history.sample); null = none.';
comment on column history.freshness.is_sampled is 'Whether that minute began less than five minutes ago.';
comment on column history.freshness.figures_end is 'End of that minute; null = no minute was sampled.';
comment on column history.freshness.counted_at is
  'When the waiting jobs were last counted (taskqueue.summarize_waiting); null = never.';
comment on column history.freshness.is_counted is
  'Whether the count was made less than five minutes ago, or less than 40 times the duration of the count ago.';
