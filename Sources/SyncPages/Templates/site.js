"use strict";
(() => {
  // The stream goes on by itself; without a script there is a link.
  const stream = document.getElementById("stream");
  let next = document.getElementById("next");
  if (stream && next && "IntersectionObserver" in window) {
    let isLoading = false;
    const observer = new IntersectionObserver(async (entries) => {
      if (isLoading || !next || !entries.some((entry) => entry.isIntersecting)) return;
      isLoading = true;
      try {
        const reply = await fetch(next.href, { credentials: "same-origin" });
        if (!reply.ok) throw new Error(reply.statusText);
        const page = new DOMParser().parseFromString(await reply.text(), "text/html");
        for (const day of page.querySelectorAll("#stream .day")) {
          const last = stream.lastElementChild;
          if (last && last.dataset.day === day.dataset.day) {
            last.querySelector(".grid").append(...day.querySelectorAll(".grid > li"));
          } else {
            stream.append(day);
          }
        }
        const further = page.getElementById("next");
        if (further) {
          next.href = further.href;
        } else {
          next.closest(".more").remove();
          next = null;
          observer.disconnect();
        }
      } catch {
        // The link is still there, and whoever wants to tries again by it.
        observer.disconnect();
        next = null;
      } finally {
        isLoading = false;
        // Told again when it is still in sight.
        if (next) { observer.unobserve(next); observer.observe(next); }
      }
    }, { rootMargin: "1200px" });
    observer.observe(next);
  }

  // Arrow keys go from photo to photo.
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !stream) return;
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    const photos = [...stream.querySelectorAll(".grid a")];
    const here = photos.indexOf(document.activeElement);
    if (here < 0) return;
    const there = photos[here + (event.key === "ArrowRight" ? 1 : -1)];
    if (there) { there.focus(); event.preventDefault(); }
  });

  // With the stream going on, "all" is what was loaded by then.
  const all = document.getElementById("all");
  const selection = document.getElementById("selection");
  if (all && selection && next) {
    all.textContent = "Select all archived photos shown here";
    all.addEventListener("click", (event) => {
      event.preventDefault();
      for (const pick of selection.querySelectorAll(".pick.away")) pick.checked = true;
    });
  }

  // What a page tells of follows what happens, but not under somebody's fingers.
  const main = document.getElementById("main");
  if ("follows" in main.dataset) {
    const events = new EventSource(`/events?page=${location.pathname.slice(1)}`);
    events.addEventListener("message", async () => {
      const reply = await fetch(location.href, { credentials: "same-origin" });
      const fresh = reply.ok && new DOMParser().parseFromString(await reply.text(), "text/html").getElementById("main");
      if (fresh && !(main.contains(document.activeElement) && document.activeElement !== main)) {
        main.replaceChildren(...fresh.childNodes);
      }
    });
    addEventListener("pagehide", () => events.close());
  }

  const copy = document.getElementById("copy");
  const link = document.getElementById("link");
  if (copy && link) {
    link.value = new URL(link.value, location.href).href;
    link.addEventListener("focus", () => link.select());
    if (navigator.clipboard) {
      copy.hidden = false;
      copy.addEventListener("click", async () => {
        try {
          await navigator.clipboard.writeText(link.value);
          copy.textContent = "Copied";
        } catch {
          link.select();
        }
      });
    }
  }

})();
