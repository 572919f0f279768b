// What both pages share. Texts come from outside: they are only ever put into the page as text.

export const byId = (id) => document.getElementById(id);

export async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, { ...options, credentials: "same-origin" });
  const type = response.headers.get("content-type") || "";
  const reply = type.startsWith("application/json") ? await response.json() : { error: await response.text() };
  if (!response.ok) throw new Error(reply.error || `The server answered ${response.status}.`);
  return reply;
}

export function element(name, text, properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  if (text !== undefined) made.textContent = text;
  return made;
}

export function showParts(place, parts, { unfolded = false } = {}) {
  place.replaceChildren(
    ...parts.map((part, index) => {
      if (!part.hidden || unfolded) return element(part.mark ? "mark" : "span", part.text);
      const isBetween = index > 0 && parts[index - 1].hidden;
      return element("span", isBetween ? "" : index === 0 ? "… " : " …", { className: "soft" });
    }),
  );
}

export const hiddenWords = (parts) =>
  parts.filter((part) => part.hidden).reduce((sum, part) => sum + part.text.split(/\s+/).filter(Boolean).length, 0);

export function showProblem(error) {
  const place = byId("problem");
  const lost = error instanceof TypeError ? "The server does not answer: is 'rag-cover label' still running? Nothing was saved by this key." : error.message;
  place.textContent = lost;
  place.hidden = false;
}

export const hideProblem = () => { byId("problem").hidden = true; };

export function isShortcut(event) {
  const typing = event.target instanceof Element && event.target.closest("textarea, select, input:not([type=checkbox])");
  return byId("shortcuts").checked && !typing && !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat;
}
