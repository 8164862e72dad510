import type { ReactNode } from "react";

/** The head of a column of figures, which stand at its right edge. */
export function NumberHead({ children }: { children: ReactNode }) {
  return (
    <th scope="col" className="n">
      {children}
    </th>
  );
}
