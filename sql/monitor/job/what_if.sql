create or replace view monitor.what_if as
select w.setup, w.what_if_id, w.asked_at, w.asked_by, w.change, w.difference
  from brokerage.what_if w
 where (w.setup = (select resource.bound_setup())) is not false;

comment on view monitor.what_if is
  'Effects that changes would have on the decisions about tasks, at the time of the question: the last 100 answers of '
  'each setup.';
comment on column monitor.what_if.change is 'Change that was asked about.';
comment on column monitor.what_if.difference is 'Answer, with the keys before, after, differences, not_open and kept.';
