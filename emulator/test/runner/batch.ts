import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import t from 'tap';

// node batch.js FILE.test.js …
//
// Runs test files one after another in this process, with a single TAP output. This saves time, because Node, tap and
// the emulator are loaded only once.

const { jobs } = t;
const teardowns: (() => unknown)[] = [];
// Postpone teardown functions until after the last file, because files can share a module and its teardown function.
// tap would run them as soon as the root test is idle, which may be earlier.
t.teardown = (teardown) => void teardowns.unshift(teardown);
// Ignore the time limits of test files, because they would count from the start of the process. The runner limits the
// time of the whole process.
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
