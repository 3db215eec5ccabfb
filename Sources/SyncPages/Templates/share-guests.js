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
  async function toGallery(file) {
    for (let attempt = 0; attempt < 6; attempt++) {
      const answer = await fetch(form.gallery, { method: "POST", body: file, headers: { "Content-Type": type(file) } });
      if (answer.ok) return "sent";
      if (answer.status === 409) return "full";
      // It was started anew, and takes photos of those who have looked at the page; or it has its hands full.
      if (answer.status === 413 && attempt === 0) await fetch("./", { cache: "no-store" });
      else if (answer.status === 503) await pause(2 ** attempt);
      else return "failed";
    }
    return "failed";
  }

  const slots = form.store ? [...form.store.slots] : [];
  // Two guests at one time hardly begin at the same place.
  for (let index = slots.length - 1; index > 0; index--) {
    const other = Math.floor(Math.random() * (index + 1));
    [slots[index], slots[other]] = [slots[other], slots[index]];
  }
  async function toStore(file) {
    const { url, prefix, fields, policy, look } = form.store;
    while (slots.length > 0) {
      const [name, signature, lookSignature] = slots.pop();
      const ask = () => fetch(`${look[0]}${name}${look[1]}${lookSignature}${look[2]}`, { method: "HEAD", cache: "no-store" });
      const put = (content) => {
        const data = new FormData();
        data.append("key", prefix + name);
        for (const [field, value] of fields) data.append(field, value);
        data.append("Content-Type", type(file));
        data.append("policy", btoa(policy[0] + name + policy[1]));
        data.append("x-amz-signature", signature);
        data.append("file", content);
        return fetch(url, { method: "POST", body: data });
      };
      if ((await ask()).ok) continue;
      // A few bytes that nobody else sends reserve the place: the photo itself may be on its way for minutes.
      const claim = await put(new Blob([crypto.getRandomValues(new Uint8Array(32))]));
      if (!claim.ok) return "failed";
      const tag = claim.headers.get("ETag"), kept = await ask();
      if (tag && kept.ok && kept.headers.get("ETag") !== tag) continue;
      if ((await put(file)).ok) return "sent";
      slots.unshift([name, signature, lookSignature]);
      return "failed";
    }
    return "full";
  }

  async function send(file) {
    try {
      return await (form.store ? toStore(file) : toGallery(file));
    } catch {
      return "failed";
    }
  }

  byId("guests").hidden = false;
  input.addEventListener("change", async () => {
    const files = [...input.files];
    const fit = files.filter((file) => isPhoto(file) && file.size > 0 && file.size <= form.most);
    const counts = { sent: 0, full: 0, failed: 0 };
    input.disabled = true;
    byId("guest-progress").hidden = false;
    for (const [index, file] of fit.entries()) {
      byId("guest-progress").value = index / fit.length;
      say("guestsSending", () => ({ n: index + 1, count: fit.length }));
      counts[counts.full > 0 ? "full" : await send(file)]++;
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
