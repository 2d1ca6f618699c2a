-- MATCHING.md, Resource description. Error hints, taskqueue.set_settings and the reference read this view;
-- taskqueue.offer_of parses the values.
create or replace view taskqueue.description_key as
select k.key, k.type, k.unit, k.may_be_strict, k.condition, k.meaning
  from (values
    ('Setup', 'text', null, false, null, 'Must be the setup of the call.'),
    ('OwnerDN', 'text', null, false, 'Owner', 'Owner of a private pilot; absent: any owner.'),
    ('OwnerGroup', 'texts', null, false, 'Owner', 'Groups whose jobs a private pilot takes; absent: any group.'),
    ('CPUTime', 'number', 'seconds', false, 'CPUTime', 'CPU time left on the worker node.'),
    ('PilotType', 'texts', null, false, 'PilotType', 'Types of the pilot; absent: it has none.'),
    ('Site', 'texts', null, true, 'Site', 'Site of the worker node; absent or any: no condition.'),
    ('GridCE', 'texts', null, true, 'GridCE', 'Computing element; absent or any: no condition.'),
    ('Platform', 'texts', null, true, 'Platform', 'Platforms that the node runs; absent or any: no condition.'),
    ('LHCbPlatform', 'texts', null, false, 'Platform', 'Alias of Platform.'),
    ('JobType', 'texts', null, true, 'JobType', 'Job types that the node takes; absent or any: no condition.'),
    ('Tag', 'texts', null, false, 'Tag', 'Tags that the node offers; absent: none; any: no condition.'),
    ('RequiredTag', 'texts', null, false, 'RequiredTag', 'Offered tags that the jobs must require.'),
    ('BannedSite', 'texts', null, false, 'BannedSite', 'Takes no jobs that list one of these sites.'),
    ('BannedGridCE', 'texts', null, false, 'BannedGridCE', 'Takes no jobs that list one of these CEs.'),
    ('BannedPlatform', 'texts', null, false, 'BannedPlatform', 'Takes no jobs that list one of these platforms.'),
    ('BannedJobType', 'texts', null, false, 'BannedJobType', 'Takes no jobs of these types.'),
    ('BannedTag', 'texts', null, false, 'BannedTag', 'Takes no jobs that require one of these tags.'),
    ('MaxRAM', 'number', 'MB', false, 'MaxRAM', 'Memory for the job; absent: no condition.'),
    ('NumberOfProcessors', 'integer', 'processors', false, 'Tag',
     'Processors for the job, 1 to 1024; n offers the tags 1Processors to nProcessors, and MultiProcessor above 1.'),
    ('WholeNode', 'boolean', null, false, 'Tag', 'True offers the tag WholeNode.'),
    ('Attributes', 'object', null, false, 'Clauses', 'Values of the configured attributes, by name.'),
    ('HostName', 'text', null, false, null, 'Name of the worker node: a fact of ends; jobs may avoid the worker node.'),
    ('JobID', 'integer', null, false, 'JobID', 'Takes only this job.')
  ) k (key, type, unit, may_be_strict, condition, meaning);

comment on view taskqueue.description_key is 'The keys of a resource description (taskqueue.match_job).';
comment on column taskqueue.description_key.key is 'Name of the key.';
comment on column taskqueue.description_key.type is
  'JSON type: text, texts (one text or a list of texts), number (not negative), integer, boolean or object.';
comment on column taskqueue.description_key.unit is 'Unit of a number.';
comment on column taskqueue.description_key.may_be_strict is 'Whether the setting strict_keys may list it.';
comment on column taskqueue.description_key.condition is
  'Condition of matching that reads the key, as in taskqueue.explain_match; null if there is none.';
comment on column taskqueue.description_key.meaning is 'Meaning of the key.';
