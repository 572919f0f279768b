// Tables that are wider than the page can be scrolled by keyboard, too; the theme wraps them once the page is loaded.
const reach = () =>
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((each, number) => {
    each.tabIndex = 0;
    each.setAttribute("role", "region");
    each.setAttribute("aria-label", `Table ${number + 1}`);
  });
reach();
new MutationObserver(reach).observe(document.body, { childList: true, subtree: true });
