import { readFileSync } from 'node:fs';

/** Identifies a process: its id and, on Linux, its start time, because ids are used again. */
export function ownerOf(pid: number): string {
  const start = statusOf(pid)[19];
  return start === undefined ? `${pid}` : `${pid} ${start}`;
}

/** Returns whether a process runs, whoever started it. A process that has ended and waits for its parent does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !/^[ZX]/.test(statusOf(pid)[0] ?? '');
}

/** Returns whether the process that `ownerOf` identified still runs. */
export function isOwnerAlive(owner: string): boolean {
  const pid = Number(owner.split(' ', 1)[0]);
  return pid > 0 && isAlive(pid) && ownerOf(pid) === owner;
}

/** Returns the fields of proc_pid_stat(5) from the state on; empty on other systems than Linux. */
export function statusOf(pid: number): string[] {
  try {
    // The name before the state may hold anything, but ends with the last parenthesis.
    return readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/s, '').trim().split(' ');
  } catch {
    return [];
  }
}
