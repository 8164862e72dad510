// What a program does with the built client: sign in, make a preset, run it, follow it, and meet errors.
import assert from "node:assert/strict";

const { CLIENT, CARREL_URL, CARREL_PROGRAM_KEY, READ_KEY } = process.env;
const { ApiError, ConnectionLost, data, WaitTimeout, Workspace } = await import(CLIENT);
const workspace = new Workspace({ url: CARREL_URL, token: CARREL_PROGRAM_KEY });
const { client, runs } = workspace;

const made = (name, type, text) => data(client.POST("/api/contents", { body: { name, type, body: text } }));
const texts = await Promise.all(
  ["tides", "bees", "rivers"].map((topic) =>
    made(topic, "input_document", `The first sentence is about ${topic}. Another one follows. The last one ends it.`),
  ),
);
const prompt = await made("Prompt", "generation_instructions", "Summarise the document.");
const preset = await data(
  client.POST("/api/presets", {
    body: {
      name: "Which summary?",
      inputs: texts.map(({ id }) => id),
      instructions: prompt.id,
      generation: { candidates: [{ model: "local:mmr" }, { model: "local:lexrank" }] },
      comparison: { judges: [{ model: "local:reader" }] },
    },
  }),
);
const pending = await data(client.POST("/api/runs", { body: { preset_id: preset.id } }));
await assert.rejects(runs.wait(pending.id, { timeoutSeconds: 0 }), WaitTimeout);
const params = { path: { preset_id: preset.id } };
const started = await data(client.POST("/api/presets/{preset_id}/execute", { params }));

const seen = [];
for await (const event of runs.events(started.id)) seen.push(event);
assert.equal(seen.at(-1).kind, "end");
const ids = seen.map(({ id }) => id).filter((id) => id !== undefined);
assert.deepEqual(ids, [...new Set(ids)].sort((a, b) => a - b));

const middle = ids[Math.floor(ids.length / 2)];
const rest = [];
for await (const { id } of runs.events(started.id, { after: middle })) if (id !== undefined) rest.push(id);
assert.deepEqual(rest, ids.filter((id) => id > middle));

const run = await runs.wait(started.id, { timeoutSeconds: 60 });
assert.equal(run.state, "completed");
assert.ok(run.verdict);

const refusal = (promise) => promise.then(() => assert.fail("no error"), (error) => error);
const invalid = await refusal(data(client.POST("/api/contents", { body: { name: "", type: "fragment", body: "" } })));
assert.ok(invalid instanceof ApiError);
assert.deepEqual([invalid.status, invalid.code], [400, "invalid-input"]);
assert.ok(invalid.message && invalid.requestId && invalid.faults.some(({ path }) => path === "name"));
const missing = await refusal(runs.wait("00000000-0000-4000-8000-000000000000"));
assert.deepEqual([missing.status, missing.code], [404, "not-found"]);
const reader = new Workspace({ url: CARREL_URL, token: READ_KEY });
const scope = await refusal(data(reader.client.DELETE("/api/runs/{run_id}", { params: { path: { run_id: run.id } } })));
assert.equal(scope.code, "scope-missing");
const wrong = new Workspace({ url: CARREL_URL, token: `${READ_KEY.slice(0, -4)}0000` });
assert.equal((await refusal(data(wrong.client.GET("/api/users/me")))).code, "program-key-invalid");

let renewals = 0;
const renew = () => (renewals++, Promise.resolve("no token"));
const renewing = new Workspace({ url: CARREL_URL, token: "ended", renew });
assert.equal((await refusal(data(renewing.client.GET("/api/users/me")))).status, 401);
assert.equal(renewals, 1);
const nowhere = new Workspace({ url: "http://127.0.0.1:9", token: "t", maxRetries: 0 });
assert.ok((await refusal(data(nowhere.client.GET("/api/users/me")))) instanceof ConnectionLost);
assert.throws(() => new Workspace({ url: "http://carrel.example.com", token: "t" }), TypeError);
console.log("done");
