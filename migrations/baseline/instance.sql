-- The tables of the schema instance as release 0.1.0 has them; revisions change them. An instance stores the resources
-- that its steps use, so that a constraint limits them at every change.

create schema instance;
comment on schema instance is 'Machines to rent, and steps packed onto them. Uses resource, workload, taskqueue.';

--: Computation instances: rented machines that steps are packed onto. Free resources are the difference between those
--: of the instance and those that its steps use.
create table instance.instance (
  setup        text not null references resource.setup on delete cascade,
  --: Number of the instance.
  instance_id  bigint not null constraint instance_instance_id_allowed check (instance_id between 1 and 1e18),
  type         text not null,  --: Instance type (resource.instance_type).
  task_id      bigint,  --: Task that the instance was requested for; null = steps of every task may use it.
  --: State of the instance: requested, running or released.
  state        text not null default 'running' check (state in ('requested', 'running', 'released')),
  --: PanDA queue of kind cloud whose jobs the instance takes; null = it takes the steps of instance.add_steps.
  queue        text,
  --: Cores that the instance has; null in a world = those of its type.
  cpu          numeric constraint instance_cpu_allowed check (cpu > 0 and cpu < 1e9),
  --: Memory that the instance has (MB); null in a world = that of its type.
  ram          numeric constraint instance_ram_allowed check (ram > 0 and ram < 1e15),
  --: Price per hour; null in a world = that of its type.
  price        numeric constraint instance_price_allowed check (price >= 0 and price < 1e15),
  used_cpu     numeric not null default 0,  --: Cores of the steps that are placed on the instance.
  used_ram     numeric not null default 0,  --: Memory (MB) of the steps that are placed on the instance.
  requested_at timestamptz,  --: When the instance was requested; null = not known.
  started_at   timestamptz,  --: When the instance began to run; null = not yet, or not known.
  released_at  timestamptz,  --: When the instance was released; null = not yet, or not known.
  primary key (setup, instance_id),
  constraint instance_cpu_used check (used_cpu >= 0 and used_cpu <= coalesce(cpu, used_cpu)),
  constraint instance_ram_used check (used_ram >= 0 and used_ram <= coalesce(ram, used_ram))
);
create index instance_live on instance.instance (setup, task_id) where state <> 'released';
comment on index instance.instance_live is 'Instances of a task that are not released.';
create index instance_released on instance.instance (setup, released_at) where state = 'released';
comment on index instance.instance_released is 'Instances by the time of their release, to delete old ones.';
comment on constraint instance_instance_id_allowed on instance.instance is '1 to 1e18';
comment on constraint instance_cpu_allowed on instance.instance is 'more than 0 and less than 1e9';
comment on constraint instance_ram_allowed on instance.instance is 'more than 0 and less than 1e15';
comment on constraint instance_price_allowed on instance.instance is '0 or more, and less than 1e15';
comment on constraint instance_cpu_used on instance.instance is 'steps use at most the cores of the instance';
comment on constraint instance_ram_used on instance.instance is 'steps use at most the memory of the instance';

--: Steps of tasks, which are packed onto instances. A step is one execution that needs cores and memory. A need is a
--: number, or an expression of inputs until the inputs are known.
create table instance.step (
  setup            text not null references resource.setup on delete cascade,
  --: Number of the step.
  step_id          bigint not null constraint step_step_id_allowed check (step_id between 1 and 1e18),
  task_id          bigint,  --: Task; null = none.
  cpu              numeric check (cpu >= 0 and cpu < 1e9),  --: Cores that the step needs; null = not known yet.
  --: Cores as an expression of inputs, such as ceil(size / 1000); null = a number or no value was given.
  cpu_expression   text,
  ram              numeric check (ram >= 0 and ram < 1e15),  --: Memory that the step needs (MB); null = not known yet.
  --: Memory (MB) as an expression of inputs, such as 2 * size; null = a number or no value was given.
  ram_expression   text,
  instance_type    text,  --: Hint: the type that its instance must have; null = any that fits.
  instance_id      bigint,  --: Instance that the step is placed on, or was on when it ended; null = none.
  --: State of the step: waiting, placed, finished, cancelled, or unschedulable (no type can take it; the reason names
  --: the lacking resource).
  state            text not null default 'waiting'
    constraint step_state_allowed check (state in ('waiting', 'placed', 'finished', 'cancelled', 'unschedulable')),
  --: Inputs that expressions read, as far as they are known: name to number.
  inputs           jsonb not null default '{}' check (jsonb_typeof(inputs) = 'object'),
  --: Reason why an expression gives no value that a step can need; null = it does, or an input is not known yet.
  fault            text,
  queue            text,  --: PanDA queue of kind cloud that the step waits for; null = none.
  job_id           bigint,  --: Job of a TaskQueue that the step represents (instance.follow_task_queues); null = none.
  --: Reason why the step is placed there, waits or is unschedulable; null = no schedule has considered the step.
  reason           text,
  placed_at        timestamptz,  --: When the step was placed; null = it is on no instance, or not known.
  ended_at         timestamptz,  --: When the step finished or was cancelled; null = not yet, or not known.
  primary key (setup, step_id)
);
create index step_unplaced on instance.step (setup, task_id) where state in ('waiting', 'unschedulable');
comment on index instance.step_unplaced is 'Steps of a task that are on no instance.';
create index step_placed on instance.step (setup, instance_id) where state = 'placed';
comment on index instance.step_placed is 'Steps that are placed on an instance.';
create index step_ended on instance.step (setup, ended_at) where state in ('finished', 'cancelled');
comment on index instance.step_ended is 'Steps by the time of their end, to delete old ones.';
create unique index step_of_job on instance.step (setup, job_id) where job_id is not null;
comment on index instance.step_of_job is 'The step that represents a job; at most one.';
comment on constraint step_step_id_allowed on instance.step is '1 to 1e18';
comment on constraint step_cpu_check on instance.step is '0 or more, and less than 1e9';
comment on constraint step_ram_check on instance.step is '0 or more, and less than 1e15';
comment on constraint step_inputs_check on instance.step is 'an object';

--: How instances are scheduled in a setup (instance.set_settings); a setup without a row has the defaults.
create table instance.setting (
  setup          text primary key references resource.setup on delete cascade,
  most_instances int check (most_instances >= 0),  --: The most instances that are not released; null = no limit.
  --: The most instances that are not released, of each task without a limit of its own; null = no limit.
  most_per_task  int check (most_per_task >= 0),
  --: Steps that are placed first: dearest or cheapest, by the price of the instance type that each step requires.
  first          text not null default 'dearest' check (first in ('dearest', 'cheapest'))
);

--: Limits on the number of instances of tasks that have a limit of their own (instance.set_task_limit).
create table instance.task_limit (
  setup          text not null references resource.setup on delete cascade,
  task_id        bigint not null,
  most_instances int not null check (most_instances >= 0),  --: The most instances that are not released.
  primary key (setup, task_id)
);

create sequence instance.instance_id;
comment on sequence instance.instance_id is 'Ids of instances that instance.schedule requests.';

create sequence instance.step_id;
comment on sequence instance.step_id is 'Ids of steps that are added without an id.';
