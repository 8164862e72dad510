import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button, Disclosure as AriaDisclosure, DisclosurePanel, Heading } from "react-aria-components";

interface Props {
  title: string;
  /** What is in it, in a few words, for those who leave it folded. */
  summary?: ReactNode;
  isOpen?: boolean;
  /** The inside is drawn only while it is open, as where a page has many. */
  isLazy?: boolean;
  children: ReactNode;
}

/** Something that is folded away until somebody wants it: a button that says what is inside, and the inside. */
export function Disclosure({ title, summary, isOpen = false, isLazy = false, children }: Props) {
  const [isExpanded, setExpanded] = useState(isOpen);
  return (
    <AriaDisclosure className="disclosure" isExpanded={isExpanded} onExpandedChange={setExpanded}>
      <Heading level={3}>
        <Button slot="trigger" className="disclosure-button">
          <ChevronRight size={16} aria-hidden />
          <span>{title}</span>
          {summary && <span className="small dim">{summary}</span>}
        </Button>
      </Heading>
      <DisclosurePanel className="disclosure-panel">{(!isLazy || isExpanded) && children}</DisclosurePanel>
    </AriaDisclosure>
  );
}
