"use strict";
(() => {
  const table = document.getElementById("table");
  const form = document.getElementById("filters");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const NAMES = ["outcome", "domain", "difficulty", "cause", "correct"];
  const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

  // Text only ever becomes text: no string of the data is read as markup.
  const show = (text) => String(text).replace(HIDDEN, (c) => "⟨U+" + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩");
  const make = (tag, css, ...children) => {
    const node = document.createElement(tag);
    if (css) node.className = css;
    for (const child of children) if (child !== null && child !== undefined) node.append(child instanceof Node ? child : show(child));
    return node;
  };
  const part = (title, ...children) => make("div", "", make("h4", "", title), ...children);
  const left = (item) => (item.left ? make("p", "err", `${item.left.toLocaleString("en")} more characters are in the run directory`) : null);
  const word = (text) => String(text).replaceAll("_", " ");

  const small = (x) => (x && Math.abs(x) < 1e-3 ? Number(x).toExponential() : String(x));

  const chance = (x) => (Number(x) < 1e-6 ? "below 1e-6" : String(Number(Number(x).toPrecision(2))));

  // ---- one sample ----
  const reason = (item) => {
    const words = [`${item.text}: ${word(item.verdict)}`];
    if (item.relation) words.push(`${word(item.relation)} of ${item.printed}`);
    if (item.cell) words.push(`cell ${item.cell}${item.line ? ", line " + item.line : ""}`);
    else if (item.source) words.push(`from the ${item.source}`);
    if (item.label) words.push(`printed after "${item.label}"`);
    if (item.reason) words.push(`because: ${word(item.reason)}`);
    if (item.nearest) words.push(`nearest printed: ${item.nearest}`);
    if (item.chance !== undefined) words.push(`an invented number would match with probability ${chance(item.chance)}`);
    for (const warning of item.warnings || []) words.push(`doubt: ${word(warning)}`);
    return words.join("; ");
  };

  const literal = (item, text, panel) => {
    const button = make("button", "lit v-" + item.verdict, text);
    button.type = "button";
    button.title = show(reason(item));
    button.setAttribute("aria-label", show(reason(item)));
    button.addEventListener("click", () => {
      panel.querySelectorAll(".hit").forEach((node) => node.classList.remove("hit"));
      let why = panel.querySelector(".why");
      if (!why) {
        why = make("p", "why");
        why.setAttribute("role", "status");
        button.closest(".place").append(why);
      } else button.closest(".place").append(why);
      why.textContent = show(reason(item));
      const line = item.cell && panel.querySelector(`[data-cell="${item.cell}"] .out [data-n="${item.line}"]`);
      if (line) {
        line.classList.add("hit");
        line.scrollIntoView({ block: "nearest" });
      }
    });
    return button;
  };

  // Positions count characters, and a JavaScript string counts halves of some of them.
  const marked = (text, literals, panel) => {
    const chars = Array.from(text);
    const box = make("div", "prose answer");
    let at = 0;
    for (const item of [...literals].sort((a, b) => a.start - b.start)) {
      if (item.start < at || item.end > chars.length) continue;
      box.append(show(chars.slice(at, item.start).join("")), literal(item, chars.slice(item.start, item.end).join(""), panel));
      at = item.end;
    }
    box.append(show(chars.slice(at).join("")));
    return box;
  };

  const values = (data, panel) => {
    const head = make("tr", "", ...["value", "reported", "certified", "verdict", "correct digits", "accepted difference", "careless method"].map((t) => make("th", "", t)));
    const lines = data.values.map((v) => {
      const found = data.literals.find((item) => item.where === `values[${v.name}]`);
      const reported = make("td", "num");
      reported.append(v.reported === undefined ? "–" : found ? literal(found, v.reported, panel) : show(v.reported));
      const good = v.verdict === "correct";
      const accepted = v.exact ? "exact" : [v.rtol !== undefined ? `${small(v.rtol)} relative` : "", v.atol !== undefined ? `${small(v.atol)} absolute` : ""].filter(Boolean).join(" or ");
      const digits = v.correct_digits === undefined ? "–" : Number(v.correct_digits).toFixed(1) + (v.certified_digits ? ` of ${v.certified_digits}` : "");
      return make("tr", "", make("td", "", v.name), reported, make("td", "num", v.certified + (v.unit ? " " + v.unit : "")), make("td", "", make("span", good ? "yes" : "no", (good ? "✓ " : "✗ ") + word(v.verdict))), make("td", "", digits), make("td", "", accepted || "–"), make("td", "", v.trap || "–"));
    });
    return make("div", "scroll", make("table", "", make("thead", "", head), make("tbody", "", ...lines)));
  };

  const output = (item, css) => {
    const pre = make("pre", css);
    const lines = item.text.split("\n");
    if (lines[lines.length - 1] === "") lines.pop();
    lines.forEach((text, i) => {
      const line = make("span", "line", text || " ");
      line.dataset.n = String(i + 1);
      pre.append(line);
    });
    return pre;
  };

  const cell = (item) => {
    const box = make("section", "cell");
    box.dataset.cell = String(item.cell);
    const time = `${Number(item.wall_s || 0).toFixed(2)} s`;
    const again = { reproduced: ["yes", "✓ the same when run again"], differs: ["no", "✗ not the same when run again"], not_run: ["no", "✗ not run again"] }[item.replay];
    // Each a part of its own: bare texts beside each other would run together.
    const facts = [make("b", "", `cell ${item.cell}`), make("span", item.ok ? "yes" : "no", (item.ok ? "✓ " : "✗ ") + word(item.status)), make("span", "", time)];
    if (item.state !== "kept") facts.push(make("span", "", `variables ${word(item.state)}`));
    if (again) facts.push(make("span", ...again));
    for (const text of [item.note, item.replay_detail]) if (text) facts.push(make("span", "", text));
    box.append(make("header", "", ...facts));
    if (item.code) box.append(make("pre", "code", item.code.text), left(item.code) || "");
    if (item.stdout) box.append(output(item.stdout, "out"), left(item.stdout) || "");
    if (item.stderr) box.append(make("pre", "err", item.stderr.text), left(item.stderr) || "");
    if (item.traceback) box.append(make("pre", "err", item.traceback.text), left(item.traceback) || "");
    if (item.stdout_dropped) box.append(make("p", "err", `${item.stdout_dropped} bytes of output were dropped`));
    const figs = make("div", "figs");
    for (const figure of item.figures) {
      if (figure.src) {
        const image = make("img");
        image.src = figure.src;
        image.alt = `Figure ${show(figure.name)} of cell ${item.cell}`;
        figs.append(image);
      } else if (figure.href) {
        const link = make("a", "", figure.name);
        link.href = figure.href;
        figs.append(link);
      } else figs.append(make("span", "", `${figure.name} (not there)`));
    }
    box.append(figs);
    return box;
  };

  const check = (data) => {
    const c = data.check;
    if (!c.verification_kind) return make("p", "", "The answer names no check.");
    const valid = c.verification_valid === true;
    return make("p", "", make("span", valid ? "yes" : "no", (valid ? "✓ " : "✗ ") + word(c.verification_kind)), c.evidence_cell !== undefined ? ` (evidence: cell ${c.evidence_cell})` : "", c.verification_description ? `: ${c.verification_description}` : "", c.verification_reason ? ` [${c.verification_reason}]` : "", c.verification_weakness ? ` (weak: ${c.verification_weakness})` : "");
  };

  const panel = (index) => {
    const data = JSON.parse(document.getElementById("d" + index).textContent);
    const box = make("div", "panel");
    if (data.statement && data.statement.text) box.append(part("Problem", make("div", "prose", data.statement.text), left(data.statement)));
    if (data.answer) {
      const place = part("Answer", marked(data.answer.text, data.literals.filter((item) => item.where === "answer"), box), left(data.answer));
      place.classList.add("place");
      box.append(place);
    } else box.append(part("Answer", make("p", "", "None was reported.")));
    if (data.failure.failure_kind || data.failure.failure_message) box.append(part("What went wrong", make("p", "err prose", [data.failure.failure_kind, data.failure.failure_message].filter(Boolean).join(": "))));
    if (data.values.length) {
      const place = part("Values", values(data, box));
      place.classList.add("place");
      box.append(place);
    }
    if (data.answer) box.append(part("Check", check(data)));
    const n = data.numbers;
    const facts = [];
    if (n.refusals) facts.push(n.refusals === 1 ? "refused once" : `refused ${n.refusals} times`);
    if (n.turns) facts.push(n.turns === 1 ? "1 turn" : `${n.turns} turns`);
    if (n.cost_usd !== undefined) facts.push(`US$ ${Number(Number(n.cost_usd).toPrecision(3))}`);
    if (n.wait_s) facts.push(`${Number(n.wait_s).toFixed(1)} s waiting for the service`);
    if (n.expected_coincidences !== undefined) facts.push(`expected number of accidental matches: ${chance(n.expected_coincidences)}`);
    if (facts.length) box.append(make("p", "about", facts.join("; ")));
    if (data.cells.length) box.append(part("Cells", make("div", "", ...data.cells.map(cell))));
    return box;
  };

  const detail = (row) => (row.nextElementSibling && row.nextElementSibling.classList.contains("detail") ? row.nextElementSibling : null);
  const toggle = (row, open) => {
    const button = row.querySelector(".open");
    const now = detail(row);
    if (open === undefined) open = !now;
    button.setAttribute("aria-expanded", String(open));
    if (open && !now) {
      const td = make("td", "", panel(row.dataset.i));
      td.colSpan = row.cells.length;
      row.after(make("tr", "detail", td));
    } else if (!open && now) now.remove();
  };

  // ---- filters, order and the address ----
  const texts = new Map(rows.map((row) => [row, (row.textContent || "").toLowerCase()]));
  let sorted = { column: -1, down: false };

  const filter = () => {
    const state = new FormData(form);
    const query = String(state.get("q") || "").trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      const fits = (!query || texts.get(row).includes(query)) && NAMES.every((name) => !state.get(name) || row.dataset[name] === state.get(name)) && (!state.get("flag") || row.dataset.flag);
      row.hidden = !fits;
      const shown = detail(row);
      if (shown) shown.hidden = !fits;
      count += fits;
    }
    document.getElementById("shown").textContent = `${count} of ${rows.length}`;
  };

  const order = (column, down) => {
    sorted = { column, down };
    const value = (row) => {
      const field = row.cells[column];
      const text = (field.dataset.v ?? field.textContent).trim();
      const number = parseFloat(text.replace(/[,✗✓]/g, ""));
      return Number.isNaN(number) || column < 2 ? (text === "–" ? -Infinity : text) : number;
    };
    const keyed = rows.map((row) => [value(row), row, detail(row)]);
    keyed.sort((a, b) => {
      const both = typeof a[0] === "number" && typeof b[0] === "number";
      const result = both ? a[0] - b[0] || 0 : String(a[0]).localeCompare(String(b[0]));
      return down ? -result : result;
    });
    body.append(...keyed.flatMap(([, row, shown]) => (shown ? [row, shown] : [row])));
    for (const button of table.querySelectorAll(".sort")) {
      const mine = Number(button.dataset.column) === column;
      button.setAttribute("aria-pressed", String(mine));
      button.closest("th").setAttribute("aria-sort", mine ? (down ? "descending" : "ascending") : "none");
      if (mine) button.dataset.dir = down ? "down" : "up";
      else delete button.dataset.dir;
    }
  };

  const save = () => {
    const state = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (value) state.set(name, value);
    if (sorted.column >= 0) state.set("sort", sorted.column + (sorted.down ? "-" : ""));
    const open = rows.filter((row) => detail(row)).map((row) => row.dataset.i);
    if (open.length) state.set("open", open.join("."));
    history.replaceState(null, "", "#" + state);
  };

  const restore = () => {
    const state = new URLSearchParams(location.hash.slice(1));
    for (const field of form.elements) {
      if (!field.name) continue;
      if (field.type === "checkbox") field.checked = state.get(field.name) === field.value;
      else field.value = state.get(field.name) || "";
    }
    filter();
    const sort = /^(\d{1,2})(-?)$/.exec(state.get("sort") || "");
    if (sort && Number(sort[1]) < 11) order(Number(sort[1]), sort[2] === "-");
    const wanted = new Set((state.get("open") || "").split(".").filter(Boolean));
    for (const row of rows) if (wanted.has(row.dataset.i) !== Boolean(detail(row))) toggle(row);
    const first = rows.find((row) => wanted.has(row.dataset.i));
    if (first) first.scrollIntoView();
  };

  form.hidden = false;
  form.addEventListener("input", () => { filter(); save(); });
  form.addEventListener("reset", () => setTimeout(() => { filter(); save(); }));
  form.addEventListener("submit", (event) => event.preventDefault());
  table.addEventListener("click", (event) => {
    const open = event.target.closest(".open");
    const sort = event.target.closest(".sort");
    if (open) toggle(open.closest("tr"));
    else if (sort) {
      const column = Number(sort.dataset.column);
      order(column, sorted.column === column ? !sorted.down : column >= 5);
    } else return;
    save();
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      form.elements.q.focus();
    } else if (event.key === "Escape" && !typing) {
      const inside = event.target.closest && event.target.closest("tr.detail");
      const row = inside ? inside.previousElementSibling : event.target.closest && event.target.closest("tr[data-i]");
      if (row && detail(row)) {
        toggle(row, false);
        row.querySelector(".open").focus();
        save();
      }
    }
  });
  window.addEventListener("hashchange", restore);
  restore();
})();
