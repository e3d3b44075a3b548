import { readFileSync } from 'node:fs';

/**
 * Returns a text that identifies a process: its id and, on Linux, its start time. The id alone is not unique, because
 * systems reuse process ids.
 */
export function ownerOf(pid: number): string {
  const start = statusOf(pid)[19];
  return start === undefined ? `${pid}` : `${pid} ${start}`;
}

/**
 * Returns true if a process of any user is running. Returns false for a process that has ended, even if its parent has
 * not yet waited for it (zombie).
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !/^[ZX]/.test(statusOf(pid)[0] ?? '');
}

/** Returns true if the process is still running that `owner`, a text from `ownerOf`, identifies. */
export function isOwnerAlive(owner: string): boolean {
  const pid = Number(owner.split(' ', 1)[0]);
  return pid > 0 && isAlive(pid) && ownerOf(pid) === owner;
}

/**
 * Returns the fields of the Linux file /proc/PID/stat (proc_pid_stat(5)), beginning with the state; empty on other
 * systems.
 */
export function statusOf(pid: number): string[] {
  try {
    // Everything up to the last parenthesis is removed, because the process name before the state can contain any
    // character.
    return readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\)/s, '').trim().split(' ');
  } catch {
    return [];
  }
}
