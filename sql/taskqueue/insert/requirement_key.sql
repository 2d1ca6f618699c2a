-- MATCHING.md, Requirements: the keys of requirements and their aliases. taskqueue.canonical_requirements,
-- taskqueue.attribute_key, error hints and the reference read this view.
create or replace view taskqueue.requirement_key as
select k.key, k.canonical_key, k.type, k.unit, k.is_required, k.condition, k.meaning
  from (values
    ('Setup', null, 'text', null, false, null, 'Must be the setup of the call.'),
    ('OwnerDN', 'OwnerDN', 'text', null, true, 'Owner', 'Submitter of the job.'),
    ('Owner', 'OwnerDN', 'text', null, false, 'Owner', 'Alias of OwnerDN.'),
    ('OwnerGroup', 'OwnerGroup', 'text', null, true, 'Owner', 'Group of the submitter.'),
    ('CPUTime', 'CPUTime', 'cpu_time', 'seconds', true, 'CPUTime',
     'CPU time of the job, rounded up to its CPU bucket.'),
    ('SubmitPools', 'SubmitPools', 'texts', null, false, null, 'Pools used to submit pilots for the job.'),
    ('GridMiddlewares', 'GridMiddlewares', 'texts', null, false, null, 'Grid middlewares of the pilots.'),
    ('PilotTypes', 'PilotTypes', 'texts', null, false, 'PilotType', 'Pilot types that may run the job; absent: any.'),
    ('Sites', 'Sites', 'texts', null, false, 'Site', 'Sites that may run the job; absent: any.'),
    ('BannedSites', 'BannedSites', 'texts', null, false, 'Site', 'Sites that may not run the job.'),
    ('GridCEs', 'GridCEs', 'texts', null, false, 'GridCE', 'Computing elements that may run the job; absent: any.'),
    ('Platforms', 'Platforms', 'texts', null, false, 'Platform', 'Platforms that may run the job; absent: any.'),
    ('LHCbPlatforms', 'Platforms', 'texts', null, false, 'Platform', 'Alias of Platforms.'),
    ('JobTypes', 'JobTypes', 'texts', null, false, 'JobType', 'Types of the job.'),
    ('Tags', 'Tags', 'texts', null, false, 'Tag', 'Tags, all of which the resource must offer.'),
    ('TagExpression', null, 'clauses', null, false, 'Clauses',
     'Expression over tags with & (and), | (or), ~ (not) and brackets, as a text.'),
    ('Attributes', null, 'clauses', null, false, 'Clauses',
     'Attributes that the resource must offer: a value, a list of values, or {min, max, above, below}, by name.'),
    ('Alternatives', null, 'clauses', null, false, 'Clauses',
     'Objects with Sites, Tags, TagExpression and Attributes, one of which must hold as a whole.'),
    ('Clauses', 'Clauses', 'clauses', null, false, 'Clauses',
     'Clauses that must all hold, in their canonical form; a clause holds if one of its parts does.'),
    ('MinNumberOfProcessors', null, 'processors', 'processors', false, 'Tag',
     'Processors that the resource must offer, 1 to 1024: the tag nProcessors above 1.'),
    ('MaxNumberOfProcessors', 'MaxNumberOfProcessors', 'processors', 'processors', false, null,
     'Processors that the job can use; not compared.'),
    ('RAMPerProcessor', 'RAMPerProcessor', 'number', 'MB', false, null,
     'Part of MinRAM that each processor takes; not compared.'),
    ('MinRAM', 'MinRAM', 'number', 'MB', false, 'MaxRAM', 'Memory that the resource must offer.'),
    ('MaxRAM', 'MaxRAM', 'number', 'MB', false, null, 'Memory that the job may use; not compared.')
  ) k (key, canonical_key, type, unit, is_required, condition, meaning);

comment on view taskqueue.requirement_key is 'The keys of requirements (taskqueue.insert_job).';
comment on column taskqueue.requirement_key.key is 'Key, or alias of a key.';
comment on column taskqueue.requirement_key.canonical_key is 'Key in canonical requirements; null if not part of them.';
comment on column taskqueue.requirement_key.type is
  'JSON type: text, texts (one text or a list of texts), number (not negative), processors (an integer from 1 '
  'to 1024), cpu_time (a number), or clauses (see the meaning).';
comment on column taskqueue.requirement_key.unit is 'Unit of a number.';
comment on column taskqueue.requirement_key.is_required is 'Whether requirements without the key are refused.';
comment on column taskqueue.requirement_key.condition is
  'Condition of matching that reads the key, as in taskqueue.explain_match; null if there is none.';
comment on column taskqueue.requirement_key.meaning is 'Meaning of the key.';
