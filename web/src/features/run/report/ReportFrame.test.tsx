import { cleanup, render, screen, waitFor } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { ReportFrame } from "./ReportFrame";

afterEach(cleanup);

const shown = () => screen.getByTitle<HTMLIFrameElement>("Report").contentDocument?.body.textContent;

test("another report is shown, also one of equal length", async () => {
  const { rerender } = render(<ReportFrame html="<p>Take alpha.</p>" title="Report" />);
  await waitFor(() => expect(shown()).toBe("Take alpha."));
  rerender(<ReportFrame html="<p>Take gamma.</p>" title="Report" />);
  await waitFor(() => expect(shown()).toBe("Take gamma."));
});
