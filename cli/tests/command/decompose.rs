//! Decompositions: what is printed and written, starts, Ctrl-C, checkpoints, ranks, pages.

use super::{Place, assert_has};
use serde_json::Value;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

/// A tensor of rank 2 with all entries, and a sparse one.
fn place() -> Place {
    let (mut dense, mut sparse) = ("# shape: 4 3 5\n".to_owned(), "# shape: 4 3 5\n".to_owned());
    let (a, b) = ([[3, 0], [0, 2], [1, 1], [2, -1]], [[1, 2], [2, -1], [0, 1]]);
    let c = [[1, 0], [0, 3], [2, 1], [1, -1], [0, 2]];
    for (i, j, k) in (0..60).map(|place| (place / 15, place / 5 % 3, place % 5)) {
        let value: i32 = (0..2).map(|r| a[i][r] * b[j][r] * c[k][r]).sum();
        _ = writeln!(dense, "{} {} {} {}", i + 1, j + 1, k + 1, value);
        if (7 * i + 5 * j + 3 * k).is_multiple_of(4) {
            _ = writeln!(sparse, "{} {} {} {}", i + 1, j + 1, k + 1, 1 + (i + j * k) % 5);
        }
    }
    Place::new().with("x.tns", &dense).with("s.tns", &sparse)
}

const HERE: [&str; 2] = ["--backend", "interpreter"];

fn cp<'a>(tensor: &'a str, arguments: &[&'a str]) -> Vec<&'a str> {
    [&["cp", tensor], &HERE[..], arguments].concat()
}

fn floats(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

#[test]
fn cp_finds_a_planted_model_and_tells_each_iteration() {
    let place = place();
    let run = ["--rank", "2", "--iterations", "200", "--tolerance", "0", "--seed", "3"];
    let json = place.json(&cp("x.tns", &[&run[..], &["--json", "-o", "model"]].concat()));
    assert_eq!((&json["schema"], &json["method"], &json["rank"]), (&1.into(), &"als".into(), &2.into()));
    assert_eq!((&json["nnz"], &json["backend"]), (&60.into(), &"interpreter".into()));
    assert_eq!(json["shape"], serde_json::json!([4, 3, 5]));
    let fit = floats(&json["fit"]);
    assert_eq!((fit.len(), json["iterations"].as_array().unwrap().len()), (200, 200));
    assert!(fit[199] > 0.999_999, "{fit:?}");
    assert_eq!(json["iterations"][6]["number"], 7);
    assert_eq!(json["iterations"][6]["fit"], json["fit"][6]);
    assert!(json["iterations"][0]["time_ms"].is_number() && json["iterations"][0]["kernel_ms"].is_number());
    assert_eq!((&json["stopped"], &json["files"]), (&"iterations".into(), &serde_json::json!(["model"])));
    for time in ["read_ms", "compile_ms", "prepare_ms", "iterations_ms", "kernel_ms", "kernel_share"] {
        assert!(json["times"][time].is_number(), "{time}");
    }
    // What is printed is what is written, to the last bit.
    place.prints(&["convert", "model/weights.npy", "weights.tns"]);
    let text = place.read("weights.tns");
    let written: Vec<f64> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once(' ').unwrap().1.parse().unwrap())
        .collect();
    assert_eq!(floats(&json["lambda"]), written);
    // As text: a line for what was read, one for the kernels, a table, and the end.
    let text = place.prints(&cp("x.tns", &run));
    assert_has(&text, &["x.tns: 4 x 3 x 5, f64 csf, 60 stored\n", "interpreter on ", "iteration", "change", " ms"]);
    assert_has(&text, &["weights ", "after 200 iterations; stopped: iterations", "in kernels"]);
    assert!(place.prints(&cp("x.tns", &[&run[..], &["-q"]].concat())).is_empty());
    let early = place.json(&cp("x.tns", &["--rank", "2", "--tolerance", "0.1", "--json"]));
    assert_eq!(early["stopped"], "tolerance");
}

#[test]
fn every_input_of_run_is_an_input_here() {
    let place = place();
    let options = ["--rank", "2", "--iterations", "3", "--tolerance", "0", "--json"];
    let fit = |input: &str, more: &[&str]| place.json(&cp(input, &[&options[..], more].concat()))["fit"].clone();
    let expected = fit("s.tns", &[]);
    for to in ["s.tns.gz", "s.spct", "s.npz", "s.npy"] {
        place.prints(&["convert", "s.tns", to]);
        assert_near(&fit(to, &[]), &expected, 1e-12);
    }
    for format in ["dense", "coo", "(i, j, k) -> [k: dense, j: compressed, i: compressed]"] {
        assert_near(&fit("s.tns", &["-f", format]), &expected, 1e-12);
    }
    let single = place.json(&cp("s.tns", &[&options[..], &["--element", "f32"]].concat()));
    assert_eq!(single["element"], "f32");
    assert_near(&single["fit"], &expected, 1e-5);
    let mut child = place.command(&cp("-", &[&options[..], &["--from", "tns"]].concat()));
    let child = child.stdin(std::fs::File::open(place.path("s.tns")).unwrap()).output().unwrap();
    assert_near(&serde_json::from_slice::<Value>(&child.stdout).unwrap()["fit"], &expected, 1e-12);
    // Several entries of the same index are their sum.
    let twice = place.read("s.tns") + "1 1 1 -0.5\n1 1 1 0.5\n";
    let place = place.with("twice.tns", &twice);
    assert_near(&place.json(&cp("twice.tns", &options))["fit"], &expected, 1e-12);
}

#[track_caller]
fn assert_near(found: &Value, expected: &Value, tolerance: f64) {
    let (found, expected) = (floats(found), floats(expected));
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance;
    assert!(found.len() == expected.len() && found.iter().zip(&expected).all(near), "{found:?}, not {expected:?}");
}

#[test]
fn a_run_starts_from_factors_and_from_a_model() {
    let place = place();
    let run = |more: &[&str]| cp("s.tns", &[&["--rank", "2", "--tolerance", "0", "--json"], more].concat()).join("\t");
    let json = |more: &[&str]| place.json(&run(more).split('\t').collect::<Vec<_>>());
    let whole = json(&["--iterations", "6", "--seed", "5"]);
    json(&["--iterations", "2", "--seed", "5", "-o", "model"]);
    json(&["--iterations", "2", "--seed", "5", "-o", "model.npz"]);
    for model in ["model", "model.npz"] {
        let rest = json(&["--iterations", "4", "--init", model]);
        assert_near(&rest["fit"], &whole["fit"].as_array().unwrap()[2..].into(), 1e-12);
    }
    let factors = "model/factor_1.npy,model/factor_2.npy,model/factor_3.npy";
    let rest = json(&["--iterations", "4", "--init", factors]);
    assert_near(&rest["fit"], &whole["fit"].as_array().unwrap()[2..].into(), 1e-9);
    let adam = ["--method", "gcp", "--loss", "poisson", "--optimizer", "adam", "--steps", "5"];
    let methods =
        [&["--method", "als"][..], &["--method", "nonnegative"], &["--method", "apr"], &["--method", "gcp"], &adam];
    json(&["--iterations", "2", "--method", "apr", "-o", "positive"]);
    for method in methods {
        for start in ["hosvd", "positive", "positive/factor_1.npy,positive/factor_2.npy,positive/factor_3.npy"] {
            let found = json(&[method, &["--iterations", "2", "--init", start]].concat());
            assert!(!found["iterations"].as_array().unwrap().is_empty(), "{method:?} from {start}");
        }
    }
    // The best of several starts is the best of their seeds.
    let best = json(&["--iterations", "3", "--starts", "3", "--seed", "1"]);
    let seeds: Vec<f64> =
        ["1", "2", "3"].iter().map(|seed| floats(&json(&["--iterations", "3", "--seed", seed])["fit"])[2]).collect();
    assert_eq!(best["starts"].as_array().unwrap().len(), 3);
    assert_eq!(floats(&best["fit"])[2], seeds.iter().copied().fold(f64::MIN, f64::max));
}

#[test]
fn a_run_that_goes_on_from_a_checkpoint_is_as_one_without_a_break() {
    let place = place();
    for (verb, own) in [("cp", &["--rank", "3", "--seed", "2"][..]), ("tucker", &["--ranks", "2,2,3"])] {
        let run =
            |more: &[&str]| place.json(&[&[verb, "s.tns"], own, &HERE, &["--tolerance", "0", "--json"], more].concat());
        let whole = run(&["--iterations", "9", "-o", &format!("{verb}-whole")]);
        run(&["--iterations", "4", "--checkpoint", verb, "--every", "3"]);
        assert_eq!(place.names(verb), ["model-4.npz", "state.json"]);
        let rest = run(&["--iterations", "9", "--checkpoint", verb, "--resume", "-o", &format!("{verb}-rest")]);
        assert_near(&rest["fit"], &whole["fit"], 1e-13);
        assert_eq!(rest["iterations"].as_array().unwrap().len(), 9);
        assert_eq!(rest["fit"].as_array().unwrap()[..4], whole["fit"].as_array().unwrap()[..4]);
        assert_eq!(place.names(verb), ["model-9.npz", "state.json"]);
        // Nothing is left to do.
        let again = run(&["--iterations", "9", "--checkpoint", verb, "--resume"]);
        assert_eq!((&again["fit"], &again["stopped"]), (&rest["fit"], &"iterations".into()));
    }
    let run = |more: &[&str]| place.json(&[&["power", "s.tns", "--json"], &HERE[..], more].concat());
    let whole = run(&["--components", "3"]);
    run(&["--components", "2", "--checkpoint", "power"]);
    let rest = run(&["--components", "3", "--checkpoint", "power", "--resume"]);
    assert_eq!(rest["iterations"].as_array().unwrap().len(), whole["iterations"].as_array().unwrap().len());
    assert_near(&rest["lambda"], &whole["lambda"], 1e-9);
    assert_eq!(run(&["--components", "3", "--checkpoint", "power", "--resume"])["lambda"], rest["lambda"]);
    // One that was broken off within a component begins that one anew.
    run(&["--components", "3", "--iterations", "2", "--checkpoint", "short", "--tolerance", "0"]);
    assert_eq!(place.names("short"), ["model-6.npz", "state.json"]);
    let rest = run(&["--components", "3", "--checkpoint", "short", "--resume"]);
    assert_eq!(rest["iterations"].as_array().unwrap()[..4].len(), 4);
    assert_eq!(floats(&rest["lambda"]).len(), 3);
    let resume = |tensor: &str, more: &[&str]| {
        let common = ["--checkpoint", "cp", "--resume", "--iterations", "9", "--tolerance", "0"];
        place.refuses(&cp(tensor, &[&common[..], more].concat()))
    };
    assert_has(
        &resume("s.tns", &["--rank", "4", "--seed", "2"]),
        &["the checkpoint in cp is of another run", "rank: 3 there, 4 here"],
    );
    let other = resume("x.tns", &["--rank", "3", "--seed", "1"]);
    assert_has(&other, &["entries: ", "15 there, 46 here", "checksum of entries: ", "seed: 2 there, 1 here"]);
    let message = resume("s.tns", &["--rank", "3", "--seed", "2", "--method", "nonnegative"]);
    assert_has(&message, &["method: als there, nonnegative here"]);
    std::fs::write(place.path("cp/state.json"), "{").unwrap();
    assert_has(&resume("s.tns", &["--rank", "3", "--seed", "2"]), &["state.json: it is no state of a checkpoint"]);
    let none = ["--checkpoint", "none", "--resume", "--rank", "3"];
    assert_has(&place.refuses(&cp("s.tns", &none)), &["none has no checkpoint", "leave out `--resume`"]);
    assert!(!place.path("none").exists());
}

/// What L-BFGS, Adam and multiplicative updates remember is in their checkpoints.
#[test]
fn checkpoints_keep_the_state_of_a_method() {
    let place = place();
    let gcp = ["--method", "gcp", "--loss", "poisson"];
    let adam = ["--optimizer", "adam", "--steps", "20", "--rate", "0.05", "--samples", "15,10"];
    for (name, own) in [("lbfgs", gcp.to_vec()), ("adam", [&gcp[..], &adam].concat()), ("apr", vec!["--method", "apr"])]
    {
        let run = |more: &[&str]| {
            let common = ["--rank", "3", "--seed", "2", "--tolerance", "0", "--json"];
            place.json(&cp("s.tns", &[&common[..], &own, more].concat()))
        };
        let whole = run(&["--iterations", "9"]);
        run(&["--iterations", "4", "--checkpoint", name, "--every", "3"]);
        assert_eq!(place.names(name), ["model-4.npz", "model-4.state.npz", "state.json"]);
        let rest = run(&["--iterations", "9", "--checkpoint", name, "--resume"]);
        assert_near(&rest["lambda"], &whole["lambda"], 1e-12);
        let measure = if name == "apr" { "log_likelihood" } else { "loss" };
        let last = |run: &Value| run["iterations"].as_array().unwrap().last().unwrap()[measure].as_f64().unwrap();
        assert!((last(&rest) - last(&whole)).abs() <= 1e-12 * last(&whole).abs());
        // Both may end before, where no step makes it better.
        let end = |run: &Value| run["iterations"].as_array().unwrap().last().unwrap()["number"].as_u64().unwrap();
        assert_eq!(end(&rest), end(&whole));
        let end = end(&rest);
        assert!(end > 4);
        assert_eq!(
            place.names(name),
            [format!("model-{end}.npz"), format!("model-{end}.state.npz"), "state.json".to_owned()]
        );
        // A checkpoint of before has no state.
        let state = place.read(&format!("{name}/state.json")).replace("\"state\": true", "\"state\": false");
        std::fs::write(place.path(&format!("{name}/state.json")), state).unwrap();
        let common = ["--rank", "3", "--seed", "2", "--tolerance", "0", "--iterations", "10", "--checkpoint", name];
        let output = place.command(&cp("s.tns", &[&common[..], &own, &["--resume"]].concat())).output().unwrap();
        assert!(output.status.success());
        assert_has(&String::from_utf8_lossy(&output.stderr), &["has no state of the method"]);
    }
}

#[test]
fn what_may_not_be_wanted_is_noted_and_what_a_loss_does_not_take_is_refused() {
    let mut noise = "# shape: 30 30 30\n".to_owned();
    for place in 0..200 {
        let at = |by: usize| (place * by + place / 30 * (by / 4)) % 30 + 1;
        _ = writeln!(noise, "{} {} {} {}", at(7), at(11), at(13), if place % 2 == 0 { 1 } else { -1 });
    }
    let place = place().with("noise.tns", &noise).with("negative.tns", "1 1 1 2\n2 2 2 -1\n2 1 2 3\n");
    let arguments = cp("noise.tns", &["--rank", "1", "--tolerance", "0.5"]);
    let output = place.command(&arguments).output().unwrap();
    assert!(output.status.success());
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_has(&notes, &["explains almost nothing", "Try a smaller tolerance"]);
    for (loss, takes) in [("poisson", "values from 0 up"), ("bernoulli", "values from 0 to 1")] {
        let message = place.refuses(&cp("negative.tns", &["--rank", "2", "--method", "gcp", "--loss", loss]));
        assert_has(&message, &["the entry at (", takes]);
    }
}

impl Place {
    fn names(&self, folder: &str) -> Vec<String> {
        let files = std::fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A command whose output is read while it runs.
    fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
}

/// Reads lines until one has a part.
#[cfg(unix)]
fn read_until(lines: &mut impl BufRead, part: &str) {
    let mut line = String::new();
    while !line.contains(part) {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "no line with {part:?}");
    }
}

#[cfg(unix)]
#[test]
fn the_first_interruption_keeps_the_model_and_its_checkpoint() {
    let place = place();
    let endless =
        ["--rank", "2", "--iterations", "100000000", "--tolerance", "0", "-o", "model", "--checkpoint", "state"];
    let mut child = place.spawn(&cp("s.tns", &endless));
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..4 {
        read_until(&mut lines, "");
        read_until(&mut lines, " ");
    }
    interrupt(&child);
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_has(&rest, &["stopped: interrupted", "written: model"]);
    place.json(&cp("s.tns", &["--rank", "2", "--iterations", "1", "--init", "model", "--json"]));
    let state: Value = serde_json::from_str(&place.read("state/state.json")).unwrap();
    let done = state["iteration"].as_u64().unwrap();
    assert_eq!(state["iterations"].as_array().unwrap().len() as u64, done);
    let more = (done + 2).to_string();
    let on = ["--rank", "2", "--iterations", &more, "--tolerance", "0", "--checkpoint", "state", "--resume", "--json"];
    assert_eq!(place.json(&cp("s.tns", &on))["fit"].as_array().unwrap().len() as u64, done + 2);
}

#[cfg(unix)]
#[test]
fn the_second_interruption_ends_at_once() {
    let place = Place::new();
    place.prints(&["generate", "uniform", "--shape", "300x300x300", "--nnz", "400000", "-o", "large.tns"]);
    let mut child = place.spawn(&cp("large.tns", &["--rank", "64", "-o", "model", "--threads", "1"]));
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    read_until(&mut lines, "the tensor is stored as csf");
    // The key is caught right after that line.
    std::thread::sleep(std::time::Duration::from_millis(500));
    interrupt(&child);
    read_until(&mut lines, "interrupted: the run ends after this iteration");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!place.path("model").exists());
}

#[test]
fn ranks_are_compared() {
    let place = place();
    let run = ["--rank", "1,2,3", "--iterations", "60", "--tolerance", "0"];
    let json = place.json(&cp("x.tns", &[&run[..], &["--json", "-o", "models"]].concat()));
    let ranks = json["ranks"].as_array().unwrap();
    assert_eq!(ranks.iter().map(|rank| rank["rank"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 3]);
    let consistency: Vec<f64> = ranks.iter().map(|rank| rank["core_consistency"].as_f64().unwrap()).collect();
    assert!((consistency[0] - 100.0).abs() < 1e-6 && consistency[1] > 90.0, "{consistency:?}");
    assert_eq!(place.names("models"), ["rank-1", "rank-2", "rank-3"]);
    assert_eq!(ranks[1]["files"], serde_json::json!(["models/rank-2"]));
    let last = |rank: usize| *floats(&ranks[rank]["fit"]).last().unwrap();
    assert!(last(0) < last(1) && last(1) > 0.999);
    let text = place.prints(&cp("x.tns", &run));
    assert_has(&text, &["core consistency", "least weight", "100.0%", "stopped"]);
}

#[test]
fn a_page_names_the_largest_entries() {
    let words: String = (1..=5).map(|number| format!("<word {number}>\n")).collect();
    let place = place().with("words.txt", &words).with("few.txt", "one\ntwo\n");
    let run = ["--rank", "2", "--iterations", "5", "--html", "page.html", "--labels", "3=words.txt", "--top", "2"];
    place.prints(&cp("x.tns", &run));
    let page = place.read("page.html");
    assert_has(&page, &["<svg", "&lt;word 5&gt;", "Component 2: weight ", "mode 3"]);
    assert!(!page.contains("<word") && !page.contains("<script") && !page.contains("src="), "{page}");
    assert_eq!(page.matches("<svg").count(), 1 + 2 * 3);
    place.prints(&[&["tucker", "x.tns", "--ranks", "2", "--html", "tucker.html"], &HERE[..]].concat());
    assert_has(&place.read("tucker.html"), &["Largest entries of the core", "Mode 3: 5 x 2", "column 2"]);
    let few = ["--rank", "2", "--html", "new.html", "--labels", "3=few.txt"];
    assert_has(&place.refuses(&cp("x.tns", &few)), &["few.txt: it has 2 lines, but mode 3 has extent 5"]);
    assert!(!place.path("new.html").exists());
}

#[test]
fn tucker_and_power_tell_what_they_find() {
    let place = place();
    let json = place.json(&[&["tucker", "x.tns", "--ranks", "2,2,2", "--json", "-o", "t"], &HERE[..]].concat());
    assert_eq!((&json["method"], &json["ranks"]), (&"hooi".into(), &serde_json::json!([2, 2, 2])));
    assert!(*floats(&json["fit"]).last().unwrap() > 0.999_999 && json["core_norm"].as_f64().unwrap() > 1.0);
    for method in ["sthosvd", "hosvd"] {
        let other =
            place.json(&[&["tucker", "x.tns", "--ranks", "2", "--method", method, "--json"], &HERE[..]].concat());
        assert!(*floats(&other["fit"]).last().unwrap() > 0.999_999, "{other}");
    }
    let again = place.json(&[&["tucker", "x.tns", "--ranks", "2", "--init", "t", "--json"], &HERE[..]].concat());
    assert!((again["core_norm"].as_f64().unwrap() - json["core_norm"].as_f64().unwrap()).abs() < 1e-6);
    let json = place.json(&[&["power", "x.tns", "--components", "2", "--json", "-o", "p.npz"], &HERE[..]].concat());
    let lambda = floats(&json["lambda"]);
    assert!(lambda.len() == 2 && lambda[0].abs() > lambda[1].abs() && lambda[1] != 0.0, "{lambda:?}");
    let symmetric = place.refuses(&[&["power", "x.tns", "--symmetric"], &HERE[..]].concat());
    assert_has(&symmetric, &["symmetric"]);
}

/// A method that refuses a tensor has not printed anything before, and nothing is written.
#[test]
fn a_tensor_that_a_method_refuses_leaves_nothing() {
    let place = place().with("vector.tns", "1 2\n2 1\n").with("nan.tns", "1 1 1 2\n2 2 2 nan\n");
    for (arguments, part) in [
        (cp("x.tns", &["--rank", "2", "--method", "apr", "-o", "model"]), "negative"),
        (cp("vector.tns", &["--rank", "2", "-o", "model"]), "modes"),
        (cp("nan.tns", &["--rank", "2", "-o", "model"]), "finite"),
        ([&["tucker", "nan.tns", "--ranks", "2", "-o", "model"], &HERE[..]].concat(), "finite"),
    ] {
        assert_has(&place.refuses(&arguments), &[part]);
        assert!(!place.path("model").exists());
    }
}

/// What is refused before anything is computed: each says what to do.
#[test]
fn what_does_not_go_together_is_refused() {
    let place = place().with("m.tns", "# shape: 2 2\n1 1 2\n");
    std::fs::create_dir(place.path("model")).unwrap();
    let rank = ["cp", "x.tns", "--rank", "2"];
    let with = |more: &[&'static str]| [&rank[..], more].concat();
    let commands: Vec<Vec<&str>> = vec![
        vec!["cp", "x.tns"],
        vec!["cp", "x.tns", "--rank", "0"],
        vec!["cp", "no.tns", "--rank", "2"],
        with(&["--method", "alss"]),
        with(&["--backend", "intepreter"]),
        with(&["--element", "i32"]),
        with(&["--format", "cssf"]),
        with(&["--init", "hsvd"]),
        with(&["--init", "A.npy"]),
        with(&["--init", "x.tns"]),
        with(&["--init", "x.tns,x.tns"]),
        with(&["--init", "m.tns,m.tns,m.tns"]),
        with(&["--tolerance=-1"]),
        with(&["--memory", "4XB"]),
        with(&["--loss", "poisson"]),
        with(&["--method", "gcp", "--loss", "poison"]),
        with(&["--method", "gcp", "--loss", "(x - m) * (x - m)"]),
        with(&["--method", "gcp", "--loss", "poisson", "--derivative", "1"]),
        with(&["--method", "gcp", "--rate", "0.1"]),
        with(&["--method", "gcp", "--weights", "x.tns"]),
        with(&["--method", "apr", "--normalise", "max"]),
        with(&["--normalise", "maxx"]),
        with(&["--weights", "m.tns"]),
        with(&["--samples", "10"]),
        with(&["--starts", "3", "--init", "hosvd"]),
        with(&["--starts", "3", "--checkpoint", "c"]),
        with(&["--resume"]),
        with(&["--checkpoint", "c", "--every", "often"]),
        with(&["-o", "-"]),
        with(&["-o", "model.tns"]),
        with(&["-o", "x.tns"]),
        with(&["-o", "no/model"]),
        with(&["--html", "no/page.html"]),
        with(&["--labels", "1=words.txt"]),
        with(&["--html", "page.html", "--labels", "4=words.txt"]),
        vec!["cp", "x.tns", "--rank", "2,3", "--init", "model"],
        vec!["cp", "x.tns", "--rank", "2,3", "-o", "models.npz"],
        vec!["cp", "x.tns", "--rank", "2,3", "--html", "page.html"],
        vec!["cp", "x.tns", "--rank", "2,3", "--checkpoint", "c"],
        vec!["tucker", "x.tns", "--ranks", "2,2"],
        vec!["tucker", "x.tns", "--ranks", "2", "--method", "hosv"],
        vec!["tucker", "x.tns", "--ranks", "2", "--method", "sthosvd", "--iterations", "3"],
        vec!["tucker", "x.tns", "--ranks", "2", "--init", "random"],
        vec!["power", "x.tns", "--component", "2"],
    ];
    let commands: Vec<&[&str]> = commands.iter().map(Vec::as_slice).collect();
    insta::assert_snapshot!(super::habits::session(&place, &commands));
    assert_eq!(place.names("."), ["m.tns", "model", "s.tns", "x.tns"]);
}

/// Each rank reads its part of a text, or of a stored tensor, and the model is that of one rank that has all; `-f` asks for all of it.
#[test]
fn ranks_read_their_parts() {
    let place = Place::new();
    place.prints(&["generate", "uniform", "--shape", "20x15x10", "--nnz", "300", "--seed", "3", "-o", "x.tns"]);
    let write = |name: &str, text: &str| std::fs::write(place.path(name), text).unwrap();
    // Lines that come twice, and one that says the extents.
    let again = std::fs::read_to_string(place.path("x.tns")).unwrap();
    let entries = again.lines().filter(|line| !line.starts_with('#'));
    let twice: Vec<&str> = entries.clone().chain(entries.clone().take(40)).chain(["22 16 11 0.5"]).collect();
    write("x.tns", &twice.join("\n"));
    place.prints(&["convert", "x.tns", "x.spct", "--format", "coo"]);
    let verbs: [(&[&str], &str); 2] = [
        (&["cp", "--rank", "3", "--iterations", "4", "--tolerance", "0"], "--ranks"),
        (&["tucker", "--ranks", "3,2,4"], "--on-ranks"),
    ];
    for (verb, option) in verbs {
        let run = |more: &[&str]| place.json(&[verb, &["--json", "--threads", "1"], more].concat());
        let one = run(&["x.tns"]);
        for more in [&["x.tns"][..], &["x.spct"], &["x.tns", "--deterministic"], &["x.tns", "-f", "alto"]] {
            let json = run(&[more, &[option, "5"]].concat());
            for field in ["shape", "nnz", "element"] {
                assert_eq!(json[field], one[field], "{more:?}: {json}");
            }
            let (found, expected) = (floats(&json["fit"]), floats(&one["fit"]));
            assert_eq!(found.len(), expected.len(), "{json}");
            let apart = found.iter().zip(&expected).map(|(found, expected)| (found - expected).abs());
            assert!(apart.fold(0.0, f64::max) < 1e-9, "{more:?}: {found:?}, not {expected:?}");
        }
        let of_parts = run(&["x.tns", option, "5"]);
        assert_eq!(of_parts["notes"][0], one["notes"][0], "both say that the file states no shape");
        write("bad.tns", "1 1 1 1\n2 1 1 2\n2 2 y 3\n");
        let failed = place.fails(&[verb, &["bad.tns", option, "3"]].concat(), 1);
        assert_has(&failed, &["bad.tns:3:5"]);
        write("bad.tns", "1 1 1 1\n2 1 1 2\n2 2 2 inf\n");
        assert_has(&place.fails(&[verb, &["bad.tns", option, "3"]].concat(), 1), &["the entry at (2, 2, 2) is inf"]);
        write("bad.tns", "1 1 1\n2 1 1\n2 2 3\n");
        assert_has(&place.fails(&[verb, &["bad.tns", option, "3"]].concat(), 1), &["the tensor has 2 modes"]);
    }
}

/// Each rank has some slices of each mode: the model is that of one rank, but for rounding.
#[test]
fn tucker_on_ranks() {
    let place = Place::new();
    place.prints(&["generate", "uniform", "--shape", "20x15x10", "--nnz", "300", "--seed", "3", "-o", "x.tns"]);
    let tucker = |more: &[&str]| {
        place.json(&[&["tucker", "x.tns", "--ranks", "3,2,4", "--json", "--threads", "1"], more].concat())
    };
    for method in ["hooi", "hosvd", "sthosvd"] {
        let one = tucker(&["--method", method]);
        for ranks in ["1", "3", "30"] {
            let json = tucker(&["--method", method, "--on-ranks", ranks, "--timeout", "60"]);
            let (found, expected) = (floats(&json["fit"]), floats(&one["fit"]));
            assert_eq!(found.len(), expected.len(), "{json}");
            let apart = found.iter().zip(&expected).map(|(found, expected)| (found - expected).abs());
            assert!(apart.fold(0.0, f64::max) < 1e-9, "{method}, {ranks} ranks: {found:?}, not {expected:?}");
        }
    }
    let core = |ranks| tucker(&["--deterministic", "--on-ranks", ranks])["core_norm"].clone();
    assert!(core("1") == core("2") && core("2") == core("7"));
    let refuses = |more: &[&str]| place.fails(&[&["tucker", "x.tns", "--ranks", "2"], more].concat(), 2);
    assert_has(&refuses(&["--on-ranks", "2", "--checkpoint", "c"]), &["`--checkpoint` is for one rank"]);
    assert_has(&refuses(&["--timeout", "2"]), &["`--timeout` is for ranks", "`--on-ranks N`"]);
}

/// Ranks share out the entries: the model is that of one rank, but for rounding.
#[test]
fn cp_on_ranks() {
    let place = Place::new();
    place.prints(&["generate", "uniform", "--shape", "20x15x10", "--nnz", "300", "--seed", "3", "-o", "x.tns"]);
    let cp = cp("x.tns", &["--rank", "3", "--iterations", "6", "--tolerance", "0"]);
    let one = place.json(&[&cp[..], &["--json"]].concat());
    for ranks in ["1", "3", "40"] {
        let json = place.json(&[&cp[..], &["--json", "--ranks", ranks, "--timeout", "60"]].concat());
        let (found, expected) = (floats(&json["fit"]), floats(&one["fit"]));
        assert_eq!(found.len(), 6, "{json}");
        let apart = found.iter().zip(&expected).map(|(found, expected)| (found - expected).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-9, "{ranks} ranks: {found:?}, not {expected:?}");
    }
    let refuses = |more: &[&str]| place.fails(&[&cp[..], more].concat(), 2);
    assert_has(&refuses(&["--ranks", "2", "--method", "apr"]), &["`--method` is for one rank"]);
    assert_has(&refuses(&["--ranks", "2", "--checkpoint", "c"]), &["`--checkpoint` is for one rank"]);
    assert_has(&refuses(&["--ranks", "2", "--starts", "2"]), &["`--starts` is for one rank"]);
    assert_has(&refuses(&["--timeout", "2"]), &["`--timeout` is for ranks"]);
}
