-- MATCHING.md, Reasons: tests taskqueue.accepts without the conditions that a larger resource would pass: CPUTime,
-- MaxRAM, limits, and the tags that taskqueue.tags_offered makes of processors. Inlined. The conditions are repeated,
-- since a call within taskqueue.accepts would be planned with every match;
-- tests/core/taskqueue/test_reasons.py compares both.
create or replace function taskqueue.accepts_but_size(
  p_definition taskqueue.definition, p_tags text[], p_offer taskqueue.offer
) returns boolean
language sql stable as $$
  select taskqueue.accepts_owner(p_definition, p_offer)
     and taskqueue.accepts_required_tag(p_definition, p_offer)
     and taskqueue.accepts_pilot_type(p_definition, p_offer)
     and taskqueue.accepts_job_type(p_definition, p_offer)
     and taskqueue.accepts_grid_ce(p_definition, p_offer)
     and taskqueue.accepts_site(p_definition, p_offer)
     and taskqueue.accepts_platform(p_definition, p_offer)
     and taskqueue.accepts_banned_site(p_definition, p_offer)
     and taskqueue.accepts_banned_grid_ce(p_definition, p_offer)
     and taskqueue.accepts_banned_platform(p_definition, p_offer)
     and taskqueue.accepts_banned_job_type(p_definition, p_offer)
     and taskqueue.accepts_banned_tag(p_definition, p_offer)
     and ((p_offer).tags is null or p_tags <@ (p_offer).tags)
     and (taskqueue.accepts_clauses(p_definition, p_offer) is true
          or taskqueue.meets_clauses(p_definition, p_offer, true))
$$;

comment on function taskqueue.accepts_but_size(taskqueue.definition, text[], taskqueue.offer) is
  'Whether a definition matches an offer apart from CPU time, memory, processors and limits; p_tags: the tags of the '
  'definition without those of processors (taskqueue.tags_but_size).';
