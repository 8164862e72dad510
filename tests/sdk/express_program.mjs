// A website with Express and the example for it, against a real service.
import assert from "node:assert/strict";
import { once } from "node:events";
import express from "express";
import { workspace } from "./workspace.mjs";

const { CARREL_URL, CARREL_PLUGIN_SECRET } = process.env;
const ada = { uuid: crypto.randomUUID(), name: "ada@example.org", password: "first" };
const { carrel, site } = workspace(CARREL_URL, CARREL_PLUGIN_SECRET, {
  userOf: (request) => (request.get("X-User") === "ada" ? ada : undefined),
  verify: async (user, password) => user.password === password,
});
const server = express().use("/workspace", site).listen(0, "127.0.0.1");
await once(server, "listening");
const ask = (path, how = {}) =>
  fetch(`http://127.0.0.1:${server.address().port}/workspace${path}`, {
    redirect: "manual",
    ...how,
    headers: { "X-User": "ada" },
  });
const unlock = (password) => ask("/unlock", { method: "POST", body: new URLSearchParams({ password }) });

await carrel.signUp(ada.uuid, "first", "paid");
const given = await ask("/token");
assert.equal(given.headers.get("cache-control"), "no-store");
const { session_token, user_name } = await given.json();
assert.equal(user_name, ada.name);
const me = await fetch(`${CARREL_URL}/api/users/me`, { headers: { "X-SVC-Session-Token": session_token } });
assert.equal((await me.json()).uuid, ada.uuid);
assert.match(await (await ask("")).text(), /"tokenUrl":"\/workspace\/token"/);

await carrel.signOut(ada.uuid);
assert.deepEqual(await (await ask("/token", { method: "POST" })).json(), { code: "key-not-cached" });
assert.equal((await unlock("wrong")).status, 403);
assert.equal((await unlock("first")).headers.get("location"), "/workspace");
assert.equal((await ask("/token")).status, 200);
const stranger = await fetch(`http://127.0.0.1:${server.address().port}/workspace/token`);
assert.deepEqual([stranger.status, await stranger.json()], [401, { code: "signed-out" }]);
server.close();
server.closeAllConnections();
console.log("done");
