-- MATCHING.md, Conditions: the conjunction of all conditions, cheapest first. Each condition is a function of its
-- own, so that taskqueue.explain_match shows exactly what decides. All are inlined into the query that uses them, so
-- none of them has SET, SECURITY DEFINER or a sublink.
create or replace function taskqueue.accepts(p_definition taskqueue.definition, p_offer taskqueue.offer) returns boolean
language sql stable as $$
  select taskqueue.accepts_cpu_time(p_definition, p_offer)
     and taskqueue.accepts_owner(p_definition, p_offer)
     and taskqueue.accepts_ram(p_definition, p_offer)
     and taskqueue.accepts_tag(p_definition, p_offer)
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
     and coalesce(taskqueue.accepts_clauses(p_definition, p_offer), taskqueue.meets_clauses(p_definition, p_offer))
     and taskqueue.accepts_limits(p_definition, p_offer)
$$;

comment on function taskqueue.accepts(taskqueue.definition, taskqueue.offer) is
  'Whether a definition matches an offer, that is, whether all conditions hold.';
