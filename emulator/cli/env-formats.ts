import { quoteText } from '../faults/shell.js';
import { UsageError } from './usage-error.js';

type Variable = readonly [name: string, value: string];

/**
 * Formats in which `emulator env` prints variables. Each is named after the shell or program that reads it. `write`
 * throws `UsageError` for a value that the format cannot represent.
 */
export const ENV_FORMATS = {
  sh: {
    about: 'eval "$(emulator env)"',
    write: lines(([name, value]) => `export ${name}=${quoteText(value)}`),
  },
  fish: {
    about: 'emulator env --format fish | source',
    // Between single quotes, only \' and \\ are escapes (fish(1), Quotes).
    write: lines(([name, value]) => `set -gx ${name} '${value.replace(/['\\]/g, '\\$&')}'`),
  },
  pwsh: {
    about: 'emulator env --format pwsh | Out-String | Invoke-Expression',
    write: lines(([name, value]) => `$env:${name} = ${writePwsh(value)}`),
  },
  dotenv: { about: 'emulator env --format dotenv > .env', write: lines(writeDotenv) },
  github: { about: 'emulator env --format github >> "$GITHUB_ENV"', write: lines(writeGithub) },
  json: {
    about: 'an object',
    write: (variables: readonly Variable[]) => `${JSON.stringify(Object.fromEntries(variables), undefined, 2)}\n`,
  },
} satisfies Readonly<Record<string, { about: string; write: (variables: readonly Variable[]) => string }>>;

export type EnvFormat = keyof typeof ENV_FORMATS;

function lines(write: (variable: Variable) => string): (variables: readonly Variable[]) => string {
  return (variables) => variables.map((variable) => `${write(variable)}\n`).join('');
}

/**
 * Quotes a value for PowerShell (about_Quoting_Rules). Between single quotes, only the quote is special and must be
 * doubled; typographic single quotes count as quotes. A line break is written as `[char]N`, because pipes split text
 * into lines.
 */
function writePwsh(value: string): string {
  const parts = value.split(/([\r\n])/).map((part) => {
    if (part === '\n' || part === '\r') return `[char]${part.charCodeAt(0)}`;
    return `'${part.replace(/['\u2018-\u201b]/g, '$&$&')}'`;
  });
  return parts.length === 1 ? parts[0]! : `(${parts.join(' + ')})`;
}

/**
 * Writes a line of a dotenv file, for which there is no standard. A value without special characters is not quoted; all
 * readers accept it.
 *
 * Most readers treat single quotes as a shell does. But some treat \\ and \' inside them as escapes, and most do not
 * support `'` inside them. A value with `'` or a backslash is therefore written in another kind of quotes, in which
 * none of its characters is special.
 */
function writeDotenv([name, value]: Variable): string {
  if (/^[\w./:@%+,=~-]*$/.test(value)) return `${name}=${value}`;
  const quote = DOTENV_QUOTES.find(([, forbidden]) => !forbidden.test(value))?.[0];
  if (quote === undefined) {
    throw new UsageError(`The value of ${name} cannot be quoted in a .env file. Use --format json.`);
  }
  return `${name}=${quote}${value}${quote}`;
}

const DOTENV_QUOTES = [
  ["'", /['\\\r]/],
  ['"', /["\\$\r`]/],
  ['`', /[`\r]/],
] as const;

/**
 * Writes a multiline value for GitHub Actions (Workflow commands, "Multiline strings"). The value must not contain the
 * delimiter as a line.
 */
function writeGithub([name, value]: Variable): string {
  let delimiter = 'END_OF_VALUE';
  while (value.includes(delimiter)) delimiter += '_';
  return `${name}<<${delimiter}\n${value}\n${delimiter}`;
}
