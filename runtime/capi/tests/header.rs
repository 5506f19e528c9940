//! The header and the functions are about the same things.

use spc_c::Status;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// A type of Rust's in the words of C.
fn in_c(ty: &str) -> String {
    let plain = |ty: &str| match ty {
        "u32" => "uint32_t".to_owned(),
        "u64" => "uint64_t".to_owned(),
        "i32" => "int32_t".to_owned(),
        "c_char" => "char".to_owned(),
        "Status" => "spc_status".to_owned(),
        other => format!("spc_{}", other.to_lowercase()),
    };
    match (ty.strip_prefix("*const "), ty.strip_prefix("*mut ")) {
        (Some(of), _) => format!("const {} *", plain(of)),
        (_, Some(of)) => format!("{} *", plain(of)),
        _ => plain(ty),
    }
}

/// Handles are numbers of 64 bits.
fn without_handles(ty: &str) -> String {
    ["spc_tensor", "spc_builder", "spc_kernel"].iter().fold(ty.to_owned(), |ty, handle| {
        let words = ty.split(' ').map(|word| if word == *handle { "uint64_t" } else { word });
        words.collect::<Vec<_>>().join(" ")
    })
}

/// The functions of the sources: what they return and what they take.
fn of_rust() -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for file in ["src/status.rs", "src/tensors.rs", "src/kernels.rs"] {
        for text in read(file).split("pub extern \"C\" fn ").skip(1) {
            let (name, rest) = text.split_once('(').unwrap();
            let (parameters, rest) = rest.split_once(')').unwrap();
            let result = rest.split_once("-> ").unwrap().1.split_once(" {").unwrap().0;
            let types = parameters.split(',').filter_map(|parameter| Some(parameter.split_once(':')?.1.trim()));
            found.insert(name.to_owned(), [result].into_iter().chain(types).map(in_c).collect());
        }
    }
    found
}

/// The functions of the header.
fn of_header() -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for line in read("include/spc.h").lines().filter(|line| line.ends_with(");") && !line.starts_with(' ')) {
        let (head, parameters) = line.trim_end_matches(");").split_once('(').unwrap();
        let place = head.rfind([' ', '*']).unwrap() + 1;
        let parameters = parameters.split(", ").filter(|parameter| *parameter != "void").map(|parameter| {
            let place = parameter.rfind([' ', '*']).unwrap() + 1;
            parameter[..place].trim()
        });
        let types = [head[..place].trim()].into_iter().chain(parameters).map(without_handles).collect();
        found.insert(head[place..].to_owned(), types);
    }
    found
}

#[test]
fn each_function_is_declared_as_it_is() {
    let (rust, header) = (of_rust(), of_header());
    assert!(rust.len() > 20, "{rust:#?}");
    for (name, types) in &rust {
        assert_eq!(header.get(name), Some(types), "{name}: left as spc.h has it, right as the source has it");
    }
    assert_eq!(rust.len(), header.len(), "spc.h declares a function that is not there");
}

#[test]
fn each_number_is_that_of_its_name() {
    let header = read("include/spc.h");
    let defined = |name: &str| {
        let line = header.lines().find_map(|line| line.strip_prefix(&format!("#define {name} ")));
        let line = line.unwrap_or_else(|| panic!("spc.h has no {name}"));
        line.split(' ').next().unwrap().parse::<i32>().unwrap()
    };
    assert_eq!(defined("SPC_API_VERSION") as u32, spc_c::spc_api_version());
    for status in Status::ALL {
        let name = match status {
            Status::Ok => "SPC_OK".to_owned(),
            other => format!("SPC_ERROR_{other:?}").to_uppercase(),
        };
        assert_eq!(defined(&name), status as i32, "{name}");
    }
    for (number, element) in spc_c::elements().enumerate() {
        assert_eq!(defined(&format!("SPC_{}", element.to_uppercase())), number as i32, "{element}");
    }
}
