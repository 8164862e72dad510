const COLOURS = 6;

/** The mark of a candidate, the same wherever its name stands: a colour and a shape, so that neither is needed alone. */
export function Mark({ number }: { number: number }) {
  const at = ((number % COLOURS) + COLOURS) % COLOURS;
  return (
    <span className={`candidate-mark shape-${(Math.floor(number / COLOURS) + at) % 3} series-${at + 1}`} aria-hidden />
  );
}
