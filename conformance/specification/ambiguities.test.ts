import t from 'tap';
import { ambiguityRows } from './ambiguities.js';

t.test('ambiguities are ordered by their codes, which are unique', async (t) => {
  const codes = ambiguityRows().map(({ code }) => code);
  t.same(codes, [...new Set(codes)].sort());
});

t.test('every ambiguity has sentences about the specification and the emulator', async (t) => {
  for (const { code, title, texts, emulator, rules } of ambiguityRows()) {
    t.ok(title !== '' && texts.length > 0 && rules.length > 0, code);
    for (const text of [...texts, emulator]) t.match(text, /[.]$/, code);
  }
});
