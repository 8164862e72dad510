import { Fragment } from "react";
import { GLOSSARY } from "../lib/glossary";
import { Disclosure } from "./Disclosure";

/** All words of the glossary, folded away: sentences of the service use them, too. */
export function Glossary() {
  return (
    <Disclosure title="What the words mean">
      <dl className="facts">
        {Object.values(GLOSSARY).map(({ name, meaning }) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{meaning}</dd>
          </Fragment>
        ))}
      </dl>
    </Disclosure>
  );
}
