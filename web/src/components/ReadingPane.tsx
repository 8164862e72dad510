import { ArrowDown } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Button } from "./Button";

/** Less than a line does not count as more to read. */
const A_LINE_PX = 16;
/** How much of the frame one press turns, so that the last lines stay in sight. */
const A_PAGE = 0.85;

/** A long text in a frame of its own, which says as long as it goes on below. */
export function ReadingPane({ label, children }: { label: string; children: ReactNode }) {
  const frame = useRef<HTMLDivElement>(null);
  const [goesOn, setGoesOn] = useState(false);
  useEffect(() => {
    const pane = frame.current;
    if (!pane) return;
    const measure = () => setGoesOn(pane.scrollHeight - pane.scrollTop - pane.clientHeight > A_LINE_PX);
    // What is in it may come late, as Markdown does, and a window may change its size.
    const watched = new ResizeObserver(measure);
    for (const one of [pane, ...pane.children]) watched.observe(one);
    pane.addEventListener("scroll", measure, { passive: true });
    return () => {
      watched.disconnect();
      pane.removeEventListener("scroll", measure);
    };
  }, []);
  const turn = () => frame.current?.scrollBy({ top: A_PAGE * frame.current.clientHeight });
  return (
    <section className="reading">
      <h3 className="small">{label}</h3>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className="card pane" ref={frame} tabIndex={0} role="group" aria-label={label}>
        <div>{children}</div>
      </div>
      {goesOn && (
        <div className="goes-on">
          <Button small onPress={turn}>
            It goes on <ArrowDown size={14} aria-hidden />
          </Button>
        </div>
      )}
    </section>
  );
}
