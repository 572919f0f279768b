"use strict";
(() => {
  const one = (id) => document.getElementById(id);
  const questions = [...document.querySelectorAll("details.question")];
  const rows = new Map([...document.querySelectorAll("tr[data-for]")].map((row) => [row.dataset.for, row]));

  const theme = one("theme");
  const isDark = () => {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const label = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  theme.hidden = false;
  label();

  if (matchMedia("(max-width: 640px)").matches) {
    for (const fold of document.querySelectorAll("details.fold")) fold.open = false;
  }

  const reveal = () => {
    const target = location.hash.length > 1 && one(location.hash.slice(1));
    if (!target) return;
    let moved = false;
    const show = (details) => {
      details.hidden = false;
      if (!details.open) { details.open = true; moved = true; }
    };
    for (let at = target.closest("details"); at; at = at.parentElement.closest("details")) show(at);
    for (const fold of target.querySelectorAll(":scope > details.fold")) show(fold);
    if (moved) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  for (const question of questions) {
    question.addEventListener("pointerover", (event) => {
      const row = event.target.closest("tr[data-number]");
      for (const mark of question.querySelectorAll("mark")) {
        mark.classList.toggle("lit", Boolean(row) && mark.dataset.of.split(" ").includes(row.dataset.number));
      }
    });
  }

  if (!one("controls")) return;
  const search = one("search"), onlyLost = one("only-lost"), openAll = one("open-all");
  const texts = new Map();
  const textOf = (question) => {
    if (!texts.has(question)) texts.set(question, question.textContent.toLowerCase());
    return texts.get(question);
  };
  const filter = () => {
    const wanted = search.value.trim().toLowerCase();
    let shown = 0;
    for (const question of questions) {
      const keep = (!onlyLost.checked || "lost" in question.dataset) && (!wanted || textOf(question).includes(wanted));
      question.hidden = rows.get(question.id).hidden = !keep;
      shown += keep;
    }
    one("count").textContent = `${shown} of ${questions.length} shown`;
    one("nothing").hidden = shown > 0;
  };
  search.addEventListener("input", filter);
  onlyLost.addEventListener("change", filter);
  openAll.addEventListener("click", () => {
    const opening = openAll.textContent === "Open all";
    for (const question of questions) if (!question.hidden) question.open = opening;
    openAll.textContent = opening ? "Close all" : "Open all";
  });
  one("controls").hidden = openAll.hidden = false;
  filter();
})();
