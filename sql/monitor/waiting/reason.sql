-- Pages, lists and alerts show these sentences beside the word. MATCHING.md and brokerage/rules/conventions.md define
-- the words.
create or replace view monitor.reason as
select r.reason, r.meaning, r.remedy
  from (values
    ('misconfigured', 'The requirements exclude every site, or their evaluation raised an error.',
     'Insert the job with other requirements.'),
    ('too_large', 'The resources that would fit have too little CPU time, memory, disk or processors.',
     'Lower the requirements, or add larger resources.'),
    ('held', 'The job, its owner, its TaskQueue or its task is held.', 'Resume it: `broker resume`.'),
    ('unknown', 'The reason is not found out yet.', '`broker summarize`, or the loop, finds it out.'),
    ('input_missing', 'No readable place has the input, or the input is being transferred.',
     'Add replicas; see `broker explain task ID`.'),
    ('no_queue_accepts', 'A rule of brokerage rejects every queue.', 'See `broker explain task ID`.'),
    ('limited', 'Every resource that fits is at a limit.', 'See `broker limits`.'),
    ('throttled', 'A rule or a status keeps the whole task back.', 'Wait; `broker explain task ID` names the rule.'),
    ('no_resource_seen', 'No resource that fits has asked lately.', 'See `broker explain JOB`.'),
    ('overtaken', 'A resource that fits took a job with other requirements.', 'Check the shares and the priorities.'),
    ('waiting', 'Nothing is in the way; a resource that fits may ask soon.', 'Wait.')
  ) r (reason, meaning, remedy);

comment on view monitor.reason is
  'The words that name why a job or a task waits, by precedence, each with a sentence for people.';
comment on column monitor.reason.reason is 'Reason in one word.';
comment on column monitor.reason.meaning is 'Meaning of the word, as a sentence.';
comment on column monitor.reason.remedy is 'Action that helps.';
