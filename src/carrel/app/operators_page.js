"use strict";

const MOST_ROWS = 200;
const MEGABYTE = 1024 * 1024;
const [form, status, order] = ["form", "[role=status]", "select"].map((one) => document.querySelector(one));
let users = [];

async function ask(path) {
  const headers = { "X-SVC-Admin-Secret": form.querySelector("input").value };
  const answer = await fetch(`/api${path}`, { headers, cache: "no-store" });
  if (!answer.ok) throw new Error((await answer.json()).detail);
  return answer;
}

/** Every user, page by page. */
async function each() {
  const found = [];
  for (let cursor = ""; cursor !== null; ) {
    const page = await (await ask(`/admin/users?limit=200${cursor}`)).json();
    found.push(...page.items);
    status.textContent = `${found.length.toLocaleString("en")} users`;
    cursor = page.next_cursor && `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
  return found;
}

/** The numbers of the metrics that have no labels, by name. */
async function gauges() {
  const lines = (await (await ask("/metrics")).text()).split("\n");
  return Object.fromEntries(lines.filter((line) => /^carrel_\w+ /.test(line)).map((line) => line.split(" ")));
}

function fill(table, rows) {
  table.replaceChildren(
    ...rows.map((cells, at) => {
      const row = document.createElement("tr");
      for (const [place, text] of cells.entries()) {
        const cell = document.createElement(at === 0 || place === 0 ? "th" : "td");
        cell.textContent = text;
        row.append(cell);
      }
      return row;
    }),
  );
}

const sum = (field) => users.reduce((all, user) => all + Number(user[field]), 0);
const count = (number) => Number(number).toLocaleString("en");
const size = (bytes) => (bytes === undefined ? "not known" : `${count(Math.round(bytes / MEGABYTE))} MB`);

function showUsers() {
  const most = [...users].sort((one, other) => other[order.value] - one[order.value]).slice(0, MOST_ROWS);
  fill(document.querySelector("#users"), [
    ["user", "plan", "since", "state", "active runs", "disk", "credits left", "credits spent"],
    ...most.map((user) => [
      user.uuid,
      user.membership,
      user.created_at.slice(0, 10),
      user.suspended_at ? "suspended" : user.signed_in ? "signed in" : "away",
      count(user.active_runs),
      size(user.disk_bytes),
      user.credits,
      user.credits_spent,
    ]),
  ]);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    users = await each();
    const [found, borne] = [await gauges(), await (await ask("/admin/write-offs")).json()];
    const backup = found.carrel_last_backup_timestamp_seconds;
    fill(document.querySelector("#sums"), [
      ["", "now"],
      ["users", count(users.length)],
      ["suspended", count(users.filter((user) => user.suspended_at).length)],
      ["keys in memory", count(found.carrel_cached_keys)],
      ["active runs", count(found.carrel_active_runs)],
      ["disk of users", size(sum("disk_bytes"))],
      ["disk free", `${size(found.carrel_disk_free_bytes)} of ${size(found.carrel_disk_total_bytes)}`],
      ["credits spent", count(sum("credits_spent"))],
      ["credits left", count(sum("credits"))],
      ["credits that you bore", borne.total.credits],
      ["last backup", backup ? new Date(backup * 1000).toISOString() : "none of the running service"],
    ]);
    showUsers();
  } catch (error) {
    status.textContent = error.message;
  }
});
order.addEventListener("change", showUsers);
