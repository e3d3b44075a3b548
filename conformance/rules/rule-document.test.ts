import t from 'tap';
import { ambiguityRows } from '../specification/ambiguities.js';
import { allRules, selectRules } from './registry.js';
import { writeRuleDocument } from './rule-document.js';

const whole = writeRuleDocument(allRules());

t.test('every rule and every ambiguity has an anchor, and every link leads to one', async (t) => {
  const anchors = [...whole.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id);
  t.same(anchors, [...allRules().map(({ id }) => id), ...ambiguityRows().map(({ code }) => code)]);
  const links = new Set([...whole.matchAll(/\]\(#([^)]+)\)/g)].map(([, id]) => id));
  t.same(
    [...links].filter((id) => !anchors.includes(id)),
    [],
  );
});

t.test('a selection of rules is printed with only the ambiguities that concern them', async (t) => {
  const text = writeRuleDocument(selectRules(allRules(), 'file.ref.tag'));
  t.match(text, /^## 8\. Read a file$/m);
  t.same(
    [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id),
    ['file.ref.tag', 'A15'],
  );
  t.match(text, '`filemeta.ref.tag`');
  t.notMatch(text, '#filemeta.ref.tag');
  t.notMatch(writeRuleDocument(selectRules(allRules(), 'grep.beta')), 'gaps');
});

t.test('characters of Markdown in sentences are escaped, except in code', async (t) => {
  t.match(whole, 'The scope \\* is not valid in a token.');
  t.match(whole, '/\\<repo_name\\>.git');
  t.match(whole, 'Letters, digits, -, \\_, .');
  t.notMatch(whole, /\w\\_\w/, 'Markdown leaves the underscore of a name alone');
});
