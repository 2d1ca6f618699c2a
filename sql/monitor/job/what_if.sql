create or replace view monitor.what_if as
select w.setup, w.what_if_id, w.asked_at, w.asked_by, w.change, w.difference
  from brokerage.what_if w
 where (w.setup = (select resource.bound_setup())) is not false;

comment on view monitor.what_if is
  'What changes would do to the decisions about tasks, as it was when somebody asked: the last 100 of each setup.';
comment on column monitor.what_if.change is 'What was asked.';
comment on column monitor.what_if.difference is 'The answer: before, after, differences, not_open, kept.';
