// Follows a run: asks for the number of its events, and when the number has grown, for the page, whose <main> takes the
// place of the old one. What was unfolded stays unfolded, and the page keeps its place.
"use strict";
(() => {
  const status = document.getElementById("status");
  const main = () => document.querySelector("main");
  let version = Number(main().dataset.events), ended = main().dataset.ended === "true", failures = 0;

  const say = (text, bad) => {
    status.textContent = text;
    status.className = bad ? "bad" : "soft";
  };
  const events = () => `${version} event${version === 1 ? "" : "s"}`;
  const rest = () => say(ended ? `The run has ended; ${events()}.` : `Following; ${events()}.`);

  // A block that has no id of its own is found again by its place among its kind.
  const key = (block, i) => block.id || `${i}:${(block.querySelector("summary") || {}).textContent}`;
  async function refresh() {
    const answer = await fetch(location.href, {cache: "no-store"});
    if (!answer.ok) throw new Error(answer.status);
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("main");
    const open = new Set([...main().querySelectorAll("details[open]")].map(key));
    const focused = document.activeElement && document.activeElement.closest("details[id]");
    const at = window.scrollY;
    main().replaceWith(document.adoptNode(fresh));
    [...main().querySelectorAll("details")].forEach((block, i) => {
      if (open.has(key(block, i))) block.open = true;
    });
    if (focused) focus(document.getElementById(focused.id), false);
    window.scrollTo({top: at});
    version = Number(main().dataset.events);
    ended = main().dataset.ended === "true";
  }

  async function follow() {
    try {
      const answer = await fetch("/version", {cache: "no-store"});
      if (!answer.ok) throw new Error(answer.status);
      const state = await answer.json();
      if (state.events !== version || state.ended !== ended) await refresh();
      failures = 0;
      rest();
    } catch (error) {
      failures += 1;
      say("No answer from hone: is `hone report --serve` still running?", true);
    }
    // A hidden tab and a run that has ended need not be asked after so often; a run may be taken up again.
    setTimeout(follow, failures > 0 || document.hidden || ended ? 5000 : 1000);
  }

  const nodes = () => [...document.querySelectorAll("details.node")];
  function focus(node, scroll) {
    const summary = node && node.querySelector("summary");
    if (!summary) return;
    summary.focus({preventScroll: true});
    if (scroll) node.scrollIntoView({block: "nearest"});
  }
  const current = () => {
    const active = document.activeElement && document.activeElement.closest("details.node");
    return active ? nodes().indexOf(active) : -1;
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const at = current(), list = nodes();
    if (event.key === "j" && list.length) focus(list[Math.min(at + 1, list.length - 1)], true);
    else if (event.key === "k" && list.length) focus(list[Math.max(at - 1, 0)], true);
    else if (event.key === "c" && at >= 0) (list[at].querySelector("a.compare") || {click() {}}).click();
    else if (event.key === "o" && at >= 0) (list[at].querySelector("a.whole") || {click() {}}).click();
    else if (event.key === "u") location.href = "/";
    else return;
    event.preventDefault();
  });

  rest();
  follow();
})();
