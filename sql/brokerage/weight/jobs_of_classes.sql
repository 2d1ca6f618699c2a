-- See analysis-weights.md, new-weight-of-the-server. Jobs go to the class of queues that suits the task as long as that
-- class has free places; the other jobs go to lower classes. Small numbers keep all other classes above 0.
create or replace function brokerage.jobs_of_classes(p_jobs float8, p_class float8, p_sums float8[]) returns float8[]
language plpgsql immutable parallel safe as $$
declare
  v_jobs float8 := least(p_jobs, p_sums[1] + p_sums[2] + p_sums[3]);
  v_hi float8 := least(v_jobs, p_sums[1]);
  v_mid float8;
begin
  if p_class <= -1 then
    return array[0.001, 0.001, v_jobs];
  elsif p_class = 0 then
    v_mid := least(v_jobs, p_sums[2]);
    return case when v_mid > 0 then array[0.001, v_mid - 0.1, v_jobs - v_mid + 0.1]
                else array[0.001, v_mid, v_jobs - v_mid] end;
  end if;
  v_mid := least(v_jobs - v_hi, p_sums[2]);
  return case when v_hi > 0 then array[v_hi - 0.052, v_mid + 0.05, v_jobs - v_hi - v_mid + 0.002]
              else array[v_hi, v_mid, v_jobs - v_hi - v_mid] end;
end $$;

comment on function brokerage.jobs_of_classes(float8, float8, float8[]) is
  'Numbers of jobs that a task of a given class sends to queues of the classes hi, mid and lo, by their free places '
  '(sums of brokerage.weight_free_places).';
