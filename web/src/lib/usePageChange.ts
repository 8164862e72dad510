import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";

export const MAIN_ID = "carrel-main";

/** Move the focus to the page, for when the element that had it is gone. */
export function focusPage(): void {
  document.getElementById(MAIN_ID)?.focus({ preventScroll: true });
}

/**
 * Another page is another place: it begins at its top, and the focus goes along, so that a keyboard goes on there and a
 * screen reader speaks of it. Who goes back finds the place where they were, which is the browser's own doing.
 */
export function usePageChange(): void {
  const router = useRouter();
  useEffect(() => {
    let isNew = false;
    const stopHistory = router.history.subscribe(({ action }) => {
      isNew = action.type === "PUSH";
    });
    const stopRouter = router.subscribe("onRendered", ({ fromLocation, pathChanged }) => {
      if (!fromLocation || !pathChanged) return;
      if (isNew) window.scrollTo(0, 0);
      focusPage();
    });
    return () => {
      stopHistory();
      stopRouter();
    };
  }, [router]);
}
