import { Page } from "../../components/Page";

export function PresetPage() {
  return <Page title="PresetPage">{null}</Page>;
}
