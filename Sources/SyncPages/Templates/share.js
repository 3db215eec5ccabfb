(() => {
  const byId = (id) => document.getElementById(id);
  const links = [...document.querySelectorAll("#photos a")];
  const thumbnail = (index) => links[index].querySelector("img");
  const withoutHash = location.pathname + location.search;
  const films = [...document.querySelectorAll(".films li")];

  // What is made of numbers and times.
  speech.follow(() => {
    const { text, joined, taken, size } = speech;
    const { from, to } = byId("dates").dataset;
    byId("dates").textContent = speech.range(from, to);
    byId("count").textContent = joined(
      (links.length || !films.length) && text("photoCount", { count: links.length }),
      films.length && text("filmCount", { count: films.length }));
    document.title = joined(document.querySelector("h1").textContent, byId("dates").textContent);
    links.forEach((link, index) => {
      thumbnail(index).alt = joined(text("photo", { n: index + 1, count: links.length }), taken(link.dataset.taken));
    });
    films.forEach((film, index) => {
      const { taken: time, length, size: bytes } = film.dataset;
      const label = text("film", { n: index + 1, count: films.length });
      film.querySelector("video").setAttribute("aria-label", joined(label, taken(time), length));
      const [when, facts] = ["time", "facts"].map((name) => film.querySelector(`[data-film="${name}"]`));
      if (when) when.textContent = taken(time);
      facts.textContent = joined(length, size(Number(bytes)));
    });
  });

  // Hidden parts are hidden, not removed: a clock that was wrong may be put right.
  const ends = document.body.dataset.ends ? new Date(document.body.dataset.ends) : null;
  let isOver = false;
  function checkEnd() {
    if (isOver || !ends || Date.now() < ends.getTime()) return isOver;
    isOver = true;
    for (const part of document.querySelectorAll(".live")) part.hidden = true;
    byId("ended").hidden = false;
    if (viewer.open) viewer.close();
    return true;
  }

  // Viewer. Three photos are kept decoded: the one that is seen and its neighbours.
  const viewer = byId("viewer"), picture = byId("picture"), stage = byId("stage"), save = byId("save");
  const kept = new Map();
  let at = -1, isInHistory = false;

  function full(index) {
    if (!kept.has(index)) {
      const image = new Image();
      image.src = links[index].href;
      kept.set(index, image);
    }
    return kept.get(index);
  }

  function keepNeighbours() {
    for (const index of kept.keys()) if (Math.abs(index - at) > 1) kept.delete(index);
    if (at + 1 < links.length) full(at + 1);
    if (at > 0) full(at - 1);
  }

  function show(index) {
    if (index < 0 || index >= links.length) return;
    at = index;
    const link = links[index], image = full(index);
    picture.alt = thumbnail(index).alt;
    picture.style.maxWidth = `${link.dataset.width}px`;
    picture.style.maxHeight = `${link.dataset.height}px`;
    byId("place").textContent = speech.text("place", { n: index + 1, count: links.length });
    byId("when").textContent = speech.taken(link.dataset.taken);
    save.href = link.href;
    save.download = link.dataset.name;
    byId("previous").setAttribute("aria-disabled", index === 0);
    byId("next").setAttribute("aria-disabled", index === links.length - 1);
    history.replaceState(null, "", `#photo-${index + 1}`);
    if (image.complete && image.naturalWidth > 0) {
      picture.src = image.src;
      keepNeighbours();
      return;
    }
    picture.src = thumbnail(index).currentSrc || thumbnail(index).src;
    image.decode().catch(() => {}).then(() => {
      if (at !== index || !viewer.open) return;
      picture.src = image.src;
      keepNeighbours();
    });
  }

  function open(index, addsToHistory) {
    if (isOver || index < 0 || index >= links.length) return;
    if (!viewer.open) {
      if (addsToHistory) history.pushState(null, "", withoutHash);
      isInHistory = addsToHistory;
      viewer.showModal();
    }
    show(index);
  }

  const hashIndex = () => (/^#photo-([0-9]{1,6})$/.test(location.hash) ? Number(location.hash.slice(7)) - 1 : -1);
  const close = () => (isInHistory ? history.back() : viewer.close());

  viewer.addEventListener("cancel", (event) => { event.preventDefault(); close(); });
  viewer.addEventListener("close", () => {
    if (!isInHistory) history.replaceState(null, "", withoutHash);
    kept.clear();
    picture.removeAttribute("src");
    const last = links[at];
    at = -1;
    if (last && !isOver) {
      last.focus({ preventScroll: true });
      last.scrollIntoView({ block: "nearest" });
    }
  });
  addEventListener("popstate", () => {
    const index = hashIndex();
    if (index >= 0) open(index, false);
    else if (viewer.open) viewer.close();
  });
  byId("photos").addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open(links.indexOf(link), true);
  });
  byId("close").addEventListener("click", close);
  byId("previous").addEventListener("click", () => show(at - 1));
  byId("next").addEventListener("click", () => show(at + 1));
  addEventListener("keydown", (event) => {
    if (!viewer.open || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: links.length - 1 }[event.key];
    if (target === undefined) return;
    event.preventDefault();
    show(target);
  });

  // One finger turns the page; two, or a page that is zoomed, belong to the browser.
  let finger = null;
  const letGo = () => { finger = null; picture.style.translate = ""; };
  stage.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse") return;
    if (!event.isPrimary || (window.visualViewport && visualViewport.scale > 1.01)) return letGo();
    finger = { x: event.clientX, y: event.clientY };
  });
  stage.addEventListener("pointermove", (event) => {
    if (finger && event.isPrimary) picture.style.translate = `${event.clientX - finger.x}px`;
  });
  stage.addEventListener("pointerup", (event) => {
    if (!finger || !event.isPrimary) return;
    const x = event.clientX - finger.x, y = event.clientY - finger.y;
    letGo();
    if (Math.abs(x) > 48 && Math.abs(x) > Math.abs(y)) show(at + (x < 0 ? 1 : -1));
  });
  stage.addEventListener("pointercancel", letGo);
  // Chromium makes a fling of a swipe even where nothing scrolls, and takes the next tap for the end of that fling.
  stage.addEventListener("touchmove", (event) => { if (finger) event.preventDefault(); }, { passive: false });

  // All photos in one archive: stored, not compressed (PKWARE APPNOTE 6.3, 4.3.7 to 4.3.16; names in UTF-8 by bit 11).
  const table = Uint32Array.from({ length: 256 }, (_, value) => {
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
    return value;
  });
  function crc32(bytes) {
    let crc = 0xffffffff;
    for (let index = 0; index < bytes.length; index++) crc = table[(crc ^ bytes[index]) & 0xff] ^ (crc >>> 8);
    return (crc ^ 0xffffffff) >>> 0;
  }
  // Little endian: [bytes, value]…
  function packed(...fields) {
    const bytes = new Uint8Array(fields.reduce((sum, [length]) => sum + length, 0));
    let offset = 0;
    for (const [length, value] of fields) {
      for (let index = 0; index < length; index++) bytes[offset++] = Math.floor(value / 2 ** (8 * index)) & 0xff;
    }
    return bytes;
  }
  function stamp(link) {
    // The clock of the place, whatever its offset: a ZIP file keeps no zone.
    const date = link.dataset.taken ? new Date(`${link.dataset.taken.slice(0, 19)}Z`) : new Date();
    const year = Math.min(Math.max(date.getUTCFullYear() - 1980, 0), 127);
    return [
      [2, (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1)],
      [2, (year << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate()],
    ];
  }

  // null: refused, gone or cut off. What is cut off in the middle is an error of arrayBuffer().
  async function fetched(url, signal) {
    try {
      const answer = await fetch(url, { signal });
      return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : null;
    } catch {
      return null;
    }
  }

  class PhotoMissing extends Error {
    constructor(n) {
      super();
      this.n = n;
    }
  }

  async function archive(signal, tell) {
    const parts = new Array(links.length);
    let nextIndex = 0, done = 0, bytesDone = 0;
    async function worker() {
      while (nextIndex < links.length) {
        const index = nextIndex++, link = links[index];
        const bytes = await fetched(link.href, signal);
        if (!bytes) throw new PhotoMissing(index + 1);
        // A Blob may lie on disk, an array stays in memory.
        parts[index] = { crc: crc32(bytes), size: bytes.length, data: new Blob([bytes]) };
        tell(++done, bytesDone += bytes.length);
      }
    }
    await Promise.all([worker(), worker(), worker()]);

    const pieces = [], directory = [];
    let offset = 0;
    parts.forEach((part, index) => {
      const name = new TextEncoder().encode(links[index].dataset.name);
      const common = [
        [2, 20], [2, 0x0800], [2, 0], ...stamp(links[index]), [4, part.crc], [4, part.size], [4, part.size],
        [2, name.length], [2, 0],
      ];
      const header = packed([4, 0x04034b50], ...common);
      pieces.push(header, name, part.data);
      directory.push(
        packed(
          [4, 0x02014b50], [2, 0x0314], ...common, [2, 0], [2, 0], [2, 0], [4, 0o100644 * 65536], [4, offset]),
        name);
      offset += header.length + name.length + part.size;
    });
    const directorySize = directory.reduce((sum, piece) => sum + piece.length, 0);
    const end = packed(
      [4, 0x06054b50], [2, 0], [2, 0], [2, parts.length], [2, parts.length], [4, directorySize], [4, offset], [2, 0]);
    return new Blob([...pieces, ...directory, end], { type: "application/zip" });
  }

  let cancelled = null;
  if (byId("fetch")) {
    const all = links.reduce((sum, link) => sum + Number(link.dataset.size), 0);
    const told = byId("fetch-all").querySelector("[data-word]");
    speech.say(told, told.dataset.word, () => ({ size: speech.size(all) }));
    byId("fetch").hidden = false;
    byId("fetch-cancel").addEventListener("click", () => cancelled.abort());
    byId("fetch-all").addEventListener("click", async () => {
      const say = (key, fill) => speech.say(byId("fetch-words"), key, fill);
      const tell = (photos, bytes) => {
        const size = Math.max(all, bytes);
        byId("fetched").value = bytes / size;
        say("progress", () => ({ n: photos, count: links.length, part: speech.size(bytes), size: speech.size(size) }));
      };
      cancelled = new AbortController();
      byId("fetch-all").hidden = true;
      byId("fetching").hidden = false;
      byId("fetch-cancel").focus();
      tell(0, 0);
      try {
        const url = URL.createObjectURL(await archive(cancelled.signal, tell));
        const anchor = document.createElement("a");
        anchor.href = url;
        anchor.download = document.body.dataset.archive;
        anchor.click();
        setTimeout(() => URL.revokeObjectURL(url), 60000);
        say("downloaded", () => ({ file: anchor.download }));
      } catch (error) {
        const wasCancelled = cancelled.signal.aborted;
        cancelled.abort();
        if (wasCancelled) say("cancelled");
        else if (error instanceof PhotoMissing) say("photoFailed", () => ({ n: error.n }));
        else say("failed");
      }
      byId("fetching").hidden = true;
      byId("fetch-all").hidden = false;
      byId("fetch-all").focus();
    });
  }

  // navigator.clipboard is there on https and localhost only.
  if (byId("copy")) {
    byId("copy").hidden = false;
    byId("copy").addEventListener("click", async () => {
      const line = byId("mirror");
      let isCopied = true;
      try {
        await navigator.clipboard.writeText(line.textContent);
      } catch {
        getSelection().selectAllChildren(line);
        isCopied = document.execCommand("copy");
      }
      speech.say(byId("copy-words"), isCopied ? "copied" : "copyByKeys");
    });
  }

  // Thumbnails whose links have ended, or that were deleted while the page was open.
  const missing = () => { if (!checkEnd()) byId("unreachable").hidden = false; };
  for (const link of links) {
    const image = link.querySelector("img");
    image.addEventListener("error", missing);
    if (image.complete && image.naturalWidth === 0 && image.currentSrc) missing();
  }
  picture.addEventListener("error", () => { if (at >= 0) byId("when").textContent = speech.text("photoMissing"); });

  addEventListener("beforeprint", () => { for (const link of links) link.querySelector("img").loading = "eager"; });
  addEventListener("visibilitychange", checkEnd);
  setInterval(checkEnd, 30000);
  if (!checkEnd()) open(hashIndex(), false);
})();
