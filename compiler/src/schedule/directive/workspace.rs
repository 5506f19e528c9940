//! `workspace(t(j): hash)`

use super::{Around, Rule, choice, named};
use crate::concrete::{AskedCollect, AskedStorage};
use crate::syntax::Directive;

/// The rule.
pub(super) const RULE: Rule = Rule {
    name: "workspace",
    apply: |directives, directive| {
        let (Some(of), Some(way)) = (directive.arguments.first(), choice(directive, 0)) else { return };
        let Some((name, over)) = named(of) else {
            let help = "for example `workspace(t(j): hash)`".to_owned();
            return directives.refuse(of.span, "the name of a workspace must stand here".to_owned(), "no name", help);
        };
        let megabytes = |sizes: &Vec<String>| match &sizes[..] {
            [size] => size.parse::<u64>().ok().filter(|size| (1..=1 << 20).contains(size)).map(|size| size << 20),
            _ => None,
        };
        let storage = named(way).and_then(|(way, size)| match (way.as_str(), size) {
            ("bitmap", None) => Some(AskedCollect::Bitmap(None)),
            ("bitmap", Some(size)) => Some(AskedCollect::Bitmap(Some(megabytes(&size)?))),
            ("hash", None) => Some(AskedCollect::Hash),
            ("list", None) => Some(AskedCollect::List),
            _ => None,
        });
        let Some(storage) = storage else {
            let help = "say `bitmap`, `bitmap(4)` for up to 4 MB for each thread, `hash` or `list`".to_owned();
            return directives.refuse(way.span, format!("`{name}` can't be stored like this"), "no storage", help);
        };
        directives.kernel.asked.storages.push(AskedStorage { name, over, storage, span: directive.span });
    },
    neighbours: others,
};

/// Other storages, and other sizes.
fn others(around: &Around<'_>) -> Vec<String> {
    let of = |directive: &Directive| {
        let (Some(name), Some(way)) = (directive.arguments.first(), choice(directive, 0)) else { return Vec::new() };
        let way = way.to_string();
        let ways = ["bitmap(1)", "bitmap(4)", "bitmap(32)", "hash", "list"].into_iter().filter(|other| way != *other);
        ways.map(|other| format!("workspace({name}: {other});")).collect()
    };
    around.chosen("workspace").flat_map(of).collect()
}
