"""Builds programs with a mutant in them, and runs tests on these."""
import collections
import functools
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import time

from source import ROOT

BUILD = pathlib.Path("build/mutants")
UNIT = BUILD / "tests/unit"
MODEL = BUILD / "tests/model/test_model"
# Where unit programs find what they start.
ENGINE = {"SHORTLOOP_BIN": str(ROOT / BUILD / "bin")}
# A test that takes this many times as long as it does without a mutant, and some
# seconds, hangs.
HUNG_FACTOR, HUNG_SECONDS = 5, 60
INTEGRATION_SECONDS = 600
MAKE = ["make", "--no-print-directory", "B=" + str(BUILD), "CFLAGS=-O1"]
GOALS = ["all", "unit-programs", "fault-programs"]


class Broken(Exception):
    """A mutant, or what it is built from, does not compile."""


def run_quietly(command, seconds, environment=None):
    """(status, output); of what ran too long, the status is None.  Servers that it
    started end with it."""
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               errors="replace", start_new_session=True,
                               env=os.environ | (environment or {}))
    try:
        output, _ = process.communicate(timeout=seconds)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        return None, "hangs"
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


class Workshop:
    """A build of everything, and what its makefile does to build each file."""

    def __init__(self):
        jobs = f"-j{os.cpu_count()}"
        subprocess.run(MAKE + ["-s", jobs] + GOALS, cwd=ROOT, check=True)
        steps = subprocess.run(MAKE + ["-nB", "V=1"] + GOALS, cwd=ROOT, check=True,
                               capture_output=True, text=True).stdout
        self.compiling, self.linking, self.quoting = {}, {}, {}
        for line in steps.replace("\\\n", " ").splitlines():
            made = re.search(r" -o (\S+) ", line)
            quoted = re.search(r" > (\S+\.inc)$", line)
            if quoted:
                self.quoting[quoted[1]] = line
            elif made:
                kind = self.compiling if " -c " in line else self.linking
                kind[made[1]] = shlex.split(line)
        self.sources_of = collections.defaultdict(set)
        for object_file in self.compiling:
            notes = (ROOT / object_file).with_suffix(".d")
            if notes.exists():
                for path in notes.read_text().split():
                    self.sources_of[path].add(object_file)
        self.seconds = {}

    def quoted_path(self, path):
        """The file that sources include in place of a script that is quoted for them."""
        return str(BUILD / "gen" / (path + ".inc"))

    def objects_with(self, path):
        return self.sources_of[path] | self.sources_of[self.quoted_path(path)]

    @functools.cache
    def symbols_of(self, file):
        """The symbols that an object or a program defines for others."""
        out = subprocess.run(["nm", "--defined-only", "-g", file], cwd=ROOT, check=True,
                             capture_output=True, text=True).stdout
        return {line.split()[-1] for line in out.splitlines()} - {"main"}

    def is_part_of(self, object_file, program):
        symbols = self.symbols_of(object_file)
        return (object_file in self.linking[program] or
                bool(symbols) and symbols <= self.symbols_of(program))

    def unit_programs_with(self, path):
        """The unit programs with that source in them, the nearest by name first."""
        found = []
        for program in self.linking:
            if not program.startswith(str(UNIT)):
                continue
            if any(self.is_part_of(o, program) for o in self.objects_with(path)):
                found.append(program)
        words = set(re.split(r"[/_.]", path))
        return sorted(found, key=lambda p: -len(words & set(re.split(r"[/_.]", p))))

    def seconds_of(self, program):
        """How long a unit program takes without a mutant; it must pass."""
        if program not in self.seconds:
            begin = time.monotonic()
            status, output = run_quietly([program], 600, ENGINE)
            if status != 0:
                raise Broken(f"{program} fails without a mutant:\n{output[-2000:]}")
            self.seconds[program] = time.monotonic() - begin
        return self.seconds[program]


class Bench:
    """A folder with one mutant in it."""

    def __init__(self, shop, number, path, text):
        self.shop, self.path = shop, path
        self.folder = BUILD / "work" / str(number)
        shutil.rmtree(ROOT / self.folder, ignore_errors=True)
        self.write(self.folder / path, text)
        if shop.quoted_path(path) in shop.quoting:
            self.quote_script()
        self.objects = {old: self.compile_object(old)
                        for old in sorted(shop.objects_with(path))}

    def write(self, path, text):
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text)

    def quote_script(self):
        old = self.shop.quoted_path(self.path)
        new = self.folder / pathlib.Path(old).relative_to(BUILD)
        (ROOT / new).parent.mkdir(parents=True, exist_ok=True)
        line = self.shop.quoting[old].replace(old, str(new)).replace(
            f" {self.path} ", f" {self.folder / self.path} ")
        subprocess.run(line, shell=True, cwd=ROOT, check=True)

    def remove(self):
        shutil.rmtree(ROOT / self.folder, ignore_errors=True)

    def compile_object(self, old):
        new = str(self.folder / pathlib.Path(old).relative_to(BUILD))
        (ROOT / new).parent.mkdir(parents=True, exist_ok=True)
        command = []
        for word in self.shop.compiling[old]:
            if word == "-I.":
                command += ["-I" + str(self.folder), "-isystem", str(self.folder / "gen")]
            if word not in ("-MD", "-MP"):
                command.append({old: new, self.path: str(self.folder / self.path)}
                               .get(word, word))
        status, output = run_quietly(command + ["-w"], 120)
        if status != 0:
            raise Broken(output[-2000:])
        return new

    def link(self, program):
        """Links a program with the mutant before its archives."""
        new = str(self.folder / pathlib.Path(program).relative_to(BUILD))
        (ROOT / new).parent.mkdir(parents=True, exist_ok=True)
        command = self.shop.linking[program]
        parts = {o: n for o, n in self.objects.items() if self.shop.is_part_of(o, program)}
        command = [new if word == program else parts.get(word, word) for word in command]
        at = command.index(new) + 1
        command[at:at] = [n for n in parts.values() if n not in command]
        status, output = run_quietly(command, 120)
        if status != 0:
            raise Broken(output[-2000:])
        return new

    def run_unit(self, program):
        """The first test of a unit program that fails with the mutant; None: all pass."""
        bound = self.shop.seconds_of(program) * HUNG_FACTOR + HUNG_SECONDS
        status, output = run_quietly([self.link(program)], bound, ENGINE)
        if status == 0:
            return None
        failed = re.search(r"^\[  FAILED  \] (\w+)$", output, re.M)
        return failed[1] if failed else ("hangs" if status is None else "crashes")

    def run_integration(self, test):
        """The same of a test file, or of one of its tests (file::name)."""
        programs = [p for p in self.shop.linking if p.startswith(str(BUILD / "bin"))]
        for program in programs:
            if any(self.shop.is_part_of(o, program) for o in self.objects):
                self.link(program)
            else:
                target = ROOT / self.folder / "bin" / pathlib.Path(program).name
                target.parent.mkdir(exist_ok=True)
                target.unlink(missing_ok=True)
                os.link(ROOT / program, target)
        faults = ROOT / self.folder / "tests"
        faults.mkdir(exist_ok=True)
        if not (faults / "faults").exists():
            (faults / "faults").symlink_to(ROOT / BUILD / "tests/faults")
        status, output = run_quietly(
            ["tests/run-integration", "-n", "0", "-x", "-q", "-m", "long or not long", test],
            INTEGRATION_SECONDS, {"SHORTLOOP_BIN": str(ROOT / self.folder / "bin")})
        if status == 0:
            return None
        if status is not None and status != 1:
            raise Broken(f"{test}: pytest ended with {status}:\n{output[-2000:]}")
        failed = re.search(r"^(?:FAILED|ERROR) \S*?::(\S+)", output, re.M)
        return failed[1] if failed else "hangs"
