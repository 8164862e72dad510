// Carrel in a website with Express: the page with the app, its token, and the password again after a restart of Carrel.
// `userOf(request)` is your signed-in user, and `verify(user, password)` your own check, with its limit of tries.
import express from "express";
import { Host, LOCKED } from "carrel-sdk/host";

export function workspace(url, pluginSecret, { userOf, verify, path = "/workspace" }) {
  const [carrel, site] = [new Host(url, pluginSecret), express.Router()];
  const of = (work) => (request, response, next) => {
    const user = userOf(request);
    response.set("Cache-Control", "no-store");
    return user ? work(user, request, response).catch(next) : response.status(401).json({ code: "signed-out" });
  };
  const give = of(async (user, request, response) => {
    if (request.method === "POST") carrel.forget(user.uuid); // Carrel has refused the one that the page had.
    const token = await carrel.session(user.uuid);
    if (token === LOCKED) response.status(401).json({ code: "key-not-cached" });
    else response.json({ session_token: token, user_name: user.name });
  });
  const config = JSON.stringify({ baseUrl: url, tokenUrl: `${path}/token`, unlockUrl: `${path}/unlock` });
  site.get("/", (_, response) => response.send(`<!doctype html><div id="carrel"></div>
<script>window.carrel = ${config}</script><script type="module" src="${url}/app/carrel.js"></script>`));
  site.route("/token").get(give).post(give);
  site.get("/unlock", (_, response) => response.send(`<form method="post"><input name="password" type="password"><button>Unlock</button></form>`));
  site.post("/unlock", express.urlencoded({ extended: false }), of(async (user, { body }, response) => {
    if (!(await verify(user, body.password))) return response.status(403).send("This password is wrong.");
    return carrel.signIn(user.uuid, body.password).then(() => response.redirect(path));
  }));
  return { carrel, site }; // `carrel.signUp` and `signIn` belong where your website makes and verifies passwords.
}
