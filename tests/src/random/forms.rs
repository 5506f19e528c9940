//! Statements in two forms that mean the same: with packs and without, as an einsum string and as an assignment.

use crate::data::Random;

/// A pack and the indices in its place.
struct Pack {
    name: &'static str,
    modes: usize,
}

impl Pack {
    fn indices(&self) -> Vec<String> {
        (1..=self.modes).map(|mode| format!("{}{mode}", self.name)).collect()
    }
}

/// A kernel with packs, the same without, and whether the orders of its tensors tell for how many indices each pack stands.
pub fn packs(seed: u64) -> ([String; 2], bool) {
    let mut random = Random::new(seed.wrapping_mul(0x3000_0007).wrapping_add(11));
    let packs = [Pack { name: "p", modes: random.below(4) }, Pack { name: "q", modes: random.below(3) }];
    // Places in the list of packs, and behind these plain indices.
    let names = ["i", "j"];
    let count = packs.len() + names.len();
    let mut operands = Vec::new();
    for _ in 0..1 + random.below(3) {
        operands.push(some(count, &mut random));
    }
    let mut target: Vec<usize> = operands.concat();
    target.sort_unstable();
    target.dedup();
    random.shuffle(&mut target);
    target.truncate(random.below(target.len() + 1));
    let indices = |units: &[usize], packed: bool| -> Vec<String> {
        let of = |unit: &usize| match packs.get(*unit) {
            Some(pack) if packed => vec![format!("{}...", pack.name)],
            Some(pack) => pack.indices(),
            None => vec![names[unit - packs.len()].to_owned()],
        };
        units.iter().flat_map(of).collect()
    };
    let order = |units: &[usize]| indices(units, false).len();
    let access = |name: &str, units: &[usize], packed| match indices(units, packed) {
        list if list.is_empty() => name.to_owned(),
        list => format!("{name}({})", list.join(", ")),
    };
    let declared = |name: &str, units: &[usize], random: &mut Random| match order(units) {
        0 => format!("{name}: f64"),
        order => format!("{name}: {} order {order}", random.choose(&["dense", "coo", "csf"])),
    };
    let operator = *random.choose(&[" * ", " + "]);
    let parameters: Vec<String> =
        operands.iter().enumerate().map(|(id, units)| declared(&format!("B{id}"), units, &mut random)).collect();
    let result = match order(&target) {
        0 => "A: f64".to_owned(),
        order => format!("A: dense order {order}"),
    };
    let text = |packed: bool| {
        let terms = operands.iter().enumerate().map(|(id, units)| access(&format!("B{id}"), units, packed));
        let terms: Vec<String> = terms.collect();
        let target = access("A", &target, packed);
        format!("fn kernel({}) -> {result} {{ {target} = {}; }}", parameters.join(", "), terms.join(operator))
    };
    // A tensor with one of the packs tells that one; both together are only known where they stand for no index.
    let tells = |units: &Vec<usize>| units.contains(&0) != units.contains(&1);
    let has_both = |units: &Vec<usize>| units.contains(&0) && units.contains(&1);
    let mut accesses = operands.iter().chain([&target]);
    let is_told = packs.iter().all(|pack| pack.modes == 0) || accesses.clone().any(tells) || !accesses.any(has_both);
    // A pack of no index that is all there is leaves no parentheses, which a text with packs has.
    ([text(true), text(false)], is_told)
}

/// Some of `count` units, each once, in any order.
fn some(count: usize, random: &mut Random) -> Vec<usize> {
    let mut units: Vec<usize> = (0..count).collect();
    random.shuffle(&mut units);
    units.truncate(1 + random.below(count));
    units
}

/// An einsum string, and the assignment that it stands for.
pub fn einsum(seed: u64) -> [String; 2] {
    let mut random = Random::new(seed.wrapping_mul(0x4000_0003).wrapping_add(7));
    let letters = ["i", "j", "k", "l"];
    let mut operands: Vec<Vec<&str>> = Vec::new();
    for _ in 0..1 + random.below(3) {
        let order = 1 + random.below(3);
        operands.push((0..order).map(|_| *random.choose(&letters)).collect());
    }
    let all = operands.concat();
    let mut own: Vec<&str> = letters.into_iter().filter(|letter| all.contains(letter)).collect();
    let is_explicit = random.chance(0.7);
    if is_explicit {
        random.shuffle(&mut own);
        own.truncate(random.below(own.len() + 1));
    } else {
        own.retain(|letter| all.iter().filter(|other| *other == letter).count() == 1);
    }
    let subscripts: Vec<String> = operands.iter().map(|operand| operand.concat()).collect();
    let mut string = subscripts.join(",");
    if is_explicit || operands.len() == 1 {
        string = format!("{string}->{}", own.concat());
    }
    let access = |name: &str, indices: &[&str]| match indices {
        [] => name.to_owned(),
        indices => format!("{name}({})", indices.join(", ")),
    };
    let factors: Vec<String> =
        operands.iter().zip(["A", "B", "C"]).map(|(operand, name)| access(name, operand)).collect();
    [string, format!("{} = {}", access("R", &own), factors.join(" * "))]
}
