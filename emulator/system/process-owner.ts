import { readFileSync } from 'node:fs';

/** Returns an identifier of a process: its id and, on Linux, its start time, because process ids are reused. */
export function ownerOf(pid: number): string {
  const start = statusOf(pid)[19];
  return start === undefined ? `${pid}` : `${pid} ${start}`;
}

/** Returns true if a process of any user is running. A process that has ended and waits for its parent is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !/^[ZX]/.test(statusOf(pid)[0] ?? '');
}

/** Returns true if the process that `ownerOf` identified is still running. */
export function isOwnerAlive(owner: string): boolean {
  const pid = Number(owner.split(' ', 1)[0]);
  return pid > 0 && isAlive(pid) && ownerOf(pid) === owner;
}

/** Returns the fields of proc_pid_stat(5), from the state on; empty on systems other than Linux. */
export function statusOf(pid: number): string[] {
  try {
    // The process name before the state can contain any character, and ends with the last parenthesis.
    return readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/s, '').trim().split(' ');
  } catch {
    return [];
  }
}
