// What pages can do beyond plain HTML: keep times right, ask again while somebody looks, open
// questions as dialogs, copy, choose many. Every page works without it.
"use strict";
(() => {
  const LIVE_EVERY = 4000;
  const $ = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];

  // Times: the reader's own as a title, and how far away they are by now.
  const UNITS = [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]];
  const span = (seconds) => {
    let left = Math.floor(seconds);
    const parts = [];
    for (const [unit, length] of UNITS) {
      const count = Math.floor(left / length);
      left -= count * length;
      if (count || parts.length) parts.push(count ? count + unit : "");
      if (parts.length === 2) break;
    }
    return parts.filter(Boolean).join(" ") || "0s";
  };
  const tell = () => {
    for (const time of all("time")) {
      const at = new Date(time.dateTime);
      if (!time.title) time.title = at.toLocaleString(undefined, { timeZoneName: "short" });
      if (!time.classList.contains("ago")) continue;
      const away = (at - Date.now()) / 1000;
      const words = away > 0 ? document.body.dataset.in : document.body.dataset.ago;
      const text = words.replace("{span}", span(Math.abs(away)));
      if (time.textContent !== text) time.textContent = text;
    }
  };

  // Live: pages listen for the event "live"; it rests while the tab is hidden or switched off.
  const button = $("live");
  const wanted = () => button && button.getAttribute("aria-pressed") === "true";
  const remember = (on) => {
    try { localStorage.setItem("live", on ? "on" : "off"); } catch { /* private windows */ }
  };
  const remembered = () => {
    try { return localStorage.getItem("live"); } catch { return null; }
  };
  const beat = () => {
    if (wanted() && !document.hidden) htmx.trigger(document.body, "live");
  };

  // Questions open as a dialog; the link still leads to a page of its own.
  const dialog = $("dialog");
  const ask = async (link) => {
    const answer = await fetch(link.href, { headers: { "HX-Request": "true" } });
    if (!answer.ok || answer.redirected) { location.href = link.href; return; }
    dialog.innerHTML = await answer.text();
    fresh(dialog);
    dialog.showModal();
  };

  const say = (text) => {
    const toast = $("toast");
    toast.textContent = text;
    clearTimeout(say.timer);
    say.timer = setTimeout(() => { toast.textContent = ""; }, 4000);
  };

  const copy = async (button) => {
    const text = $(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
      say(document.body.dataset.copied);
    } catch {
      getSelection().selectAllChildren($(button.dataset.copy));
    }
  };

  // A date picked in the reader's own zone is written as an instant with its offset.
  const picked = (input) => {
    const at = new Date(input.value);
    if (isNaN(at)) return;
    $(input.dataset.fills).value = at.toISOString().replace(".000", "");
  };

  const chosen = () => {
    const boxes = all("input.choose");
    const some = boxes.filter((box) => box.checked).length;
    const bar = $("chosen");
    if (!bar) return;
    bar.textContent = String(some);
    for (const each of all("[data-needs-choice]")) each.disabled = some === 0;
    const every = $("choose-all");
    if (every) {
      every.checked = some > 0 && some === boxes.length;
      every.indeterminate = some > 0 && some < boxes.length;
    }
  };

  const fresh = (within) => {
    for (const each of all(".copy, .picker, .with-script", within)) each.hidden = false;
    for (const each of all(".without-script", within)) each.hidden = true;
    tell();
    chosen();
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-dialog]");
    if (link && dialog.showModal && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      ask(link);
      return;
    }
    const copier = event.target.closest("[data-copy]");
    if (copier) copy(copier);
    if (event.target.closest("[data-close]") && dialog.open) {
      event.preventDefault();
      dialog.close();
    }
  });
  document.addEventListener("change", (event) => {
    if (event.target.id === "choose-all") {
      for (const box of all("input.choose")) box.checked = event.target.checked;
    }
    if (event.target.matches("[data-fills]")) picked(event.target);
    chosen();
  });
  document.addEventListener("submit", (event) => {
    const sender = event.target.querySelector("button.once");
    if (sender) setTimeout(() => { sender.disabled = true; }, 0);
  });
  // What came of an action is known now: the page that waited for it shows it.
  const settled = (swapped) => {
    if (swapped.id !== "outcome" || swapped.dataset.tone === "wait") return;
    if (document.querySelector("[data-reload]")) location.reload();
    else htmx.trigger(document.body, "look");
  };
  document.addEventListener("htmx:afterSettle", (event) => {
    fresh(document);
    settled(event.target);
  });
  document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status === 401) location.reload();
  });
  document.addEventListener("htmx:sendError", () => say(document.body.dataset.lost));
  addEventListener("pageshow", () => {
    for (const sender of all("button.once")) sender.disabled = false;
  });

  if (button) {
    button.hidden = false;
    button.setAttribute("aria-pressed", String(remembered() !== "off"));
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(!wanted()));
      remember(wanted());
      beat();
    });
  }
  setInterval(beat, LIVE_EVERY);
  setInterval(tell, 1000);
  fresh(document);
})();
