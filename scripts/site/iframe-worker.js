/* Browsers start no worker for a page that is a file; the search runs in a frame of its own there, behind the same calls. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #waiting = [];
    #inner = null;
    #frame = document.createElement("iframe");

    constructor(relative) {
      super();
      const address = new URL(relative, location.href).href;
      this.#frame.hidden = true;
      this.#frame.addEventListener("load", () => {
        const inner = this.#frame.contentWindow;
        inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        inner.importScripts = (...scripts) => Promise.all(scripts.map((script) => new Promise((done, failed) => {
          const element = inner.document.createElement("script");
          Object.assign(element, { src: new URL(script, address).href, onload: done, onerror: failed });
          inner.document.head.append(element);
        })));
        inner.importScripts(address).then(() => {
          this.#inner = inner;
          this.#waiting.splice(0).forEach((data) => this.postMessage(data));
        });
      }, { once: true });
      document.body.append(this.#frame);
    }

    postMessage(data) {
      if (this.#inner) this.#inner.dispatchEvent(new this.#inner.MessageEvent("message", { data }));
      else this.#waiting.push(data);
    }

    terminate() { this.#frame.remove(); }
  };
}
