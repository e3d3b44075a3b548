import t from 'tap';
import { readFlags } from './flags.js';

t.test('a flag that means something without a value may stand alone, wherever it stands', async (t) => {
  const rows: readonly (readonly [argv: readonly string[], flags: object])[] = [
    [['--inband-faults'], { 'inband-faults': ['on'] }],
    [['--inband-faults', '--port', '1'], { 'inband-faults': ['on'], port: ['1'] }],
    [['--port', '1', '--inband-faults'], { 'inband-faults': ['on'], port: ['1'] }],
    [['--inband-faults', 'off', '--port', '1'], { 'inband-faults': ['off'], port: ['1'] }],
    [['--inband-faults=off'], { 'inband-faults': ['off'] }],
  ];
  for (const [argv, flags] of rows) t.same(readFlags(argv), flags, argv.join(' '));
  t.throws(() => readFlags(['--port', '--inband-faults']), /--port needs a value/);
});
