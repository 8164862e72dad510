import { type ReactNode, useState } from "react";
import { Button, Tooltip, TooltipTrigger } from "react-aria-components";
import { type Entry, GLOSSARY } from "../lib/glossary";

/** A word with its meaning, which shows on hover, on focus and on a tap, and goes with Escape. */
export function Term({ of, children }: { of: Entry; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <TooltipTrigger delay={200} closeDelay={100} shouldCloseOnPress={false} isOpen={isOpen} onOpenChange={setOpen}>
      <Button className="term" onPress={() => setOpen(true)}>
        {children}
      </Button>
      <Tooltip className="popover tip small meaning" placement="bottom">
        {GLOSSARY[of].meaning}
      </Tooltip>
    </TooltipTrigger>
  );
}
