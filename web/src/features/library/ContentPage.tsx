import { Page } from "../../components/Page";

export function ContentPage() {
  return <Page title="ContentPage">{null}</Page>;
}
