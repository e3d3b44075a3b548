import { basename } from 'node:path';
import { isAlive } from '../system/process-owner.js';
import { commandLine, type ProcessRecord, processRecord } from './processes.js';

/** Pause in milliseconds between two checks if the parent process still exists. */
const LOOK = 250;

const SHELLS = ['sh', 'bash', 'dash', 'ash', 'ksh', 'mksh', 'zsh'];

/**
 * Programs that only run another command and wait for it. Recognized by their name, or by the name of their Node
 * script.
 */
const RUNNERS = ['npm', 'npx', 'pnpm', 'pnpx', 'yarn', 'yarnpkg', 'corepack', 'timeout', 'time', 'sudo'];
const SCRIPT = new RegExp(`^(${RUNNERS.join('|')})(-cli)?(\\.c?js)?$`);

interface Link {
  readonly pid: number;
  readonly parent: number;
}

/**
 * Calls `onGone` once when the process that started this one has ended. Wrappers such as `sh -c` and npx may run
 * between the two and do not end with their parent, so their parents are watched too. On Linux, the session reveals a
 * parent that ended before the first check. Returns a function that stops watching.
 */
export function watchParent(onGone: () => void): () => void {
  const links = ancestry();
  if (links.some(wasAdopted)) {
    onGone();
    return () => {};
  }
  const timer = setInterval(() => {
    if (!links.some(isCut)) return;
    clearInterval(timer);
    onGone();
  }, LOOK);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Returns the pairs of process and parent to watch: for this process, and for each wrapper (such as `sh -c`) above it.
 */
function ancestry(): Link[] {
  const links: Link[] = [{ pid: process.pid, parent: process.ppid }];
  for (let { parent: pid } = links[0]!; isWrapper(commandLine(pid)); ) {
    const record = processRecord(pid);
    if (!record || record.parent === 0) break;
    links.push({ pid, parent: record.parent });
    pid = record.parent;
  }
  return links;
}

/** Returns true if a process with this command line exists only to run another command. */
export function isWrapper([program = '', ...words]: readonly string[]): boolean {
  const name = basename(program).replace(/^-/, '');
  // Also checks the first word of the program's name, because npm sets its command line to "npm exec emulator …".
  if (RUNNERS.includes(name) || RUNNERS.includes(program.split(' ', 1)[0]!)) return true;
  if (SHELLS.includes(name)) return runsOneCommand(words);
  const script = words.find((word) => !isFlag(word));
  return /^node(js)?$/.test(name) && script !== undefined && SCRIPT.test(basename(script));
}

/**
 * Returns true for a shell with `-c` (sh(1): "sh [-abefhimnuvx] [-o option] -c command_string"). Without `-c`, a shell
 * runs a script.
 */
function runsOneCommand(words: readonly string[]): boolean {
  for (let at = 0; at < words.length && isFlag(words[at]!); at++) {
    if (/^-[a-z]*c/.test(words[at]!)) return true;
    if (/^[-+][a-z]*o$/i.test(words[at]!)) at++;
  }
  return false;
}

function isFlag(word: string): boolean {
  return /^[-+]/.test(word);
}

function isCut({ pid, parent }: Link): boolean {
  if (pid === process.pid) return process.ppid !== parent || !isAlive(parent);
  return processRecord(pid)?.parent !== parent;
}

/**
 * Returns true if the process has a new parent, because the original one has exited. A process starts in its parent's
 * session, or leads a session of its own. If neither is the case, the current parent is not the original one.
 */
function wasAdopted({ pid, parent }: Link): boolean {
  const [child, elder]: (ProcessRecord | undefined)[] = [processRecord(pid), processRecord(parent)];
  return child !== undefined && elder !== undefined && child.session !== pid && child.session !== elder.session;
}
