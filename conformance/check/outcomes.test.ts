import vm from 'node:vm';
import t from 'tap';
import { isOutcome, Skip } from './outcomes.js';

t.test('the end of a run is recognized, also as an error of another V8 context', (t) => {
  t.ok(isOutcome(new Skip('no occasion')));
  t.ok(isOutcome(new DOMException('ended', 'AbortError')));
  t.ok(isOutcome(vm.runInNewContext(`Object.assign(new Error('ended'), { name: 'AbortError' })`)));
  for (const other of [new Error('broken'), undefined, null, 'AbortError']) t.notOk(isOutcome(other), String(other));
  t.end();
});
