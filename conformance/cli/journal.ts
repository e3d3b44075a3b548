import { homedir, hostname } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { ScratchEntry } from '../index.js';
import { TARGET_FLAGS, type TargetArguments, wordsOf } from './target-options.js';

/**
 * Returns the default path of the scratch journal (list of the repositories that runs created). The file is in the
 * user's state folder and is shared by all runs.
 */
export function defaultJournal(): string {
  const { XDG_STATE_HOME: state = '', LOCALAPPDATA: local = '' } = process.env;
  const folder = process.platform === 'win32' ? local : state;
  // Use the default if the variable has a relative path; the XDG Base Directory specification requires this.
  const base = isAbsolute(folder) ? folder : join(homedir(), '.local', 'state');
  return join(base, 'repohost-emulator', 'conformance-scratch.ndjson');
}

/**
 * Returns the part of a journal entry that identifies this process and its target. File names in `flags` are absolute,
 * because `conformance gc` may run in another folder.
 */
export function ownerOf(args: TargetArguments): Pick<ScratchEntry, 'pid' | 'host' | 'flags'> {
  return { pid: process.pid, host: hostname(), flags: wordsOf(TARGET_FLAGS, args, resolve) };
}
