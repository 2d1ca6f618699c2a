-- RETRIES.md, Judging again. Nothing is stored. A busy grid has a million failures a day, so the newest ones are
-- judged.
create or replace function taskqueue.judge_again(
  p_setup text, p_rules jsonb, p_since timestamptz, p_until timestamptz default null, p_limit int default 20000
) returns table (at timestamptz, job_id bigint, attempt_number int, site text, host text, error_class text,
                 failures int, cpu_used real, wall_used real, decided text, decided_passive text, present text,
                 present_passive text, present_delay interval, proposed text,
                 proposed_passive text, proposed_delay interval)
language plpgsql stable security definer set search_path = taskqueue, pg_temp set jit = off as $$
#variable_conflict use_column
declare
  v_until timestamptz := coalesce(p_until, 'infinity');
  v_setting taskqueue.setting;
  v_last_bucket bigint := (select max(b.cpu_time) from taskqueue.cpu_bucket b where b.setup = p_setup);
  v_rules taskqueue.retry_rule[];
begin
  perform resource.identify_viewer(p_setup);
  perform resource.require_limit('limit', p_limit);
  if (p_since < v_until) is not true then
    raise exception 'since is %, and until %', coalesce(p_since::text, 'null'), coalesce(p_until::text, 'null')
      using errcode = 'PB001', hint = 'Give a beginning, and an end after it or null.';
  end if;
  v_rules := taskqueue.read_retry_rules(p_setup, p_rules);
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  return query
    select (w.ended).at, (w.ended).job_id, (w.ended).attempt, (w.ended).site, (w.ended).host, (w.ended).error_class,
           f.failures, (w.ended).cpu_used, (w.ended).wall_used, (w.ended).retry_rule, (w.ended).passive_rule,
           n.retry_rule, n.passive_rule, n.retry_at - (w.ended).at,
           o.retry_rule, o.passive_rule, o.retry_at - (w.ended).at
      from (select h as ended from taskqueue.history h
             where h.setup = p_setup and h.event = 'failed' and h.error_class is not null and h.at >= p_since
               and h.at < v_until
             order by h.at desc limit p_limit) w
     cross join lateral (
            select f.*, f as failure, v_setting.most_retries > 0 and not taskqueue.was_killed(w.ended) as is_judged
              from taskqueue.failure_of(w.ended, v_setting, v_last_bucket) f offset 0) f
      left join lateral taskqueue.verdict_of(p_setup, f.failure, (w.ended).at) n on f.is_judged
      left join lateral taskqueue.verdict_of(p_setup, f.failure, (w.ended).at, v_rules) o on f.is_judged
     order by (w.ended).at desc, (w.ended).job_id;
end $$;

comment on function taskqueue.judge_again(text, jsonb, timestamptz, timestamptz, int) is
  'Judges failed ends of the history by the present retry rules and by proposed ones (p_rules, as set_retry_rules '
  'takes them), the newest first, at most p_limit (null = all). decided: the rule that decided when the job failed. '
  'present and proposed: the rule of this list that decides (null = none, so the job ends), the passive rule before '
  'it, and the delay after which the job is tried again (null = the job ends). failures: the number that was counted '
  'at the end. Nothing is stored. Errors: PB001 (p_rules, p_since, p_until, p_limit), '
  'PB002 (setup not granted).';
