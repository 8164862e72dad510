const COLOURS = 6;
const SHAPES = 3;

/** The mark of a candidate, the same wherever its name stands: a colour and a shape, so that neither is needed alone. */
export function Mark({ number }: { number: number }) {
  return <span className={`candidate-mark shape-${shapeOf(number)} ${colourOf(number)}`} aria-hidden />;
}

/** Round, square, or a square on its corner. */
export function shapeOf(number: number): 0 | 1 | 2 {
  return ((Math.floor(number / COLOURS) + placeOf(number)) % SHAPES) as 0 | 1 | 2;
}

/** The class that gives the colour. */
export function colourOf(number: number): string {
  return `series-${placeOf(number) + 1}`;
}

function placeOf(number: number): number {
  return ((number % COLOURS) + COLOURS) % COLOURS;
}
