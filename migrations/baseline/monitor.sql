-- The schema monitor holds views, no table.

create schema monitor;
comment on schema monitor is 'Views of all other schemas, for people and monitoring systems.';
