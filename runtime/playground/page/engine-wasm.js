// Asks the module beside the page; there is no server.

// What the module may ask a system for: the time, chance, and a place for what it says before it stops. There are no files.
function system(memory, said) {
  const view = () => new DataView(memory().buffer);
  const BAD = 8;
  return new Proxy({
    clock_time_get: (_clock, _precision, at) => (view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true), 0),
    random_get: (at, length) => (crypto.getRandomValues(new Uint8Array(memory().buffer, at, length)), 0),
    environ_sizes_get: (count, size) => (view().setUint32(count, 0, true), view().setUint32(size, 0, true), 0),
    environ_get: () => 0,
    fd_write: (_file, parts, count, written) => {
      let all = 0;
      for (let part = 0; part < count; part++) {
        const [at, length] = [view().getUint32(parts + 8 * part, true), view().getUint32(parts + 8 * part + 4, true)];
        said.push(new TextDecoder().decode(new Uint8Array(memory().buffer, at, length)));
        all += length;
      }
      view().setUint32(written, all, true);
      return 0;
    },
    proc_exit: () => { throw new Error("the module stopped"); },
    sched_yield: () => 0,
  }, { get: (known, name) => known[name] ?? (() => BAD) });
}

let compiled;
let instance;
let said = [];

async function started() {
  compiled ??= WebAssembly.compileStreaming(fetch("playground.wasm"));
  const module = await compiled;
  const memory = () => instance.exports.memory;
  const calls = system(memory, said);
  const asked = WebAssembly.Module.imports(module).map(({ name }) => [name, calls[name]]);
  instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: Object.fromEntries(asked) });
  instance.exports._initialize?.();
}

export async function ask(question) {
  if (!instance) await started();
  const { memory, room, answer } = instance.exports;
  const bytes = new TextEncoder().encode(JSON.stringify(question));
  try {
    const at = room(bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    const found = answer();
    const length = new DataView(memory.buffer).getUint32(found, true);
    return JSON.parse(new TextDecoder().decode(new Uint8Array(memory.buffer, found + 4, length)));
  } catch (error) {
    // What has stopped can't go on: the next question has a new one.
    instance = undefined;
    throw new Error(`this is a fault of spc: ${said.splice(0).join("") || error.message}`);
  }
}
