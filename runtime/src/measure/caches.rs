//! The processor's caches, as far as the system tells.

use std::fs;
use std::path::Path;

/// A cache that holds data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    /// 1 is next to the core.
    pub level: u32,
    /// Its bytes.
    pub bytes: usize,
}

/// The data caches of the first processor, those next to the core first; none where the system does not tell. On a virtual
/// machine, the largest may be shared with others.
pub fn caches() -> Vec<Cache> {
    let folder = Path::new("/sys/devices/system/cpu/cpu0/cache");
    let mut caches: Vec<Cache> = (0..8).filter_map(|index| cache(&folder.join(format!("index{index}")))).collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

fn cache(folder: &Path) -> Option<Cache> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
    if read("type")?.trim() == "Instruction" {
        return None;
    }
    let level = read("level")?.trim().parse().ok()?;
    Some(Cache { level, bytes: size(read("size")?.trim())? })
}

/// `32K` in bytes.
fn size(text: &str) -> Option<usize> {
    let (number, unit) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1 << 10),
        b'M' => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    number.parse::<usize>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(["48K", "2M", "100", "", "xK"].map(size), [Some(49_152), Some(2 << 20), Some(100), None, None]);
        assert!(caches().windows(2).all(|pair| pair[0].level <= pair[1].level));
    }
}
