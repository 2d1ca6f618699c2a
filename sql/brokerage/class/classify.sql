create or replace procedure brokerage.classify(p_setup text, p_profile text default null)
language plpgsql as $$
begin
  perform brokerage.compute_classes(p_setup, p_profile);
end $$;

comment on procedure brokerage.classify(text, text) is
  'Computes the classes of user analysis from the jobs of this database and stores them with the time: classes of '
  'queues (hi, mid, lo), remaining slots of users, classes of tasks (S, A, B, C), in this order, each from the result '
  'before. Call it every 10 minutes. A queue, user or task without jobs here keeps its loaded value. The base profile '
  'is that of p_profile, by default the setup''s profile. brokerage.classes shows the result and the reasons without '
  'storing anything. Errors: PB001 (no such setup or profile), PB002 (not an operator).';
