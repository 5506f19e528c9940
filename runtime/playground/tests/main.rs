//! The playground as the page meets it: questions in, answers out.

use serde_json::{Value, json};
use spc_playground::{LARGEST, PAGE, answer};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn ask(question: &Value) -> Value {
    serde_json::from_str(&answer(&question.to_string())).unwrap()
}

/// The messages of an answer: which part they are about, what they underline there, and their words.
fn messages(question: &Value) -> Vec<(String, String, String)> {
    let answer = ask(question);
    let of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let message = |message: &Value| {
        let part = of(&message["part"]);
        let text = match part.as_str() {
            "format" => of(&question["formats"][of(&message["tensor"])]),
            _ => of(&question["text"]),
        };
        let units: Vec<u16> = text.encode_utf16().collect();
        let place = |name: &str| message["spans"][0][name].as_u64().unwrap_or(0) as usize;
        let underlined = String::from_utf16(&units[place("start")..place("end")]).unwrap();
        (part, underlined, of(&message["message"]))
    };
    answer["messages"].as_array().unwrap().iter().map(message).collect()
}

/// The entries of a result: indices, and the value as text.
fn entries(answer: &Value, result: usize) -> Vec<(Vec<u64>, String)> {
    let entries = answer["results"][result]["entries"].as_array().unwrap_or_else(|| panic!("no result: {answer}"));
    let index = |entry: &Value| entry[0].as_array().unwrap().iter().map(|index| index.as_u64().unwrap()).collect();
    entries.iter().map(|entry| (index(entry), entry[1].as_str().unwrap().to_owned())).collect()
}

#[test]
fn a_kernel_is_shown_at_every_stage_and_run() {
    let answer = ask(&json!({
        "text": "y(i) = A(i, j) * x(j)",
        "formats": { "A": "csr" },
        "data": { "A": "0 1 2\n1 0 3\n1 2 4\n", "x": "0 1\n1 10\n2 100\n" },
        "extents": { "i": 2, "j": 3 },
    }));
    assert_eq!(answer["messages"], json!([]));
    for stage in ["notation", "explain", "schedule", "concrete", "lattice", "ir", "rust", "c", "cuda", "plan"] {
        assert!(answer["stages"][stage].as_str().is_some_and(|text| !text.trim().is_empty()), "{stage}: {answer}");
    }
    assert_eq!(entries(&answer, 0), [(vec![0], "20".to_owned()), (vec![1], "403".to_owned())]);
    assert_eq!(answer["extents"], json!({ "i": 2, "j": 3 }));
    let svg = answer["operands"][0]["svg"].as_str().unwrap();
    for part in ["data-cell=\"2.pos.2\"", "data-cell=\"2.crd.2\"", "data-cell=\"values.2\"", "<title>", "crd: 1, 0, 2"]
    {
        assert!(svg.contains(part), "no {part} in {svg}");
    }
}

/// Each element that loops touch is in a drawing, and rows come in order.
#[test]
fn what_loops_touch_is_told_in_order() {
    let answer = ask(&json!({ "text": "y(i) = A(i, j) * x(j)", "formats": { "A": "csr" } }));
    let cells = answer["trace"]["cells"].as_array().unwrap();
    for cell in cells {
        let shown = answer["operands"].as_array().unwrap().iter().chain(answer["results"].as_array().unwrap());
        let tensor = shown.into_iter().find(|tensor| tensor["name"] == cell[0]).unwrap();
        let mark = format!("data-cell=\"{}\"", cell[1].as_str().unwrap());
        assert!(tensor["svg"].as_str().unwrap().contains(&mark), "{cell} is not drawn");
    }
    let steps = answer["trace"]["steps"].as_array().unwrap().iter().map(|step| step.as_u64().unwrap() as usize);
    let values = steps.filter(|step| cells[step / 2] == json!(["A", format!("values.{}", place(&cells[step / 2]))]));
    let values: Vec<usize> = values.map(|step| place(&cells[step / 2])).collect();
    assert_eq!(values, (0..answer["operands"][0]["entries"].as_array().unwrap().len()).collect::<Vec<_>>());
}

/// The elements of the result that the loops write, in order.
fn written(text: &str, format: &str) -> (Vec<String>, Value) {
    let answer = ask(&json!({
        "text": text,
        "formats": { "A": "csr", "B": "csr", "Y": format },
        "data": { "A": "0 1 2\n2 0 3\n2 2 4\n", "B": "0 1 5\n1 0 6\n2 2 7\n" },
        "extents": { "i": 3, "j": 3 },
    }));
    let cells = answer["trace"]["cells"].as_array().unwrap_or_else(|| panic!("no trace: {answer}"));
    let steps = answer["trace"]["steps"].as_array().unwrap().iter().map(|step| step.as_u64().unwrap() as usize);
    let written: Vec<&Value> = steps.filter(|step| step % 2 == 1).map(|step| &cells[step / 2]).collect();
    assert!(written.iter().all(|cell| cell[0] == "Y"), "{text}: {written:?}");
    (written.iter().map(|cell| cell[1].as_str().unwrap().to_owned()).collect(), answer["results"][0].clone())
}

#[test]
fn what_loops_write_is_told_in_order() {
    let of = |text: &str, format: &str| written(text, format).0;
    assert_eq!(of("Y(i) = A(i, j)", "dense"), ["values.0", "values.1", "values.2"]);
    assert_eq!(of("Y(j) = A(i, j)", "dense"), ["values.1", "values.0", "values.2"]);
    assert_eq!(of("Y = A(i, j)", ""), ["values.0"]);
    // The pattern is that of A.
    assert_eq!(of("Y(i, j) = 2 * A(i, j)", "csr"), ["values.0", "values.1", "values.2"]);
    // What is appended: the positions of a row follow its entries.
    assert_eq!(
        of("Y(i, j) = A(i, j) + B(i, j)", "csr"),
        [
            "2.pos.0", "2.crd.0", "values.0", "2.pos.1", "2.crd.1", "values.1", "2.pos.2", "2.crd.2", "values.2",
            "2.crd.3", "values.3", "2.pos.3"
        ]
    );
    // It was written into a plain format, and converted.
    assert_eq!(of("Y(i, j) = A(i, j) + B(i, j)", "ell"), [""; 0]);
    for (text, format) in
        [("Y(i, j) = A(i, k) * B(k, j)", "csr"), ("Y(i, j) = A(i, j) + B(i, j)", "dcsr"), ("Y(i, j) = A(i, j)", "coo")]
    {
        let (mut written, result) = written(text, format);
        let svg = result["svg"].as_str().unwrap();
        let mut drawn: Vec<&str> =
            svg.split("data-cell=\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0)).collect();
        written.sort();
        drawn.sort();
        assert_eq!(written, drawn, "{text} as {format}: each element once");
    }
}

fn place(cell: &Value) -> usize {
    cell[1].as_str().unwrap().rsplit('.').next().unwrap().parse().unwrap()
}

#[test]
fn problems_are_underlined_where_they_are() {
    let text = |text: &str| json!({ "text": text });
    for (question, part, underlined, words) in [
        (text("y(i) = A(i j)"), "text", "j", "expected"),
        // Places count as JavaScript does.
        (text("/* 𝒳 */ y(i) = A(i j)"), "text", "j", "expected"),
        (text("fn f(A: cssr) -> y: dense { y(i) = A(i, j); }"), "text", "cssr", "no format `cssr`"),
        (json!({ "text": "y(i) = A(i, j)", "formats": { "A": "cssr" } }), "format", "cssr", "no format `cssr`"),
        (
            json!({ "text": "y(i) = A(i, j)", "formats": { "A": "[dense compressed]" } }),
            "format",
            "compressed",
            "expected",
        ),
        (json!({ "text": "y(i) = A(i, j)", "data": { "A": "0 0 1\n0 1\n" } }), "data", "", "line 2: it has 2 numbers"),
        (
            json!({ "text": "y(i) = A(i, j)", "extents": { "i": 100_000, "j": 100_000 } }),
            "extents",
            "",
            "too many places",
        ),
        (json!({ "text": "y(i) = A(i, j)", "extents": { "i": 2 }, "data": { "A": "5 0 1" } }), "data", "", "A"),
        (text(""), "text", "", "no kernel"),
        (text("format f = (i) -> [i: dense];"), "text", "", "no kernel"),
    ] {
        let found = messages(&question);
        let is_it = |message: &&(String, String, String)| message.0 == part && message.2.contains(words);
        let found_one = found.iter().find(is_it);
        assert!(found_one.is_some_and(|found| found.1 == underlined), "{question}: {found:?}");
    }
}

/// The page has fields for extents and entries, in which what is wrong with them can be mended.
#[test]
fn what_is_wrong_with_a_run_can_be_mended() {
    let text = "y(i) = A(i, j) * x(j)";
    let answer = ask(&json!({ "text": text, "formats": { "A": "csr" }, "data": { "A": "0 0 x\n" } }));
    assert_eq!((&answer["extents"], &answer["data"]["A"]), (&json!({ "i": 4, "j": 6 }), &json!("0 0 x\n")));
    assert_eq!(answer["data"]["x"].as_str().map(|text| text.lines().count()), Some(6), "{answer}");
    let answer = ask(&json!({ "text": text, "extents": { "i": 100_000, "j": 100_000 }, "data": { "A": "0 0 1" } }));
    assert_eq!(answer["extents"], json!({ "i": 100_000, "j": 100_000 }));
    assert_eq!(answer["data"], json!({ "A": "0 0 1\n", "x": "" }));
    assert!(ask(&json!({ "text": "y(i) = A(i j)" }))["extents"].is_null());
}

/// What is kept of an earlier text does not disturb a later one.
#[test]
fn the_rest_of_an_earlier_text_is_left_alone() {
    let answer = ask(&json!({
        "text": "s = x(i)", "formats": { "A": "csr", "x": "" }, "extents": { "q": 3 }, "data": { "B": "0 0 nonsense" },
    }));
    assert_eq!(answer["messages"], json!([]));
    assert_eq!(entries(&answer, 0), [(vec![], "10".to_owned())]);
}

#[test]
fn every_element_type_and_many_formats_run() {
    for element in ["f64", "f32", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "c32", "c64"] {
        let text =
            format!("fn f(A: {element} csr, x: {element} dense) -> y: {element} dense {{ y(i) = A(i, j) * x(j); }}");
        let answer = ask(&json!({ "text": text, "data": { "A": "0 0 2", "x": "0 3" } }));
        assert!(entries(&answer, 0)[0].1.starts_with('6'), "{element}: {answer}");
    }
    let answer =
        ask(&json!({ "text": "fn f(A: bool csr, x: bool dense) -> y: bool dense { y(i) |= A(i, j) && x(j); }" }));
    assert_eq!(entries(&answer, 0)[0].1, "true");
    let plain = entries(&ask(&json!({ "text": "y(i) = A(i, j) * x(j)", "formats": { "A": "csr" } })), 0);
    for format in
        ["csc", "dcsr", "coo", "csf", "bcsr(2)", "ell", "sell(2)", "[dense, bitmap]", "[compressed, hashed]", "dense"]
    {
        let answer = ask(&json!({ "text": "y(i) = A(i, j) * x(j)", "formats": { "A": format } }));
        assert_eq!(answer["messages"], json!([]), "{format}");
        if format != "dense" {
            assert_eq!(entries(&answer, 0), plain, "{format}");
        }
    }
}

#[test]
fn what_is_no_question_is_answered() {
    for (question, words) in [
        ("", "no question"),
        ("{\"text\": 1}", "no question"),
        ("{\"text\": \"\", \"extents\": {\"i\": -1}}", "no question"),
        ("[".repeat(LARGEST + 1).as_str(), "bytes at most"),
        ("[".repeat(LARGEST).as_str(), "no question"),
    ] {
        let answer: Value = serde_json::from_str(&answer(question)).unwrap();
        assert!(answer["messages"][0]["message"].as_str().is_some_and(|message| message.contains(words)), "{answer}");
    }
}

/// The examples of the menu are the files that README and the command have.
#[test]
fn examples_are_those_of_the_repository() {
    let file = PAGE.iter().find(|file| file.name == "examples.json").unwrap();
    let examples: Vec<Value> = serde_json::from_str(file.text).unwrap();
    assert_eq!(examples.len(), 5);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut names = BTreeSet::new();
    for example in &examples {
        let name = example["name"].as_str().unwrap();
        names.insert(name);
        let question = &example["question"];
        // A package alone has none of them.
        if folder.exists() {
            let text = fs::read_to_string(folder.join(format!("{name}.ti"))).unwrap();
            assert_eq!(question["text"].as_str(), Some(text.as_str()), "{name}");
        }
        let answer = ask(question);
        assert_eq!(answer["messages"], json!([]), "{name}");
        assert_eq!(answer["kernel"], question["kernel"], "{name}");
        assert!(!answer["trace"]["steps"].as_array().unwrap().is_empty(), "{name}");
    }
    assert_eq!(names.len(), 5, "each once");
}

#[test]
fn drawings_are_as_they_were() {
    let drawn = |format: &str| {
        let question = json!({
            "text": "s = A(i, j)", "formats": { "A": format }, "extents": { "i": 4, "j": 6 },
            "data": { "A": "0 1 1\n0 4 2\n2 0 3\n2 2 4\n2 3 5\n3 5 6\n" },
        });
        ask(&question)["operands"][0]["svg"].as_str().unwrap_or_else(|| panic!("{format} is not drawn")).to_owned()
    };
    insta::assert_snapshot!("csr", drawn("csr"));
    let description = |format: &str| {
        let svg = drawn(format);
        let (_, rest) = svg.split_once("<desc>").unwrap();
        format!("{format}\n{}\n", rest.split_once("</desc>").unwrap().0)
    };
    let formats = ["coo", "dcsr", "bcsr(2)", "ell", "[dense, bitmap]", "[compressed, hashed]", "[dense, run]", "dense"];
    insta::assert_snapshot!("descriptions", formats.map(description).join("\n"));
}
