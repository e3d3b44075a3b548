import { join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import t from 'tap';

// node batch.js FILE.test.js …: runs test files one after the other in this process, as one stream of TAP.
// Node, tap and the product are loaded once, not once per file.

const { jobs } = t;
const teardowns: (() => unknown)[] = [];
// tap's own teardown would end the root as soon as it is idle. Modules that several files share register one teardown
// for all of them, so teardowns run only after the last file has ended.
t.teardown = (teardown) => void teardowns.unshift(teardown);
// A file's time limit would count from the start of the batch. The runner limits the batch as a whole.
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
