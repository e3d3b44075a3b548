import t from 'tap';
import { beginningOf, markedText, partsOf } from './marked-text.js';

t.test('invisible characters are marked', async (t) => {
  t.same(partsOf('plain, näive, 漢字, עברית'), [{ text: 'plain, näive, 漢字, עברית' }]);
  t.same(partsOf(''), [{ text: '' }]);
  t.same(partsOf('a\u001b[31mb'), [{ text: 'a' }, { text: '␛', stands: 'U+001B' }, { text: '[31mb' }]);
  t.same(partsOf('\u0000\u007f'), [{ text: '␀␡', stands: 'U+0000 U+007F' }]);
  for (const code of [0x85, 0xad, 0x61c, 0x200b, 0x200f, 0x2028, 0x202e, 0x2066, 0x2069, 0xfeff, 0xe0041]) {
    const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
    t.same(partsOf(`a${String.fromCodePoint(code)}b`)[1], { text: `⟦${name}⟧`, stands: name });
  }
  t.same(partsOf('\ud800x')[0], { text: '⟦U+D800⟧', stands: 'U+D800' }, 'half of a pair');
});

t.test('a zero-width joiner is marked where it joins no characters', async (t) => {
  t.equal(markedText('👩\u200d💻 می\u200cخواهم'), '👩\u200d💻 می\u200cخواهم');
  t.equal(markedText('ad\u200dmin'), 'ad⟦U+200D⟧min');
});

t.test('line feeds and tabs stay unmarked in text of several lines', async (t) => {
  t.equal(markedText('a\tb\n'), 'a␉b␊');
  t.same(partsOf('a\tb\r\n', { hasLines: true }), [{ text: 'a\tb' }, { text: '␍', stands: 'U+000D' }, { text: '\n' }]);
  t.equal(partsOf('\u202e\n', { hasLines: true })[0]!.stands, 'U+202E');
});

t.test('many invisible characters form one part, and not all are named', async (t) => {
  const [part, ...others] = partsOf('\u0007'.repeat(1000));
  t.same(others, []);
  t.equal(part!.text.length, 1000);
  t.match(part!.stands, /^(U\+0007 ){8}…$/);
});

t.test('a text is truncated between characters', async (t) => {
  t.equal(beginningOf('abc', 3), 'abc');
  t.equal(beginningOf('abcd', 3), 'abc');
  t.equal(beginningOf('ab😀d', 3), 'ab');
});
