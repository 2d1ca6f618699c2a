-- The tables of the schema history. Edited in place until the first release; afterwards revisions change them.

create schema history;
comment on schema history is 'Figures over time: what the views of monitor show, sampled each minute. Uses all others.';

--: The series of a setup: a figure with its labels. A series begins when its value is first not zero.
create table history.series (
  setup   text not null references resource.setup on delete cascade,
  place   int not null,  --: Place of its values in the samples of the setup, from 1.
  figure  text not null,  --: Name of the figure (history.figure).
  labels  jsonb not null,  --: Labels with their values, such as {"site": "CERN", "reason": "limited"}.
  since   timestamptz not null,  --: First minute in which the series has a value.
  --: An hour in which the value was not zero, at most a day before the last such hour.
  last_at timestamptz not null,
  primary key (setup, place),
  unique (setup, figure, labels)
);

--: Samples: a row has the values of all series of a setup in one minute, or their means over five minutes, an hour or a
--: day. Zero stands for a series that has no value. A minute without a row was not sampled.
create table history.sample (
  setup   text not null references resource.setup on delete cascade,
  --: What the row spans: a minute, five minutes, an hour or a day (UTC).
  step    interval not null check (step in ('1 minute', '5 minutes', '1 hour', '1 day')),
  at      timestamptz not null,  --: When the span begins.
  samples int not null check (samples > 0),  --: Minutes of the span that were sampled.
  mean    real[] not null,  --: Mean of the sampled minutes, by the place of the series.
  most    real[],  --: Largest value of these minutes, by the place of the series; null = the mean, of one minute.
  primary key (setup, step, at)
);

--: A value of a figure, with its labels.
create type history.value as (
  figure text,  --: Name of the figure.
  labels jsonb,  --: Labels with their values.
  value  float8  --: The value.
);

--: What monitor.health found in the minute that was sampled last, of the whole server.
create table history.finding (
  at       timestamptz not null,  --: The minute.
  area     text not null,  --: Area (monitor.health).
  verdict  text not null,  --: ok, advice or problem.
  findings int not null,  --: How many.
  primary key (at, area, verdict)
);
