// What is shown stands in the fragment of the address, so that it can be sent, reloaded and gone back to.

const NAMES = ["run", "view", "file_system", "cell", "state", "instance"];
export const VIEWS = ["matrix", "graph", "fleet", "report"];

export function selected() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const selection = Object.fromEntries(NAMES.map((name) => [name, parts.get(name) ?? ""]));
  if (!VIEWS.includes(selection.view)) selection.view = selection.state ? "graph" : "matrix";
  return selection;
}

export function address(changes) {
  const selection = { ...selected(), ...changes };
  const parts = new URLSearchParams();
  for (const name of NAMES) if (selection[name]) parts.set(name, selection[name]);
  return `#${parts}`;
}

export const select = (changes) => { location.hash = address(changes); };

// The terminal's address carries the token. It moves to this tab's storage, so that addresses that are sent on lack it.
export function token() {
  const parts = new URLSearchParams(location.hash.slice(1));
  if (parts.has("token")) {
    sessionStorage.setItem("token", parts.get("token"));
    parts.delete("token");
    history.replaceState(null, "", `${location.pathname}#${parts}`);
  }
  return sessionStorage.getItem("token") ?? "";
}
