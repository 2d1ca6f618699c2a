-- The profiles that come with the program; their rules are in brokerage.shipped_rule.
create or replace view brokerage.shipped_profile as
select v.profile, v.description, v.marks
  from (values
    ('documented', 'PanDA''s documentation, read literally; the default.', false),
    ('panda2026', 'What PanDA''s code does in August 2026.', true)
  ) v(profile, description, marks);

comment on view brokerage.shipped_profile is 'Profiles that come with the program.';
comment on column brokerage.shipped_profile.profile is 'Name.';
comment on column brokerage.shipped_profile.description is 'The source that its rules follow.';
comment on column brokerage.shipped_profile.marks is
  'If true, temporary problems only mark a queue, and the reason is the first persistent problem, else the last mark '
  '(order-and-turns.md, temporary-problems). If false, the first rule that fails is the reason.';
