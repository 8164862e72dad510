import { useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useRouter } from "@tanstack/react-router";
import { WifiOff } from "lucide-react";
import { useEffect, useSyncExternalStore } from "react";
import { Button } from "../components/Button";
import { Toasts } from "../components/Toasts";
import { focusPage, MAIN_ID, usePageChange } from "../lib/usePageChange";
import { useApi, useSession } from "./context";
import { placesOf } from "./navigation";
import { UserName } from "./UserName";

export function Shell() {
  usePageChange();
  const places = placesOf(useRouter());
  const { hideNavigation } = useApi().session.config;
  return (
    <>
      <button type="button" className="skip-link" onClick={focusPage}>
        Skip to the page
      </button>
      <div className={hideNavigation ? "shell bare" : "shell"}>
        {!hideNavigation && <Side places={places} />}
        <div>
          <ConnectionBanner />
          <main className="main" id={MAIN_ID} tabIndex={-1}>
            <Outlet />
          </main>
        </div>
      </div>
      <Toasts />
    </>
  );
}

function Side({ places }: { places: ReturnType<typeof placesOf> }) {
  const { pathname } = useLocation();
  const { user } = useSession();
  return (
    <aside className="side">
      <Link to="/runs" className="brand">
        <Mark /> Carrel
      </Link>
      <nav aria-label="Carrel">
        <ul>
          {places.map(({ to, label, icon: Icon, covers = [] }) => (
            <li key={to}>
              <Link
                to={to}
                activeProps={{ className: "active" }}
                className={covers.some((start) => pathname.startsWith(start)) ? "active" : ""}
              >
                <Icon size={18} aria-hidden /> {label}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className="foot small dim stack tight">
        {user && (
          <p>
            Signed in as <UserName user={user} />
          </p>
        )}
        <p>Your workspace is encrypted with a key that only your password makes.</p>
      </div>
    </aside>
  );
}

/** A carrel: a reading desk with its lock. */
function Mark() {
  return (
    <svg
      width="24"
      height="24"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinejoin="round"
      strokeLinecap="round"
      aria-hidden
    >
      <path d="M4 21V5.5A2.5 2.5 0 0 1 6.500 3h11A2.500 2.500 0 0 1 20 5.500V21M4 14h16M9 14v-3.500h6V14" />
      <circle cx="12" cy="17.700" r="0.900" fill="currentColor" />
    </svg>
  );
}

function ConnectionBanner() {
  const api = useApi();
  const { connection } = api;
  const { state } = useSession();
  const queries = useQueryClient();
  const up = useSyncExternalStore(connection.subscribe, () => connection.isUp);
  useEffect(() => {
    // What was shown may be old now, and what failed may work.
    if (up) void queries.invalidateQueries();
  }, [up, queries]);
  if (up && state !== "away") return null;
  return (
    <div className="banner" role="alert">
      <WifiOff size={18} aria-hidden />
      <span>
        {up
          ? "The website that you came from cannot renew the session of this page right now. What you see may be out of date. The page goes on by itself when it can."
          : "The service cannot be reached. What you see may be out of date. The page reconnects by itself."}
      </span>
      <Button small onPress={() => (up ? void api.look() : connection.retry())}>
        Try now
      </Button>
    </div>
  );
}
