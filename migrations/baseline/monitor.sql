-- The schema monitor holds views and functions, no table.

create schema monitor;
comment on schema monitor is 'Views and explanations for people; uses all schemas, no schema uses it.';
