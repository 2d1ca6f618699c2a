// Requests the page again while it is visible, and replaces its main part. The page works without this file.
"use strict";

const PAUSED = "pgbroker paused"; // the name under which a browser remembers
const PATIENCE = 30_000; // ms that an answer may take
const SHARE = 20; // answers take at most a twentieth of the time
const main = document.querySelector("main[data-live]");

if (main) {
  const period = 1000 * Number(main.dataset.live);
  const [age, button, status] = [".live", ".pause", ".status"].map((one) => document.querySelector(one));
  let paused = remembered();
  let seen = new Date();
  let waits = period;
  let timer = 0;
  let asked = null;
  let shown = main.innerHTML; // the last received content

  button.addEventListener("click", () => {
    paused = !paused;
    remember();
    draw();
    schedule(paused ? null : 0);
  });
  document.addEventListener("visibilitychange", () => {
    schedule(document.hidden || paused ? null : Math.max(0, waits - (new Date() - seen)));
  });
  draw();
  age.hidden = button.hidden = false;
  schedule(paused ? null : waits);

  function remembered() {
    try {
      return localStorage.getItem(PAUSED) === "yes";
    } catch {
      return false; // the browser stores nothing
    }
  }

  function remember() {
    try {
      localStorage.setItem(PAUSED, paused ? "yes" : "no");
    } catch {
      return;
    }
  }

  function draw() {
    button.textContent = paused ? "Go on" : "Pause";
    age.textContent = paused ? `paused at ${clock(seen)}` : clock(seen);
    age.classList.toggle("late", paused || status.hasChildNodes());
  }

  function clock(moment) {
    return `${moment.toISOString().slice(11, 19)} UTC`;
  }

  // Ask after this many milliseconds; null: stop, and abort a running request.
  function schedule(delay) {
    clearTimeout(timer);
    asked?.abort();
    asked = null;
    if (delay !== null) timer = setTimeout(ask, delay);
  }

  // Whether the main part is in use: it has the focus, a changed field, or a selection.
  function isUsed() {
    const selection = getSelection();
    return main.contains(document.activeElement)
      || (!selection.isCollapsed && main.contains(selection.anchorNode))
      || [...main.querySelectorAll("input, select, textarea")].some(isChanged);
  }

  function isChanged(field) {
    if (field.tagName !== "SELECT") return field.value !== field.defaultValue;
    return field.selectedIndex !== Math.max(0, [...field.options].findIndex((option) => option.defaultSelected));
  }

  async function ask() {
    if (isUsed()) {
      schedule(1000);
      return;
    }
    const began = performance.now();
    const mine = (asked = new AbortController());
    const end = setTimeout(() => mine.abort(), PATIENCE);
    let found = "";
    try {
      // no option cache: its header would have the primary answer in place of a standby; pages are never cached
      const answer = await fetch(location.href, { redirect: "manual", signal: mine.signal });
      if (answer.type === "opaqueredirect") found = login();
      else if (!answer.ok) found = `The service answers ${answer.status}.`;
      else replace(await answer.text());
    } catch {
      found = "The service does not answer.";
    } finally {
      clearTimeout(end);
    }
    if (mine !== asked) return; // paused or hidden in between
    waits = Math.max(period, SHARE * (performance.now() - began));
    if (found) show(found);
    else if (status.hasChildNodes()) status.replaceChildren();
    draw();
    schedule(waits);
  }

  function replace(text) {
    const page = new DOMParser().parseFromString(text, "text/html");
    const fresh = page.querySelector("main[data-live]");
    if (!fresh || isUsed()) return;
    seen = new Date();
    draw();
    if (fresh.innerHTML === shown) return;
    shown = fresh.innerHTML;
    fresh.querySelector(".toast")?.classList.remove("toast"); // it arrives once
    const open = [...main.querySelectorAll("details")].map((one) => one.open);
    const places = [...main.querySelectorAll(".scroll")].map((one) => [one.scrollLeft, one.scrollTop]);
    const [x, y] = [scrollX, scrollY];
    document.title = page.title;
    main.replaceChildren(...fresh.childNodes);
    main.querySelectorAll("details").forEach((one, n) => { one.open = open[n] ?? one.open; });
    main.querySelectorAll(".scroll").forEach((one, n) => { [one.scrollLeft, one.scrollTop] = places[n] ?? [0, 0]; });
    scrollTo(x, y);
  }

  function login() {
    const link = document.createElement("a");
    link.href = `/login?to=${encodeURIComponent(location.pathname + location.search)}`;
    link.textContent = "Log in";
    return link;
  }

  function show(found) {
    const from = `The figures are from ${clock(seen)}.`;
    const words = typeof found === "string" ? [`${found} ${from}`] : [`You are logged out. ${from} `, found];
    if (status.textContent !== words.map((one) => one.textContent ?? one).join("")) status.replaceChildren(...words);
  }
}
