-- Both arms of a trial are decided in one part, by priority, so the rules of both profiles are passed on together.
create or replace function brokerage.rules_of_run(p_run brokerage.run) returns brokerage.profile_rule[]
language sql stable as $$
  select brokerage.rules_of(p_run.profile)
         || coalesce((select brokerage.rules_of(t.profile)
                        from brokerage.trial t
                       where t.setup = p_run.setup and t.trial = p_run.trial), '{}')
$$;

comment on function brokerage.rules_of_run(brokerage.run) is
  'The rules by which a run decides: the rules of its profile and, in a trial, the rules of the tried profile. Errors: '
  'PB001.';
