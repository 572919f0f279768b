import { ask, byId, element, hideProblem, isShortcut, showParts, showProblem } from "./dom.js";

const GRADES = { y: "yes", n: "no", p: "partly" };

function row(each) {
  const cells = [each.annotators, each.labels, each.agreed, each.kappa, each.interval];
  const made = element("tr");
  made.replaceChildren(...cells.map((text, index) => element("td", String(text), { className: index ? "num" : "" })));
  return made;
}

function card(each) {
  const made = element("li", undefined, { className: "card", tabIndex: 0 });
  made.dataset.key = each.key;
  const facet = element("h3", each.facet, { className: "facet", dir: "auto" });
  const kind = element("p", each.kind === "answer" ? "The answer" : "A retrieved passage", { className: "kicker" });
  const text = element("div", undefined, { className: "text said", dir: "auto" });
  showParts(text, each.parts, { unfolded: true });
  const said = each.said.map((one) => `${one.annotator}: ${one.label}`).join(" · ");
  const who = element("p", each.settled ? `${said} · settled: ${each.settled}` : said, { className: "who" });
  const keys = element("div", undefined, { className: "keys" });
  keys.setAttribute("role", "group");
  keys.setAttribute("aria-label", `Settle: ${each.facet}`);
  keys.replaceChildren(
    ...Object.entries(GRADES).map(([key, grade]) => {
      const button = element("button", undefined, { type: "button" });
      button.replaceChildren(element("kbd", key), ` ${grade}`);
      button.addEventListener("click", () => settle(each.key, grade));
      return button;
    }),
  );
  made.replaceChildren(facet, kind, text, who, keys);
  return made;
}

function show(reply) {
  hideProblem();
  byId("progress").textContent = reply.progress.annotator;
  byId("none").hidden = reply.agreements.length > 0;
  byId("kappa").hidden = reply.agreements.length === 0;
  byId("kappa").tBodies[0].replaceChildren(...reply.agreements.map(row));
  byId("disagreements").replaceChildren(...reply.disagreements.map(card));
  const open = reply.disagreements.filter((each) => !each.settled).length;
  byId("left").textContent = reply.disagreements.length ? `${open} of ${reply.disagreements.length} are open.` : "There are none.";
}

async function settle(key, grade) {
  try {
    show(await ask("/api/adjudicate", { key, grade }));
    byId("status").textContent = `Settled: ${grade}. ${byId("left").textContent}`;
    document.querySelector(".disagreements .card")?.focus();
  } catch (error) {
    showProblem(error);
  }
}

function step(by) {
  const cards = [...document.querySelectorAll(".disagreements .card")];
  const here = cards.indexOf(document.activeElement?.closest(".card"));
  cards[Math.min(cards.length - 1, Math.max(0, here + by))]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (!isShortcut(event)) return;
  const key = event.key.toLowerCase();
  const focused = document.activeElement?.closest(".disagreements .card");
  if (key === "j") step(1);
  else if (key === "k") step(-1);
  else if (key in GRADES && focused) settle(focused.dataset.key, GRADES[key]);
});
ask("/api/agreement").then(show, showProblem);
