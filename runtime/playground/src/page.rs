//! The files of the page.

/// A file of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct File {
    /// Its name, by which the others ask for it.
    pub name: &'static str,
    /// Its type, as browsers call it.
    pub media_type: &'static str,
    /// What is in it.
    pub text: &'static str,
}

/// All files of the page but the WebAssembly that answers it where there is no server.
pub const PAGE: [File; 6] = [
    File { name: "index.html", media_type: "text/html; charset=utf-8", text: include_str!("../page/index.html") },
    File { name: "style.css", media_type: "text/css; charset=utf-8", text: include_str!("../page/style.css") },
    File { name: "main.js", media_type: "text/javascript; charset=utf-8", text: include_str!("../page/main.js") },
    // What asks the server. Beside the module there is `engine-wasm.js` of this name.
    File {
        name: "engine.js",
        media_type: "text/javascript; charset=utf-8",
        text: include_str!("../page/engine-server.js"),
    },
    File { name: "player.js", media_type: "text/javascript; charset=utf-8", text: include_str!("../page/player.js") },
    File { name: "examples.json", media_type: "application/json", text: include_str!("../page/examples.json") },
];
