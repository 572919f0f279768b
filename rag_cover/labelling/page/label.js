import { ask, byId, element, hiddenWords, hideProblem, isShortcut, showParts, showProblem } from "./dom.js";

const EVERY = 10; // labels between two looks at what they say
const GRADES = { y: "yes", n: "no", p: "partly", s: "skip" };
let item = null;
let isBusy = false; // a key that comes before the next verdict shows is of no verdict
let isUnfolded = false;
let foundAt = 0; // labels at the last look

function showText() {
  const hidden = hiddenWords(item.parts) + hiddenWords(item.question);
  showParts(byId("text"), item.parts, { unfolded: isUnfolded });
  showParts(byId("question-text"), item.question, { unfolded: isUnfolded });
  const more = byId("more");
  more.hidden = hidden === 0;
  more.setAttribute("aria-expanded", String(isUnfolded));
  more.replaceChildren(element("kbd", "m"), isUnfolded ? " less" : ` ${hidden.toLocaleString("en")} more words`);
}

function showItem() {
  byId("verdict").hidden = item === null;
  if (item === null) {
    byId("task").textContent = "Every verdict worth a label has one.";
    return;
  }
  const noun = item.is_nugget ? "nugget" : "sub-question";
  byId("task").textContent = item.is_nugget ? `Does the ${item.kind} say this?` : `Does the ${item.kind} answer this?`;
  byId("noun").textContent = noun;
  byId("role").textContent = item.roles.find((each) => each.value === item.role)?.label ?? item.role;
  byId("facet").textContent = item.facet;
  byId("question").hidden = item.question.length === 0;
  byId("kind").textContent = item.kind === "answer" ? "The answer" : "A retrieved passage";
  byId("title").textContent = item.title;
  byId("title").hidden = !item.title;
  showText();
}

function isLookDue(labels) {
  if (labels === 0) return false;
  return Math.floor(labels / EVERY) !== Math.floor(foundAt / EVERY) || (item === null && labels !== foundAt);
}

function show(reply, said) {
  item = reply.item;
  isUnfolded = false;
  hideProblem();
  byId("progress").textContent = `${reply.progress.annotator}: ${reply.progress.text}`;
  byId("undo").disabled = !reply.progress.can_undo;
  showItem();
  byId("text").scrollTop = 0;
  const next = item === null ? "Nothing is left." : `${byId("task").textContent} ${item.facet}`;
  byId("status").textContent = said ? `${said} ${next}` : "";
  if (isLookDue(reply.progress.labels)) {
    foundAt = reply.progress.labels;
    find();
  }
}

async function find() {
  try {
    const { sentences } = await ask("/api/findings");
    byId("findings").replaceChildren(...sentences.map((each) => element("li", each)));
  } catch (error) {
    showProblem(error);
  }
}

async function send(path, body, said) {
  if (isBusy) return;
  isBusy = true;
  try {
    show(await ask(path, body), said);
  } catch (error) {
    showProblem(error);
  } finally {
    isBusy = false;
  }
}

function label(grade) {
  if (item !== null && byId("edit").hidden) send("/api/label", { key: item.key, grade }, `Saved: ${grade}.`);
}

function undo() {
  if (!byId("undo").disabled && byId("edit").hidden) send("/api/undo", {}, "Taken back.");
}

function unfold() {
  isUnfolded = !isUnfolded;
  showText();
}

function openEdit() {
  if (item === null) return;
  byId("edit").hidden = false;
  byId("edit-text").value = item.facet;
  byId("edit-role-label").textContent = item.is_nugget ? "Importance" : "Role";
  const roles = item.role ? item.roles : [{ value: "", label: "none" }, ...item.roles];
  byId("edit-role").replaceChildren(...roles.map((each) => element("option", each.label, { value: each.value })));
  byId("edit-role").value = item.role;
  byId("edit-text").focus();
}

function closeEdit() {
  byId("edit").hidden = true;
  byId("edit-open").focus();
}

async function saveEdit(event) {
  event.preventDefault();
  await send("/api/correct", { key: item.key, text: byId("edit-text").value, role: byId("edit-role").value }, "Corrected.");
  if (byId("problem").hidden) closeEdit();
}

document.addEventListener("keydown", (event) => {
  if (!byId("edit").hidden && event.key === "Escape") closeEdit();
  if (!byId("edit").hidden && event.key === "Enter" && (event.ctrlKey || event.metaKey)) byId("edit").requestSubmit();
  if (!isShortcut(event) || !byId("edit").hidden) return;
  const key = event.key.toLowerCase();
  if (!(key in GRADES) && !"uem".includes(key)) return;
  event.preventDefault();
  if (key in GRADES) label(GRADES[key]);
  else if (key === "u") undo();
  else if (key === "e") openEdit();
  else if (!byId("more").hidden) unfold();
});
document.querySelectorAll("[data-grade]").forEach((button) => button.addEventListener("click", () => label(button.dataset.grade)));
byId("undo").addEventListener("click", undo);
byId("more").addEventListener("click", unfold);
byId("edit-open").addEventListener("click", openEdit);
byId("edit-close").addEventListener("click", closeEdit);
byId("edit").addEventListener("submit", saveEdit);
send("/api/next");
