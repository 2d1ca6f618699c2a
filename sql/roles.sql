-- All grants of the installation. The roles have exactly what this file lists: `broker db upgrade` grants what is
-- missing and revokes what is no longer here, in the transaction that makes the objects.
--
-- `grant privilege on kind schema.name, schema.name to role, role;`. A function's name alone means all its overloads.
-- A function that a view calls is granted to whoever may read the view. `broker_` stands for the prefix of the
-- installation (`broker db upgrade --role-prefix`). PUBLIC has no rights. Long because it is one list.
--
--   broker_owner      owns everything; nobody logs in as this role
--   broker_agent      the calls of a JobAgent and nothing else
--   broker_submitter  submits, cancels and looks at its own jobs
--   broker_operator   runs pgbroker: all public functions, configuration, views
--   broker_viewer     reads: monitor's views and the explanations
--   broker_service    the login of broker serve: identifies the caller, and acts for it as one of four roles
--
-- A login gets a role by membership: `grant broker_agent to pilot_user`.

grant usage on schema resource, taskqueue, instance to broker_agent, broker_submitter, broker_operator, broker_viewer;
grant usage on schema resource to broker_service;
grant usage on schema workload, brokerage, monitor, history, alert to broker_operator, broker_viewer;
grant usage on schema cluster to broker_agent, broker_submitter, broker_operator, broker_viewer, broker_service;
grant usage on schema lifecycle to broker_submitter, broker_operator, broker_viewer;

-- resource: who may do what, and the clock of a simulated setup
grant execute on function resource.installed_release to broker_agent, broker_submitter, broker_operator, broker_viewer;
grant execute on function resource.bound_setup to broker_operator, broker_viewer;
grant execute on function
  resource.set_identity, resource.clear_identity, resource.set_clock, resource.make_isolated_setup, resource.note_shard
  to broker_operator;

-- resource: callers through the service
grant execute on function
  resource.credentials_of, resource.exchange_secret, resource.is_service, resource.open_session, resource.refuse_moved,
  resource.use_ticket, resource.close_session, resource.session_of
  to broker_service;
grant execute on function
  resource.set_credential, resource.clear_credential, resource.make_token, resource.revoke_tokens,
  resource.make_secret, resource.revoke_secret, resource.make_ticket, resource.revoke_sessions,
  resource.setups_of_claims
  to broker_operator;

-- resource, workload, brokerage, instance: worlds and configuration
grant execute on function
  resource.store, resource.dump, resource.store_config, resource.dump_config, resource.set_config,
  resource.set_config_everywhere, workload.store, workload.store_files, workload.dump, workload.set_replica,
  workload.digest_input, workload.digest_loaded_input, brokerage.store, brokerage.dump, instance.store, instance.dump,
  brokerage.refresh_statistics
  to broker_operator;
grant execute on function
  resource.describe_setup, resource.config_of, resource.keys_of_job_brokerage, resource.keys_of_analysis_brokerage,
  resource.keys_of_task_brokerage, resource.keys_of_users, resource.keys_of_timeouts, workload.missing_reference
  to broker_operator, broker_viewer;
grant select on table resource.config_key to broker_operator, broker_viewer;

-- brokerage: runs
grant execute on procedure
  brokerage.broker, brokerage.broker_analysis, brokerage.broker_jobs, brokerage.broker_tasks, brokerage.classify
  to broker_operator;
grant execute on function
  brokerage.require_few_jobs,
  brokerage.open_run, brokerage.broker_next, brokerage.close_run, brokerage.evaluate_task, brokerage.compute_classes
  to broker_operator;
grant execute on function brokerage.require_tasks to broker_operator, broker_viewer;

-- brokerage: profiles, settings, maintenance
grant execute on function
  brokerage.set_profile, brokerage.remove_profile, brokerage.set_rule, brokerage.clear_rule, brokerage.set_settings,
  brokerage.maintain, brokerage.begin_trial, brokerage.end_trial, brokerage.find_reasons,
  brokerage.keep_what_if
  to broker_operator;

-- brokerage: explanations
grant execute on function
  brokerage.algorithm_of, brokerage.profile_name, brokerage.classes, brokerage.explain, brokerage.jobs_difference,
  brokerage.obstacles, brokerage.rejection_difference,
  brokerage.named_queues, brokerage.not_loaded, brokerage.plan_steps, brokerage.profile_faults,
  brokerage.replay, brokerage.replay_changes, brokerage.rules_of, brokerage.run_difference, brokerage.unknown_queues
  to broker_operator, broker_viewer;
grant select on table
  brokerage.assignments, brokerage.due_task, brokerage.nucleus_of_task, brokerage.open_task, brokerage.outcomes,
  brokerage.rejections, brokerage.rule_in_force, brokerage.setting_in_force, brokerage.task_reason,
  brokerage.task_due_state
  to broker_operator, broker_viewer;

-- taskqueue: a JobAgent's calls
grant execute on function
  taskqueue.match_job, taskqueue.match_jobs, taskqueue.match_many, taskqueue.match_with_payload,
  taskqueue.report_job, taskqueue.report_jobs, taskqueue.finish_job, taskqueue.finish_jobs, taskqueue.release_job,
  taskqueue.payloads, taskqueue.arrivals,
  taskqueue.matching_definitions, taskqueue.jobs_of_subject, taskqueue.judges_error, taskqueue.processors_given
  to broker_agent, broker_operator;
grant execute on function resource.slot_of_queue, resource.resource_types to broker_agent, broker_operator;

-- taskqueue: a submitter's calls
grant execute on function
  taskqueue.insert_job, taskqueue.insert_jobs, taskqueue.cancel_job, taskqueue.delete_job, taskqueue.queue_of_job,
  taskqueue.jobs_there, taskqueue.insert_counted
  to broker_submitter, broker_operator;

-- taskqueue: a submitter looks at its own jobs
grant execute on function
  taskqueue.own_job, taskqueue.own_jobs, taskqueue.own_job_events, taskqueue.own_payload
  to broker_submitter, broker_operator;

-- taskqueue: explanations; a private submitter gets only those about its own jobs
grant execute on function taskqueue.explain_match, taskqueue.explain_job, taskqueue.explain_retry
  to broker_submitter, broker_operator, broker_viewer;
grant execute on function
  taskqueue.matching_queues, taskqueue.explain_resource, taskqueue.check_matching, taskqueue.resources_not_rolled_up
  to broker_operator, broker_viewer;
grant execute on function taskqueue.requirements_in_words, taskqueue.clauses_text, taskqueue.clause_text
  to broker_agent, broker_operator, broker_viewer;
grant execute on function taskqueue.shipped_error_of, taskqueue.shipped_retry_rules, taskqueue.judge_again
  to broker_operator, broker_viewer;
grant select on table taskqueue.description_key, taskqueue.requirement_key, taskqueue.shipped_error
  to broker_operator, broker_viewer;

-- taskqueue: an operator's calls
grant execute on function
  taskqueue.delete_queue_if_empty, taskqueue.delete_empty_queues, taskqueue.set_task_queue_enabled, taskqueue.hold,
  taskqueue.resume, taskqueue.set_limit, taskqueue.clear_limit, taskqueue.set_group, taskqueue.set_cpu_buckets,
  taskqueue.recompute_shares, taskqueue.rebuild_matching, taskqueue.forget_ended, taskqueue.match_jobs_with_seed,
  taskqueue.set_settings, taskqueue.require_settings, taskqueue.set_platform_compatibility, taskqueue.set_attributes,
  taskqueue.set_error_classes, taskqueue.set_retry_rules, taskqueue.guard, taskqueue.mark_guarded,
  taskqueue.set_quarantine, taskqueue.lift_quarantine, taskqueue.maintain, taskqueue.setups_due, taskqueue.guard_due,
  taskqueue.find_reasons, taskqueue.summarize_waiting
  to broker_operator;

-- taskqueue: worlds, and whole setups
grant execute on function
  taskqueue.dump_configuration, taskqueue.dump_task_queues, taskqueue.dump_leases, taskqueue.load_task_queues,
  taskqueue.load_leases, taskqueue.refuse_submitted_ids, taskqueue.require_task_payloads, taskqueue.remove_setup
  to broker_operator;
grant execute on function taskqueue.refresh_statistics to broker_submitter, broker_operator;

-- workload: jobs, their counts
grant select on table workload.count_difference to broker_operator, broker_viewer;
grant execute on function workload.is_end, workload.changes_of_part to broker_operator, broker_viewer;
grant execute on function workload.fold_counts, workload.correct_counts to broker_operator;

-- lifecycle: background work
grant execute on function
  lifecycle.activate, lifecycle.cancel_task, lifecycle.expire_leases, lifecycle.measure_shares,
  lifecycle.watch_timeouts, lifecycle.fast_rebroker, lifecycle.forget_ended, lifecycle.maintain, lifecycle.retry_jobs,
  lifecycle.retry_task, lifecycle.set_settings, lifecycle.set_timeout, lifecycle.remove_timeout, lifecycle.lead,
  lifecycle.stand_down, lifecycle.forget_loop, lifecycle.give_back, lifecycle.watch_step, lifecycle.setups,
  lifecycle.setups_due, lifecycle.summarize_due,
  lifecycle.make_partitions
  to broker_operator;
grant execute on function lifecycle.cancel_jobs to broker_submitter, broker_operator;
grant execute on function lifecycle.share_tree, lifecycle.fast_excess, lifecycle.explain_timeouts
  to broker_operator, broker_viewer;
grant execute on procedure lifecycle.watch to broker_operator;
grant select on table
  lifecycle.timeout_rule, lifecycle.timeout_in_force, lifecycle.setting_in_force, lifecycle.needed_loop
  to broker_operator, broker_viewer;

-- monitor: views for people
grant select on table
  monitor.attribute, monitor.offered_attribute,
  monitor.brokered_job, monitor.brokered_job_count, monitor.verdict, monitor.ended_lately, monitor.error_class,
  monitor.failure, monitor.first_job, monitor.group_share, monitor.health, monitor.health_clock, monitor.health_loop,
  monitor.health_profile, monitor.general_config, monitor.retry_rule, monitor.quarantine,
  monitor.quarantine_by_site, monitor.host_health,
  monitor.health_session, monitor.health_setting, monitor.health_snapshot, monitor.health_standby,
  monitor.health_history, monitor.health_table, monitor.health_work, monitor.job,
  monitor.job_event, monitor.job_history, monitor.job_in_two_states, monitor.job_out_of_step,
  monitor.job_without_queue, monitor.last_run, monitor.last_run_rejection, monitor.lease, monitor.lease_by_site,
  monitor.loaded_record,
  monitor.limit_by_site, monitor.listed_job, monitor.loop, monitor.matches_per_minute, monitor.matching_difference,
  monitor.oldest_job, monitor.owner_group, monitor.profile, monitor.profile_rule, monitor.public_function,
  monitor.queue, monitor.reason, monitor.resource_seen, monitor.rule, monitor.function_time, monitor.table_size,
  monitor.run, monitor.run_rejection, monitor.setting, monitor.setup, monitor.share_tree,
  monitor.site, monitor.site_limit, monitor.snapshot_holder, monitor.task, monitor.task_decision, monitor.task_queue,
  monitor.transition, monitor.trial, monitor.trial_outcome, monitor.unfolded_change, monitor.use_by_group,
  monitor.use_by_task, monitor.waiting_by_cpu_bucket,
  monitor.waiting_at_site, monitor.waiting_by_group, monitor.waiting_by_platform, monitor.waiting_by_reason,
  monitor.waiting_by_site, monitor.waiting_job, monitor.waiting_task, monitor.what_if
  to broker_operator, broker_viewer;
grant select on table monitor.browser_session, monitor.change, monitor.credential, monitor.identity
  to broker_operator;
grant execute on function brokerage.split_reason, brokerage.student_t_bound, taskqueue.reason_of,
  taskqueue.requires_value, taskqueue.shown_error, taskqueue.value_order
  to broker_operator, broker_viewer;

-- history: figures over time
grant execute on function history.sample to broker_operator;
grant execute on function history.failures, history.figure_over, history.figures_over, history.last_sample
  to broker_operator, broker_viewer;
grant select on table history.figure, history.freshness to broker_operator, broker_viewer;

-- instance: packing jobs onto rented machines
grant execute on procedure instance.schedule to broker_operator;
grant execute on function
  instance.follow_task_queues, instance.forget_ended, instance.schedule_task, instance.release_empty,
  instance.finish_steps, instance.return_steps, instance.start_instances, instance.lose_instances,
  instance.set_settings, instance.set_task_limit
  to broker_operator;
grant execute on function instance.match_jobs to broker_agent, broker_operator;
grant execute on function
  instance.tasks_to_schedule, instance.plan, instance.explain_step
  to broker_operator, broker_viewer;
grant execute on function
  instance.add_steps, instance.set_needs, instance.cancel_steps
  to broker_submitter, broker_operator;
grant select on table
  monitor.instance, monitor.instance_by_type, monitor.instance_difference, monitor.instance_step,
  monitor.instance_total
  to broker_operator, broker_viewer;

-- alert: rules about figures, and the targets of alerts
grant execute on function
  alert.set_rule, alert.clear_rule, alert.set_target, alert.clear_target, alert.test_target, alert.judge,
  alert.silence_alerts, alert.take_notifications, alert.note_sent
  to broker_operator;
grant select on table alert.shipped_rule, alert.rule_in_force, alert.alert_now, alert.silence_now
  to broker_operator, broker_viewer;
grant select on table alert.target_now, alert.sent to broker_operator;

-- cluster: which database has which setup; PL/Proxy asks as the caller
grant execute on function cluster.shard_of, cluster.shard_dsn
  to broker_agent, broker_submitter, broker_operator, broker_viewer;
grant execute on function cluster.shard_dsn, cluster.ways_of to broker_service;
grant execute on function cluster.place, cluster.unplace to broker_operator;
grant select on table monitor.shard to broker_operator, broker_viewer;
