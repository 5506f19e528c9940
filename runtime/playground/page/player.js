// Shows which elements of tensors the loops touch, one after the other.

const byId = (id) => document.getElementById(id);
let steps = [];
let cells = [];
let at = 0;
let timer;

/** Takes a trace for the drawings that are on the page. */
export function load(trace) {
  stop();
  steps = trace?.steps ?? [];
  byId("player").hidden = steps.length === 0;
  const find = ([tensor, cell]) => [
    ...document.querySelectorAll(`[data-tensor="${CSS.escape(tensor)}"] [data-cell="${CSS.escape(cell)}"]`)];
  cells = (trace?.cells ?? []).map((cell) => ({ name: cell, shown: find(cell) }));
  byId("step").max = steps.length + 1;
  byId("step").dataset.cut = trace?.is_cut ? "1" : "";
  show(steps.length + 1);
}

function mark(cell, name, is_on) {
  cell.shown.forEach((element) => element.classList.toggle(name, is_on));
}

/** Marks what was touched up to a step; before the first and after the last one nothing is marked as the present one. */
function show(step) {
  at = Math.max(0, Math.min(step, steps.length + 1));
  cells.forEach((cell) => ["now", "seen", "put"].forEach((name) => mark(cell, name, false)));
  steps.slice(0, at).forEach((step) => mark(cells[step >> 1], step & 1 ? "put" : "seen", true));
  const is_present = at > 0 && at <= steps.length;
  if (is_present) mark(cells[steps[at - 1] >> 1], "now", true);
  byId("step").value = at;
  byId("told").textContent = told(is_present);
}

function told(is_present) {
  const count = `${steps.length}${byId("step").dataset.cut ? " and more" : ""}`;
  if (!is_present) return `The loops touch elements of arrays ${count} times. Play shows them one by one.`;
  const step = steps[at - 1];
  const [tensor, cell] = cells[step >> 1].name;
  const parts = cell.split(".");
  const where = parts.length === 3 ? `${parts[1]} of level ${parts[0]}` : parts[0];
  return `${at} of ${count}: ${step & 1 ? "writes" : "reads"} ${tensor}, element ${parts.at(-1)} of ${where}`;
}

function stop() {
  clearInterval(timer);
  timer = undefined;
  byId("play").textContent = "Play";
  byId("play").setAttribute("aria-pressed", "false");
}

function play() {
  if (timer) return stop();
  if (at > steps.length) show(0);
  byId("play").textContent = "Pause";
  byId("play").setAttribute("aria-pressed", "true");
  // A long run takes no longer than half a minute.
  timer = setInterval(() => (at <= steps.length ? show(at + 1) : stop()), Math.max(40, Math.min(350, 30000 / steps.length)));
}

byId("play").addEventListener("click", play);
byId("back").addEventListener("click", () => (stop(), show(at - 1)));
byId("forth").addEventListener("click", () => (stop(), show(at + 1)));
byId("step").addEventListener("input", (event) => (stop(), show(Number(event.target.value))));
