import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import { Button, Disclosure as AriaDisclosure, DisclosurePanel, Heading } from "react-aria-components";

interface Props {
  title: string;
  /** What is in it, in a few words, for those who leave it folded. */
  summary?: ReactNode;
  isOpen?: boolean;
  children: ReactNode;
}

/** Something that is folded away until somebody wants it: a button that says what is inside, and the inside. */
export function Disclosure({ title, summary, isOpen = false, children }: Props) {
  return (
    <AriaDisclosure className="disclosure" defaultExpanded={isOpen}>
      <Heading level={3}>
        <Button slot="trigger" className="disclosure-button">
          <ChevronRight size={16} aria-hidden />
          <span>{title}</span>
          {summary && <span className="small dim">{summary}</span>}
        </Button>
      </Heading>
      <DisclosurePanel className="disclosure-panel">{children}</DisclosurePanel>
    </AriaDisclosure>
  );
}
