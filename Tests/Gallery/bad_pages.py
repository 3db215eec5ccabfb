"""Pages with one thing wrong each, which has to be found."""

import functools
import http.server
import threading

from pages import LOOKS

GOOD = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page</title><link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark">{head}</head>
<body><main><h1>A page</h1><p>Words.</p><img src="a.svg" alt="A square" width="40" height="40">
<p><label>Name <input name="a"></label> <button>Go</button> <a href="#x">A link</a></p>{body}</main></body></html>"""
SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><path fill="#888" d="M0 0h40v40H0z"/></svg>'
# Of each what is added to the head and the body (or what is replaced by what), and the words of the complaint.
LIES = {
    "a second main": ("", "<main>x</main>", "exactly one main"),
    "a second h1": ("", "<h1>x</h1>", "exactly one h1"),
    "a heading that skips a level": ("", "<h3>x</h3>", "a heading of level 3 comes after one of 1"),
    "an image without alt": ("", "<img src='a.svg'>", "an image has no alt"),
    "an image that is not there": ("", "<img src='b.svg' alt=''>", "an image cannot be shown"),
    "an answer with 404": ("", "<img src='b.svg' alt=''>", "/b.svg is answered with 404"),
    "an id that is there twice": ("", "<p id='y'>x</p><p id='y'>x</p>", "the id y is there twice"),
    "a page that is too wide": ("", "<p style='width: 600px'>x</p>", "the page scrolls sideways"),
    "pale words": ("<style>.a { color: #999; background: #fff }</style>", "<p class='a'>x</p>", "contrast of 2.85"),
    "words that are pale in the dark alone": (
        "<style>@media (prefers-color-scheme: dark) { .a { color: #555 } }</style>", "<p class='a'>x</p>", "dark: text has a contrast"),
    "half transparent words": ("<style>.a { opacity: 0.4 }</style>", "<p class='a'>x</p>", "text has a contrast"),
    "words over a picture": (
        "<style>.a { position: relative } .a span { position: absolute; left: 0; color: #fff }</style>",
        "<div class='a'><span>x</span><img src='a.svg' alt=''></div>", "contrast of 1.00"),
    "a pale value of a field": ("<style>.a { color: #aaa; background: #fff }</style>", "<input class='a' aria-label='x' value='x'>",
                                "text has a contrast"),
    "a field without a name": ("", "<input type='search'>", "a searchbox has no name"),
    "a choice without a name": ("", "<select><option>x</option></select>", "a combobox has no name"),
    "a button without a name": ("", "<button></button>", "a button has no name"),
    "a box without a name": ("", "<input type='checkbox'>", "a checkbox has no name"),
    "a link without a name": ("", "<a href='#z'><img src='a.svg' alt=''></a>", "a link has no name"),
    "an error in the console": ("<script>console.error('x')</script>", "", "console.error"),
    "an exception": ("<script>throw new Error('thrown')</script>", "", "Error: thrown"),
    "a policy that forbids something": (
        "<meta http-equiv='Content-Security-Policy' content=\"style-src 'self'\">", "<p style='color: red'>x</p>",
        "Content Security Policy"),
    "a request that goes elsewhere": ("", "<img src='http://localhost:{port}/a.svg' alt=''>", "a request went elsewhere"),
}


def found_lies(person, folder):
    """Yields of each lie its name, and whether it was found; first whether a good page passes."""
    (folder / "a.svg").write_text(SQUARE)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    handler.func.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        for number, (name, (head, body, words)) in enumerate({"": ("", "", None), **LIES}.items()):
            body = body.replace("{port}", str(server.server_port))
            (folder / f"{number}.html").write_text(GOOD.replace("{head}", head).replace("{body}", body))
            person.wrong = []
            person.visit(f"http://127.0.0.1:{server.server_port}/{number}.html")
            person.judge("page", [LOOKS[0], LOOKS[-1]])
            if words:
                yield name, any(words in wrong for wrong in person.wrong)
            else:
                yield f"a good page is left alone {person.wrong or ''}", not person.wrong
    finally:
        server.shutdown()
