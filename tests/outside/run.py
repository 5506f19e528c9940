"""Random programs through files: what `spc run` writes is what NumPy computes.

    python run.py --binary target/release/spc --count 1000 --seed 1 --backend interpreter --jobs 2 --keep DIR

Each program is written as text and its operands as files; `spc run` runs as a process, and its files are read back, all by code of
this folder alone. A wrong result, a signal, an exit status other than 0 and 1, a fault that `spc` itself names, and a timeout are
failures: each is made smaller and printed as a shell script. Programs that are refused are counted by error code. Exit status 0:
no failure, and not too many refused.

    python run.py --binary target/release/spc --count 1000 --backend interpreter --ranks 7

runs each program on some number of ranks up to that, with what they share out at random, by option or directive. Then a refusal that
does not say what to do is a failure, too, and so is it if fewer than a third of all programs run on two ranks or more.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


import files
from evaluate import TooLarge, difference, evaluate
from generate import generate
from language import declaration, kernel_text, statement_text
from shrink import smaller

MEMORY = 4 << 30
# In seconds; a native run waits for rustc.
TIMEOUT = {"interpreter": 30, "jit": 60, "native": 180}

# Why a program that runs by itself may be refused on ranks.
IS_OF_RANKS = re.compile(
    "is not made of those of parts of|can't be distributed|several statements is not distributed|is no index of the result"
    "|parts of the range of|the range of `|a grid (over|of other than)|is dense|is known only when the kernel runs|has the pattern of another input"
    "|does not come in parts|says nothing that ranks share out"
)


@dataclasses.dataclass
class Outcome:
    kind: str  # fine, refused, wrong, crash, left out; of ranks also: no remedy, only on ranks
    text: str = ""
    code: str = ""


class Command:
    """Runs programs in a folder of its own."""

    def __init__(self, options):
        self.options = options
        self.folder = tempfile.mkdtemp(prefix="outside-")
        self.cache = os.path.join(options.cache, f"{os.getpid()}")
        os.makedirs(self.cache, exist_ok=True)
        self.time = 0.0

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def files(self, program):
        """Everything that a run reads: names and how they are written; and the commands, the one whose results count last."""
        commands = []
        arguments = ["run"]
        kernel = program.kernel
        if self.is_inline(program):
            arguments.append(statement_text(kernel.statements[0]).rstrip(";"))
            for tensor in kernel.parameters + kernel.results:
                # Dense is what nobody says of a result, or of an input that is a dense file.
                is_usual = (tensor.format, tensor.element, tensor.fill) == ("dense", "f64", None)
                is_implied = tensor in kernel.results or program.inputs[tensor.name].presentation.kind == "npy"
                if tensor.format is not None and not (is_usual and is_implied):
                    arguments += ["-f", f"{tensor.name}={declaration(tensor)}"]
        else:
            arguments.append("program.ti")
            if program.others:
                arguments += ["--kernel", kernel.name]
        for tensor in kernel.parameters:
            data = program.inputs[tensor.name]
            presentation = data.presentation
            if presentation.kind == "scalar":
                arguments += ["-i", f"{tensor.name}={scalar(data.values[0], tensor.element)}"]
                continue
            name = presentation.name(tensor.name)
            if presentation.kind == "spct":
                commands.append(["convert", f"{tensor.name}.npy", name, "--format", presentation.format, "--element", tensor.element])
            arguments += ["-i", f"{tensor.name}={name}"]
        for name, extent in program.dims:
            arguments += ["--dim", f"{name}={extent}"]
        after = []
        for name, kind in program.outputs.items():
            if kind == "-":
                arguments += ["-o", f"{name}=-"]
            elif kind.startswith("spct>"):
                arguments += ["-o", f"{name}={name}.out.spct"]
                element = next(tensor.element for tensor in kernel.results if tensor.name == name)
                after.append(["convert", f"{name}.out.spct", f"{name}.out.{kind[5:]}", "--element", element])
            else:
                arguments += ["-o", f"{name}={name}.out.{kind}"]
        ranks = program.ranks
        if ranks is not None:
            # On an odd number of them, entries that need no rows of others go first, wherever that is right.
            arguments += ["--ranks", str(ranks.count), "--overlap", ("auto", "always")[ranks.count % 2]]
            if ranks.shared is not None and not ranks.directive:
                arguments += ["--distribute", ranks.option()]
        elif program.seed % 16 == 0:
            arguments += ["--repeat", "2"]
        arguments += ["--backend", self.options.backend, "--threads", str(program.threads)]
        return commands + [arguments] + after

    def is_inline(self, program):
        return program.inline and not program.definitions

    def text(self, program):
        parts = [f"format {definition.name} = {definition.body};\n" for definition in program.definitions]
        kernel = program.kernel
        if program.ranks is not None and program.ranks.directive:
            kernel = dataclasses.replace(kernel, schedule=kernel.schedule + (program.ranks.text(),))
        return "".join(parts) + "".join(kernel_text(kernel) for kernel in program.others + (kernel,))

    def write(self, program, folder):
        with open(os.path.join(folder, "program.ti"), "w") as file:
            file.write(self.text(program))
        for tensor in program.kernel.parameters:
            data = program.inputs[tensor.name]
            presentation = data.presentation
            if presentation.kind == "scalar":
                continue
            if presentation.kind == "spct":
                presentation = dataclasses.replace(presentation, kind="npy", gz=False)
            path = os.path.join(folder, presentation.name(tensor.name))
            files.write(path, data.coordinates, data.values, tensor.element, program.shapes[tensor.name], presentation)

    def run(self, program):
        fault = None
        try:
            expected = evaluate(program)
        except TooLarge as error:
            return Outcome("left out", str(error), "too large")
        except ZeroDivisionError:
            return Outcome("left out", "a division by zero", "zero divisor")
        except Exception as error:
            # A text of wrong types has no value, and must be refused.
            fault = error
        for name in os.listdir(self.folder):
            os.remove(os.path.join(self.folder, name))
        self.write(program, self.folder)
        output = b""
        for command in self.files(program):
            outcome, output_of = self.call(command)
            if outcome is not None:
                if program.ranks is not None and outcome.kind == "refused" and not self.says_what_to_do(outcome.text):
                    return Outcome("no remedy", outcome.text, outcome.code)
                if program.ranks is not None and outcome.kind == "refused" and not IS_OF_RANKS.search(outcome.text):
                    alone = self.run(dataclasses.replace(program, ranks=None))
                    return Outcome("only on ranks", outcome.text, outcome.code) if alone.kind == "fine" else outcome
                return outcome
            if command[0] == "run":
                output = output_of
        if fault is not None:
            raise fault
        for tensor in program.kernel.results:
            kind = program.outputs[tensor.name]
            held = expected[tensor.name]
            path = os.path.join(self.folder, f"{tensor.name}.out.{kind.removeprefix('spct>')}")
            try:
                data = output if kind == "-" else open(path, "rb").read()
                plain = "tns" if kind == "-" else kind.removeprefix("spct>").removesuffix(".gz")
                shape, fill, coordinates, values = files.parse(data, plain, kind.endswith(".gz"), tensor.element, len(held.shape))
                wrong = difference(held, shape, coordinates, values)
            except (files.Malformed, OSError, ValueError, EOFError) as error:
                wrong = f"the file can't be read: {error}"
            if wrong:
                return Outcome("wrong", f"{tensor.name}: {wrong}", "wrong")
        return Outcome("fine")

    def says_what_to_do(self, said):
        """Whether an error has a part that helps: a line of its own, or after a semicolon."""
        return "= help:" in said or "; " in said

    def call(self, arguments):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        environment = {**os.environ, "SPC_CACHE": self.cache, "RUST_BACKTRACE": "0", "NO_COLOR": "1"}
        start = time.monotonic()
        try:
            done = subprocess.run(
                [self.options.binary, *arguments], cwd=self.folder, env=environment, capture_output=True, timeout=TIMEOUT[self.options.backend],
                preexec_fn=limit if self.options.backend == "interpreter" else None, stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return Outcome("crash", f"no answer in {TIMEOUT[self.options.backend]} seconds", "timeout"), b""
        self.time += time.monotonic() - start
        said = done.stderr.decode(errors="replace")
        if done.returncode not in (0, 1) or "fault of spc" in said or "panicked" in said:
            return Outcome("crash", f"exit status {done.returncode}\n{said[:1500]}", first_line(said)), b""
        if done.returncode == 1:
            found = re.search(r"error\[(E\d+)\]", said)
            line = first_line(said) if not self.options.ranks else re.sub(r"`[^`]*`?", "`_`", first_line(said))
            code = f"{found[1]} {line}" if found else line
            return Outcome("refused", said, code), b""
        return None, done.stdout


def first_line(said):
    lines = [line for line in said.splitlines() if line.strip()]
    line = next((line for line in lines if "panicked" in line or "error" in line), lines[0] if lines else "nothing said")
    return re.sub(r"\d+", "N", line)[:100]


def scalar(value, element):
    if element in ("c64", "c32"):
        return f"{float(value.real)!r}{float(value.imag):+}i"
    if element == "bool":
        return "true" if value else "false"
    return repr(float(value)) if element in ("f64", "f32") else str(int(value))


def script(command, program, outcome):
    """A shell script that shows the failure by itself."""
    lines = ["#!/bin/sh", f"# seed {program.seed} ({program.style})"]
    lines += [f"# {line}" for line in outcome.text.strip().splitlines()[:8]]
    lines += ["cd \"$(mktemp -d)\"", "cat > program.ti <<'END'", command.text(program).rstrip(), "END"]
    folder = tempfile.mkdtemp(prefix="outside-script-")
    try:
        command.write(program, folder)
        for name in sorted(os.listdir(folder)):
            if name == "program.ti":
                continue
            data = open(os.path.join(folder, name), "rb").read()
            if len(data) > 20_000:
                lines.append(f"# {name} has {len(data)} bytes: run seed {program.seed} with --keep")
                continue
            quoted = "".join(chr(byte) if 32 <= byte < 127 and chr(byte) not in "'\\%" else f"\\{byte:03o}" if byte != 10 else "\\n" for byte in data)
            lines.append(f"printf '{quoted.replace(chr(37), chr(37) * 2)}' > {name}")
    finally:
        shutil.rmtree(folder)
    for arguments in command.files(program):
        lines.append("spc " + " ".join(shlex.quote(argument) for argument in arguments))
    lines += [f"cat {name}.out.{kind.removeprefix('spct>')}" for name, kind in program.outputs.items() if kind.endswith(("tns", "mtx"))]
    return "\n".join(lines) + "\n"


def same(one, other):
    """Whether two failures are likely of one cause."""
    return one.kind == other.kind and (one.kind == "wrong" or one.code == other.code)


def shrunk(command, program, outcome, seconds):
    """A smaller program that fails in the same way, found greedily."""
    end = time.monotonic() + seconds
    without = lambda program: command.run(dataclasses.replace(program, ranks=None))
    # Then it stays so, in what is smaller.
    only_on_ranks = program.ranks is not None and without(program).kind == "fine"
    while True:
        for candidate in smaller(program):
            if time.monotonic() > end:
                return program, outcome
            try:
                found = command.run(candidate)
                if only_on_ranks and same(found, outcome) and without(candidate).kind != "fine":
                    continue
            except Exception:
                continue
            if same(found, outcome):
                program, outcome = candidate, found
                break
        else:
            return program, outcome


def work(job):
    seeds, options = job
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    command = Command(options)
    counts = collections.Counter()
    refused, failures = {}, []
    styles = collections.Counter()
    start = time.monotonic()
    for seed in seeds:
        if options.seconds and time.monotonic() - start > options.seconds:
            break
        try:
            program = generate(seed, options)
            outcome = command.run(program)
        except Exception:
            counts["fault of the oracle"] += 1
            failures.append((seed, "fault of the oracle", f"# seed {seed}\n{traceback.format_exc()}"))
            continue
        counts[outcome.kind] += 1
        if program.ranks is not None and program.ranks.count > 1 and outcome.kind == "fine":
            counts["on ranks"] += 1
        styles[program.style, outcome.kind] += 1
        if outcome.kind in ("refused", "left out"):
            entry = refused.setdefault(outcome.code, [0, program.style, script(command, program, outcome) if len(refused) < 60 else ""])
            entry[0] += 1
        elif outcome.kind in ("wrong", "crash", "no remedy", "only on ranks"):
            if len(failures) < options.most:
                small, why = shrunk(command, program, outcome, options.shrink)
            else:
                small, why = program, outcome
            failures.append((seed, f"{why.kind}: {why.text.splitlines()[0] if why.text else ''}", script(command, small, why)))
    command.close()
    return counts, refused, failures, styles, command.time


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="spc")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", choices=["interpreter", "jit", "native"], default="interpreter")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", help="a folder for scripts of failures and of one program for each refusal")
    parser.add_argument("--only", help="one kind of programs: general, schedule, shift, huge, mask")
    parser.add_argument("--all", action="store_true", help="also programs that show known faults")
    parser.add_argument("--ranks", type=int, default=0, help="run each on up to so many ranks")
    parser.add_argument("--show", type=int, help="print the program of this seed as a script, and run nothing")
    parser.add_argument("--seconds", type=float, default=0, help="begin no program after so many seconds")
    parser.add_argument("--shrink", type=float, default=20, help="seconds to make a failure smaller")
    parser.add_argument("--most", type=int, default=6, help="how many failures of each job are made smaller")
    options = parser.parse_args()
    options.binary = shutil.which(options.binary) or options.binary
    options.binary = os.path.abspath(options.binary)
    options.cache = tempfile.mkdtemp(prefix="outside-cache-")
    try:
        if options.show is not None:
            program = generate(options.show, options)
            command = Command(options)
            print(script(command, program, Outcome("fine")))
            print(command.run(program))
            command.close()
            return 0
        return report(options)
    finally:
        shutil.rmtree(options.cache, ignore_errors=True)


def report(options):
    start = time.monotonic()
    seeds = range(options.seed, options.seed + options.count)
    jobs = [(list(seeds[part :: options.jobs]), options) for part in range(options.jobs)]
    if options.jobs == 1:
        results = [work(jobs[0])]
    else:
        with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
            results = list(pool.map(work, jobs))
    counts, styles, refused, failures = collections.Counter(), collections.Counter(), {}, []
    for part_counts, part_refused, part_failures, part_styles, _ in results:
        counts += part_counts
        styles += part_styles
        failures += part_failures
        for code, (number, style, text) in part_refused.items():
            entry = refused.setdefault(code, [0, style, text])
            entry[0] += number
    seconds = time.monotonic() - start
    on_ranks = counts.pop("on ranks", 0)
    ran = sum(counts.values())
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
        for seed, _, text in failures:
            with open(os.path.join(options.keep, f"{seed}.sh"), "w") as file:
                file.write(text)
        for code, (_, _, text) in refused.items():
            with open(os.path.join(options.keep, re.sub(r"\W+", "_", code)[:60] + ".refused.sh"), "w") as file:
                file.write(text)
    for seed, why, text in sorted(failures):
        print(f"== {why}\n{text}")
    for code, (number, style, _) in sorted(refused.items(), key=lambda entry: -entry[1][0]):
        print(f"{number:6} refused: {code} (first in {style})")
    print(", ".join(f"{number} {kind}" for kind, number in counts.most_common()))
    share = counts["refused"] / max(ran, 1)
    print(f"{ran} programs in {seconds:.1f} s ({ran / seconds:.1f} a second), {100 * share:.1f} % refused, {len(failures)} failures")
    for style in sorted({style for style, _ in styles}):
        print(f"   {style}: " + ", ".join(f"{number} {kind}" for (of, kind), number in styles.items() if of == style))
    if options.ranks:
        print(f"{on_ranks} of {ran} ran on two ranks or more")
        return 1 if failures or ran >= 100 and on_ranks < ran / 3 else 0
    return 1 if failures or ran >= 100 and share > 0.25 else 0


if __name__ == "__main__":
    sys.exit(main())
