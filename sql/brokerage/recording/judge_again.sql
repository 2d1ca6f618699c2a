-- The same function (brokerage.judge) decides a part of a run again by other rules, from the recorded facts and with
-- the seed of the run. The rules of one profile decide both arms of a trial.
create or replace function brokerage.judge_again(
  p_recording brokerage.recording, p_rules brokerage.profile_rule[], p_profile text
) returns setof brokerage.task_answer
language plpgsql volatile as $$
declare
  v_run brokerage.run;
  v_subjects brokerage.facts_by_subject;
  v_queues jsonb;
  v_tasks brokerage.task_facts[] := brokerage.from_columns(p_recording.tasks, null::brokerage.task_facts);
begin
  select r.* into v_run from brokerage.run r where r.setup = p_recording.setup and r.run_id = p_recording.run_id;
  v_run.started_at := p_recording.decided_at;
  if p_profile is not null then
    v_run.profile := p_profile;
    v_tasks := brokerage.with_arms(v_run.setup, null, v_tasks);
  end if;
  select jsonb_object_agg(c.key, brokerage.noted_value(p_recording.setup, p_recording.decided_at, c.value))
    into v_queues
    from jsonb_each_text(p_recording.queues) c;
  v_subjects.base_profile := p_recording.subjects ->> 'base_profile';
  if v_run.algorithm = 'production_task' then
    v_subjects.nucleus_keys :=
      brokerage.from_columns(p_recording.subjects -> 'nucleus_keys', null::brokerage.nucleus_key);
    v_subjects.work := brokerage.from_columns(p_recording.subjects -> 'work', null::brokerage.work_facts);
    v_subjects.located := brokerage.from_columns(p_recording.subjects -> 'located', null::brokerage.located_facts);
    v_subjects.space := brokerage.from_columns(p_recording.subjects -> 'space', null::brokerage.space_facts);
  else
    v_subjects.keys := brokerage.from_columns(p_recording.subjects -> 'keys', null::brokerage.task_key);
    v_subjects.network := brokerage.from_columns(p_recording.subjects -> 'network', null::brokerage.network_facts);
    v_subjects.load := brokerage.from_columns(p_recording.subjects -> 'load', null::brokerage.load_facts);
    v_subjects.policies := brokerage.from_columns(p_recording.subjects -> 'policies', null::brokerage.policy_facts);
    v_subjects.software := brokerage.from_columns(p_recording.subjects -> 'software', null::brokerage.software_facts);
    v_subjects.placement :=
      brokerage.from_columns(p_recording.subjects -> 'placement', null::brokerage.placement_facts);
    if v_run.algorithm = 'analysis_job' then
      v_subjects.inputs := brokerage.from_columns(p_recording.subjects -> 'inputs', null::brokerage.input_facts);
    end if;
  end if;
  return query
  select a.*
    from brokerage.judge(v_run, array(select m from brokerage.arms(v_run, p_rules, v_tasks) m), v_subjects, v_tasks,
                         brokerage.from_columns(v_queues, null::brokerage.queue_facts)) a;
end $$;

comment on function brokerage.judge_again(brokerage.recording, brokerage.profile_rule[], text) is
  'The decision of a part of a run by the given rules, from the recorded facts. p_profile: the profile of these rules, '
  'changed or not; null if the rules are the recorded ones of the run. Errors: PB001 (a rule that does not fit, facts '
  'of another release), and errors that the values of a task raise.';
