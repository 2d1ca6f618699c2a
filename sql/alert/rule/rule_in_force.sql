-- The view has the setup's own rules, and the rules that come with the program unless the setup has a rule of the same
-- name.
create or replace view alert.rule_in_force as
select f.setup, f.rule, f.enabled, f.origin, f.figure, f.labels, f.by_label, f.per_figure, f.per_labels, f.per_least,
       f.above, f.below, f.over, f.lasting, f.severity, f.summary,
       f.figure || coalesce(f.labels::text, '') || coalesce(' / ' || f.per_figure || f.per_labels::text, '')
       || coalesce(' > ' || f.above, ' < ' || f.below) as condition, j.at as judged_at
  from (select r.setup, r.rule, r.enabled, case when s.rule is null then 'own' else 'changed' end as origin, r.figure,
               r.labels, r.by_label, r.per_figure, r.per_labels, r.per_least, r.above, r.below, r.over, r.lasting,
               r.severity, r.summary
          from alert.rule r
          left join alert.shipped_rule s on s.rule = r.rule
         union all
        select p.setup, s.rule, s.enabled, 'shipped', s.figure, s.labels, s.by_label, s.per_figure, s.per_labels,
               s.per_least, s.above, s.below, s.over, s.lasting, s.severity, s.summary
          from resource.setup p
         cross join alert.shipped_rule s
         where not exists (select from alert.rule r where r.setup = p.setup and r.rule = s.rule)) f
  left join alert.judged j on j.setup = f.setup
 where (f.setup = (select resource.bound_setup())) is not false;

comment on view alert.rule_in_force is 'Rules of alerts that hold in each setup.';
comment on column alert.rule_in_force.setup is 'Setup.';
comment on column alert.rule_in_force.origin is
  'Origin of the rule: shipped (comes with the program), changed (comes with the program, and the setup changed it) or '
  'own.';
comment on column alert.rule_in_force.condition is 'Condition as text: figures and limit.';
comment on column alert.rule_in_force.judged_at is
  'Last minute by which the rules of the setup were evaluated (alert.judge), by its beginning; null = none.';
