import type { User } from "../api/session";

/** What the host calls a user; without a name the end of the uuid, as much of it as logs show. */
export function UserName({ user: { uuid, name } }: { user: User }) {
  return name ? <bdi className="user-name">{name}</bdi> : <code>…{tailOf(uuid)}</code>;
}

/** The last eight characters, or the last half of a short uuid. */
export function tailOf(uuid: string): string {
  return uuid.slice(uuid.length - Math.min(8, Math.floor(uuid.length / 2)));
}
