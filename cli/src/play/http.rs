//! As much of HTTP as a page on the same machine needs: one request without a body, one response, and the connection is closed.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Read, Write};

/// What a browser asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    /// The path, as it was sent.
    pub(super) path: String,
    /// What follows `?`, as it was sent.
    pub(super) query: String,
    /// What the browser takes this server for.
    pub(super) host: String,
    /// Whether the browser says that a page of another server asks.
    pub(super) is_from_elsewhere: bool,
}

/// Why a request is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is no request.
    Malformed,
    /// It is longer than any question.
    TooLong,
    /// It was not there in time.
    Late,
    /// It is by another server's name or page.
    Forbidden,
    /// There is nothing of this name.
    Unknown,
    /// It wants something else than to get a file.
    Method,
    /// Too many ask at a time.
    Busy,
    /// Something went wrong here.
    Fault,
}

impl Refusal {
    fn status(self) -> &'static str {
        match self {
            Refusal::Malformed => "400 Bad Request",
            Refusal::TooLong => "414 URI Too Long",
            Refusal::Late => "408 Request Timeout",
            Refusal::Forbidden => "403 Forbidden",
            Refusal::Unknown => "404 Not Found",
            Refusal::Method => "405 Method Not Allowed",
            Refusal::Busy => "503 Service Unavailable",
            Refusal::Fault => "500 Internal Server Error",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Refusal::Malformed => "this is no request",
            Refusal::TooLong => {
                "the question is too long for the playground: `spc run` takes texts and tensors of any size"
            }
            Refusal::Late => "the request was not there in time",
            Refusal::Forbidden => "the playground answers its own page only",
            Refusal::Unknown => "there is nothing of this name",
            Refusal::Method => "the playground answers GET only",
            Refusal::Busy => "too many ask at a time",
            Refusal::Fault => "this is a fault of spc, please report it together with the text",
        }
    }
}

/// What is sent back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: &'static str,
    pub(super) media_type: &'static str,
    pub(super) body: Cow<'static, str>,
}

impl Response {
    pub(super) fn refused(refusal: Refusal) -> Self {
        let body = Cow::Borrowed(refusal.text());
        Self { status: refusal.status(), media_type: "text/plain; charset=utf-8", body }
    }
}

impl Request {
    /// Reads a request of so many bytes at most.
    pub(super) fn read(mut stream: impl Read, most: usize) -> Result<Self, Refusal> {
        let mut head: Vec<u8> = Vec::new();
        let mut part = [0; 4096];
        let end = loop {
            let from = head.len().saturating_sub(3);
            let count = match stream.read(&mut part) {
                Ok(0) => return Err(Refusal::Malformed),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(_) => return Err(Refusal::Late),
            };
            head.extend_from_slice(&part[..count]);
            if let Some(end) = head[from..].windows(4).position(|end| end == b"\r\n\r\n") {
                break from + end;
            }
            if head.len() > most {
                return Err(Refusal::TooLong);
            }
        };
        Self::parse(&head[..end]).ok_or(Refusal::Malformed)
    }

    fn parse(head: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(head).ok()?.split("\r\n");
        let mut words = lines.next()?.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if !version.starts_with("HTTP/1.") || words.next().is_some() || !target.starts_with('/') {
            return None;
        }
        let fields: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(':')).collect();
        let field = |name: &str| {
            fields.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Some(Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            host: field("host").unwrap_or_default().to_ascii_lowercase(),
            is_from_elsewhere: field("sec-fetch-site").is_some_and(|site| site == "cross-site") && path == "/api",
        })
    }
}

/// Sends a response.
pub(super) fn send(mut stream: impl Write, response: &Response) -> io::Result<()> {
    let Response { status, media_type, body } = response;
    let allowed = if *status == Refusal::Method.status() { "Allow: GET\r\n" } else { "" };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n{allowed}Connection: close\r\n\
Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n\
Content-Security-Policy: default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'\r\n\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    stream.flush()
}

/// A text that an address has in it; nothing if it is none.
pub(super) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        bytes.push(match byte {
            b'%' => (digit(rest.next())? * 16 + digit(rest.next())?) as u8,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_far_as_they_are_needed() {
        let text = "GET /api?%7B HTTP/1.1\r\nHOST: LocalHost:7770\r\nSec-Fetch-Site: same-origin\r\n\r\nbody";
        let request = Request::read(text.as_bytes(), 1000).unwrap();
        assert_eq!((request.method.as_str(), request.path.as_str(), request.query.as_str()), ("GET", "/api", "%7B"));
        assert_eq!((request.host.as_str(), request.is_from_elsewhere), ("localhost:7770", false));
        let elsewhere = text.replace("same-origin", "cross-site");
        assert!(Request::read(elsewhere.as_bytes(), 1000).unwrap().is_from_elsewhere);
        for wrong in [
            "",
            "GET",
            "GET / HTTP/1.1\r\n",
            "GET index.html HTTP/1.1\r\n\r\n",
            "GET / HTTP/2\r\n\r\n",
            "a b c d\r\n\r\n",
        ] {
            assert_eq!(Request::read(wrong.as_bytes(), 1000), Err(Refusal::Malformed), "{wrong:?}");
        }
        let long = format!("GET /{} HTTP/1.1\r\n", "x".repeat(9000));
        assert_eq!(Request::read(long.as_bytes(), 1000), Err(Refusal::TooLong));
    }

    #[test]
    fn addresses_are_decoded() {
        assert_eq!(decoded("%7B%22%C3%A4%22%7d+x").as_deref(), Some("{\"ä\"}+x"));
        assert_eq!([decoded("%"), decoded("%4"), decoded("%zz"), decoded("%ff")], [const { None }; 4]);
    }
}
