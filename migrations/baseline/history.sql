-- The tables of the schema history as release 0.1.0 has them; revisions change them.

create schema history;
comment on schema history is
  'Figures over time: values of the views of monitor, sampled each minute. Uses all other schemas.';

--: Series of a setup: a figure with its labels. A series begins when its value is first not zero.
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
--: day. A series without a value counts as zero. A minute without a row was not sampled.
create table history.sample (
  setup   text not null references resource.setup on delete cascade,
  --: Length of the span: a minute, five minutes, an hour or a day (UTC).
  step    interval not null check (step in ('1 minute', '5 minutes', '1 hour', '1 day')),
  at      timestamptz not null,  --: Beginning of the span.
  samples int not null check (samples > 0),  --: Number of minutes of the span that were sampled.
  mean    real[] not null,  --: Mean of the sampled minutes, by the place of the series.
  --: Largest value of these minutes, by the place of the series; null = the same as the mean, for one minute.
  most    real[],
  primary key (setup, step, at)
);

--: A value of a figure, with its labels.
create type history.value as (
  figure text,  --: Name of the figure.
  labels jsonb,  --: Labels with their values.
  value  float8  --: The value.
);

--: Findings of monitor.health about the whole server, in the minute that was sampled last.
create table history.finding (
  at       timestamptz not null,  --: The minute.
  area     text not null,  --: Area (monitor.health).
  verdict  text not null,  --: ok, advice or problem.
  findings int not null,  --: Number of findings.
  primary key (at, area, verdict)
);
