import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import t from 'tap';

// node batch.js FILE.test.js …: runs test files one after the other in this process, with one TAP output for all. This
// saves time, because Node, tap and the emulator are loaded only once.

const { jobs } = t;
const teardowns: (() => unknown)[] = [];
// Run teardown functions after the last file, because files that share a module share its teardown function. tap would
// run them as soon as the root test is idle, which may be earlier.
t.teardown = (teardown) => void teardowns.unshift(teardown);
// Ignore the time limit that a file sets, because it would count from the start of the process. The runner limits the
// time of the whole process instead.
t.setTimeout = () => undefined;
for (const file of process.argv.slice(2)) {
  const name = relative(process.cwd(), file);
  t.comment(name);
  t.testdirName = join('.tap', 'fixtures', name.replaceAll('/', '-'));
  await import(pathToFileURL(file).href);
  while (!t.idle) await delay(2);
  t.jobs = jobs;
}
for (const teardown of teardowns) await teardown();
