-- See classes.md, Classes of queues. The degrees of freedom need not be whole. For many degrees the function uses the
-- expansion of Cornish and Fisher around the normal quantile; for few, Newton's method in the logarithm of x on the
-- incomplete beta function, whose tail is 2 * 0.05 at x = n / (n + t^2).
create or replace function brokerage.student_t_bound(p_freedom float8) returns float8
language plpgsql immutable parallel safe as $$
declare
  v_z constant float8 := 1.6448536269514722;
  v_a constant float8 := p_freedom / 2;
  v_log_of_beta float8;
  v_sum float8;
  v_term float8;
  v_value float8;
  v_step float8;
  v_log float8;
begin
  if p_freedom > 1e15 then  -- the powers below would overflow
    return v_z;
  elsif p_freedom >= 60 then
    return v_z + (v_z ^ 3 + v_z) / (4 * p_freedom) + (5 * v_z ^ 5 + 16 * v_z ^ 3 + 3 * v_z) / (96 * p_freedom ^ 2)
           + (3 * v_z ^ 7 + 19 * v_z ^ 5 + 17 * v_z ^ 3 - 15 * v_z) / (384 * p_freedom ^ 3)
           + (79 * v_z ^ 9 + 776 * v_z ^ 7 + 1482 * v_z ^ 5 - 1920 * v_z ^ 3 - 945 * v_z) / (92160 * p_freedom ^ 4);
  elsif p_freedom < 0.01 then  -- longer than any wait
    return 'infinity'::float8;
  elsif p_freedom is null then
    return null;
  end if;
  -- B(a, 1/2) = sqrt(pi) * gamma(a) / gamma(a + 1/2): a series gives the quotient at a + 20, from which the recurrence
  -- leads down to a
  select ln(pi()) / 2 - ln(a.far) / 2 - ln(1 - 1 / (8 * a.far) + 1 / (128 * a.far ^ 2) + 5 / (1024 * a.far ^ 3)
                                           - 21 / (32768 * a.far ^ 4)
                                           - 399 / (262144 * a.far ^ 5)) + sum(ln((v_a + k + 0.5) / (v_a + k)))
    into v_log_of_beta
    from (select v_a + 20) a(far), generate_series(0, 19) k
   group by a.far;
  v_log := least((ln(0.1 * v_a) + v_log_of_beta) / v_a, -1e-3);
  for v_turn in 1 .. 50 loop
    v_sum := 1 / v_a;
    v_term := 1;
    for v_n in 1 .. 2000 loop
      v_term := v_term * (v_n - 0.5) / v_n * exp(v_log);
      v_sum := v_sum + v_term / (v_a + v_n);
      exit when v_term < 1e-17 * v_sum;
    end loop;
    v_value := v_a * v_log - v_log_of_beta + ln(v_sum);
    v_step := (v_value - ln(0.1)) * v_sum * sqrt(1 - exp(v_log));
    v_log := least(v_log - v_step, v_log / 2);
    exit when abs(v_step) < 1e-13 * abs(v_log);
  end loop;
  return sqrt(p_freedom) * exp(-v_log / 2) * sqrt(1 - exp(v_log));
end $$;

comment on function brokerage.student_t_bound(float8) is
  'The value that a variable of Student''s t distribution with the given degrees of freedom exceeds with a probability '
  'of 5 percent.';
