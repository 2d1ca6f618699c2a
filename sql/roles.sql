-- All grants of the installation. The roles have exactly what this file lists: `broker db upgrade` grants what is
-- missing and revokes what is no longer here, in the transaction that makes the objects.
--
-- One line a thing: `grant privilege on kind schema.name to role, role;`. A function's name alone means
-- all its overloads. `broker_` stands for the prefix of the installation (`broker db upgrade
-- --role-prefix`). PUBLIC has nothing.
--
--   broker_owner      owns everything, nobody logs in as it
--   broker_agent      the calls of a JobAgent and nothing else
--   broker_submitter  submits and cancels jobs
--   broker_operator   runs pgbroker: all public functions, configuration, views
--   broker_viewer     reads: monitor's views and the explanations
--
-- Somebody gets a role as a member: `grant broker_agent to pilot_user`.

grant usage on schema resource  to broker_agent, broker_submitter, broker_operator, broker_viewer;
grant usage on schema taskqueue to broker_agent, broker_submitter, broker_operator, broker_viewer;
grant usage on schema workload  to                                 broker_operator, broker_viewer;
grant usage on schema brokerage to                                 broker_operator, broker_viewer;
grant usage on schema lifecycle to               broker_submitter, broker_operator, broker_viewer;
grant usage on schema instance  to broker_agent, broker_submitter, broker_operator, broker_viewer;
grant usage on schema monitor   to                                 broker_operator, broker_viewer;

-- resource: who may do what, and the clock of a simulated setup
grant execute
  on function resource.installed_release
  to broker_agent, broker_submitter, broker_operator, broker_viewer;
grant execute on function resource.set_identity            to broker_operator;
grant execute on function resource.clear_identity          to broker_operator;
grant execute on function resource.set_clock               to broker_operator;
grant execute on function resource.make_isolated_setup             to broker_operator;

-- resource, workload, brokerage, instance: worlds and configuration
grant execute on function resource.store                   to broker_operator;
grant execute on function resource.dump                    to broker_operator;
grant execute on function resource.describe_setup          to broker_operator, broker_viewer;
grant execute on function resource.store_config            to broker_operator;
grant execute on function resource.dump_config             to broker_operator;
grant execute on function resource.set_config              to broker_operator;
grant execute on function resource.config_of               to broker_operator, broker_viewer;
grant select on table resource.config_key                  to broker_operator, broker_viewer;
-- resource.config_key calls them
grant execute on function resource.keys_of_job_brokerage      to broker_operator, broker_viewer;
grant execute on function resource.keys_of_analysis_brokerage to broker_operator, broker_viewer;
grant execute on function resource.keys_of_task_brokerage     to broker_operator, broker_viewer;
grant execute on function resource.keys_of_users              to broker_operator, broker_viewer;
grant execute on function resource.keys_of_timeouts           to broker_operator, broker_viewer;
grant execute on function workload.store                   to broker_operator;
grant execute on function workload.dump                    to broker_operator;
grant execute on function workload.set_replica             to broker_operator;
grant execute on function workload.digest_input            to broker_operator;
grant execute on function workload.digest_loaded_input     to broker_operator;
grant execute on function workload.missing_reference       to broker_operator, broker_viewer;
grant execute on function brokerage.store                  to broker_operator;
grant execute on function brokerage.dump                   to broker_operator;
grant execute on function instance.store                   to broker_operator;
grant execute on function instance.dump                    to broker_operator;
grant execute on function brokerage.refresh_statistics     to broker_operator;

-- brokerage: runs
grant execute on procedure brokerage.broker                to broker_operator;
grant execute on procedure brokerage.broker_analysis       to broker_operator;
grant execute on procedure brokerage.broker_jobs           to broker_operator;
grant execute on procedure brokerage.broker_tasks          to broker_operator;
grant execute on procedure brokerage.classify              to broker_operator;
grant execute on function brokerage.open_run               to broker_operator;
grant execute on function brokerage.broker_next            to broker_operator;
grant execute on function brokerage.close_run              to broker_operator;
grant execute on function brokerage.require_tasks          to broker_operator, broker_viewer;
grant execute on function brokerage.evaluate_task          to broker_operator;

-- brokerage: profiles, settings, maintenance
grant execute on function brokerage.set_profile            to broker_operator;
grant execute on function brokerage.remove_profile         to broker_operator;
grant execute on function brokerage.set_rule               to broker_operator;
grant execute on function brokerage.remove_rule            to broker_operator;
grant execute on function brokerage.set_settings           to broker_operator;
grant execute on function brokerage.maintain               to broker_operator;

-- brokerage: explanations
grant execute on function brokerage.algorithm_of           to broker_operator, broker_viewer;
grant execute on function brokerage.profile_name           to broker_operator, broker_viewer;
grant execute on function brokerage.classes                to broker_operator, broker_viewer;
grant execute on function brokerage.explain                to broker_operator, broker_viewer;
grant execute on function brokerage.obstacles              to broker_operator, broker_viewer;
grant execute on function brokerage.run_difference         to broker_operator, broker_viewer;
grant execute on function brokerage.named_queues           to broker_operator, broker_viewer;
grant execute on function brokerage.unknown_queues         to broker_operator, broker_viewer;
grant select on table brokerage.assignments                to broker_operator, broker_viewer;
grant select on table brokerage.due_task                   to broker_operator, broker_viewer;
grant select on table brokerage.nucleus_of_task            to broker_operator, broker_viewer;
grant select on table brokerage.open_task                  to broker_operator, broker_viewer;
grant select on table brokerage.outcomes                   to broker_operator, broker_viewer;
grant select on table brokerage.rejections                 to broker_operator, broker_viewer;
grant select on table brokerage.rule_in_force              to broker_operator, broker_viewer;
grant select on table brokerage.setting_in_force           to broker_operator, broker_viewer;
grant select on table brokerage.task_standing              to broker_operator, broker_viewer;

-- taskqueue: a JobAgent's calls
grant execute on function taskqueue.match_job              to broker_agent, broker_operator;
grant execute on function taskqueue.match_jobs             to broker_agent, broker_operator;
grant execute on function taskqueue.report_job             to broker_agent, broker_operator;
grant execute on function taskqueue.report_jobs            to broker_agent, broker_operator;
grant execute on function taskqueue.finish_job             to broker_agent, broker_operator;
grant execute on function taskqueue.finish_jobs            to broker_agent, broker_operator;
grant execute on function taskqueue.release_job            to broker_agent, broker_operator;

-- taskqueue: a submitter's calls
grant execute on function taskqueue.insert_job             to broker_submitter, broker_operator;
grant execute on function taskqueue.insert_jobs            to broker_submitter, broker_operator;
grant execute on function taskqueue.cancel_job             to broker_submitter, broker_operator;
grant execute on function taskqueue.delete_job             to broker_submitter, broker_operator;
grant execute on function taskqueue.queue_of_job           to broker_submitter, broker_operator;

-- taskqueue: explanations
grant execute on function taskqueue.matching_queues        to broker_operator, broker_viewer;
grant execute on function taskqueue.explain_match          to broker_operator, broker_viewer;
grant execute on function taskqueue.explain_job            to broker_operator, broker_viewer;
grant execute on function taskqueue.check_matching         to broker_operator, broker_viewer;
grant select on table taskqueue.description_key        to broker_operator, broker_viewer;
grant select on table taskqueue.requirement_key        to broker_operator, broker_viewer;

-- taskqueue: an operator's calls
grant execute on function taskqueue.delete_queue_if_empty  to broker_operator;
grant execute on function taskqueue.delete_empty_queues    to broker_operator;
grant execute on function taskqueue.set_task_queue_enabled to broker_operator;
grant execute on function taskqueue.hold                   to broker_operator;
grant execute on function taskqueue.resume                 to broker_operator;
grant execute on function taskqueue.set_limit              to broker_operator;
grant execute on function taskqueue.clear_limit            to broker_operator;
grant execute on function taskqueue.set_group              to broker_operator;
grant execute on function taskqueue.set_cpu_buckets        to broker_operator;
grant execute on function taskqueue.recompute_shares       to broker_operator;
grant execute on function taskqueue.rebuild_matching       to broker_operator;
grant execute on function taskqueue.forget_ended           to broker_operator;
grant execute on function taskqueue.match_jobs_with_seed     to broker_operator;
grant execute on function taskqueue.set_settings             to broker_operator;
grant execute on function taskqueue.set_platform_compatibility to broker_operator;
grant execute on function taskqueue.maintain                 to broker_operator;

-- taskqueue: worlds, and whole setups
grant execute on function taskqueue.dump_configuration     to broker_operator;
grant execute on function taskqueue.dump_task_queues       to broker_operator;
grant execute on function taskqueue.dump_leases            to broker_operator;
grant execute on function taskqueue.load_task_queues       to broker_operator;
grant execute on function taskqueue.load_leases            to broker_operator;
grant execute on function taskqueue.remove_setup           to broker_operator;
grant execute on function taskqueue.refresh_statistics     to broker_submitter, broker_operator;

-- workload: jobs, their counts
grant select on table workload.count_difference        to broker_operator, broker_viewer;
-- workload.count_difference calls it
grant execute on function workload.is_end              to broker_operator, broker_viewer;
grant execute on function workload.fold_counts         to broker_operator;
grant execute on function workload.correct_counts      to broker_operator;

-- lifecycle: what goes on in the background
grant execute on function lifecycle.activate           to broker_operator;
grant execute on function lifecycle.cancel_jobs        to broker_submitter, broker_operator;
grant execute on function lifecycle.cancel_task        to broker_operator;
grant execute on function lifecycle.expire_leases      to broker_operator;
grant execute on function lifecycle.measure_shares     to broker_operator;
grant execute on function lifecycle.share_tree         to broker_operator, broker_viewer;
grant execute on function lifecycle.watch_timeouts     to broker_operator;
grant execute on function lifecycle.fast_rebroker      to broker_operator;
grant execute on function lifecycle.forget_ended       to broker_operator;
grant execute on function lifecycle.maintain           to broker_operator;
grant execute on function lifecycle.retry_jobs         to broker_operator;
grant execute on function lifecycle.retry_task         to broker_operator;
grant execute on function lifecycle.set_settings       to broker_operator;
grant execute on function lifecycle.set_timeout        to broker_operator;
grant execute on function lifecycle.remove_timeout     to broker_operator;
grant execute on function lifecycle.lead               to broker_operator;
grant execute on function lifecycle.stand_down         to broker_operator;
grant execute on procedure lifecycle.watch             to broker_operator;
grant execute on function lifecycle.watch_step         to broker_operator;  -- lifecycle.watch calls it, and the next
grant execute on function lifecycle.setups             to broker_operator;
grant execute on function lifecycle.fast_excess        to broker_operator, broker_viewer;
grant execute on function lifecycle.explain_timeouts   to broker_operator, broker_viewer;
grant select on table lifecycle.timeout_rule           to broker_operator, broker_viewer;
grant select on table lifecycle.timeout_in_force       to broker_operator, broker_viewer;
grant select on table lifecycle.setting_in_force       to broker_operator, broker_viewer;

-- monitor: views for people
grant select on table monitor.brokered_job             to broker_operator, broker_viewer;
grant select on table monitor.brokered_job_count       to broker_operator, broker_viewer;
grant select on table monitor.decision                 to broker_operator, broker_viewer;
grant select on table monitor.health                   to broker_operator, broker_viewer;
grant select on table monitor.health_session           to broker_operator, broker_viewer;
grant select on table monitor.health_setting           to broker_operator, broker_viewer;
grant select on table monitor.health_snapshot          to broker_operator, broker_viewer;
grant select on table monitor.health_table             to broker_operator, broker_viewer;
grant select on table monitor.health_work              to broker_operator, broker_viewer;
grant select on table monitor.job                      to broker_operator, broker_viewer;
grant select on table monitor.job_event                to broker_operator, broker_viewer;
grant select on table monitor.job_history              to broker_operator, broker_viewer;
grant select on table monitor.job_in_two_states        to broker_operator, broker_viewer;
grant select on table monitor.job_out_of_step          to broker_operator, broker_viewer;
grant select on table monitor.job_without_queue        to broker_operator, broker_viewer;
grant select on table monitor.lease                    to broker_operator, broker_viewer;
grant select on table monitor.matches_per_minute       to broker_operator, broker_viewer;
grant select on table monitor.matching_difference      to broker_operator, broker_viewer;
grant select on table monitor.oldest_job               to broker_operator, broker_viewer;
grant select on table monitor.queue                    to broker_operator, broker_viewer;
grant select on table monitor.resource_seen            to broker_operator, broker_viewer;
grant select on table monitor.setting                  to broker_operator, broker_viewer;
grant select on table monitor.setup                    to broker_operator, broker_viewer;
grant select on table monitor.share_tree               to broker_operator, broker_viewer;
grant select on table monitor.site_limit               to broker_operator, broker_viewer;
grant select on table monitor.task                     to broker_operator, broker_viewer;
grant select on table monitor.task_decision            to broker_operator, broker_viewer;
grant select on table monitor.task_queue               to broker_operator, broker_viewer;
grant select on table monitor.transition               to broker_operator, broker_viewer;
grant select on table monitor.waiting_by_cpu_bucket    to broker_operator, broker_viewer;
grant select on table monitor.waiting_by_group         to broker_operator, broker_viewer;
grant select on table monitor.waiting_by_platform      to broker_operator, broker_viewer;
grant select on table monitor.waiting_by_site          to broker_operator, broker_viewer;
-- monitor.decision calls it
grant execute on function brokerage.split_reason             to broker_operator, broker_viewer;
-- monitor.site_limit calls it
grant execute on function taskqueue.requires_value              to broker_operator, broker_viewer;

-- instance: packing jobs onto rented machines
grant execute on procedure instance.schedule               to broker_operator;
grant execute on function instance.follow_taskqueues       to broker_operator;
grant execute on function instance.match_jobs              to broker_agent, broker_operator;
grant execute on function instance.forget_ended            to broker_operator;
grant execute on function instance.schedule_task           to broker_operator;
grant execute on function instance.tasks_to_schedule       to broker_operator, broker_viewer;
grant execute on function instance.plan                    to broker_operator, broker_viewer;
grant execute on function instance.release_empty           to broker_operator;
grant execute on function instance.add_jobs                to broker_submitter, broker_operator;
grant execute on function instance.set_needs               to broker_submitter, broker_operator;
grant execute on function instance.cancel_steps            to broker_submitter, broker_operator;
grant execute on function instance.finish_steps            to broker_operator;
grant execute on function instance.return_steps            to broker_operator;
grant execute on function instance.start_instances         to broker_operator;
grant execute on function instance.lose_instances          to broker_operator;
grant execute on function instance.set_settings            to broker_operator;
grant execute on function instance.set_task_limit          to broker_operator;
grant execute on function instance.explain_step            to broker_operator, broker_viewer;
grant select on table monitor.instance                     to broker_operator, broker_viewer;
grant select on table monitor.instance_difference          to broker_operator, broker_viewer;
grant select on table monitor.instance_step                to broker_operator, broker_viewer;
grant select on table monitor.instance_total               to broker_operator, broker_viewer;
