import { Page } from "../../components/Page";

export function LibraryPage() {
  return <Page title="LibraryPage">{null}</Page>;
}
