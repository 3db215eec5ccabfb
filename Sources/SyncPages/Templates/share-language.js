// What the page says, in the reader's language. WORDS is share-words.json: a key, and its sentence in each language. Numbers,
// dates and sizes are Intl's. Of an element, data-word, data-label and data-title name its text, label and title.
const speech = (() => {
  const page = document.documentElement;
  const languages = Object.keys(WORDS.name);
  const isTag = (tag) => { try { return Intl.getCanonicalLocales(tag).length === 1; } catch { return false; } };
  const wished = (navigator.languages || []).filter(isTag);
  const ours = (tag) => languages.find((one) => one.split("-")[0] === tag.split("-")[0].toLowerCase());
  const fills = new WeakMap(), followers = [];
  let language, locale, numbers, plurals, dates, days, clock, moments;

  function pattern(key, values) {
    const sentence = WORDS[key][language];
    return typeof sentence === "string" ? sentence : sentence[plurals.select(values.count)] || sentence.other;
  }
  // A sentence with forms has the one of its {count}. Values are texts, numbers or elements.
  const pieces = (key, values) =>
    pattern(key, values).split(/\{(\w+)\}/).map((piece, index) => {
      if (index % 2 === 0) return piece;
      return typeof values[piece] === "number" ? numbers.format(values[piece]) : values[piece];
    });
  const text = (key, values = {}) => pieces(key, values).join("");
  const joined = (...texts) => texts.filter(Boolean).reduce((a, b) => text("pair", { a, b }));

  // Of a capture time, the clock of its place.
  const taken = (time) => (time ? clock.format(new Date(`${time.slice(0, 19)}Z`)) : "");
  function range(from, to) {
    const found = dates.formatRange(new Date(from), new Date(to));
    // In numbers alone where CLDR has no other: of Chinese it has not.
    if (!/\d[/.-]\d/.test(found)) return found;
    const end = from.slice(0, 4) === to.slice(0, 4) ? days : dates;
    return text("range", { a: dates.format(new Date(from)), b: end.format(new Date(to)) });
  }

  function size(bytes) {
    let unit = 0, value = bytes;
    while (value >= 999.5 && unit < 3) { value /= 1000; unit++; }
    const digits = unit > 0 && Math.round(value * 10) < 100 ? 1 : 0;
    return new Intl.NumberFormat(locale, {
      style: "unit", unit: ["byte", "kilobyte", "megabyte", "gigabyte"][unit], unitDisplay: unit ? "short" : "long",
      minimumFractionDigits: digits, maximumFractionDigits: digits,
    }).format(value);
  }

  function write(element) {
    const [name, moment] = ["bdi", "time"].map((tag) => element.querySelector(tag));
    if (moment) moment.textContent = moments.format(new Date(moment.dateTime));
    element.replaceChildren(...pieces(element.dataset.word, { name, moment, ...fills.get(element)?.() }));
  }

  /** Says it now, and again in whatever language comes. `fill` makes the values of the sentence. */
  function say(element, key, fill = () => ({})) {
    element.dataset.word = key;
    fills.set(element, fill);
    write(element);
  }

  function speak(next) {
    language = next;
    locale = wished.find((tag) => tag.includes("-") && ours(tag) === language) || WORDS.locale[language];
    const day = { day: "numeric", month: "long" }, date = { ...day, year: "numeric" };
    const minute = { ...date, hour: "numeric", minute: "2-digit" };
    numbers = new Intl.NumberFormat(locale);
    plurals = new Intl.PluralRules(locale);
    dates = new Intl.DateTimeFormat(locale, { ...date, timeZone: "UTC" });
    days = new Intl.DateTimeFormat(locale, { ...day, timeZone: "UTC" });
    clock = new Intl.DateTimeFormat(locale, { ...minute, timeZone: "UTC" });
    moments = new Intl.DateTimeFormat(locale, { ...minute, timeZoneName: "short" });
    page.lang = language;
    page.dir = WORDS.direction[language];
    for (const element of document.querySelectorAll("[data-word]")) write(element);
    for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", text(element.dataset.label));
    for (const element of document.querySelectorAll("[data-title]")) element.title = text(element.dataset.title);
    for (const change of followers) change();
  }

  /** Calls `change` now, and again for whatever language comes. */
  function follow(change) {
    followers.push(change);
    change();
  }

  // Without a script there is nothing to choose, hence it is not in the page itself.
  const choice = document.createElement("select");
  choice.id = "language";
  choice.dataset.label = "language";
  for (const tag of languages) {
    const option = new Option(WORDS.name[tag], tag);
    option.lang = tag;
    choice.add(option);
  }
  choice.addEventListener("change", () => speak(choice.value));
  const place = document.createElement("span");
  place.className = "language";
  place.append(choice);
  document.querySelector(".facts").append(place);
  // Who reads none of ours reads what the page is written in.
  speak(wished.map(ours).find(Boolean) || page.lang);
  choice.value = language;

  return { text, joined, taken, range, size, say, follow };
})();
