import t from 'tap';
import { github } from './github.js';
import { HOSTILE, hostileResult, reportWith, resultOf } from './test/sample-report.js';

/**
 * Parses workflow commands like the runner of GitHub Actions. Each line is one command, whose properties are separated
 * by commas.
 */
function readCommands(text: string) {
  const decode = (value: string) =>
    value.replace(/%(3A|2C|0D|0A|25)/g, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, command = '', properties = '', message = ''] =
        /^::(\w+) ([^:]*(?::(?!:)[^:]*)*)::(.*)$/.exec(line) ?? [];
      const title = /^title=([^,]*)$/.exec(properties)?.[1];
      return { command, title: title && decode(title), message: decode(message) };
    });
}

t.test(
  'failures are error annotations, warnings are warning annotations, and the last line is the summary',
  async (t) => {
    const rules = [resultOf('pass'), resultOf('warn'), resultOf('blocked'), resultOf('fail', 'a.b', { expected: 1 })];
    const commands = readCommands(github(reportWith(rules)));
    t.same(
      commands.map(({ command, title }) => [command, title]),
      [
        ['error', 'a.b'],
        ['warning', 'rule.warn'],
        ['warning', 'Not checked'],
        ['error', 'Conformance'],
      ],
    );
    t.match(commands[0]?.message, /^MUST, Errors: A rule that is fail\.\nexpected 1\n/);
    t.match(commands.at(-1)?.message, 'does not conform');
    t.match(readCommands(github(reportWith([resultOf('pass')]))), [{ command: 'notice', message: /conforms/ }]);
  },
);

t.test('text sent by a target cannot leave the message of its annotation', async (t) => {
  const name = 'odd: rule, 100%\r\n::error::x';
  const commands = readCommands(github(reportWith([hostileResult('fail', name)])));
  t.equal(commands.length, 2);
  t.equal(commands[0]?.title, name);
  t.ok(commands[0]?.message.includes(HOSTILE.slice(0, 200)));
  t.match(commands[0]?.message, '%0A', 'what looked like an escape is what was sent');
});
