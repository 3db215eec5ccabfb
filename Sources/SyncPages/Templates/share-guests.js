// Photos that readers add: each by a POST of its own, to the gallery that shows the page or, by a form that the owner's machine
// has signed, to the store that holds it (Amazon S3 API Reference, "POST Object").
(() => {
  const byId = (id) => document.getElementById(id);
  if (!byId("guests")) return;
  const form = JSON.parse(byId("guests").dataset.form), input = byId("guest-files");
  const say = (key, fill) => speech.say(byId("guest-words"), key, fill);
  const types = { jpg: "jpeg", jpeg: "jpeg", heic: "heic", heif: "heif", png: "png", webp: "webp", avif: "avif" };
  // Not every browser knows the type of every photo.
  const type = (file) => file.type || `image/${types[file.name.split(".").pop().toLowerCase()] || "jpeg"}`;
  const isPhoto = (file) => type(file).startsWith("image/");
  const pause = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

  // Each answers "sent", "full" (no place is left) or "failed".
  const isAsked = async () => (await fetch(form.gallery, { cache: "no-store" })).ok;
  async function toGallery(file) {
    for (let attempt = 0; attempt < 6; attempt++) {
      const answer = await fetch(form.gallery, { method: "POST", body: file, headers: { "Content-Type": type(file) } });
      if (answer.ok) return "sent";
      if (answer.status === 409) return "full";
      // It was started anew, and reads photos for those who have asked; or it has its hands full.
      if (answer.status === 413 && attempt === 0) await isAsked();
      else if (answer.status === 503) await pause(2 ** attempt);
      else return "failed";
    }
    return "failed";
  }

  // A store has no way to say "only where nothing is". Hence a place is reserved first, by a few bytes that nobody else sends, and
  // looked at after longer than anybody may take between finding it free and reserving it (Fischer's mutual exclusion).
  const longestClaim = 3, settling = 5; // seconds
  const slots = form.store ? [...form.store.slots] : [];
  for (let index = slots.length - 1; index > 0; index--) {
    const other = Math.floor(Math.random() * (index + 1));
    [slots[index], slots[other]] = [slots[other], slots[index]];
  }
  const look = ([name, , signature]) => {
    const [before, middle, after] = form.store.look;
    return fetch(`${before}${name}${middle}${signature}${after}`, { method: "HEAD", cache: "no-store" });
  };
  function put([name, signature], content, kind, signal) {
    const { url, prefix, fields, policy } = form.store;
    const data = new FormData();
    data.append("key", prefix + name);
    for (const [field, value] of fields) data.append(field, value);
    data.append("Content-Type", kind);
    data.append("policy", btoa(policy[0] + name + policy[1]));
    data.append("x-amz-signature", signature);
    data.append("file", content);
    return fetch(url, { method: "POST", body: data, signal });
  }
  // Not every store tells a digest of what was put. Then its length has to do.
  async function holds(place, tag, length) {
    const found = await look(place);
    if (!found.ok) return false;
    return tag ? found.headers.get("ETag") === tag : Number(found.headers.get("Content-Length")) === length;
  }

  // Reserved, and to be sent to: a place, when that was settled, and what is there.
  const claims = [];
  async function reserve(count) {
    for (let found = 0; found < count && slots.length > 0;) {
      const place = slots.pop(), began = performance.now();
      if ((await look(place)).ok) continue;
      const length = 16 + Math.floor(Math.random() * 48);
      let answer;
      try {
        const bytes = crypto.getRandomValues(new Uint8Array(length));
        answer = await put(place, new Blob([bytes]), "image/jpeg", AbortSignal.timeout(longestClaim * 1000));
      } catch {
        // Nobody knows when it comes there: the place is left to whoever has it.
        continue;
      }
      if (!answer.ok) throw new Error(answer.statusText);
      if (performance.now() - began > longestClaim * 1000) continue;
      claims.push({ place, tag: answer.headers.get("ETag"), length, settled: performance.now() + settling * 1000 });
      found++;
    }
  }
  async function toStore(file, others) {
    while (claims.length > 0 || slots.length > 0) {
      if (claims.length === 0) await reserve(Math.min(others + 1, 10));
      const claim = claims.shift();
      if (!claim) break;
      await pause(Math.max(claim.settled - performance.now(), 0) / 1000);
      if (!(await holds(claim.place, claim.tag, claim.length))) continue;
      const answer = await put(claim.place, file, type(file));
      if (!answer.ok) return "failed";
      if (await holds(claim.place, answer.headers.get("ETag"), file.size)) return "sent";
    }
    return "full";
  }

  async function send(file, others) {
    try {
      return await (form.store ? toStore(file, others) : toGallery(file));
    } catch {
      return "failed";
    }
  }

  const show = () => { byId("guests").hidden = false; };
  if (form.store) show();
  else isAsked().then((isAsked) => { if (isAsked) show(); }, () => {});
  input.addEventListener("change", async () => {
    const files = [...input.files];
    const fit = files.filter((file) => isPhoto(file) && file.size > 0 && file.size <= form.most);
    const counts = { sent: 0, full: 0, failed: 0 };
    input.disabled = true;
    byId("guest-progress").hidden = false;
    for (const [index, file] of fit.entries()) {
      byId("guest-progress").value = index / fit.length;
      say("guestsSending", () => ({ n: index + 1, count: fit.length }));
      counts[counts.full > 0 ? "full" : await send(file, fit.length - index - 1)]++;
    }
    byId("guest-progress").hidden = true;
    input.disabled = false;
    input.value = "";
    say("guestsSent", () => ({ count: counts.sent }));
    const problems = [
      ["guestsUnfit", files.length - fit.length], ["guestsFull", counts.full], ["guestsFailed", counts.failed],
    ].filter(([, count]) => count > 0);
    byId("guest-problems").replaceChildren(...problems.map(([key, count]) => {
      const line = document.createElement("li");
      speech.say(line, key, () => ({ count, size: speech.size(form.most) }));
      return line;
    }));
    input.focus();
  });
})();
