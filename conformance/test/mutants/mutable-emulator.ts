import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { type EmulatorProcess, START_ARGUMENTS, superviseEmulator } from '../../run/emulator-process.js';
import { packageRoot } from '../../run/version.js';
import { type Mutant, WrongRow } from './mutant.js';
import { type SwitchedText, writeSwitchable } from './switchable-source.js';

/**
 * Copy of the emulator's compiled code with the patches of all mutants (deliberate mistakes). All patches are off at
 * first. Disposal removes the copy.
 */
export interface MutableBuild extends AsyncDisposable {
  /**
   * Path of the copy's main module. It must run in a child process with an IPC channel, over which mutants are switched
   * on.
   */
  readonly script: string;
}

/**
 * Source of a module that is added to the copy. It receives the name of a mutant over the IPC channel, and switches
 * this mutant on. It sends back the number of times that the previous mutant's code ran.
 */
const SWITCH = `
let mutant = '';
let met = 0;
export function isMutantOn(name) {
  if (name !== mutant) return false;
  met += 1;
  return true;
}
process.on('message', (next) => {
  process.send({ met });
  mutant = next.mutant;
  met = 0;
});
process.once('disconnect', () => process.exit());
process.channel.unref();
`;

const ENTRY = `
import './dist/emulator/switch.js';
import { main } from './dist/emulator/cli/main.js';
process.exitCode = await main(process.argv.slice(2));
`;

/** Files and folders of the package that the emulator reads at run time. The copy has symbolic links to them. */
const LINKS = ['node_modules', 'fixtures', 'package.json'];

/**
 * Writes a temporary copy of the emulator's compiled code with all patches. Throws if a module does not contain the
 * text that a patch replaces.
 */
export async function buildMutable(mutants: readonly Mutant[]): Promise<MutableBuild> {
  const patched = await patchAll(mutants);
  const folder = await mkdtemp(join(tmpdir(), 'repohost-mutants-'));
  const keep = removeAtExit(folder);
  const build = join(folder, 'dist', 'emulator');
  await cp(join(packageRoot(), 'dist', 'emulator'), build, {
    recursive: true,
    filter: (file) => !/\.d\.ts$|\.map$|\.test\.js$/.test(file),
  });
  for (const link of LINKS) await symlink(join(packageRoot(), link), join(folder, link));
  for (const [file, text] of patched) await writeFile(join(build, file), text);
  await writeFile(join(build, 'switch.js'), SWITCH);
  const script = join(folder, 'start.mjs');
  await writeFile(script, ENTRY);
  const remove = async () => {
    await rm(folder, { recursive: true, force: true });
    keep();
  };
  return { script, [Symbol.asyncDispose]: remove };
}

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/**
 * Makes this process remove a folder when it exits or receives a signal. Returns a function that removes the handlers.
 */
function removeAtExit(folder: string): () => void {
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  const stops = Object.entries(SIGNALS).map(([signal, code]) => {
    // Exit without stopping the emulator processes. Each of them ends by itself when its IPC channel closes.
    const stop = () => process.exit(code);
    process.once(signal, stop);
    return () => void process.off(signal, stop);
  });
  process.once('exit', remove);
  return () => {
    process.off('exit', remove);
    for (const stop of stops) stop();
  };
}

/** Returns the changed source text of each patched module, by path. It contains the patches of all mutants. */
async function patchAll(mutants: readonly Mutant[]): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, SwitchedText[]>();
  for (const { name: mutant, change } of mutants) {
    if (!('patch' in change)) continue;
    for (const { file, find, replace } of change.patch) {
      texts.set(file, [...(texts.get(file) ?? []), { mutant, find, replace }]);
    }
  }
  const patched = new Map<string, string>();
  const stale: string[] = [];
  for (const [file, list] of texts) {
    const source = await readFile(join(packageRoot(), 'dist', 'emulator', file), 'utf8').catch(() => undefined);
    if (source === undefined) {
      stale.push(...list.map(({ mutant }) => `the mutant ${mutant} is stale: there is no dist/emulator/${file}`));
      continue;
    }
    const path = relative(dirname(file), 'switch.js');
    const from = path.startsWith('.') ? path : `./${path}`;
    const switchable = writeSwitchable(file, source, list);
    stale.push(...switchable.stale);
    patched.set(file, `import { isMutantOn } from '${from}';${switchable.text}`);
  }
  if (stale.length > 0) throw new WrongRow(stale);
  return patched;
}

/** Process that runs the patched copy of the emulator. */
export interface MutableEmulator extends EmulatorProcess {
  /**
   * Switches one mutant on, or all mutants off if the name is empty. Resolves to the number of times that the previous
   * mutant's code ran.
   */
  switchTo(mutant: string): Promise<number>;
}

export async function startMutable({ script }: MutableBuild): Promise<MutableEmulator> {
  const child = spawn(process.execPath, [script, ...START_ARGUMENTS], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  return { ...(await superviseEmulator(child)), switchTo: (mutant) => send(child, mutant) };
}

function send(child: ChildProcess, mutant: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('message', (response) => resolve((response as { met: number }).met));
    child.send({ mutant }, (error) => error && reject(error));
  });
}
