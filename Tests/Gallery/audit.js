// What is wrong with a page as it is shown now, one sentence for each.
(() => {
  const wrong = [];
  const say = (words, element) =>
    wrong.push(element ? `${words}: ${element.outerHTML.replace(/\s+/g, " ").slice(0, 140)}` : words);
  const isShown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });

  if (document.querySelectorAll("main").length !== 1) say("there is not exactly one main");
  if (document.querySelectorAll("h1").length !== 1) say("there is not exactly one h1");
  if (!document.documentElement.lang) say("the page has no language");
  if (!document.title) say("the page has no title");
  let level = 0;
  for (const heading of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    if (!isShown(heading)) continue;
    const next = Number(heading.tagName[1]);
    if (next > level + 1) say(`a heading of level ${next} comes after one of ${level}`, heading);
    level = next;
  }
  for (const image of document.images) {
    if (!image.hasAttribute("alt")) say("an image has no alt", image);
    if (image.complete && !image.naturalWidth && image.src && isShown(image)) say("an image cannot be shown", image);
  }
  const seen = new Set();
  for (const { id } of document.querySelectorAll("[id]")) {
    if (seen.has(id)) say(`the id ${id} is there twice`);
    seen.add(id);
  }
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) {
    const wide = [...document.body.querySelectorAll("*")].find((e) => isShown(e) && e.getBoundingClientRect().right > width + 1);
    say(`the page scrolls sideways (${document.documentElement.scrollWidth} of ${width})`, wide);
  }

  // Contrast (WCAG 2.2, 1.4.3), by computed colours.
  const colour = (text) => {
    const rgb = /^rgba?\(([^)]+)\)$/.exec(text);
    if (rgb) return [...rgb[1].split(/[\s,/]+/).map(Number), 1].slice(0, 4);
    const srgb = /^color\(srgb ([^)]+)\)$/.exec(text);
    if (!srgb) return null;
    const parts = srgb[1].split(/[\s/]+/).map(Number);
    return [parts[0] * 255, parts[1] * 255, parts[2] * 255, parts[3] ?? 1];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [a, b] = [luminance(one), luminance(other)].sort((x, y) => y - x);
    return (a + 0.05) / (b + 0.05);
  };
  const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const canvas = matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
  const pictures = [...document.querySelectorAll("img, video")].filter(isShown).map((e) => [e, e.getBoundingClientRect()]);

  /** What may lie under a text: one colour, or black and white where a picture does. */
  const grounds = (element, box) => {
    const picture = pictures.find(([e, rect]) => overlap(rect, box) && !element.contains(e));
    const layers = [];
    let bases = [canvas];
    for (let e = element; e; e = e.parentElement) {
      if (picture && e.contains(picture[0])) {
        bases = [[0, 0, 0, 1], [255, 255, 255, 1]];
        break;
      }
      const style = getComputedStyle(e);
      if (style.backgroundImage !== "none") return null;
      const layer = colour(style.backgroundColor);
      if (!layer) return null;
      if (layer[3] > 0) layers.push(layer);
      if (layer[3] === 1) break;
    }
    return bases.map((base) => layers.reduceRight((below, layer) => over(layer, below), base));
  };
  const told = new Set();
  const judge = (element, box, text) => {
    const ink = colour(getComputedStyle(element).color);
    const below = ink && grounds(element, box);
    if (!below) return say("a colour that cannot be computed", element);
    let opacity = 1;
    for (let e = element; e; e = e.parentElement) opacity *= Number(getComputedStyle(e).opacity);
    const least = Math.min(...below.map((ground) => ratio(over([...ink.slice(0, 3), ink[3] * opacity], ground), ground)));
    const words = `text has a contrast of ${least.toFixed(2)}: "${text.slice(0, 40)}" in ${element.tagName.toLowerCase()}.${element.className}`;
    if (least < 4.5 && !told.has(words)) {
      told.add(words);
      say(words);
    }
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    // Pictures in the place of letters have colours of their own.
    const text = node.data.replace(/[\p{Extended_Pictographic}\uFE0F]/gu, "").trim();
    if (!text || !isShown(element) || element.closest("option, script, style, :disabled")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.width > 1 && box.right > 0) judge(element, box, text);
  }
  for (const field of document.querySelectorAll("input:not([type=hidden], [type=checkbox], [type=radio]), select, textarea")) {
    if (isShown(field) && !field.disabled) judge(field, field.getBoundingClientRect(), field.value || field.name);
  }
  return wrong;
})()
