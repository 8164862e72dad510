// A website in Node, its whole life long, against a real service.
import assert from "node:assert/strict";

const { HOST, CLIENT, CARREL_URL, CARREL_PLUGIN_SECRET, VECTOR } = process.env;
const { deriveKeyHex, Host, LOCKED, PasswordChangeUnknown } = await import(HOST);
const { ApiError, ConnectionLost } = await import(CLIENT);
const refused = (code) => (error) => error instanceof ApiError && error.code === code;
const host = new Host(CARREL_URL, CARREL_PLUGIN_SECRET);
const uuid = crypto.randomUUID();

assert.equal(await deriveKeyHex("correct horse battery staple", "3f1c2b9e-0001"), VECTOR);
await assert.rejects(deriveKeyHex("\ud800", uuid), TypeError);
assert.throws(() => new Host("http://carrel.example.com", "x"), TypeError);

const token = await host.signUp(uuid, "first");
assert.equal(await host.session(uuid), token);
await host.signUp(uuid, "first", "paid"); // Once more, as after a crash.
await assert.rejects(host.signIn(uuid, "wrong"), refused("key-rejected"));
assert.equal(await host.session(uuid), LOCKED);
await assert.rejects(host.resetPassword(uuid, "second"), refused("old-key-required"));
await host.changePassword(uuid, "first", "second");
await host.changePassword(uuid, "first", "second"); // Its answer was lost: it is done already.
await assert.rejects(host.changePassword(uuid, "first", "third"), refused("key-rejected"));
await host.signIn(uuid, "second");
await host.resetPassword(uuid, "third");
await host.setMembership(uuid, "paid");
host.forget(uuid);
assert.equal(typeof (await host.session(uuid)), "string");
await host.signOut(uuid);
assert.equal(await host.session(uuid), LOCKED);

// The answer of a rekey gets lost, and the service with it.
const real = globalThis.fetch;
globalThis.fetch = async (...call) => {
  const answer = await real(...call);
  globalThis.fetch = () => Promise.reject(new TypeError("down"));
  await answer.text();
  throw new TypeError("lost");
};
await assert.rejects(host.changePassword(uuid, "third", "fourth"), PasswordChangeUnknown);
await assert.rejects(host.session(uuid), ConnectionLost);
globalThis.fetch = real;
await assert.rejects(host.signIn(uuid, "third"), refused("key-rejected"));
await host.signIn(uuid, "fourth");
assert.equal(await host.delete(uuid), true);
assert.equal(await host.delete(uuid), false);
console.log("done");
