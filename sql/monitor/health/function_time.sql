-- `track_functions = pl` counts functions in PL/pgSQL; a match takes no longer with it.
create or replace view monitor.function_time as
select f.schemaname::text as schema, f.funcname::text as function, f.calls,
       round(f.total_time::numeric / f.calls, 3) as mean_ms, round(f.self_time::numeric / f.calls, 3) as self_ms,
       round(f.total_time::numeric / 1000, 1) as total_s
  from pg_stat_user_functions f
 where f.calls > 0
   and f.schemaname::text in (select s.schema from resource.program_schema s);

comment on view monitor.function_time is
  'Time of functions since the statistics were reset (pg_stat_reset): order by total_s desc. It is empty unless '
  'track_functions is pl or all. A function that is inlined into its caller is not counted.';
comment on column monitor.function_time.calls is 'Number of calls.';
comment on column monitor.function_time.mean_ms is 'Mean duration of a call (ms), with the functions that it calls.';
comment on column monitor.function_time.self_ms is 'Mean duration of a call (ms), without the functions that it calls.';
comment on column monitor.function_time.total_s is 'Duration of all calls (s), with the functions that they call.';
comment on column monitor.function_time.schema is 'Schema.';
comment on column monitor.function_time.function is 'Function.';
