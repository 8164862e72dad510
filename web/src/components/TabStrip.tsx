import { type ReactNode, useEffect, useRef } from "react";
import { Tab, TabList, Tabs } from "react-aria-components";

interface Props<T extends string> {
  label: string;
  tabs: readonly (readonly [T, string])[];
  chosen: T;
  onChoose: (tab: T) => void;
  /** The panels. */
  children: ReactNode;
}

/** Tabs in one row, which scrolls where they are too many for it: the chosen one is always in sight. */
export function TabStrip<T extends string>({ label, tabs, chosen, onChoose, children }: Props<T>) {
  return (
    <Tabs
      className="tabs"
      selectedKey={chosen}
      onSelectionChange={(key) => {
        const found = tabs.find(([id]) => id === key);
        if (found) onChoose(found[0]);
      }}
    >
      <TabList className="tab-list" aria-label={label}>
        {tabs.map(([id, text]) => (
          <Tab key={id} id={id} className="tab">
            {({ isSelected }) => <Words isChosen={isSelected}>{text}</Words>}
          </Tab>
        ))}
      </TabList>
      {children}
    </Tabs>
  );
}

function Words({ isChosen, children }: { isChosen: boolean; children: string }) {
  const words = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const tab = words.current?.closest<HTMLElement>("[role=tab]");
    const row = tab?.closest<HTMLElement>("[role=tablist]");
    // Not `scrollIntoView`, which would move the page too.
    if (isChosen && tab && row) row.scrollLeft = tab.offsetLeft - (row.clientWidth - tab.offsetWidth) / 2;
  }, [isChosen]);
  return <span ref={words}>{children}</span>;
}
