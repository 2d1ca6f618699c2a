create or replace function history.least_width(p_setup text, p_since timestamptz) returns interval
language sql stable as $$
  select case when p_since >= (select min(s.at) from history.sample s where s.setup = p_setup and s.step = 'minute')
                or not exists (select from history.sample s
                                where s.setup = p_setup and s.step in ('hour', 'day') and s.at < (
                                  select min(i.at) from history.sample i where i.setup = p_setup and i.step = 'minute'))
              then interval '1 minute'
              when p_since >= (select min(s.at) from history.sample s where s.setup = p_setup and s.step = 'hour')
                or not exists (select from history.sample s
                                where s.setup = p_setup and s.step = 'day' and s.at < (
                                  select min(i.at) from history.sample i where i.setup = p_setup and i.step = 'hour'))
              then interval '1 hour'
              else interval '1 day' end
$$;

comment on function history.least_width(text, timestamptz) is
  'The shortest span of which samples are kept since a time: a minute, an hour or a day.';
