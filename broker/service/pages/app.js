// Comfort: each page is whole without this file. live.js asks for a page again.
"use strict";

const root = document.documentElement;

// Without a script the form sends POST /theme, which sets the same cookie, and the server writes data-theme.
document.querySelector("form.theme")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  document.cookie = `pgbroker_theme=${root.dataset.theme}; Path=/; Max-Age=31536000; SameSite=Lax`;
});

// "/" leads to the search, unless somebody types.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, [contenteditable]")) return;
  event.preventDefault();
  document.querySelector(".search input")?.focus();
});

// A select of a filter applies itself. The button stays, for keyboards and for browsers without scripts.
document.querySelectorAll("form.filters[data-auto] select").forEach((select) => {
  select.addEventListener("change", () => select.form.requestSubmit());
});
