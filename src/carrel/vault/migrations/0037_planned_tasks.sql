-- Whoever plans tasks counts them: a trigger counted up for each of 100,000 of a run, and with it the run's version.
DROP TRIGGER task_planned;
