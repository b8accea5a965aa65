// Requests to the console's server: the token that the terminal's address carried goes along as a header.

import { token } from "./selection.js";

const mine = token();

export async function ask(path, parameters = {}, order = null) {
  const query = order ? "" : `?${new URLSearchParams(parameters)}`;
  const headers = { Authorization: `Bearer ${mine}` };
  const options = order ? { method: "POST", headers, body: JSON.stringify(order) } : { headers };
  const answer = await fetch(`/api/${path}${query}`, { ...options, cache: "no-store" });
  const document = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(document.error), { advice: document.advice ?? "" });
  if (document.waiting) throw Object.assign(new Error(`${document.waiting}. It may begin in a moment.`), { advice: "" });
  return document;
}
