use spc_compiler::plan::*;
use std::collections::BTreeMap;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    for f in &args[1..] {
        let text = std::fs::read_to_string(f).unwrap();
        let run = text.lines().next().unwrap().trim_start_matches("// run: ").to_owned();
        let mut facts = Facts { threads: 2, calls: 1e9, ..Facts::default() };
        let w: Vec<&str> = run.split_whitespace().collect();
        for p in w.windows(2) {
            if p[0] == "--dim" {
                let (n, v) = p[1].split_once('=').unwrap();
                facts.extents.insert(n.into(), v.parse().unwrap());
            }
            if p[0] == "-i" {
                let (n, v) = p[1].split_once('=').unwrap();
                for (key, stat) in [
                    ("armadillo", "armadillo"),
                    ("email-eu-core", "emailcore"),
                    ("emaileu-", "emaileu"),
                    ("fb15k", "fb15k237"),
                    ("lastfm", "lastfm5"),
                    ("uber", "uber"),
                    ("ml1m", "ml1m"),
                ] {
                    if v.starts_with('@') && v.contains(key) {
                        let t = std::fs::read_to_string(format!("/tmp/stats/{stat}.txt")).unwrap();
                        let mut tf = TensorFacts::default();
                        for l in t.lines() {
                            let x: Vec<&str> = l.split_whitespace().collect();
                            match x[0] {
                                "shape" => tf.shape = x[1..].iter().map(|e| Some(e.parse().unwrap())).collect(),
                                "nnz" => tf.entries = Some(Known::measured(x[1].parse().unwrap())),
                                m => {
                                    let mm: u32 = m.bytes().map(|b| 1 << (b - b'0')).sum();
                                    let c: f64 = x[1].parse().unwrap();
                                    let d: f64 = x[2].parse().unwrap();
                                    let norm: f64 = x[3].parse().unwrap();
                                    tf.distinct.insert(mm, Known::measured(c));
                                    let n = tf.entries.unwrap().estimate;
                                    if norm > 0.0 {
                                        tf.degrees.insert(mm, Degrees { mean: n / c, largest: d, norm });
                                    }
                                }
                            }
                        }
                        facts.tensors.insert(n.into(), tf);
                    }
                }
            }
        }
        let _: BTreeMap<u8, u8> = BTreeMap::new();
        println!("==== {}", f.rsplit('/').next().unwrap());
        let program = spc_compiler::syntax::parse_program(&text).unwrap_or_else(|e| panic!("{e:?}"));
        for k in spc_compiler::notation::check(&program).unwrap_or_else(|e| panic!("{e:?}")) {
            let start = std::time::Instant::now();
            let planned = plan(&k, &facts);
            let t = start.elapsed();
            match planned {
                None => println!("as written   [{t:?}]"),
                Some(p) => {
                    let show =
                        |c: &Cost| format!("ops {:.2e} ms {:.3} mem {:.1e}", c.operations, c.time / 1e6, c.memory);
                    println!(
                        "{}\n  {}   written {}  [{t:?}]",
                        spc_compiler::plan::text(&p.kernel),
                        show(&p.cost),
                        show(&p.written)
                    );
                    for o in &p.others {
                        println!(
                            "    other {}: {}",
                            show(&o.cost),
                            o.text
                                .lines()
                                .filter(|l| l.starts_with("    ") || l.starts_with("} s"))
                                .map(str::trim)
                                .collect::<Vec<_>>()
                                .join(" ")
                        );
                    }
                    if std::env::var("SCHED").is_ok()
                        && let Err(e) = spc_compiler::compile_notation(&p.kernel)
                    {
                        println!("  !!! {e:?}");
                    }
                }
            }
        }
    }
}
