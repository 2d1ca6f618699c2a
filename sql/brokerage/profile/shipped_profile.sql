-- The profiles that come with the program; their rules are in brokerage.shipped_rule.
create or replace view brokerage.shipped_profile as
select v.profile, v.description, v.marks
  from (values
    ('documented',       'What the seeds say, literally (seed 000); the default.', false),
    ('panda2026', 'What PanDA''s code does in August 2026.',                true)
  ) v(profile, description, marks);

comment on view brokerage.shipped_profile is 'Profiles that come with the program.';
comment on column brokerage.shipped_profile.profile is 'Name.';
comment on column brokerage.shipped_profile.description is 'What it says.';
comment on column brokerage.shipped_profile.marks is
  'Temporary problems only mark a queue: the reason is the first persistent one, else the last mark (brokerage-rules, '
  'Reading help); false: the first rule that fails is the reason (G1).';
