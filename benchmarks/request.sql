-- The requests of a workload; match.pgbench picks one at random.
drop schema if exists bench cascade;
create schema bench;
create table bench.request (n int primary key, resource jsonb not null);
