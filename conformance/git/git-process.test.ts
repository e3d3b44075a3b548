import t from 'tap';
import { Skip } from '../check/outcomes.js';
import { expectLocalSuccess } from './git-process.js';

/** Error messages of `git fetch` and `git push` that failed because of this machine, such as a full disk. */
const LOCAL = [
  'fatal: write error: No space left on device',
  'remote: Counting objects: 3\nerror: unable to write file objects/aa/bb: Disk quota exceeded\nfatal: fetch failed',
  'fatal: unable to create temporary file /tmp/x: Permission denied',
];

/** Error messages that the target (server under test) caused. Some contain the same words as errors of this machine. */
const OF_THE_TARGET = [
  'fatal: remote error: write error: No space left on device',
  'remote: fatal: write error: No space left on device\nfatal: early EOF',
  ' ! [remote rejected] main -> main (No space left on device)\nerror: failed to push some refs',
  "fatal: unable to access 'https://git.example.com/a.git/': The requested URL returned error: 403",
];

t.test('a problem of the machine skips the rule, and a problem of the target does not', async (t) => {
  const stdout = Buffer.alloc(0);
  for (const stderr of LOCAL) {
    t.throws(() => expectLocalSuccess(['fetch'], { code: 128, stdout, stderr }), Skip, stderr);
    t.doesNotThrow(() => expectLocalSuccess(['fetch'], { code: 0, stdout, stderr }), 'git succeeded');
  }
  for (const stderr of OF_THE_TARGET)
    t.doesNotThrow(() => expectLocalSuccess(['fetch'], { code: 128, stdout, stderr }), stderr);
  t.throws(() => expectLocalSuccess(['fetch', '-q'], { code: undefined, stdout, stderr: 'spawn git ENOENT' }), {
    message: 'git fetch failed on this machine: spawn git ENOENT',
  });
});
