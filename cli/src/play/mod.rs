//! `spc play`: the playground, served on this machine alone.

mod http;

use crate::failure::Failure;
use crate::{output, settings};
use clap::Args;
use http::{Refusal, Request, Response};
use serde_json::json;
use spc_playground::{LARGEST, PAGE};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Serve the playground to a browser on this machine
///
/// A page that shows what becomes of a kernel while you type it: drawings of the arrays, every stage, code, messages, and a run by the
/// interpreter on small tensors. Only programs on this machine reach it; it reads and writes no files. Ctrl-C ends it.
#[derive(Debug, Args)]
pub(crate) struct Play {
    /// The port; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = 7770)]
    port: u16,
}

/// How long a browser may take to ask.
const PATIENCE: Duration = Duration::from_secs(10);
/// So many are answered at a time.
const MOST: usize = 16;

impl Play {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port)).map_err(|error| {
            let failure = Failure::refused(format!("port {} can't be listened on: {error}", self.port));
            match error.kind() {
                ErrorKind::AddrInUse => failure.help("`--port 0` takes one that is free"),
                ErrorKind::PermissionDenied => failure.help("ports from 1024 on are for everybody"),
                _ => failure,
            }
        })?;
        let address = listener.local_addr().map_err(Failure::refused)?;
        let page = format!("http://{address}/");
        match settings::json() {
            true => output::print_json(json!({ "address": page }))?,
            false => output::print(&format!("the playground: {page}\nCtrl-C ends it\n"))?,
        }
        serve(&listener, address);
        Ok(())
    }
}

/// Answers whoever asks, for ever.
fn serve(listener: &TcpListener, address: SocketAddr) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    for stream in listener.incoming().flatten() {
        if COUNT.fetch_add(1, Ordering::Relaxed) >= MOST {
            COUNT.fetch_sub(1, Ordering::Relaxed);
            _ = http::send(&stream, &Response::refused(Refusal::Busy));
            continue;
        }
        let answer = move || {
            serve_one(&stream, address);
            COUNT.fetch_sub(1, Ordering::Relaxed);
        };
        if thread::Builder::new().spawn(answer).is_err() {
            COUNT.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn serve_one(stream: &TcpStream, address: SocketAddr) {
    // What closes its side, or waits too long, is asked no more.
    _ = stream.set_read_timeout(Some(PATIENCE));
    _ = stream.set_write_timeout(Some(PATIENCE));
    // Each byte of a question may be three in an address.
    let response = match Request::read(stream, 3 * LARGEST + 8192) {
        Ok(request) => respond(&request, address).unwrap_or_else(Response::refused),
        Err(refusal) => Response::refused(refusal),
    };
    _ = http::send(stream, &response);
}

/// A file of the page, or the answer to a question.
fn respond(request: &Request, address: SocketAddr) -> Result<Response, Refusal> {
    // A page of somebody else's that has its own name lead here is not answered.
    let port = address.port();
    let is_own = [format!("127.0.0.1:{port}"), format!("localhost:{port}")].contains(&request.host);
    if !is_own || request.is_from_elsewhere {
        return Err(Refusal::Forbidden);
    }
    if request.method != "GET" {
        return Err(Refusal::Method);
    }
    if request.path == "/api" {
        let question = http::decoded(&request.query).ok_or(Refusal::Malformed)?;
        let answer = panic::catch_unwind(|| spc_playground::answer(&question));
        let text = answer.map_err(|_| Refusal::Fault)?;
        return Ok(Response { status: "200 OK", media_type: "application/json", body: text.into() });
    }
    let name = if request.path == "/" { "index.html" } else { request.path.trim_start_matches('/') };
    let file = PAGE.iter().find(|file| file.name == name).ok_or(Refusal::Unknown)?;
    Ok(Response { status: "200 OK", media_type: file.media_type, body: file.text.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: &str, path: &str, host: &str) -> Result<Response, Refusal> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let of = |text: &str| text.to_owned();
        let request =
            Request { method: of(method), path: of(path), query: of(query), host: of(host), is_from_elsewhere: false };
        respond(&request, SocketAddr::from((Ipv4Addr::LOCALHOST, 80)))
    }

    #[test]
    fn known_paths_are_answered_and_no_others() {
        let own = "127.0.0.1:80";
        for file in PAGE {
            let response = ask("GET", &format!("/{}", file.name), own).unwrap();
            assert_eq!(response.body, file.text, "{}", file.name);
        }
        assert!(ask("GET", "/", "localhost:80").unwrap().body.contains("<title>spc playground"));
        assert!(ask("GET", "/api?%7B%22text%22%3A%22y%3Dx%22%7D", own).unwrap().body.contains("\"notation\""));
        for path in [
            "/../Cargo.toml",
            "/page/../index.html",
            "/%2e%2e/etc/passwd",
            "//index.html/",
            "/etc/passwd",
            "/Index.html",
        ] {
            assert_eq!(ask("GET", path, own).err(), Some(Refusal::Unknown), "{path}");
        }
        assert_eq!(ask("POST", "/", own).err(), Some(Refusal::Method));
        assert_eq!(ask("GET", "/api?%ff", own).err(), Some(Refusal::Malformed));
        assert_eq!(ask("GET", "/", "example.org").err(), Some(Refusal::Forbidden));
    }
}
