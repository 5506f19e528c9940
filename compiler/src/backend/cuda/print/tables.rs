//! Teams of threads, and the tables that they have in shared memory.

use super::helpers::Helpers;
use super::{Printer, element};
use crate::backend::namer::Namer;
use crate::gpu::Parameter;
use crate::gpu::plan::{Table, Teams, WARP};
use crate::gpu::rewrite::mentioned;
use crate::ir::{ArrayElement, ArrayId, Expr, Kernel, Statement, VariableId};
use std::collections::BTreeMap;

/// The names of what a thread knows of its team.
pub(super) struct Team {
    first: String,
    end: String,
    inner: String,
    slots: String,
    /// The counts of keys, by table.
    counts: BTreeMap<ArrayId, String>,
    /// Whether the loop around is shared by parts of the team.
    is_in_parts: bool,
}

impl Team {
    pub(super) fn new(namer: &mut Namer) -> Self {
        let [first, end, inner, slots] = ["first_row", "end_row", "inner", "slots"].map(|name| namer.name(name));
        Self { first, end, inner, slots, counts: BTreeMap::new(), is_in_parts: false }
    }

    /// What the function is called with.
    pub(super) fn parameter(&self, parameter: Parameter) -> String {
        match parameter {
            Parameter::First => format!("u64 {}", self.first),
            Parameter::End => format!("u64 {}", self.end),
            _ => format!("u64 {}", self.inner),
        }
    }
}

impl Printer<'_> {
    fn team(&self) -> &Team {
        self.team.as_ref().expect("only functions of teams have tables")
    }

    fn table(&self, table: ArrayId) -> Table {
        self.function.tables.iter().find(|own| own.table == table).cloned().expect("tables are those of the function")
    }

    /// What the threads of a team do.
    pub(super) fn teams(&mut self, teams: Teams) {
        let Team { first, end, slots, .. } = self.team();
        let (first, end, slots) = (first.clone(), end.clone(), slots.clone());
        self.line("extern __shared__ u64 shared_words[];");
        let row = self.declare_variable(teams.row);
        self.line(&format!("const u64 {row} = {first} + (u64)blockIdx.x * blockDim.y + threadIdx.y;"));
        self.line(&format!("if ({row} >= {end}) return;"));
        let lane = self.declare_variable(teams.lane);
        self.line(&format!("const u64 {lane} = threadIdx.x;"));
        let all = format!("blockDim.x < {WARP} ? (1u << blockDim.x) - 1 : 0xffffffffu");
        self.line(&format!("const u32 mates = ({all}) << threadIdx.y * blockDim.x % {WARP};"));
        self.line(&format!("const u32 {slots} = {} / blockDim.y;", teams.slots));
        self.declare_tables(&slots);
        self.block(&self.function.body);
    }

    /// The part that the team has of each array of its tables.
    fn declare_tables(&mut self, slots: &str) {
        let mut begin = 0;
        let mut tables = self.function.tables.iter();
        for (array, end) in self.function.table_words(self.kernel) {
            let from = if begin == 0 { "shared_words".to_owned() } else { format!("(shared_words + {begin})") };
            match array {
                Some(array) => {
                    let ty = element(self.kernel.array(array).element);
                    let name = self.declare_array(array);
                    self.line(&format!("{ty}* const {name} = ({ty}*){from} + threadIdx.y * {slots};"));
                }
                None => {
                    let table = tables.next().expect("each table has a count");
                    let name = self.namer.name(&format!("{}_count", self.kernel.array(table.keys).name));
                    self.line(&format!("u32* const {name} = (u32*){from} + threadIdx.y;"));
                    self.lengths.insert(table.keys, format!("{name}[0]"));
                    if let Some(team) = &mut self.team {
                        team.counts.insert(table.table, name);
                    }
                }
            }
            begin = end;
        }
    }

    /// A loop that the team shares, or lanes of a part of it.
    pub(super) fn shared_loop(&mut self, variable: VariableId, begin: &Expr, end: &Expr, body: &[Statement]) {
        let lane = self.function.teams().map_or(String::new(), |teams| self.variables[&teams.lane].clone());
        let inner = self.team().inner.clone();
        let (is_inside, has_inside) = (self.team().is_in_parts, body.iter().any(has_shared_loop));
        let (own, step) = match (is_inside, has_inside) {
            (true, _) => (format!("{lane} % {inner}"), inner),
            (false, true) => (format!("{lane} / {inner}"), format!("blockDim.x / {inner}")),
            (false, false) => (lane, "blockDim.x".to_owned()),
        };
        let is_steady = self.is_steady(end);
        let (begin, mut end) = (self.operand(begin), self.operand(end));
        let mut begin = if begin == "0" { own } else { format!("{begin} + {own}") };
        self.namer.enter();
        let name = self.declare_variable(variable);
        if !is_steady {
            let once = self.namer.name(&format!("{name}_end"));
            begin += &format!(", {once} = {end}");
            end = once;
        }
        self.set_in_parts(is_inside || has_inside);
        self.nest(&format!("for (u64 {name} = {begin}; {name} < {end}; {name} += {step})"), |printer| {
            printer.block(body)
        });
        self.set_in_parts(is_inside);
        self.namer.leave();
        if self.function.teams().is_some_and(|teams| teams.in_order) && body.iter().any(inserts) {
            self.meet_team();
        }
    }

    fn set_in_parts(&mut self, is_in_parts: bool) {
        if let Some(team) = &mut self.team {
            team.is_in_parts = is_in_parts;
        }
    }

    fn meet_team(&mut self) {
        let meet = self.helpers.meet_team();
        self.line(&format!("{meet}(mates);"));
    }

    /// Takes all keys out of a table.
    pub(super) fn empty_table(&mut self, table: ArrayId) {
        let table = self.table(table);
        let lane = self.function.teams().map_or(String::new(), |teams| self.variables[&teams.lane].clone());
        let (count, slots) = (self.team().counts[&table.table].clone(), self.team().slots.clone());
        let (keys, none) = (self.arrays[&table.keys].clone(), no_key(self.kernel, &table));
        self.meet_team();
        self.namer.enter();
        let slot = self.namer.name("slot");
        self.nest(&format!("for (u32 {slot} = {lane}; {slot} < {slots}; {slot} += blockDim.x)"), |printer| {
            printer.line(&format!("{keys}[{slot}] = {none};"));
            for (array, first) in &table.values {
                let (array, first) = (printer.arrays[array].clone(), printer.expr(first));
                printer.line(&format!("{array}[{slot}] = {first};"));
            }
        });
        self.namer.leave();
        self.line(&format!("if ({lane} == 0) {count}[0] = 0;"));
        self.meet_team();
    }

    /// Finds the slot of a key, or gives it one.
    pub(super) fn insert(&mut self, place: VariableId, key: &Expr, table: ArrayId) {
        let table = self.table(table);
        let (count, slots) = (self.team().counts[&table.table].clone(), self.team().slots.clone());
        let insert = self.helpers.insert(self.kernel.array(table.keys).element, table.places.is_some());
        let keys = self.arrays[&table.keys].clone();
        let places = table.places.map_or(String::new(), |places| format!(", {}", self.arrays[&places]));
        let key = self.expr(key);
        let call = format!("{insert}({keys}{places}, {count}, {slots} - 1, {key});");
        if mentioned(&self.function.body).contains(&place) {
            let place = self.declare_variable(place);
            self.line(&format!("const u64 {place} = {call}"));
        } else {
            self.line(&call);
        }
    }

    /// Sorts the slots that have keys.
    pub(super) fn sort(&mut self, table: ArrayId) {
        let table = self.table(table);
        let Some(places) = table.places else { return self.meet_team() };
        let lane = self.function.teams().map_or(String::new(), |teams| self.variables[&teams.lane].clone());
        let sort = self.helpers.sort(self.kernel.array(table.keys).element);
        let (keys, places) = (self.arrays[&table.keys].clone(), self.arrays[&places].clone());
        let count = self.team().counts[&table.table].clone();
        self.line(&format!("{sort}({keys}, {places}, {count}, {lane}, mates);"));
    }
}

/// What a slot has that has no key.
fn no_key(kernel: &Kernel, table: &Table) -> String {
    let ty = element(kernel.array(table.keys).element);
    if ty == "u64" { "~0ull".to_owned() } else { "~0u".to_owned() }
}

fn has_shared_loop(statement: &Statement) -> bool {
    let mut has = false;
    statement.for_each(&mut |statement| has |= matches!(statement, Statement::For { vector: true, .. }));
    has
}

fn inserts(statement: &Statement) -> bool {
    let mut inserts = false;
    statement.for_each(&mut |statement| inserts |= matches!(statement, Statement::Insert { .. }));
    inserts
}

impl Helpers {
    /// Waits for the threads of a team.
    fn meet_team(&mut self) -> String {
        self.add("meet_team".to_owned(), |name| {
            format!(
                "// Waits for all threads of a team: part of a warp, or the whole block.
static __device__ void {name}(u32 mates) {{
    if (blockDim.x > 32) __syncthreads();
    else __syncwarp(mates);
}}
"
            )
        })
    }

    /// Finds the slot of a key, or gives it one; where they are asked for, `lists` it among the slots that have keys.
    fn insert(&mut self, held: ArrayElement, lists: bool) -> String {
        let ty = element(held);
        let none = if ty == "u64" { "~0ull" } else { "~0u" };
        let (name, parameter, new) = match lists {
            true => ("insert", " u16* places,", "places[atomicAdd(count, 1u)] = slot;"),
            false => ("count", "", "atomicAdd(count, 1u);"),
        };
        self.add(format!("{name}_key_{ty}"), |name| {
            format!(
                "// The slot of a key in a table with room for it, which has one slot more than the mask says.
static __device__ u32 {name}({ty}* keys,{parameter} u32* count, u32 mask, u64 key) {{
    const {ty} none = {none};
    for (u32 slot = (u32)(key ^ key >> 32) * 2654435769u >> 16 & mask;; slot = (slot + 1) & mask) {{
        {ty} found = *(volatile {ty}*)&keys[slot];
        if (found == none) {{
            found = atomicCAS(&keys[slot], none, ({ty})key);
            if (found == none) {{
                {new}
                return slot;
            }}
        }}
        if (found == key) return slot;
    }}
}}
"
            )
        })
    }

    /// Sorts slots by their keys.
    fn sort(&mut self, held: ArrayElement) -> String {
        let (ty, meet) = (element(held), self.meet_team());
        self.add(format!("sort_by_{ty}"), |name| {
            format!(
                "// Sorts slots by their keys: a bitonic network, of which each first step mirrors, so that all go up.
static __device__ void {name}(const {ty}* keys, u16* slots, const u32* count, u32 lane, u32 mates) {{
    {meet}(mates);
    const u32 length = *count;
    for (u32 run = 2; run < 2 * length; run *= 2) {{
        for (u32 apart = run; apart > 1; apart /= 2) {{
            const u32 half = apart / 2;
            for (u32 pair = lane; pair / half * apart < length; pair += blockDim.x) {{
                const u32 begin = pair / half * apart, low = begin + pair % half;
                const u32 high = apart == run ? begin + apart - 1 - pair % half : low + half;
                if (high < length && keys[slots[low]] > keys[slots[high]]) {{
                    const u16 slot = slots[low];
                    slots[low] = slots[high];
                    slots[high] = slot;
                }}
            }}
            {meet}(mates);
        }}
    }}
}}
"
            )
        })
    }
}
