"""Bytes that ranks send for MTTKRP, beside SPLATT's decomposition and one of slices.

    python volumes.py --binary target/release/spc --ranks 64,1024 --table x.tns.gz y.tns.gz

For each tensor and number of ranks: what the medium-grained decomposition of SPLATT sends, counted here, what a decomposition in slices
of one mode does, and what `spc explain --ranks` says of its placements. All are bytes of one MTTKRP with 16 columns of f64: rows of
factors that ranks need and do not own, and partial rows of the result that go to their owners.

SPLATT: Smith and Karypis, "A medium-grained algorithm for distributed sparse tensor factorization" (IPDPS 2016), as its repository has
it in src/mpi: the grid of `p_get_best_mpi_dim`, the layers of `p_find_layer_boundaries`, the owners of `p_greedy_mat_distribution`. It
sends rows of each mode to their owners and as many back. One MTTKRP has those of its own mode in the first direction and those of the
others in the second. SPLATT itself prints four times the mean number of rows as AVG COMMUNICATION VOL: each is sent and taken, twice.

Slices: each rank has as many slices of the mode of the result as any other, in order, and as many rows of each factor.

Of spc: `choice` takes least time by its model, `fewest` sends fewest bytes, and `even` the fewest of those in which the most entries of
a rank are no more than SPLATT's. Only placements that share out entries are looked at: a part of the range of `r` sends nothing,
because every rank has all entries.

Exit status 0: in no case does even the placement of fewest bytes send more than SPLATT.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import time

import numpy as np

ROW = 16 * 8


def read(path):
    """A column of coordinates for each mode, from 0."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rb") as file:
        first = file.readline()
        order = len(first.split()) - 1
        numbers = np.fromstring(first + file.read(), np.float64, sep=" ")
    return [numbers[mode :: order + 1].astype(np.int64) - 1 for mode in range(order)]


def primes(number):
    """Prime factors, the largest first."""
    found, factor = [], 2
    while number > 1:
        while number % factor == 0:
            found.append(factor)
            number //= factor
        factor += 1
    return found[::-1]


# ---------------------------------------------------------------------------------------------------------------------
# SPLATT


def splatt_grid(shape, ranks):
    """Each factor goes to the mode that is furthest above the mean, the first of several."""
    grid = [1] * len(shape)
    target = sum(shape) // ranks
    for factor in primes(ranks):
        above = [max(extent // parts - target, 0) for extent, parts in zip(shape, grid)]
        grid[above.index(max(above))] *= factor
    return grid


def splatt_layers(sizes, layers):
    """The layer of each slice: a cut after the slice that reaches the mean, counted from whichever end is nearer."""
    total, extent = int(sizes.sum()), len(sizes)
    begins = [0]
    if layers > 1:
        target, last, seen = total // layers, 0, int(sizes[0])
        for place, size in enumerate(sizes[1:].tolist(), 1):
            if seen >= last + target:
                before = seen - int(sizes[place - 1])
                last = before if (last + target) - before < seen - (last + target) else seen
                begins.append(place)
                if len(begins) == layers:
                    break
                target = (total - last) // max(1, layers - (len(begins) - 1))
            seen += size
    layer = np.zeros(extent, np.int64)
    layer[begins[1:]] = 1
    return np.cumsum(layer)


def splatt_owners(users):
    """The owner of each row of a layer, where `users` says which of its ranks has which row.

    A row of one rank is that rank's. Then the rank of least volume claims of its own rows as many as bring it to that of the next, or,
    where the one before found none, of any rows.
    """
    extent, ranks = users.shape
    count = users.sum(axis=1)
    owner = np.where(count == 1, np.argmax(users, axis=1), -1)
    claimed = count < 2
    left = int(np.sum(~claimed))
    volumes = users[count > 1].sum(axis=0)
    rows_of = [None] * ranks
    begin = [0] * ranks
    anywhere = 0
    last, must = 0, False
    while left:
        one = (last + 1) % ranks
        other = (last + 2) % ranks
        least = int(volumes.min())
        if volumes[one] > least:
            # A pass from the first rank on, which keeps the least so far and the one before it.
            lower = np.flatnonzero(volumes < volumes[one])
            chain = lower[np.flatnonzero(np.diff(np.minimum.accumulate(volumes[lower]), prepend=volumes[one]) < 0)]
            other = int(chain[-2]) if len(chain) > 1 else one
            one = int(chain[-1])
        work = min(int(volumes[other] - volumes[one]), left) or max(left // ranks, 1)
        if rows_of[one] is None:
            rows_of[one] = np.flatnonzero(users[:, one])
        rows, place, found = rows_of[one], begin[one], 0
        while place < len(rows) and found < work:
            row = rows[place]
            if not claimed[row]:
                claimed[row], owner[row] = True, one
                found += 1
            place += 1
        begin[one] = place
        while must and found < work:
            if not claimed[anywhere]:
                claimed[anywhere], owner[anywhere] = True, one
                found += 1
            anywhere += 1
        volumes[one] += found
        left -= found
        last, must = one, found == 0
    return owner


def users_of(column, extent, rank_of, ranks):
    """Which rank has an entry in which slice."""
    users = np.zeros(extent * ranks, np.bool_)
    users[column * ranks + rank_of] = True
    return users.reshape(extent, ranks)


def splatt(columns, shape, ranks):
    """The grid, the rows that are sent, and the most entries of a rank over the mean."""
    grid = splatt_grid(shape, ranks)
    layers = [splatt_layers(np.bincount(column, minlength=extent), parts) for column, extent, parts in zip(columns, shape, grid)]
    rank_of = np.zeros(len(columns[0]), np.int64)
    for column, layer, parts in zip(columns, layers, grid):
        rank_of = rank_of * parts + layer[column]
    sends, takes = np.zeros(ranks, np.int64), np.zeros(ranks, np.int64)
    for mode, (column, extent) in enumerate(zip(columns, shape)):
        users = users_of(column, extent, rank_of, ranks)
        # Ranks of a layer have one coordinate of the grid in this mode.
        inner = int(np.prod(grid[mode + 1 :]))
        at = np.arange(ranks) // inner % grid[mode]
        for layer in range(grid[mode]):
            rows, here = np.flatnonzero(layers[mode] == layer), np.flatnonzero(at == layer)
            if not len(rows):
                continue
            of_layer = users[np.ix_(rows, here)]
            owner = splatt_owners(of_layer)
            is_user = of_layer[np.arange(len(rows)), np.maximum(owner, 0)] & (owner >= 0)
            others = of_layer.sum(axis=1) - is_user
            owned = owner >= 0
            sends += np.bincount(here[owner[owned]], others[owned], ranks).astype(np.int64)
            taken = of_layer.sum(axis=0)
            taken -= np.bincount(owner[is_user], minlength=len(here))
            takes[here] += taken
    entries = np.bincount(rank_of, minlength=ranks)
    assert sends.sum() == takes.sum()
    return grid, int(takes.sum()), entries.max() / entries.mean()


# ---------------------------------------------------------------------------------------------------------------------
# Slices of one mode


def slices(columns, shape, ranks):
    """The rows that are sent for the MTTKRP of each mode."""
    part = [np.arange(extent) * ranks // extent for extent in shape]
    rows = []
    for result in range(len(shape)):
        rank_of = part[result][columns[result]]
        sent = 0
        for mode, (column, extent) in enumerate(zip(columns, shape)):
            if mode != result:
                users = users_of(column, extent, rank_of, ranks)
                sent += int(users.sum()) - int(users[np.arange(extent), part[mode]].sum())
        rows.append(sent)
    return rows


# ---------------------------------------------------------------------------------------------------------------------
# What spc says


def explained(binary, path, order, result, ranks):
    """Its placements, the best first."""
    letters = "ijklmno"[:order]
    factors = "BCDEFGH"
    others = [(factors[mode], letter) for mode, letter in enumerate(letters) if mode != result]
    text = f"A({letters[result]}, r) = X({', '.join(letters)})" + "".join(f" * {name}({letter}, r)" for name, letter in others)
    command = [binary, "--json", "explain", text, "-i", f"X={path}", "--dim", "r=16", "--ranks", str(ranks)]
    for name, _ in others:
        command += ["-i", f"{name}=ones"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)["placements"]


def compared(binary, path, ranks, columns):
    shape = [int(column.max()) + 1 for column in columns]
    order = len(shape)
    grid, rows, imbalance = splatt(columns, shape, ranks)
    found = {
        "tensor": os.path.basename(path).split(".")[0], "ranks": ranks, "splatt": rows * ROW, "splatt_grid": "x".join(map(str, grid)),
        "splatt_imbalance": round(imbalance, 2), "slices": sum(slices(columns, shape, ranks)) * ROW // order,
    }
    if binary:
        all = [explained(binary, path, order, mode, ranks) for mode in range(order)]
        # Those of the range of an index have operands that every rank holds, which no rank sends and no count has.
        shared = [[placement for placement in placements if placement["distribute"].startswith("X")] for placements in all]
        first = [placements[0] for placements in shared]
        fewest = [min(placements, key=lambda placement: placement["bytes"]) for placements in shared]
        # As even as SPLATT's, or more so: a grid along a short mode sends little because most ranks have nothing.
        even = [
            min((placement for placement in placements if placement["imbalance"] <= imbalance + 0.005 or placement["distribute"] == "X"), key=lambda placement: placement["bytes"])
            for placements in shared
        ]
        mean = lambda placements: sum(placement["bytes"] for placement in placements) // order
        found |= {
            "first": [placements[0]["distribute"] for placements in all],
            "choice": [placement["distribute"] for placement in first], "choice_bytes": mean(first),
            "choice_imbalance": [round(placement["imbalance"], 2) for placement in first],
            "fewest": [placement["distribute"] for placement in fewest], "fewest_bytes": mean(fewest),
            "even": [placement["distribute"] for placement in even], "even_bytes": mean(even),
            "even_imbalance": [round(placement["imbalance"], 2) for placement in even],
            "fewest_imbalance": [round(placement["imbalance"], 2) for placement in fewest],
        }
    return found


def megabytes(count):
    return f"{count / 1e6:.3g}"


def table(found):
    """In megabytes, for each number of ranks."""
    counts = sorted({one["ranks"] for one in found})
    columns = {"choice_bytes": "choice", "even_bytes": "fewest as even", "splatt": "SPLATT", "slices": "slices"}
    lines = ["| |" + "".join(f" {title}, {count} |" for count in counts for title in columns.values())]
    lines.append("|---|" + "--:|" * len(columns) * len(counts))
    for name in dict.fromkeys(one["tensor"] for one in found):
        line = f"| {name} |"
        for count in counts:
            one = next(one for one in found if (one["tensor"], one["ranks"]) == (name, count))
            line += "".join(f" {megabytes(one[column]) if column in one else ''} |" for column in columns)
        lines.append(line)
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tensors", nargs="+", help=".tns files")
    parser.add_argument("--binary", help="spc; without it only SPLATT's and slices are counted")
    parser.add_argument("--ranks", default="4,16,64,256,1024,4096")
    parser.add_argument("--table", action="store_true", help="print a table, and not a line of JSON for each")
    options = parser.parse_args()
    found = []
    for path in options.tensors:
        columns = read(path)
        for ranks in map(int, options.ranks.split(",")):
            start = time.monotonic()
            found.append(compared(options.binary, path, ranks, columns))
            if not options.table:
                print(json.dumps(found[-1] | {"seconds": round(time.monotonic() - start, 1)}), flush=True)
    if options.table:
        print(table(found))
    return 1 if any(one.get("fewest_bytes", 0) > one["splatt"] for one in found) else 0


if __name__ == "__main__":
    sys.exit(main())
