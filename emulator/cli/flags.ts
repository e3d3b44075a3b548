import { parseArgs } from 'node:util';
import { OptionError, readNamed } from '../config/option-values.js';
import { type Flags, optionRows } from '../config/options.js';
import { UsageError } from './usage-error.js';

/** Command whose flags are read before the rest of its command line. */
export interface Starting {
  readonly command: string;
  /** Flags that the command accepts. A switch has no value. */
  readonly flags: readonly { readonly flag: string; readonly isSwitch: boolean }[];
  /**
   * Advice for users who write an argument without a flag, at the end of the error message. Example: "put the program
   * after --". Empty if there is no advice.
   */
  readonly instead: string;
}

const START: Starting = { command: 'start', flags: optionRows(), instead: '' };

/** Parses the flags of a command, by default those of `emulator start`. Throws `UsageError` for anything else. */
export function readFlags(argv: readonly string[], { command, flags: rows, instead } = START): Flags {
  const switches = rows.filter(({ isSwitch }) => isSwitch).map(({ flag }) => flag);
  const options = Object.fromEntries([
    ...rows.map(({ flag, isSwitch }) => [flag, { type: isSwitch ? 'boolean' : 'string', multiple: true }] as const),
    ...switches.map((flag) => [`no-${flag}`, { type: 'boolean', multiple: true }] as const),
  ]);
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  const flags: Record<string, string[]> = {};
  let isNamed = false;
  for (const token of tokens) {
    if (token.kind === 'positional' && token.value === command && !isNamed) {
      isNamed = true;
      continue;
    }
    if (token.kind === 'positional')
      throw new UsageError(`${command} takes only flags, not the argument ${JSON.stringify(token.value)}${instead}.`);
    if (token.kind !== 'option') continue;
    if (!Object.hasOwn(options, token.name))
      throw new UsageError(`${command} has no flag ${token.rawName}. \`emulator ${command} --help\` lists all flags.`);
    const turned = switches.find((flag) => token.name === flag || token.name === `no-${flag}`);
    if (turned !== undefined) {
      if (token.value !== undefined) throw new UsageError(`${token.rawName} takes no value.`);
      flags[turned] = [...(flags[turned] ?? []), String(token.name === turned)];
      continue;
    }
    if (token.value === undefined || (!token.inlineValue && token.value.startsWith('--'))) {
      throw new UsageError(`${token.rawName} needs a value.`);
    }
    flags[token.name] ??= [];
    flags[token.name]!.push(token.value);
  }
  return flags;
}

/**
 * Splits the command line of `exec` at `--`. Returns the arguments of `exec` itself, and the program to run with its
 * arguments.
 */
export function splitProgram(argv: readonly string[]): [own: readonly string[], program: readonly string[]] {
  const end = argv.indexOf('--');
  return end < 0 ? [argv, []] : [argv.slice(0, end), argv.slice(end + 1)];
}

/** Parses the value of a flag; undefined if it was not typed. Throws `OptionError` if it is invalid or given twice. */
export function readOnce<Value>(
  flag: string,
  read: (given: unknown) => Value,
  typed: readonly string[] = [],
): Value | undefined {
  if (typed.length > 1) throw new OptionError(`--${flag} was given more than once, but is allowed only once.`);
  return typed.length === 0 ? undefined : readNamed(`--${flag}`, read, typed[0]);
}
