const MARKS = 4;

/** How sure a decision is: dots at a glance, and the words that they stand for. */
export function Sureness({ marks, words }: { marks: number; words: string }) {
  return (
    <p className="sureness">
      <span aria-hidden className="dots">
        {"●".repeat(marks)}
        <span className="dim">{"○".repeat(MARKS - marks)}</span>
      </span>{" "}
      <span className="visually-hidden">How sure:</span> {words}
    </p>
  );
}
