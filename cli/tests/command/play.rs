//! The playground: the server, and that the page shows what the command prints.

use super::{Place, assert_has, examples};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

/// `spc play`, until the test is over.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn new(place: &Place) -> Self {
        let mut child = place.command(&["play", "--port", "0"]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("the playground: http://").unwrap().trim_end_matches('/').to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{address}");
        Self { child, address }
    }

    /// The answer to a request that asks this server.
    fn get(&self, line: &str) -> String {
        self.sends(&format!("{line} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address))
    }

    fn sends(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

#[test]
fn the_page_is_served_and_nothing_else() {
    let place = Place::new();
    let server = Server::new(&place);
    assert_has(
        &server.get("GET /"),
        &["HTTP/1.1 200 OK\r\n", "text/html", "Content-Security-Policy: default-src 'self'", "<main>"],
    );
    assert_has(&server.get("GET /main.js"), &["200 OK", "text/javascript", "import"]);
    let api = server.get("GET /api?%7B%22text%22%3A%22y(i)%3DA(i%20j)%22%7D");
    assert_has(&api, &["200 OK", "application/json", "\"start\":9", "\"severity\":\"error\""]);
    for path in ["/nothing", "/../Cargo.toml", "/..%2f..%2fetc/passwd", "/page/index.html", "//etc/passwd", "/main.js/"]
    {
        assert_has(&server.get(&format!("GET {path}")), &["404 Not Found", "nothing of this name"]);
    }
    for method in ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"] {
        assert_has(&server.get(&format!("{method} /api?{{}}")), &["405 Method Not Allowed", "Allow: GET"]);
    }
    assert_has(&server.sends("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"), &["403 Forbidden"]);
    let foreign = format!("GET /api?{{}} HTTP/1.1\r\nHost: {}\r\nSec-Fetch-Site: cross-site\r\n\r\n", server.address);
    assert_has(&server.sends(&foreign), &["403 Forbidden"]);
    assert_has(&server.sends("nonsense\r\n\r\n"), &["400 Bad Request"]);
    // It goes on after all that.
    assert_has(&server.get("GET /style.css"), &["200 OK", "text/css"]);
    let port = server.address.rsplit(':').next().unwrap();
    assert_has(&place.refuses(&["play", "--port", port]), &[port, "`--port 0` takes one that is free"]);
}

/// Every kernel of the examples, at every stage.
#[test]
fn the_playground_shows_what_the_command_prints() {
    let place = Place::new();
    let mut files: Vec<_> = std::fs::read_dir(examples()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ti"));
    files.sort();
    assert!(files.len() > 10, "{files:?}");
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let path = path.to_str().unwrap();
        let ask = |kernel: Option<&str>| -> Value {
            serde_json::from_str(&spc_playground::answer(&json!({ "text": text, "kernel": kernel }).to_string()))
                .unwrap()
        };
        let first = ask(None);
        let kernels: Vec<&str> =
            first["kernels"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        let answers: Vec<Value> = kernels.iter().map(|kernel| ask(Some(kernel))).collect();
        let shown = |stage: &str| {
            let texts = answers.iter().map(|answer| answer["stages"][stage].as_str().unwrap().to_owned());
            texts.collect::<Vec<_>>().join("\n")
        };
        for stage in ["notation", "schedule", "concrete", "lattice", "ir", "rust", "cuda", "plan"] {
            assert_eq!(shown(stage), place.prints(&["compile", path, "--emit", stage]), "{path} {stage}");
        }
        assert_eq!(shown("explain"), place.prints(&["explain", path]), "{path}");
        let c = place.prints(&["compile", path, "--kernel", kernels[0], "--emit", "c"]);
        assert_eq!(first["stages"]["c"].as_str(), Some(c.as_str()), "{path}");
    }
}
