/** Loads parts of the app when they are needed, also over an unreliable connection. */

const TRIES = 4;

let whenReachable: () => Promise<void> = () => Promise.resolve();

/** Told once, when the app is mounted: what to wait for after a part could not be fetched. */
export function fetchPartsAfter(wait: () => Promise<void>): void {
  whenReachable = wait;
}

/** An `import()` that is tried again. In the end it fails with words that do not make the router reload the page. */
export function part<T>(fetchPart: () => Promise<T>): () => Promise<T> {
  return async () => {
    for (let times = 1; ; times++) {
      try {
        return await fetchPart();
      } catch {
        if (times === TRIES)
          throw new Error("A part of this page is missing, because the app was updated. Reload the page.");
        await whenReachable();
      }
    }
  };
}
