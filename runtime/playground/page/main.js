// The page: what is typed becomes a question, and the answer is shown.

import { ask } from "./engine.js";
import { load } from "./player.js";

const byId = (id) => document.getElementById(id);
const FIRST = { text: "y(i) = A(i, j) * x(j)", formats: { A: "csr" } };
const TABS = [
  ["run", "Run"], ["explain", "Explain"], ["notation", "Notation"], ["schedule", "Schedule"], ["concrete", "Loops"],
  ["lattice", "Lattice"], ["ir", "Loop IR"], ["rust", "Rust"], ["c", "C"], ["cuda", "CUDA C"], ["plan", "CUDA plan"],
];

/** What is asked, and which tab is open: all that a link holds. */
let state = { question: FIRST, tab: "run" };
let answer = {};
let asked = 0;
let waiting;

/** An element with attributes and children. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

// The link.

const encoded = (state) => {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  return btoa(String.fromCodePoint(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};

function decoded(fragment) {
  try {
    const bytes = Uint8Array.from(atob(fragment.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.codePointAt(0));
    const { question, tab } = JSON.parse(new TextDecoder().decode(bytes));
    return typeof question?.text === "string" ? { question, tab: TABS.some(([id]) => id === tab) ? tab : "run" } : undefined;
  } catch {
    return undefined;
  }
}

const keep = () => history.replaceState(null, "", "#" + encoded(state));

// The question.

/** Asks again, a moment after the last letter. */
function changed() {
  keep();
  clearTimeout(waiting);
  waiting = setTimeout(refresh, 150);
}

async function refresh() {
  const number = ++asked;
  const of = JSON.stringify([state.question.text, state.question.kernel]);
  let found;
  try {
    found = await ask(state.question);
  } catch (error) {
    found = { messages: [{ part: "text", severity: "error", message: error.message }] };
  }
  if (number !== asked) return;
  answer = { ...found, of };
  showMessages();
  showKernels();
  showFormats();
  showExtents();
  showData();
  showRun();
  showTab();
  document.body.dataset.answered = number;
}

function change(part, name, value) {
  state.question[part] = { ...state.question[part], [name]: value };
  if (value === "" || Number.isNaN(value)) delete state.question[part][name];
  changed();
}

// Messages.

/** A text with its places underlined. */
function underlined(text, places) {
  const parts = [];
  let at = 0;
  for (const { start, end, severity } of [...places].sort((a, b) => a.start - b.start)) {
    if (start < at) continue;
    const to = Math.max(end, Math.min(start + 1, text.length));
    parts.push(text.slice(at, start), element("mark", { class: severity }, text.slice(start, to) || " "));
    at = to;
  }
  return [...parts, text.slice(at)];
}

/** The text that a message is about. */
function textOf({ part, tensor }) {
  if (part === "text") return state.question.text;
  return part === "format" ? state.question.formats?.[tensor] ?? "" : "";
}

function showMessages() {
  const messages = answer.messages ?? [];
  byId("messages").replaceChildren(...messages.map(message));
  const inText = messages.filter(({ part, spans }) => part === "text" && spans?.length);
  const places = inText.map(({ spans, severity }) => ({ ...spans[0], severity }));
  byId("underlined").replaceChildren(...underlined(state.question.text, places), "\n");
  const isWrong = messages.some(({ part, severity }) => part === "text" && severity === "error");
  byId("text").setAttribute("aria-invalid", isWrong);
}

function message(found) {
  const about = { format: `format of ${found.tensor}: `, data: `entries of ${found.tensor}: `, extents: "run: " }[found.part] ?? "";
  const code = found.code ? `[${found.code}]` : "";
  const head = element("p", {}, element("b", {}, `${found.severity}${code}: `), about + found.message);
  const shown = element("li", { class: found.severity }, head);
  const place = found.spans?.[0];
  if (place) {
    const text = textOf(found);
    const begin = text.lastIndexOf("\n", place.start - 1) + 1;
    const end = text.indexOf("\n", place.start) < 0 ? text.length : text.indexOf("\n", place.start);
    const within = { start: place.start - begin, end: Math.min(place.end, end) - begin, severity: found.severity };
    const label = place.label ? `\n${place.label}` : "";
    shown.append(element("pre", {}, `${found.line}:${found.column}  `, ...underlined(text.slice(begin, end), [within]), label));
  }
  (found.help ?? []).forEach((line) => shown.append(element("p", {}, "help: " + line)));
  if (found.explanation) {
    shown.append(element("details", {}, element("summary", {}, `More about ${found.code}`), element("pre", {}, found.explanation)));
  }
  return shown;
}

// What belongs to the kernel.

function showKernels() {
  const kernels = answer.kernels ?? [];
  byId("kernels").hidden = kernels.length < 2;
  byId("kernel").replaceChildren(...kernels.map((name) => element("option", { selected: name === answer.kernel }, name)));
}

/** Fills a part of the page anew, but for the field that is being typed in. */
function fill(id, key, made) {
  const place = byId(id);
  if (place.dataset.key === key) return;
  if (place.contains(document.activeElement) && place.dataset.key) {
    const { id: focused } = document.activeElement;
    place.replaceChildren(...made());
    byId(focused)?.focus();
  } else {
    place.replaceChildren(...made());
  }
  place.dataset.key = key;
}

function isWrong(part, tensor) {
  return (answer.messages ?? []).some((found) => found.part === part && found.tensor === tensor && found.severity === "error");
}

function showFormats() {
  const tensors = answer.declares ? [] : answer.tensors ?? [];
  fill("formats", tensors.map(({ name }) => name).join(), () => {
    if (tensors.length === 0) return [];
    const rows = tensors.map(({ name, format }) => {
      const input = element("input", { id: `format-${name}`, list: "known", spellcheck: "false", autocomplete: "off",
        autocapitalize: "off", placeholder: format ?? "dense", value: state.question.formats?.[name] ?? "" });
      input.addEventListener("input", () => change("formats", name, input.value));
      return element("div", { class: "row" }, element("label", { for: `format-${name}` }, name), input);
    });
    return [element("h3", {}, "Formats"), ...rows];
  });
  tensors.forEach(({ name }) => byId(`format-${name}`)?.setAttribute("aria-invalid", isWrong("format", name)));
}

/** Fields stay while the kernel that they are of does not get as far as to have others, say by a format that is wrong. */
function stays(id) {
  if (answer[id] === undefined && byId(id).dataset.of === answer.of) return true;
  byId(id).dataset.of = answer.of;
  return false;
}

function showExtents() {
  if (stays("extents")) return;
  const extents = Object.entries(answer.extents ?? {});
  fill("extents", extents.map(([name]) => name).join(), () => {
    if (extents.length === 0) return [];
    const fields = extents.map(([name]) => {
      const input = element("input", { id: `extent-${name}`, type: "number", min: "0", max: "9999", inputmode: "numeric" });
      input.addEventListener("input", () => change("extents", name, Number.parseInt(input.value, 10)));
      return element("label", {}, name, input);
    });
    return [element("h3", {}, "Extents"), element("div", { class: "extents" }, ...fields)];
  });
  for (const [name, size] of extents) {
    const input = byId(`extent-${name}`);
    if (input && input !== document.activeElement) input.value = size;
  }
}

function showData() {
  const inputs = Object.entries(answer.data ?? {});
  if (!stays("data")) {
    fill("data", inputs.map(([name]) => name).join(), () => {
      if (inputs.length === 0) return [];
      const fields = inputs.map(([name]) => {
        const area = element("textarea", { id: `data-${name}`, spellcheck: "false", "aria-label": `Entries of ${name}` });
        area.addEventListener("input", () => change("data", name, area.value));
        return element("details", {}, element("summary", {}, `${name}`), area);
      });
      return [element("h3", {}, "Entries"),
        element("p", { class: "hint" }, "A line each: the indices, from 0, and the value. Clear a field for its example."), ...fields];
    });
  }
  for (const [name, text] of inputs) {
    const area = byId(`data-${name}`);
    if (area && area !== document.activeElement) area.value = text;
  }
  for (const area of document.querySelectorAll("#data textarea")) {
    area.setAttribute("aria-invalid", isWrong("data", area.id.slice("data-".length)));
  }
}

// The run.

/** A matrix as a table, of the rest of an index behind `front`. */
function grid(tensor, front, caption) {
  const shape = tensor.shape.slice(front.length);
  const [rows, columns] = shape.length === 2 ? shape : [1, shape[0] ?? 1];
  const stored = new Map();
  for (const [index, value, position] of tensor.entries) {
    if (front.every((place, mode) => index[mode] === place)) stored.set(index.slice(front.length).join(), [value, position]);
  }
  const cell = (row, column) => {
    const found = stored.get(shape.length === 2 ? `${row},${column}` : shape.length === 1 ? `${column}` : "");
    return found ? element("td", { "data-cell": `values.${found[1]}` }, found[0]) : element("td", { class: "missing" }, "·");
  };
  const table = element("table", {}, element("caption", {}, caption));
  if (shape.length > 0) {
    const heads = [...Array(columns).keys()].map((column) => element("th", { scope: "col" }, String(column)));
    table.append(element("thead", {}, element("tr", {}, shape.length === 2 ? element("td", { class: "missing" }, "") : "", ...heads)));
  }
  const body = element("tbody");
  for (let row = 0; row < rows; row++) {
    const line = element("tr", {}, ...(shape.length === 2 ? [element("th", { scope: "row" }, String(row))] : []));
    for (let column = 0; column < columns; column++) line.append(cell(row, column));
    body.append(line);
  }
  table.append(body);
  return table;
}

/** The grids of a tensor that is small enough. */
function grids(tensor) {
  const order = tensor.shape.length;
  const count = tensor.shape.reduce((all, extent) => all * extent, 1);
  if (count > 600 || order > 3) return [];
  if (order < 3) return [grid(tensor, [], order === 0 ? "its value" : "its elements")];
  return [...Array(tensor.shape[0]).keys()].map((slice) => grid(tensor, [slice], `slice ${slice}`));
}

function figure(tensor, role) {
  const drawn = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": `The arrays of ${tensor.name}` });
  drawn.innerHTML = tensor.svg;
  const caption = element("figcaption", {}, element("b", {}, tensor.name), element("span", {}, `  ${role}: ${tensor.title}`));
  const shown = element("div", { class: "grids" }, ...grids(tensor));
  return element("figure", { "data-tensor": tensor.name }, caption, element("div", { class: "tensor" }, shown, drawn));
}

function showRun() {
  const results = (answer.results ?? []).map((tensor) => figure(tensor, "result"));
  byId("results").replaceChildren(...results);
  byId("operands").replaceChildren(...(answer.operands ?? []).map((tensor) => figure(tensor, "operand")));
  if (results.length === 0) byId("results").append(element("p", { class: "hint" }, "There is no result yet."));
  load(answer.trace);
}

// The tabs.

function showTab() {
  for (const button of byId("tabs").children) {
    const isOpen = button.dataset.tab === state.tab;
    button.setAttribute("aria-selected", isOpen);
    button.tabIndex = isOpen ? 0 : -1;
    if (isOpen) byId("panel").setAttribute("aria-labelledby", button.id);
  }
  byId("run").hidden = state.tab !== "run";
  byId("code").hidden = state.tab === "run";
  byId("code").textContent = answer.stages?.[state.tab] ?? "The kernel does not get this far: see the messages.";
}

function open(tab, focus) {
  state.tab = tab;
  keep();
  showTab();
  if (focus) byId(`tab-${tab}`).focus();
}

function makeTabs() {
  const button = ([id, name]) => {
    const made = element("button", { type: "button", role: "tab", id: `tab-${id}`, "data-tab": id, "aria-controls": "panel" }, name);
    made.addEventListener("click", () => open(id));
    return made;
  };
  byId("tabs").append(...TABS.map(button));
  byId("tabs").addEventListener("keydown", (event) => {
    const place = TABS.findIndex(([id]) => id === state.tab);
    const to = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: TABS.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    open(TABS[(to + TABS.length) % TABS.length][0], true);
  });
}

// The beginning.

/** Shows another question. */
function take(question) {
  state.question = { text: "", ...structuredClone(question) };
  byId("text").value = state.question.text;
  const lines = state.question.text.split("\n").length;
  byId("text").rows = Math.max(3, Math.min(lines + 1, 14));
  for (const id of ["formats", "extents", "data"]) delete byId(id).dataset.key;
  changed();
}

async function makeExamples() {
  const examples = await (await fetch("examples.json")).json();
  byId("examples").append(...examples.map(({ title }, place) => element("option", { value: place }, title)));
  byId("examples").addEventListener("change", (event) => {
    const chosen = examples[event.target.value];
    if (chosen) take(chosen.question);
  });
}

byId("text").addEventListener("input", () => {
  state.question.text = byId("text").value;
  changed();
});
byId("text").addEventListener("scroll", () => { byId("underlined").scrollTop = byId("text").scrollTop; });
byId("kernel").addEventListener("change", (event) => {
  state.question.kernel = event.target.value;
  changed();
});
byId("share").addEventListener("click", async () => {
  keep();
  try {
    await navigator.clipboard.writeText(location.href);
    byId("shared").textContent = "copied";
  } catch {
    byId("shared").textContent = "the address bar has it";
  }
  setTimeout(() => { byId("shared").textContent = ""; }, 3000);
});
addEventListener("hashchange", () => {
  const given = decoded(location.hash.slice(1));
  if (!given) return;
  state.tab = given.tab;
  take(given.question);
});

makeTabs();
makeExamples();
const given = decoded(location.hash.slice(1));
if (given) state.tab = given.tab;
take(given?.question ?? FIRST);
