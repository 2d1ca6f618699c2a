-- The tables of the schema instance. Edited in place until the first release; afterwards revisions change them.
-- What is used stands on the instance, so that a constraint keeps it within what there is, whoever writes.

create schema instance;
comment on schema instance is 'Machines to rent, and jobs packed onto them. Uses resource, workload.';

create table instance.instance (
  setup        text not null references resource.setup on delete cascade,
  instance_id  bigint not null constraint instance_instance_id_allowed check (instance_id between 1 and 1e18),
  type         text not null,
  task_id      bigint,
  state        text not null default 'running' check (state in ('requested', 'running', 'released')),
  queue        text,
  cpu          numeric constraint instance_cpu_allowed check (cpu > 0 and cpu < 1e9),
  ram          numeric constraint instance_ram_allowed check (ram > 0 and ram < 1e15),
  price        numeric constraint instance_price_allowed check (price >= 0 and price < 1e15),
  used_cpu     numeric not null default 0,
  used_ram     numeric not null default 0,
  requested_at timestamptz,
  started_at   timestamptz,
  released_at  timestamptz,
  primary key (setup, instance_id),
  constraint instance_cpu_used check (used_cpu >= 0 and used_cpu <= coalesce(cpu, used_cpu)),
  constraint instance_ram_used check (used_ram >= 0 and used_ram <= coalesce(ram, used_ram))
);
create index instance_live on instance.instance (setup, task_id) where state <> 'released';
comment on index instance.instance_live is 'Instances that a task has: what jobs are placed on.';
create index instance_released on instance.instance (setup, released_at) where state = 'released';
comment on index instance.instance_released is 'Instances that were released long ago.';
comment on table instance.instance is
  'Computation instances: rented machines that jobs are packed onto. What is free on one follows from its type '
  'and its jobs.';
comment on column instance.instance.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column instance.instance.instance_id is 'Number of the instance.';
comment on column instance.instance.type is 'Its type (resource.instance_type).';
comment on column instance.instance.task_id is 'Task that it was requested for; null = any may use it.';
comment on column instance.instance.state is 'requested, running or released.';
comment on column instance.instance.queue is
  'PanDA queue of kind cloud whose jobs it takes; null = it takes those that instance.add_jobs added.';
comment on column instance.instance.cpu is 'Cores that it has; null = what its type says when it is loaded.';
comment on column instance.instance.ram is 'Memory that it has (MB); null = what its type says when it is loaded.';
comment on column instance.instance.price is 'Price per hour; null = what its type says when it is loaded.';
comment on column instance.instance.used_cpu is 'Cores of the jobs that are placed on it.';
comment on column instance.instance.used_ram is 'Memory (MB) of the jobs that are placed on it.';
comment on column instance.instance.requested_at is 'When it was requested; null = not known.';
comment on column instance.instance.started_at is 'When it was there; null = not yet, or not known.';
comment on column instance.instance.released_at is 'When it was released; null = not yet, or not known.';
comment on constraint instance_instance_id_allowed on instance.instance is '1 to 1e18';
comment on constraint instance_state_check on instance.instance is 'requested, running or released';
comment on constraint instance_cpu_allowed on instance.instance is 'more than 0 and less than 1e9';
comment on constraint instance_ram_allowed on instance.instance is 'more than 0 and less than 1e15';
comment on constraint instance_price_allowed on instance.instance is '0 or more, and less than 1e15';
comment on constraint instance_cpu_used on instance.instance is 'jobs use at most the cores that it has';
comment on constraint instance_ram_used on instance.instance is 'jobs use at most the memory that it has';

create table instance.job (
  setup            text not null references resource.setup on delete cascade,
  job_id           bigint not null constraint job_job_id_allowed check (job_id between 1 and 1e18),
  task_id          bigint,
  cpu              numeric check (cpu >= 0 and cpu < 1e9),
  cpu_expression   text,
  ram              numeric check (ram >= 0 and ram < 1e15),
  ram_expression   text,
  instance_type    text,
  instance_id      bigint,
  state            text not null default 'waiting'
    constraint job_state_allowed check (state in ('waiting', 'placed', 'finished', 'cancelled', 'unschedulable')),
  inputs           jsonb not null default '{}' check (jsonb_typeof(inputs) = 'object'),
  queue            text,
  taskqueue_job_id bigint,
  reason           text,
  placed_at        timestamptz,
  ended_at         timestamptz,
  primary key (setup, job_id)
);
create index job_unplaced on instance.job (setup, task_id) where state in ('waiting', 'unschedulable');
comment on index instance.job_unplaced is 'Jobs of a task that are on no instance.';
create index job_placed on instance.job (setup, instance_id) where state = 'placed';
comment on index instance.job_placed is 'Jobs that an instance has.';
create index job_ended on instance.job (setup, ended_at) where state in ('finished', 'cancelled');
comment on index instance.job_ended is 'Jobs that ended long ago.';
create unique index job_of_taskqueue on instance.job (setup, taskqueue_job_id) where taskqueue_job_id is not null;
comment on index instance.job_of_taskqueue is 'What stands for a job of TaskQueues: one job.';
comment on table instance.job is
  'Jobs of tasks to be packed onto instances. What a job needs is a number, or an expression of its inputs until '
  'they are known.';
comment on column instance.job.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column instance.job.job_id is 'Number of the job.';
comment on column instance.job.task_id is 'Task.';
comment on column instance.job.cpu is 'Cores that it needs; null = not known yet.';
comment on column instance.job.cpu_expression is
  'Cores as an expression of inputs, such as ceil(size / 1000); null = a number was given, or nothing.';
comment on column instance.job.ram is 'Memory that it needs (MB); null = not known yet.';
comment on column instance.job.ram_expression is
  'Memory (MB) as an expression of inputs, such as 2 * size; null = a number was given, or nothing.';
comment on column instance.job.instance_type is 'Type that its instance must have, the hint; null = any that fits.';
comment on column instance.job.instance_id is 'Instance that it is placed on; null = on none.';
comment on column instance.job.state is
  'waiting, placed, finished, cancelled, or unschedulable (no type can take it; reason says what is short).';
comment on column instance.job.inputs is
  'Named inputs that expressions read, as far as they are known: name to number.';
comment on column instance.job.queue is 'PanDA queue of kind cloud that it waits at; null = none.';
comment on column instance.job.taskqueue_job_id is
  'Job of TaskQueues that it stands for (instance.follow_taskqueues); null = none.';
comment on column instance.job.reason is
  'Why it is placed there, waits, or is unschedulable; null = no schedule has looked at it.';
comment on column instance.job.placed_at is 'When it was placed; null = it is on no instance, or not known.';
comment on column instance.job.ended_at is 'When it finished or was cancelled; null = not yet, or not known.';
comment on constraint job_job_id_allowed on instance.job is '1 to 1e18';
comment on constraint job_cpu_check on instance.job is '0 or more, and less than 1e9';
comment on constraint job_ram_check on instance.job is '0 or more, and less than 1e15';
comment on constraint job_state_allowed on instance.job is 'waiting, placed, finished, cancelled or unschedulable';
comment on constraint job_inputs_check on instance.job is 'an object';

create table instance.setting (
  setup          text primary key references resource.setup on delete cascade,
  most_instances int check (most_instances >= 0),
  most_per_task  int check (most_per_task >= 0),
  first          text not null default 'dearest' check (first in ('dearest', 'cheapest'))
);
comment on table instance.setting is
  'How instances are scheduled in a setup (instance.set_settings); a setup without a row has the defaults.';
comment on column instance.setting.setup is 'Tenant.';
comment on column instance.setting.most_instances is 'Instances of the setup that are not released, at most; null = no limit.';
comment on column instance.setting.most_per_task is
  'Instances of each task without a limit of its own that are not released, at most; null = no limit.';
comment on column instance.setting.first is
  'Which jobs are placed first: dearest or cheapest, by the price of the instance that each requires.';
comment on constraint setting_most_instances_check on instance.setting is '0 or more';
comment on constraint setting_most_per_task_check on instance.setting is '0 or more';
comment on constraint setting_first_check on instance.setting is 'dearest or cheapest';

create table instance.task_limit (
  setup          text not null references resource.setup on delete cascade,
  task_id        bigint not null,
  most_instances int not null check (most_instances >= 0),
  primary key (setup, task_id)
);
comment on table instance.task_limit is
  'How many instances a task may have, where it has a limit of its own (instance.set_task_limit).';
comment on column instance.task_limit.setup is 'Tenant.';
comment on column instance.task_limit.task_id is 'Task.';
comment on column instance.task_limit.most_instances is 'Instances that are not released at most.';

create sequence instance.instance_id;
comment on sequence instance.instance_id is 'Numbers of instances that instance.schedule requests.';

create sequence instance.job_id;
comment on sequence instance.job_id is 'Numbers of jobs that are added without one.';
