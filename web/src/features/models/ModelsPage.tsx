import { Page } from "../../components/Page";

export function ModelsPage() {
  return <Page title="ModelsPage">{null}</Page>;
}
