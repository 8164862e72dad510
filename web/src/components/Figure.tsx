interface Props {
  name: string;
  value: string;
  tone?: string;
  hint?: string;
  /** The exact amount, shown on hover. */
  title?: string;
}

/** One number and what it is, inside a `dl`. */
export function Figure({ name, value, tone = "", hint, title }: Props) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd className={tone} title={title}>
        {value}
      </dd>
      {hint && <dd className="dim hint">{hint}</dd>}
    </div>
  );
}
