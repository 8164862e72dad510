import { Page } from "../../components/Page";

export function AccountPage() {
  return <Page title="AccountPage">{null}</Page>;
}
