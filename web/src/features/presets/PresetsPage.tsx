import { Page } from "../../components/Page";

export function PresetsPage() {
  return <Page title="PresetsPage">{null}</Page>;
}
